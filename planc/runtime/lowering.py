"""From the nodes of a program to tables of driver nodes, and new addresses into those tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Diagnostic, ReplayError
from planc.plan.program import EdgeType, NodeKind, Program, Schedule
from planc.runtime.boxes import (
    MAX_PIECES,
    CopyPiece,
    FillPiece,
    TooManyPieces,
    Unlike,
    box_of,
    copy_pieces,
    fill_pieces,
)
from planc.runtime.driver import DriverNodeKind, Handle
from planc.runtime.errors import node_facts, node_span
from planc.runtime.links import ArgumentBlob
from planc.runtime.nodes import (
    KERNEL_PARAMS,
    MEMCPY_PARAMS,
    MEMORY_DEVICE,
    MEMSET_PARAMS,
    DriverEdges,
    Indices,
    NodeTables,
    addresses_of,
)

Pieces = Sequence[FillPiece] | Sequence[CopyPiece]
_Piece = TypeVar("_Piece", FillPiece, CopyPiece)


class Lowering:
    """The driver nodes of a schedule, at the addresses now in force.

    ``tables`` is what the driver is given. ``functions`` are driver handles by function row, ``addresses``
    (uint64) go by buffer row. Raises :class:`ReplayError` PLC727 where the driver cannot do a node.
    """

    def __init__(
        self,
        program: Program,
        schedule: Schedule,
        functions: Sequence[Handle],
        addresses: NDArray[np.uint64],
        blob: ArgumentBlob,
        max_pitch: int,
    ) -> None:
        """Lay everything out, then write the addresses."""
        self._program = program
        order = schedule.order.astype(np.intp)
        runs = _Runs.of(program)
        cut = self._cut(order, runs, max_pitch)
        rows, starts, stops = _spread(order, cut, len(program.nodes))
        kinds = program.nodes["kind"][rows].astype(np.uint32)
        kinds[[starts[n] for n, pieces in cut.items() if not pieces]] = DriverNodeKind.EMPTY
        where = {kind: np.flatnonzero(kinds == kind) for kind in DriverNodeKind}
        ops = program.nodes["op"][rows].astype(np.intp)
        kernels, counts = _kernels(program, ops[where[DriverNodeKind.KERNEL]], functions, blob)
        self._fills = _Fills(program, ops[where[DriverNodeKind.MEMSET]], runs)
        self._copies = _Copies(program, ops[where[DriverNodeKind.MEMCPY]], runs)
        self._fills.override(where[DriverNodeKind.MEMSET], starts, cut)
        self._copies.override(where[DriverNodeKind.MEMCPY], starts, cut)
        params = np.zeros(len(rows), np.uint64)
        memsets, memcpys = self._fills.table, self._copies.table
        for kind, table in zip(_WITH_PARAMS, (kernels, memsets, memcpys), strict=True):
            params[where[kind]] = addresses_of(table)
        edges = _edges(schedule, starts, stops, len(rows))
        self.tables = NodeTables(kinds, params, rows, starts, stops, edges, kernels, counts, memsets, memcpys)
        self._memset_rows = rows[where[DriverNodeKind.MEMSET]]
        self.rigid = np.zeros(len(rows), np.bool_)
        """Which driver nodes no executable graph can patch: copies of more than one dimension."""
        self.rigid[where[DriverNodeKind.MEMCPY]] = (memcpys["height"] > 1) | (memcpys["depth"] > 1)
        self.point(addresses)

    def point(self, addresses: NDArray[np.uint64]) -> None:
        """Write the addresses of buffers into fills and copies; kernels have theirs in the blob."""
        wrong = self._fills.point(addresses)
        if len(wrong):
            node = int(self._memset_rows[wrong[0]])
            self._refuse(node, f"cannot be given to the driver: {self._fills.fault(int(wrong[0]))}", _KERNEL)
        self._copies.point(addresses)

    def _cut(self, order: Indices, runs: _Runs, max_pitch: int) -> dict[int, Pieces]:
        """Return the pieces of the fills and copies that are not one plain run of bytes."""
        nodes = self._program.nodes[order]
        found: dict[int, Pieces] = {}
        for kind, plain in ((NodeKind.FILL, runs.plain_fills), (NodeKind.COPY, runs.plain_copies)):
            of_kind = np.flatnonzero(nodes["kind"] == kind)
            ops = nodes["op"][of_kind]
            for position, op in zip(of_kind[~plain[ops]], ops[~plain[ops]], strict=True):
                node = int(order[position])
                found[node] = self._pieces(node, kind, int(op), max_pitch)
        return found

    def _pieces(self, node: int, kind: NodeKind, op: int, max_pitch: int) -> Pieces:
        try:
            return _CUT[kind](self._program, op, max_pitch)
        except TooManyPieces as error:
            reason = f"needs {error.count} driver nodes; more than {MAX_PIECES} are refused"
            self._refuse(node, reason, "copy or fill a more regular view, or use a kernel")
        except Unlike as error:
            self._refuse(node, f"cannot be given to the driver: {error}", _KERNEL)

    def _refuse(self, node: int, reason: str, cure: str) -> NoReturn:
        raise ReplayError(
            Diagnostic(
                "PLC727",
                f"node `{self._program.node_names[node]}` {reason}",
                span=node_span(self._program, node),
                help=cure,
                facts=node_facts(self._program, node),
            )
        )


_KERNEL = "use a kernel"
_WITH_PARAMS = (DriverNodeKind.KERNEL, DriverNodeKind.MEMSET, DriverNodeKind.MEMCPY)


@dataclass(frozen=True, slots=True)
class _Runs:
    """Which boxes are one run of ``nbytes`` bytes (int64, by box), and the fills and copies of such boxes."""

    nbytes: NDArray[np.int64]
    plain_fills: NDArray[np.bool_]
    plain_copies: NDArray[np.bool_]

    @classmethod
    def of(cls, program: Program) -> _Runs:
        boxes, axes = program.boxes, program.axes
        nbytes = boxes["item"].astype(np.int64)
        plain = np.ones(len(boxes), np.bool_)
        for depth in range(int(boxes["axes"].max(initial=0))):  # innermost axis first
            deep = np.flatnonzero(boxes["axes"] > depth)
            rows = axes[boxes["axis"][deep].astype(np.intp) + boxes["axes"][deep] - 1 - depth]
            plain[deep] &= (rows["stride"] == nbytes[deep]) | (rows["count"] == 1)
            nbytes[deep] *= rows["count"].astype(np.int64)
        plain &= nbytes > 0
        fills = plain[program.fill_ops["box"]]
        target, source = program.copy_ops["target_box"], program.copy_ops["source_box"]
        copies = plain[target] & plain[source] & (nbytes[target] == nbytes[source])
        return cls(nbytes, fills, copies)


def _spread(
    order: Indices, cut: Mapping[int, Pieces], count: int
) -> tuple[NDArray[np.uint32], Indices, Indices]:
    """Return each driver node's program node, and where each program node's driver nodes start and stop."""
    lengths = np.ones(count, np.intp)
    for node, pieces in cut.items():
        lengths[node] = max(len(pieces), 1)
    ends = np.cumsum(lengths[order])
    starts, stops = np.zeros(count, np.intp), np.zeros(count, np.intp)
    stops[order] = ends
    starts[order] = ends - lengths[order]
    return np.repeat(order, lengths[order]).astype(np.uint32), starts, stops


def _edges(schedule: Schedule, starts: Indices, stops: Indices, count: int) -> DriverEdges:
    """Return the edges between driver nodes: each chain of pieces, then the schedule's."""
    inner = np.ones(count, np.bool_)
    inner[starts[schedule.order]] = False
    chained = np.flatnonzero(inner)
    before = np.concatenate([chained - 1, stops[schedule.edges["before"]] - 1])
    after = np.concatenate([chained, starts[schedule.edges["after"]]])
    full = np.full(len(chained), int(EdgeType.FULL), np.uint32)
    return DriverEdges.of(count, before, after, np.concatenate([full, schedule.edges["type"]]))


