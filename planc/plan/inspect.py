"""Everything that a plan holds, in words and plain values, for people and for programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from planc.plan.boxes import Box
from planc.plan.dtypes import DTYPES
from planc.plan.header import PlanHeader, ProgramHeader
from planc.plan.program import (
    NONE,
    EdgeOrigin,
    EdgeType,
    EffectKind,
    Function,
    FunctionParameter,
    NodeKind,
    Plan,
    Program,
    Provenance,
    Schedule,
    Table,
)
from planc.plan.reader import read_whole
from planc.plan.regions import region_of, region_text


@dataclass(frozen=True, slots=True)
class BufferView:
    """A buffer: ``bytes`` in all, ``align`` in bytes; ``data`` says where its first bytes come from."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str
    bytes: int
    align: int
    data: str | None


@dataclass(frozen=True, slots=True)
class SlotView:
    """A scalar slot with its value and range (None: the type's)."""

    name: str
    dtype: str
    value: int | float | bool
    low: int | float | None
    high: int | float | None


@dataclass(frozen=True, slots=True)
class ImageView:
    """Code for one target, ``bytes`` long."""

    module: str
    target: str
    form: str
    bytes: int
    sha256: str
    exact: bool


@dataclass(frozen=True, slots=True)
class KernelView:
    """A kernel with its parameters as ``f32* src``."""

    name: str
    symbol: str
    module: str
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NodeView:
    """A node: ``operation`` in words, ``place`` as file:line:column or None."""

    name: str
    kind: str
    operation: str
    place: str | None


@dataclass(frozen=True, slots=True)
class EdgeView:
    """An edge of the program, or one that a schedule emits (``kind``: its origin, or its type)."""

    before: str
    after: str
    kind: str


@dataclass(frozen=True, slots=True)
class EffectView:
    """What a node does to bytes; ``may`` and ``must`` are views as the graph file writes them."""

    node: str
    kind: str
    buffer: str | None
    parameter: str | None
    may: tuple[str, ...]
    must: tuple[str, ...]
    kind_known: str
    range_known: str


@dataclass(frozen=True, slots=True)
class PlacementView:
    """Where a scratch buffer lies in the arena, in bytes."""

    buffer: str
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ScheduleView:
    """A schedule: the order of nodes by name, how many lanes, its edges, its arena in bytes."""

    name: str
    targets: tuple[str, ...]
    lanes: int
    arena_bytes: int
    order: tuple[str, ...]
    edges: tuple[EdgeView, ...]
    placements: tuple[PlacementView, ...]


@dataclass(frozen=True, slots=True)
class ProgramView:
    """One program; ``memory`` gives bytes by role."""

    name: str
    program: str
    targets: tuple[str, ...]
    memory: Mapping[str, int]
    buffers: tuple[BufferView, ...]
    may_alias: tuple[tuple[str, str], ...]
    slots: tuple[SlotView, ...]
    images: tuple[ImageView, ...]
    kernels: tuple[KernelView, ...]
    nodes: tuple[NodeView, ...]
    edges: tuple[EdgeView, ...]
    effects: tuple[EffectView, ...]
    schedules: tuple[ScheduleView, ...]


@dataclass(frozen=True, slots=True)
class SectionView:
    """A section of the file: offset from the first one, and length, in bytes."""

    name: str
    offset: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A whole plan. ``file`` and ``program`` are its two digests; ``bytes`` the size of the file."""

    format: str
    bytes: int
    file: str
    program: str
    producer: str
    verdict: str
    facts: tuple[str, ...]
    programs: tuple[ProgramView, ...]
    sections: tuple[SectionView, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain maps, lists, text and numbers."""
        return asdict(self)


def inspect_plan(path: str | os.PathLike[str]) -> Inspection:
    """Read a plan file, with every check, and describe it.

    Raises :class:`planc.diagnostics.PlanError` as :func:`planc.plan.read` does.
    """
    header, plan = read_whole(path)
    return inspection(plan, header)


