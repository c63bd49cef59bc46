"""Effects: by node, of the buffers that the node really names, never a write to what is read-only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planc.plan.program import NONE, EffectKind, NodeKind, Role, Table
from planc.plan.rules.corners import Column
from planc.plan.rules.scope import Scope

_WRITES = (EffectKind.WRITE, EffectKind.READ_WRITE, EffectKind.REDUCE)
_READ_ONLY = (Role.INPUT, Role.CONSTANT)
_PARAMETERS = 1 << 15  # more than limits.PARAMETER_BYTES


def effects(scope: Scope) -> None:
    """PLC655 for rows out of order, PLC668 for another effect than the node has, PLC670 for a bad write."""
    rows, found = scope.program.effects, scope.found
    late = np.append(np.zeros(1, np.bool_), rows["node"][1:] < rows["node"][:-1])[: len(rows)]
    found.rows("PLC655", "effects", late, "row {row} of `effects` is out of order")
    _roles(scope)
    _arguments(scope)
    _operations(scope)


def _roles(scope: Scope) -> None:
    rows, found = scope.program.effects, scope.found
    writes = np.isin(rows["kind"], _WRITES)
    read_only = np.zeros(len(rows), np.bool_)
    read_only[writes] = np.isin(scope.roles[rows["buffer"][writes]], _READ_ONLY)
    found.rows("PLC670", "effects", read_only, "row {row} of `effects` writes an input or a constant")
    for table, column in (("fill_ops", "buffer"), ("copy_ops", "target")):
        target = getattr(scope.program, table)[column]
        bad = np.isin(scope.roles[target], _READ_ONLY)
        found.rows("PLC670", table, bad, f"row {{row}} of `{table}` writes an input or a constant")


def _arguments(scope: Scope) -> None:
    """Check that an effect through a parameter is on the buffer that the parameter points to."""
    rows = scope.program.effects
    named = np.flatnonzero(rows["parameter"] != NONE)
    pointers = scope.program.relocations
    keys = _key(pointers["node"], pointers["parameter"])
    order = np.argsort(keys, kind="stable")
    wanted = _key(rows["node"][named], rows["parameter"][named])
    at = np.searchsorted(keys[order], wanted)
    known = at < len(keys)
    row = order[at[known]]
    same = np.zeros(len(named), np.bool_)
    same[known] = (keys[row] == wanted[known]) & (pointers["buffer"][row] == rows["buffer"][named[known]])
    bad = np.zeros(len(rows), np.bool_)
    bad[named[~same]] = True
    message = "row {row} of `effects` names a parameter that does not point to its buffer"
    scope.found.rows("PLC668", "effects", bad, message)


def _key(node: Column, parameter: Column) -> Column:
    return node.astype(np.int64) * _PARAMETERS + parameter


@dataclass(frozen=True, slots=True)
class _Access:
    """What an operation does to one buffer: a column per node of its kind."""

    kind: EffectKind
    buffer: Column
    box: Column


def _operations(scope: Scope) -> None:
    """Check that fills and copies have exactly the effects that they are, and joins none."""
    program = scope.program
    kinds, ops = program.nodes["kind"], program.nodes["op"]
    fills = np.flatnonzero(kinds == NodeKind.FILL)
    copies = np.flatnonzero(kinds == NodeKind.COPY)
    joins = np.flatnonzero(kinds == NodeKind.JOIN)
    fill, copy = program.fill_ops[ops[fills]], program.copy_ops[ops[copies]]
    reads = _Access(EffectKind.READ, copy["source"], copy["source_box"])
    writes = _Access(EffectKind.WRITE, copy["target"], copy["target_box"])
    _expect(scope, "fill", fills, _Access(EffectKind.WRITE, fill["buffer"], fill["box"]))
    _expect(scope, "copy", copies, reads, writes)
    _expect(scope, "join", joins)


def _expect(scope: Scope, what: str, nodes: Column, *accesses: _Access) -> None:
    """Check that each of ``nodes`` has one effect for each access, and no more."""
    rows = scope.program.effects
    left = np.isin(rows["node"], nodes)
    wrong = np.zeros(len(scope.program.nodes), np.bool_)
    for access in accesses:
        these = np.flatnonzero(left & (rows["kind"] == access.kind))
        left[these] = False
        buffer, box = np.zeros((2, len(wrong)), np.int64)
        buffer[nodes], box[nodes] = access.buffer, access.box
        owner = rows["node"][these]
        wrong[nodes] |= np.bincount(owner, minlength=len(wrong))[nodes] != 1
        wrong[owner] |= rows["buffer"][these] != buffer[owner]
        wrong[owner] |= ~_same_bytes(scope, rows[these], box[owner])
        wrong[owner] |= _must(rows[these], access.kind)
    wrong[rows["node"][left]] = True
    if wrong.any():
        node = int(np.flatnonzero(wrong)[0])
        scope.found.add(
            "PLC668",
            f"the effects of {what} {scope.node(node)} are not those of its operation",
            node=scope.program.node_names[node],
        )


def _must(rows: Table, kind: EffectKind) -> Column:
    """Return whether must boxes are wrong: a write must do all that it may, a read has none."""
    if kind is EffectKind.READ:
        none: Column = rows["must_count"] != 0
        return none
    other: Column = (rows["must_count"] != 1) | (rows["must"] != rows["may"])
    return other


def _same_bytes(scope: Scope, rows: Table, box: Column) -> Column:
    """Return whether each effect has one may box, with the ends and the number of bytes of ``box`` (bool).

    The operation's box may divide the bytes into other items than the effect's.
    """
    program = scope.program
    one = rows["may_count"] == 1
    may = np.where(one, rows["may"], box)
    low, high = scope.corners
    size = scope.elements * program.boxes["item"]
    same: Column = one & (low[may] == low[box]) & (high[may] == high[box]) & (size[may] == size[box])
    return same
