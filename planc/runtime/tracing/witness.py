"""Witnesses: which thread, at which instruction, touches one of some wanted bytes first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Span
from planc.plan.program import Program
from planc.runtime.cpu_nodes import Machine
from planc.runtime.tracing.bytesets import ByteSet
from planc.simt import Region, Site

Coordinates = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Wanted:
    """Accesses by ``node`` (a row) to bytes of an area; ``deed`` is ``read``, ``write`` or ``reduce``."""

    node: int
    area: int
    deed: str
    held: ByteSet


@dataclass(frozen=True, slots=True)
class Hit:
    """The first such access: thread and block (x, y, z), the byte it begins at, how many bytes.

    ``form`` and ``ptx_line`` are its instruction; ``span`` is the line of the CUDA file, where known.
    """

    thread: Coordinates
    block: Coordinates
    offset: int
    nbytes: int
    form: str
    ptx_line: int
    span: Span | None


class Witness:
    """A :class:`planc.runtime.tracing.Watch` that looks for accesses of kernels."""

    def __init__(self, wanted: Iterable[Wanted], starts: Mapping[int, int]) -> None:
        """Look for ``wanted``; ``starts`` maps the address of a region to its area."""
        self.hits: dict[Wanted, Hit] = {}
        self._areas = starts
        self._by_node: dict[int, list[Wanted]] = {}
        for each in wanted:
            self._by_node.setdefault(each.node, []).append(each)
        self._program: Program | None = None
        self._node = 0
        self._open: list[Wanted] = []

    def start(self, machine: Machine) -> None:
        """Find nothing yet."""
        self._program = machine.program
        self.hits.clear()

    def enter(self, node: int) -> None:
        """Look for what is wanted of this node."""
        self._node, self._open = node, list(self._by_node.get(node, ()))

    def leave(self, node: int, complete: bool) -> None:
        """Look no further."""
        self._open = []

    def access(
        self, site: Site, addresses: NDArray[np.uint64], size: int, region: Region, threads: NDArray[np.int64]
    ) -> None:
        """Note the first thread of an access that touches wanted bytes."""
        if not self._open:
            return
        area = self._areas[region.start]
        for each in [w for w in self._open if w.area == area and w.deed in _deeds(site)]:
            offsets = (addresses - np.uint64(region.start)).view(np.int64)
            lanes = np.flatnonzero(_touches(each.held, offsets, size))
            if len(lanes):
                lane = int(lanes[0])
                self.hits[each] = self._hit(site, int(threads[lane]), int(offsets[lane]), size)
                self._open.remove(each)

    def _hit(self, site: Site, thread: int, offset: int, size: int) -> Hit:
        assert self._program is not None
        row = self._program.kernel_ops[int(self._program.nodes["op"][self._node])]
        grid, block = row["grid"].tolist(), row["block"].tolist()
        number, within = divmod(thread, block[0] * block[1] * block[2])
        source = site.instruction.source
        line = Span(source.file, source.line, max(source.column, 1)) if source and source.line else None
        return Hit(
            _unravel(within, block),
            _unravel(number, grid),
            offset,
            size,
            site.instruction.form,
            site.instruction.line,
            line,
        )


def _deeds(site: Site) -> tuple[str, ...]:
    if site.reduction:
        return ("reduce",)
    return ("read", "write") if site.kind == "atomic" else (site.kind,)


def _touches(held: ByteSet, offsets: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    place = np.searchsorted(held.ends, offsets, "right")
    padded = np.append(held.starts, np.iinfo(np.int64).max)
    found: NDArray[np.bool_] = padded[place] < offsets + size
    return found


def _unravel(linear: int, sizes: list[int]) -> Coordinates:
    x, y, _ = sizes
    return linear % x, linear // x % y, linear // (x * y)