def inspection(plan: Plan, header: PlanHeader) -> Inspection:
    """Describe a plan that was read, with its header."""
    rows = zip(plan.programs, plan.schedules, header.programs, strict=True)
    return Inspection(
        format=".".join(map(str, header.version)),
        bytes=header.file_bytes,
        file=header.file_digest,
        program=header.program_digest,
        producer=plan.producer,
        verdict=plan.verdict,
        facts=plan.facts,
        programs=tuple(_program(*row) for row in rows),
        sections=tuple(SectionView(s.name, s.offset, s.length, s.sha256) for s in header.sections),
    )


def _program(program: Program, schedules: tuple[Schedule, ...], header: ProgramHeader) -> ProgramView:
    names = program.node_names
    words = _Words(program)
    return ProgramView(
        name=program.name,
        program=header.digest,
        targets=program.targets,
        memory=dict(header.memory),
        buffers=tuple(_buffers(program)),
        may_alias=tuple((program.buffers[a].name, program.buffers[b].name) for a, b in program.may_alias),
        slots=tuple(SlotView(s.name, s.dtype, s.value, s.low, s.high) for s in program.slots),
        images=tuple(_images(program)),
        kernels=tuple(_kernels(program)),
        nodes=tuple(_nodes(program, words)),
        edges=tuple(_edges(names, program.edges, "origin", EdgeOrigin)),
        effects=tuple(_effects(program, words)),
        schedules=tuple(_schedule(program, schedule) for schedule in schedules),
    )


def _buffers(program: Program) -> Iterator[BufferView]:
    for b in program.buffers:
        data = None if b.data is None else f"{b.data} ({'embedded' if b.embedded else 'supplied at load'})"
        yield BufferView(b.name, b.dtype, b.shape, b.role.name.lower(), b.nbytes, b.align, data)


def _images(program: Program) -> Iterator[ImageView]:
    for module in program.modules:
        for image in module.images:
            size = len(image.data)
            yield ImageView(module.name, image.target, image.form, size, image.digest, module.exact)


def _kernels(program: Program) -> Iterator[KernelView]:
    for function in program.functions:
        parameters = tuple(_parameter(parameter) for parameter in function.parameters)
        yield KernelView(function.name, function.symbol, program.modules[function.module].name, parameters)


def _parameter(parameter: FunctionParameter) -> str:
    kind = parameter.dtype or ("void" if parameter.pointer else f"{parameter.size} bytes")
    return f"{kind}{'*' if parameter.pointer else ''} {parameter.name}"


def _nodes(program: Program, words: _Words) -> Iterator[NodeView]:
    for row, (kind, op, _, _) in enumerate(program.nodes.tolist()):
        place = None
        if len(program.places):
            at = program.places[row]
            place = f"{at.file}:{at.line}:{at.column}"
        text = _OPERATIONS[NodeKind(kind)](words, row, op)
        yield NodeView(program.node_names[row], NodeKind(kind).name.lower(), text, place)


def _edges(
    names: tuple[str, ...], rows: Table, column: str, kinds: type[EdgeOrigin] | type[EdgeType]
) -> Iterator[EdgeView]:
    for before, after, kind in zip(*(rows[c].tolist() for c in ("before", "after", column)), strict=True):
        yield EdgeView(names[before], names[after], kinds(kind).name.lower())


def _effects(program: Program, words: _Words) -> Iterator[EffectView]:
    for effect in program.effects:
        node, buffer = int(effect["node"]), int(effect["buffer"])
        parameter = None
        if effect["parameter"] != NONE:
            parameter = words.function(node).parameters[int(effect["parameter"])].name
        yield EffectView(
            node=program.node_names[node],
            kind=EffectKind(effect["kind"]).name.lower(),
            buffer=None if buffer == NONE else program.buffers[buffer].name,
            parameter=parameter,
            may=words.views(buffer, int(effect["may"]), int(effect["may_count"])),
            must=words.views(buffer, int(effect["must"]), int(effect["must_count"])),
            kind_known=Provenance(effect["kind_provenance"]).name.lower(),
            range_known=Provenance(effect["range_provenance"]).name.lower(),
        )