def _kernels(
    program: Program, ops: Indices, functions: Sequence[Handle], blob: ArgumentBlob
) -> tuple[np.ndarray[tuple[int], np.dtype[np.void]], Indices]:
    """Return CUDA_KERNEL_NODE_PARAMS and the number of arguments of each kernel op."""
    rows = program.kernel_ops
    if len(ops) != len(rows) or (ops[1:] <= ops[:-1]).any():  # not simply all of them, in order
        rows = rows[ops]
    handles = np.array([int(f) for f in functions] or [0], np.uint64)
    made = np.zeros(len(ops), KERNEL_PARAMS)
    made["function"] = handles[rows["function"]] if len(rows) else 0
    for name in ("grid", "block", "shared"):
        made[name] = rows[name]
    made["parameters"], counts = blob.pointer_arrays(ops)
    return made, counts


class _Fills:
    """MEMSET nodes: their structures, and which buffer and offset each is at."""

    def __init__(self, program: Program, ops: Indices, runs: _Runs) -> None:
        rows = program.fill_ops[ops]
        self.table = np.zeros(len(ops), MEMSET_PARAMS)
        self._buffers = rows["buffer"].astype(np.intp)
        self._offsets = program.boxes["offset"][rows["box"]]
        self._items = rows["item"].astype(np.int64)
        self._widths = runs.nbytes[rows["box"]]
        self.table["item"] = rows["item"]
        mask = (np.uint64(1) << (8 * self._items).astype(np.uint64)) - np.uint64(1)
        self.table["value"] = rows["pattern"] & mask
        self.table["height"] = 1

    def override(self, where: Indices, starts: Indices, cut: Mapping[int, Pieces]) -> None:
        """Take the shapes of fills that were cut; then set the widths."""
        for first, pieces in _placed(where, starts, cut, FillPiece):
            rows = slice(first, first + len(pieces))
            self._offsets[rows] = [p.offset for p in pieces]
            self._widths[rows] = [p.width for p in pieces]
            self.table["height"][rows] = [p.height for p in pieces]
            self.table["pitch"][rows] = [p.pitch if p.height > 1 else 0 for p in pieces]
        self.table["width"] = self._widths // self._items

    def point(self, addresses: NDArray[np.uint64]) -> Indices:
        """Write the addresses; return the rows that are not whole items at whole addresses."""
        self.table["target"] = addresses[self._buffers] + self._offsets.view(np.uint64)
        items = self._items.view(np.uint64)
        odd = self._widths % self._items != 0
        return np.flatnonzero(odd | (self.table["pitch"] % items != 0) | (self.table["target"] % items != 0))

    def fault(self, row: int) -> str:
        """Say what does not fit."""
        return f"it sets {self._widths[row]} bytes at {self._offsets[row]} by items of {self._items[row]}"


