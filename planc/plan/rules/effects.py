"""Effects: by node, of the buffers that the node really names, never a write to what is read-only."""

from __future__ import annotations

import numpy as np

from planc.plan.program import NONE, EffectKind, NodeKind, Role
from planc.plan.rules.scope import Column, Scope

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


def _operations(scope: Scope) -> None:
    """Check that fills and copies have exactly the effects that they are, and joins none."""
    program = scope.program
    kinds, ops = program.nodes["kind"], program.nodes["op"]
    fills = np.flatnonzero(kinds == NodeKind.FILL)
    copies = np.flatnonzero(kinds == NodeKind.COPY)
    joins = np.flatnonzero(kinds == NodeKind.JOIN)
    none = np.zeros(0, np.int64)
    fill = program.fill_ops["buffer"][ops[fills]]
    copy = program.copy_ops[ops[copies]]
    _expect(scope, "fill", fills, none, fill)
    _expect(scope, "copy", copies, copy["source"], copy["target"])
    _expect(scope, "join", joins, none, none)


def _expect(scope: Scope, what: str, nodes: Column, reads: Column, writes: Column) -> None:
    """Check that ``nodes`` have one read each of ``reads`` (or none), one write of ``writes``, no more."""
    rows = scope.program.effects
    mine = np.isin(rows["node"], nodes)
    wrong = np.zeros(len(scope.program.nodes), np.bool_)
    left = mine.copy()
    for kind, buffers in ((EffectKind.READ, reads), (EffectKind.WRITE, writes)):
        these = np.flatnonzero(mine & (rows["kind"] == kind))
        left[these] = False
        wanted = np.full(len(scope.program.nodes), -1, np.int64)
        if len(buffers):
            wanted[nodes] = buffers
        count = np.bincount(rows["node"][these], minlength=len(wanted))
        wrong |= count != (wanted >= 0)
        wrong[rows["node"][these[rows["buffer"][these] != wanted[rows["node"][these]]]]] = True
    wrong[rows["node"][left]] = True
    if wrong.any():
        node = int(np.flatnonzero(wrong)[0])
        scope.found.add(
            "PLC668",
            f"the effects of {what} {scope.node(node)} are not those of its operation",
            node=scope.program.node_names[node],
        )
