"""Rows that name rows: every reference in range, every kind known, everything reserved zero."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from planc.plan import limits
from planc.plan.layout import INDEX, PROGRAM_SECTIONS, SCHEDULE_SECTIONS
from planc.plan.program import (
    NONE,
    EdgeOrigin,
    EdgeType,
    EffectKind,
    NodeKind,
    Provenance,
    RelocationKind,
    Table,
)
from planc.plan.rules.corners import Column
from planc.plan.rules.scope import Scope

_KINDS: tuple[tuple[str, str, type[IntEnum]], ...] = (
    ("nodes", "kind", NodeKind),
    ("edges", "origin", EdgeOrigin),
    ("effects", "kind", EffectKind),
    ("effects", "kind_provenance", Provenance),
    ("effects", "range_provenance", Provenance),
    ("relocations", "kind", RelocationKind),
)

_ROWS: tuple[tuple[str, str, str], ...] = (
    ("kernel_ops", "function", "functions"),
    ("fill_ops", "buffer", "buffers"),
    ("fill_ops", "box", "boxes"),
    ("copy_ops", "target", "buffers"),
    ("copy_ops", "target_box", "boxes"),
    ("copy_ops", "source", "buffers"),
    ("copy_ops", "source_box", "boxes"),
    ("edges", "before", "nodes"),
    ("edges", "after", "nodes"),
    ("effects", "node", "nodes"),
    ("relocations", "buffer", "buffers"),
    ("relocations", "node", "nodes"),
    ("patches", "slot", "slots"),
    ("patches", "node", "nodes"),
)

_RANGES: tuple[tuple[str, str, str, str], ...] = (
    ("boxes", "axis", "axes", "axes"),
    ("effects", "may", "may_count", "boxes"),
    ("effects", "must", "must_count", "boxes"),
)

_ZERO: tuple[tuple[str, str], ...] = (("kernel_ops", "flags"), ("boxes", "pad"), ("effects", "pad"))

_OPS: tuple[tuple[NodeKind, str], ...] = (
    (NodeKind.KERNEL, "kernel_ops"),
    (NodeKind.FILL, "fill_ops"),
    (NodeKind.COPY, "copy_ops"),
)


def references(scope: Scope) -> None:
    """Check the shape of all tables, then every column that names rows or kinds.

    PLC628 for a table of another type or length, PLC635 unknown kind, PLC636 row out of range,
    PLC637 reserved and not zero, PLC672 operations and nodes that do not match, PLC673 nested bodies.
    """
    program = scope.program
    if not _shapes(scope):
        return
    for table, column, words in _KINDS:
        _kind(scope, table, getattr(program, table)[column], words)
    for table, column, target in _ROWS:
        _row(scope, f"{table}.{column}", getattr(program, table)[column], len(getattr(program, target)))
    for table, first, count, target in _RANGES:
        _range(scope, table, first, count, len(getattr(program, target)))
    for table, column in _ZERO:
        _zero(scope, table, getattr(program, table)[column])
    _nodes(scope)
    _effect_buffers(scope)
    for schedule in scope.schedules:
        _row(scope, "order", schedule.order, len(program.nodes))
        _row(scope, "schedule.edges.before", schedule.edges["before"], len(program.nodes))
        _row(scope, "schedule.edges.after", schedule.edges["after"], len(program.nodes))
        _kind(scope, "schedule.edges", schedule.edges["type"], EdgeType)
        _row(scope, "placements.buffer", schedule.placements["buffer"], len(program.buffers))
        _zero(scope, "placements", schedule.placements["pad"])


def _shapes(scope: Scope) -> bool:
    program, found = scope.program, scope.found
    before = found.any
    special = ("arguments", "name_ends", "name_text")
    tables = [(n, getattr(program, n), t) for n, t in PROGRAM_SECTIONS.items() if n not in special]
    tables += [(n, getattr(s, n), t) for s in scope.schedules for n, t in SCHEDULE_SECTIONS.items()]
    for name, table, dtype in tables:
        integers = dtype == INDEX and table.dtype.kind in "iu"
        if table.ndim != 1 or (table.dtype != dtype and not integers):
            found.add("PLC628", f"the table `{name}` is of another type", table=name)
        elif len(table) > limits.ROWS:
            found.add("PLC603", f"the table `{name}` has {len(table)} rows", table=name, limit=limits.ROWS)
    _lengths(scope)
    return found.any is before


def _lengths(scope: Scope) -> None:
    program, found = scope.program, scope.found
    nodes = len(program.nodes)
    if nodes > limits.NODES:
        found.add("PLC603", f"program `{program.name}` has {nodes} nodes", nodes=nodes, limit=limits.NODES)
    if len(program.node_names) != nodes:
        found.add("PLC628", f"{nodes} nodes have {len(program.node_names)} names", nodes=nodes)
    if len(program.places) not in (0, nodes):
        found.add("PLC628", f"{nodes} nodes have {len(program.places)} places", nodes=nodes)
    for schedule in scope.schedules:
        if len(schedule.order) != nodes or len(schedule.lanes) != nodes:
            found.add(
                "PLC661",
                f"schedule `{schedule.name}` has {len(schedule.order)} entries in its order and "
                f"{len(schedule.lanes)} lanes for {nodes} nodes",
                schedule=schedule.name,
                nodes=nodes,
            )


def _kind(scope: Scope, table: str, values: Table, words: type[IntEnum]) -> None:
    known = np.isin(values, [int(word) for word in words])
    scope.found.rows("PLC635", table, ~known, f"row {{row}} of `{table}` has no {words.__name__}")


def _row(scope: Scope, column: str, values: Table, count: int) -> None:
    bad = (values < 0) | (values >= count)
    scope.found.rows("PLC636", column, bad, f"row {{row}} of `{column}` names a row past {count}")


def _range(scope: Scope, table: str, first: str, count: str, rows: int) -> None:
    values: Table = getattr(scope.program, table)
    end = values[first].astype(np.int64) + values[count]
    message = f"row {{row}} of `{table}` takes `{first}` rows past {rows}"
    scope.found.rows("PLC636", table, end > rows, message)


def _zero(scope: Scope, table: str, values: Table) -> None:
    scope.found.rows("PLC637", table, values != 0, f"row {{row}} of `{table}` uses reserved bits")


def _nodes(scope: Scope) -> None:
    program, found = scope.program, scope.found
    nodes = program.nodes
    found.rows("PLC673", "nodes", nodes["body"] != NONE, "node {row} lies in a body, and no node has one")
    far = nodes["device"] >= limits.DEVICES
    found.rows("PLC636", "nodes", far, f"node {{row}} names a device past {limits.DEVICES}")
    for kind, table in _OPS:
        ops: Column = nodes["op"][nodes["kind"] == kind]
        count = len(getattr(program, table))
        if len(ops) != count or (ops != np.arange(count)).any():
            found.add(
                "PLC672",
                f"the {len(ops)} {kind.name.lower()} nodes do not use the {count} rows of `{table}` in order",
                table=table,
                rows=count,
            )
    joins = nodes["kind"] == NodeKind.JOIN
    found.rows("PLC672", "nodes", joins & (nodes["op"] != NONE), "node {row} is a join and has an operation")


def _effect_buffers(scope: Scope) -> None:
    effects = scope.program.effects
    external = effects["kind"] == EffectKind.EXTERNAL
    buffers = len(scope.program.buffers)
    bad = np.where(external, effects["buffer"] != NONE, effects["buffer"] >= buffers)
    scope.found.rows("PLC636", "effects", bad, "row {row} of `effects` names no buffer of its kind")


def parameters(scope: Scope) -> None:
    """PLC636 for a parameter that the node's kernel does not have; PLC653, PLC656 for a node that is none."""
    program = scope.program
    function = scope.function_of_node
    counts = np.append(np.diff(scope.first_parameter), 0)
    for table, code in (("relocations", "PLC653"), ("patches", "PLC656")):
        rows: Table = getattr(program, table)
        owner = function[rows["node"]]
        scope.found.rows(code, table, owner < 0, f"row {{row}} of `{table}` is for a node that is no kernel")
        past = (owner >= 0) & (rows["parameter"] >= counts[owner])
        scope.found.rows("PLC636", table, past, f"row {{row}} of `{table}` names no parameter of its kernel")
    effects = program.effects
    named = effects["parameter"] != NONE
    past = named & (effects["parameter"] >= counts[function[effects["node"]]])
    scope.found.rows("PLC636", "effects", past, "row {row} of `effects` names no parameter of its kernel")
