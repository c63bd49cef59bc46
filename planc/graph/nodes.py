"""Nodes as rows: one table of builders keyed by kind, argument bytes laid out node after node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from planc.effects import OPERATION_ACCESSES
from planc.graph.calls import Calls, EffectRow, effect_row
from planc.graph.footprints import Aliases
from planc.graph.names import Names
from planc.graph.operations import resolve_copy, resolve_fill
from planc.graph.report import Reporter
from planc.graph.tables import BoxTable, table
from planc.plan.program import (
    COPY_OP,
    EFFECT,
    FILL_OP,
    KERNEL_OP,
    NODE,
    NONE,
    PATCH,
    RELOCATION,
    NodeKind,
    RelocationKind,
    Table,
)
from planc.source.flat import FlatKind, FlatNode

ARGUMENT_ALIGN = 16


@dataclass(frozen=True, slots=True)
class NodeTables:
    """The tables of a program that its nodes fill.

    ``failed`` are rows whose operation is wrong; ``operators`` gives that of a proved reduction (a row of
    ``effects``), as ``add.u32``.
    """

    nodes: Table
    kernel_ops: Table
    fill_ops: Table
    copy_ops: Table
    effects: Table
    relocations: Table
    patches: Table
    arguments: bytes
    failed: frozenset[int]
    operators: Mapping[int, str]


Row = tuple[Any, ...]


class _Rows:
    """Rows under construction."""

    def __init__(
        self, calls: Calls, names: Names, aliases: Aliases, boxes: BoxTable, reporter: Reporter
    ) -> None:
        self.calls = calls
        self.names = names
        self.aliases = aliases
        self.boxes = boxes
        self.reporter = reporter
        self.kernel_ops: list[Row] = []
        self.fill_ops: list[Row] = []
        self.copy_ops: list[Row] = []
        self.effects: list[Row] = []
        self.operators: dict[int, str] = {}
        self.relocations: list[Row] = []
        self.patches: list[Row] = []
        self.arguments = bytearray()

    def add_effects(self, row: int, effects: Sequence[EffectRow]) -> None:
        """Add the effects of node ``row``."""
        for buffer, kind, kind_known, range_known, *rest, operator in effects:
            if operator:
                self.operators[len(self.effects)] = operator
            self.effects.append((row, buffer, kind, kind_known, range_known, 0, *rest))


def _run(rows: _Rows, row: int, op: Any) -> int | None:
    call = rows.calls.resolve(op)
    if call is None:
        return None
    base = len(rows.arguments)
    rows.arguments += call.arguments
    rows.arguments += bytes(-len(rows.arguments) % ARGUMENT_ALIGN)
    launch = call.launch
    rows.kernel_ops.append(
        (call.function, launch.grid, launch.block, launch.shared, len(call.arguments), base, 0)
    )
    for offset, addend, buffer, parameter in call.relocations:
        rows.relocations.append((base + offset, addend, buffer, RelocationKind.ADDRESS, row, parameter))
    for offset, slot, size, parameter in call.patches:
        rows.patches.append((base + offset, slot, size, row, parameter))
    rows.add_effects(row, call.effects)
    return len(rows.kernel_ops) - 1


def _fill(rows: _Rows, row: int, op: Any) -> int | None:
    resolved = resolve_fill(op, rows.names, rows.reporter)
    if resolved is None:
        return None
    view, (buffer, box, pattern, item) = resolved
    rows.fill_ops.append((buffer, rows.boxes.row(box), pattern, item))
    (write,) = OPERATION_ACCESSES[FlatKind.FILL]
    rows.add_effects(row, [effect_row(buffer, write, rows.boxes.row(view.footprint))])
    return len(rows.fill_ops) - 1


def _copy(rows: _Rows, row: int, op: Any) -> int | None:
    resolved = resolve_copy(op, rows.names, rows.aliases, rows.reporter)
    if resolved is None:
        return None
    target, source, target_box, source_box = resolved
    to, fro = target.known.row, source.known.row
    rows.copy_ops.append((to, rows.boxes.row(target_box), fro, rows.boxes.row(source_box)))
    write, read = OPERATION_ACCESSES[FlatKind.COPY]
    effects = [
        effect_row(to, write, rows.boxes.row(target.footprint)),
        effect_row(fro, read, rows.boxes.row(source.footprint)),
    ]
    rows.add_effects(row, effects)
    return len(rows.copy_ops) - 1


def _join(rows: _Rows, row: int, op: Any) -> int | None:
    return NONE


_BUILDERS: Mapping[FlatKind, tuple[NodeKind, Callable[[_Rows, int, Any], int | None]]] = MappingProxyType(
    {
        FlatKind.RUN: (NodeKind.KERNEL, _run),
        FlatKind.FILL: (NodeKind.FILL, _fill),
        FlatKind.COPY: (NodeKind.COPY, _copy),
        FlatKind.JOIN: (NodeKind.JOIN, _join),
    }
)


def build_nodes(
    nodes: Sequence[FlatNode],
    calls: Calls,
    names: Names,
    aliases: Aliases,
    boxes: BoxTable,
    reporter: Reporter,
) -> NodeTables:
    """Return the tables of all nodes; a node that is wrong is reported and listed in ``failed``."""
    rows = _Rows(calls, names, aliases, boxes, reporter)
    kinds: list[Row] = []
    failed: set[int] = set()
    for row, node in enumerate(nodes):
        kind, builder = _BUILDERS[node.kind]
        readable = node.op is not None or node.kind is FlatKind.JOIN
        op = builder(rows, row, node.op) if readable else None
        if op is None:
            failed.add(row)
        kinds.append((kind, NONE if op is None else op, NONE, 0))
    return NodeTables(
        table(kinds, NODE),
        table(rows.kernel_ops, KERNEL_OP),
        table(rows.fill_ops, FILL_OP),
        table(rows.copy_ops, COPY_OP),
        table(rows.effects, EFFECT),
        table(rows.relocations, RELOCATION),
        table(rows.patches, PATCH),
        bytes(rows.arguments),
        frozenset(failed),
        rows.operators,
    )