def _schedule(program: Program, schedule: Schedule) -> ScheduleView:
    placed = [(program.buffers[row["buffer"]], int(row["offset"])) for row in schedule.placements]
    return ScheduleView(
        name=schedule.name,
        targets=schedule.targets,
        lanes=len(np.unique(schedule.lanes)),
        arena_bytes=schedule.arena_bytes,
        order=tuple(program.node_names[row] for row in schedule.order.tolist()),
        edges=tuple(_edges(program.node_names, schedule.edges, "type", EdgeType)),
        placements=tuple(PlacementView(b.name, offset, b.nbytes) for b, offset in placed),
    )


class _Words:
    """Says what rows mean; views are made once per buffer and box."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._views: dict[tuple[int, int], str] = {}
        self._pointers = _by_parameter(program.relocations, ("buffer", "addend"))
        self._patches = _by_parameter(program.patches, ("slot", "size"))

    def function(self, node: int) -> Function:
        op = self.program.nodes["op"][node]
        return self.program.functions[int(self.program.kernel_ops["function"][op])]

    def views(self, buffer: int, first: int, count: int) -> tuple[str, ...]:
        return tuple(self.view(buffer, row) for row in range(first, first + count))

    def view(self, buffer: int, row: int) -> str:
        key = (buffer, row)
        if key not in self._views:
            self._views[key] = self._view(buffer, row)
        return self._views[key]

    def _view(self, buffer: int, row: int) -> str:
        offset, item, first, count, _ = self.program.boxes[row].tolist()
        axes = tuple((int(c), int(s)) for c, s in self.program.axes[first : first + count].tolist())
        box = Box(offset, axes, item)
        owner = self.program.buffers[buffer]
        region = region_of(box, owner.shape, DTYPES[owner.dtype].itemsize)
        if region is not None:
            return region_text(owner.name, region, owner.shape)
        low, high = box.interval
        return f"{owner.name}<{box.items} x {item} bytes in {low}:{high}>"

    def argument(self, node: int, start: int, index: int, parameter: FunctionParameter) -> str:
        if (node, index) in self._pointers:
            buffer, addend = self._pointers[node, index]
            text = self.program.buffers[buffer].name + (f" + {addend}" if addend else "")
        elif (node, index) in self._patches:
            text = f"slot {self.program.slots[self._patches[node, index][0]].name}"
        else:
            data = bytes(self.program.arguments[start + parameter.offset :][: parameter.size])
            text = _value(parameter, data)
        return f"{parameter.name}={text}"


def _by_parameter(rows: Table, columns: tuple[str, str]) -> dict[tuple[int, int], tuple[int, int]]:
    keys = zip(rows["node"].tolist(), rows["parameter"].tolist(), strict=True)
    values = zip(rows[columns[0]].tolist(), rows[columns[1]].tolist(), strict=True)
    return dict(zip(keys, values, strict=True))


def _value(parameter: FunctionParameter, data: bytes) -> str:
    if parameter.pointer:
        return "null"
    if parameter.dtype is None:
        return f"0x{data[::-1].hex()}"
    return str(np.frombuffer(data, DTYPES[parameter.dtype].numpy)[0])


def _launch(words: _Words, node: int, op: int) -> str:
    row = words.program.kernel_ops[op]
    function = words.program.functions[row["function"]]
    start = int(row["args_offset"])
    arguments = [words.argument(node, start, i, p) for i, p in enumerate(function.parameters)]
    grid, block = (" x ".join(map(str, row[name].tolist())) for name in ("grid", "block"))
    shared = f", {row['shared']} bytes shared" if row["shared"] else ""
    return f"{function.name}({', '.join(arguments)}), grid {grid}, block {block}{shared}"


def _fill(words: _Words, node: int, op: int) -> str:
    buffer, box, pattern, item = words.program.fill_ops[op].tolist()
    return f"{words.view(buffer, box)} = 0x{pattern:0{2 * item}x}"


def _copy(words: _Words, node: int, op: int) -> str:
    target, target_box, source, source_box = words.program.copy_ops[op].tolist()
    return f"{words.view(target, target_box)} <- {words.view(source, source_box)}"


def _join(words: _Words, node: int, op: int) -> str:
    return ""


_OPERATIONS: Mapping[NodeKind, Callable[[_Words, int, int], str]] = MappingProxyType(
    {NodeKind.KERNEL: _launch, NodeKind.FILL: _fill, NodeKind.COPY: _copy, NodeKind.JOIN: _join}
)