class _Copies:
    """MEMCPY nodes: their structures, and which buffers and offsets each is at."""

    def __init__(self, program: Program, ops: Indices, runs: _Runs) -> None:
        rows = program.copy_ops[ops]
        self.table = np.zeros(len(ops), MEMCPY_PARAMS)
        self._buffers = {side: rows[side].astype(np.intp) for side in _SIDES}
        self._offsets = {side: program.boxes["offset"][rows[f"{side}_box"]] for side in _SIDES}
        nbytes = runs.nbytes[rows["target_box"]]
        for name in ("width", "target_pitch", "source_pitch"):
            self.table[name] = nbytes
        for name in ("height", "depth", "target_rows", "source_rows"):
            self.table[name] = 1
        self.table["target_type"] = self.table["source_type"] = MEMORY_DEVICE

    def override(self, where: Indices, starts: Indices, cut: Mapping[int, Pieces]) -> None:
        """Take the shapes of copies that were cut."""
        for first, pieces in _placed(where, starts, cut, CopyPiece):
            rows = slice(first, first + len(pieces))
            for name in ("width", "height", "depth"):
                self.table[name][rows] = [getattr(p, name) for p in pieces]
            for name in _SIDES:
                sides = [getattr(p, name) for p in pieces]
                self._offsets[name][rows] = [s.offset for s in sides]
                self.table[f"{name}_pitch"][rows] = [s.pitch for s in sides]
                self.table[f"{name}_rows"][rows] = [s.rows for s in sides]

    def point(self, addresses: NDArray[np.uint64]) -> None:
        """Write the addresses."""
        for side in _SIDES:
            self.table[side] = addresses[self._buffers[side]] + self._offsets[side].view(np.uint64)


_SIDES = ("target", "source")


def _placed(
    where: Indices, starts: Indices, cut: Mapping[int, Pieces], kind: type[_Piece]
) -> list[tuple[int, list[_Piece]]]:
    """Return (first row of the table of ``where``, pieces) of each node that was cut to such pieces."""
    found = []
    for node, pieces in cut.items():
        mine = [p for p in pieces if isinstance(p, kind)]
        if mine:
            found.append((int(np.searchsorted(where, starts[node])), mine))
    return found


def _cut_fill(program: Program, op: int, max_pitch: int) -> Pieces:
    return fill_pieces(box_of(program, int(program.fill_ops["box"][op])), max_pitch)


def _cut_copy(program: Program, op: int, max_pitch: int) -> Pieces:
    row = program.copy_ops[op]
    boxes = (box_of(program, int(row["target_box"])), box_of(program, int(row["source_box"])))
    return copy_pieces(*boxes, max_pitch)


_CUT: Mapping[NodeKind, Callable[[Program, int, int], Pieces]] = MappingProxyType(
    {NodeKind.FILL: _cut_fill, NodeKind.COPY: _cut_copy}
)
