"""The recorder: the exact bytes that each node of a replay reads, writes and reduces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from planc.plan.program import NodeKind, Program
from planc.runtime.boxes import box_of
from planc.runtime.cpu_nodes import Machine
from planc.runtime.tracing.areas import Area, find_areas
from planc.runtime.tracing.bytesets import EMPTY, ByteSet, from_box
from planc.runtime.tracing.marks import Marks, Spot, spot
from planc.simt import Region, Site


@dataclass(frozen=True, slots=True)
class AreaTrace:
    """What one node did to one area (an index of :attr:`Recorder.areas`).

    ``reduce`` maps the operator of commuting atomics (``add.f32``) to the bytes they updated; other atomics
    count as ``read`` and ``write``. ``old`` are the bytes whose value from before the node was read or
    reduced; ``unwritten`` those of them that nobody had ever written.
    """

    area: int
    read: ByteSet = EMPTY
    write: ByteSet = EMPTY
    reduce: Mapping[str, ByteSet] = field(default_factory=lambda: MappingProxyType({}))
    old: ByteSet = EMPTY
    unwritten: ByteSet = EMPTY

    @property
    def reduced(self) -> ByteSet:
        """The bytes that any commuting atomic updated."""
        found = EMPTY
        for held in self.reduce.values():
            found |= held
        return found


@dataclass(frozen=True, slots=True)
class NodeTrace:
    """What one node (a row) did; ``complete`` is false where it raised."""

    node: int
    areas: tuple[AreaTrace, ...]
    complete: bool = True


class Recorder:
    """A :class:`planc.runtime.tracing.Watch` that keeps a :class:`NodeTrace` per node of the last replay."""

    def __init__(self) -> None:
        """Record nothing yet."""
        self.areas: tuple[Area, ...] = ()
        self.nodes: list[NodeTrace] = []
        self._program: Program | None = None
        self._states: dict[int, _State] = {}
        self._touched: dict[int, _State] = {}
        self._boxes: dict[int, ByteSet] = {}
        self._known: dict[ByteSet, ByteSet] = {}

    def start(self, machine: Machine) -> None:
        """Forget the replay before."""
        self._program = machine.program
        self.areas = find_areas(machine)
        self.nodes = []
        self._states = {a.region.start: _State(a) for a in self.areas if a.region.size}
        self._touched.clear()

    def enter(self, node: int) -> None:
        """Nothing is to be done: :meth:`leave` of the node before has removed all marks."""

    def access(
        self, site: Site, addresses: NDArray[np.uint64], size: int, region: Region, threads: NDArray[np.int64]
    ) -> None:
        """Mark the bytes of one access."""
        state = self._states[region.start]
        self._touched[region.start] = state
        state.access(site, spot(addresses, size, region.start))

    def leave(self, node: int, complete: bool) -> None:
        """Collect what the node touched."""
        assert self._program is not None
        kind = NodeKind(int(self._program.nodes["kind"][node]))
        found = _BY_OPERATION[kind](self, self._program, node) if kind in _BY_OPERATION else self._collect()
        self.nodes.append(NodeTrace(node, found, complete))

    def _collect(self) -> tuple[AreaTrace, ...]:
        found = tuple(state.collect(self._shared) for _, state in sorted(self._touched.items()))
        self._touched.clear()
        return tuple(sorted(found, key=lambda trace: trace.area))

    def _shared(self, held: ByteSet) -> ByteSet:
        """Return one object for equal sets."""
        return self._known.setdefault(held, held) if held else EMPTY

    def box(self, row: int) -> ByteSet:
        """Return the bytes of a row of the box table."""
        if row not in self._boxes:
            assert self._program is not None
            box = box_of(self._program, row)
            self._boxes[row] = self._shared(from_box(box.offset, box.item, box.axes) if box.nbytes else EMPTY)
        return self._boxes[row]

    def read_box(self, buffer: int, box: int) -> AreaTrace:
        """Note that a box of a buffer is read."""
        held = self.box(box)
        state = self._states.get(self.areas[buffer].region.start)
        unwritten = state.unwritten(held) if state is not None else EMPTY
        return AreaTrace(buffer, read=held, old=held, unwritten=self._shared(unwritten))

    def write_box(self, buffer: int, box: int) -> AreaTrace:
        """Note that a box of a buffer is written."""
        held = self.box(box)
        state = self._states.get(self.areas[buffer].region.start)
        if state is not None:
            state.fill(held)
        return AreaTrace(buffer, write=held)


class _State:
    """Marks of one area: those of the node that runs, and which bytes were ever written."""

    def __init__(self, area: Area) -> None:
        self._area = area
        self._size = area.region.size
        self._marks: dict[str, Marks] = {}
        self._ever = Marks(self._size) if area.blank else None
        self._prefix = 0

    def _get(self, name: str) -> Marks:
        found = self._marks.get(name)
        if found is None:
            found = self._marks[name] = Marks(self._size)
        return found

    def access(self, site: Site, where: Spot) -> None:
        """Mark one access."""
        if site.kind != "write":
            self._use(where)
        if site.reduction:
            self._get(f"reduce {site.reduction}").set(where)
        elif site.kind != "write":
            self._get("read").set(where)
        if site.kind != "read":
            self._change(where, plain=not site.reduction)

    def _use(self, where: Spot) -> None:
        """Note that old values are read. While the node has written nothing, all it reads is old."""
        if self._ever is not None:
            self._get("unwritten").set_absent(where, self._ever)
        write = self._marks.get("write")
        if write:
            self._get("old").set_absent(where, write)

    def _change(self, where: Spot, plain: bool) -> None:
        if self._ever is not None:
            self._ever.set(where)
        if not plain:
            return
        write = self._get("write")
        if not write:
            old = self._get("old")
            for name, marks in self._marks.items():
                if name == "read" or name.startswith("reduce "):
                    old.add(marks)
        write.set(where)

    def unwritten(self, held: ByteSet) -> ByteSet:
        """Return the bytes of a set that nobody has written."""
        if self._ever is None or not held:
            return EMPTY
        return held - self._ever.bytes(held.first, held.last + 1)

    def fill(self, held: ByteSet) -> None:
        """Note that a fill or copy has written these bytes."""
        if self._ever is not None:
            self._ever.add_bytes(held)
            self._settle()

    def _settle(self) -> None:
        """Stop asking whether bytes were written once all were."""
        assert self._ever is not None
        self._prefix = self._ever.first_gap(self._prefix, self._size)
        if self._prefix == self._size:
            self._ever = None

    def collect(self, shared: Callable[[ByteSet], ByteSet]) -> AreaTrace:
        """Return what the node did, and remove its marks."""
        wrote = bool(self._marks.get("write"))
        taken = {name: shared(marks.take()) for name, marks in self._marks.items() if marks}
        reduce = {n.removeprefix("reduce "): held for n, held in taken.items() if n.startswith("reduce ")}
        trace = AreaTrace(
            self._area.index,
            taken.get("read", EMPTY),
            taken.get("write", EMPTY),
            MappingProxyType(reduce),
            taken.get("old", EMPTY),
            taken.get("unwritten", EMPTY),
        )
        if self._ever is not None:
            self._settle()
        if wrote:
            return trace
        return replace(trace, old=shared(trace.read | trace.reduced))


def _fill(recorder: Recorder, program: Program, node: int) -> tuple[AreaTrace, ...]:
    row = program.fill_ops[program.nodes["op"][node]]
    return (recorder.write_box(int(row["buffer"]), int(row["box"])),)


def _copy(recorder: Recorder, program: Program, node: int) -> tuple[AreaTrace, ...]:
    row = program.copy_ops[program.nodes["op"][node]]
    read = recorder.read_box(int(row["source"]), int(row["source_box"]))
    write = recorder.write_box(int(row["target"]), int(row["target_box"]))
    if read.area == write.area:
        return (AreaTrace(read.area, read.read, write.write, {}, read.old, read.unwritten),)
    return (read, write)


def _join(recorder: Recorder, program: Program, node: int) -> tuple[AreaTrace, ...]:
    return ()


_BY_OPERATION: Mapping[NodeKind, Callable[[Recorder, Program, int], tuple[AreaTrace, ...]]] = (
    MappingProxyType({NodeKind.FILL: _fill, NodeKind.COPY: _copy, NodeKind.JOIN: _join})
)
"""Nodes whose bytes their operation gives; those of a kernel are marked as it runs."""
