"""Which elements of a buffer have been written so far, on a grid of cells that all its footprints respect.

Each axis of the buffer is cut where a footprint starts or ends (at every index where one has a step), so a
footprint is a slice of cells and the answer is exact. Two things are not exact, both in the direction of
silence: a footprint that is no product of progressions counts as the whole buffer when written and as covered
when read, and so does everything where the grid would need more than ``MOST_CELLS`` cells.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from math import prod

import numpy as np

from planc.plan.regions import Progression, Region

MOST_CELLS = 1 << 22


class Coverage:
    """The written cells of one buffer of ``shape``; ``regions`` are all that it will be asked about."""

    def __init__(self, shape: tuple[int, ...], regions: Iterable[Region | None]) -> None:
        """Cut the axes; nothing is written yet."""
        known = [region for region in set(regions) if region is not None]
        self._cuts = [_cuts(extent, [r[axis] for r in known]) for axis, extent in enumerate(shape)]
        cells = tuple(len(cuts) - 1 for cuts in self._cuts)
        self._written = np.zeros(cells, dtype=np.bool_) if prod(cells) <= MOST_CELLS else None
        self._complete: set[Region] = set()
        self._marked: set[Region] = set()

    def write(self, region: Region | None) -> None:
        """Mark a region as written; None marks everything."""
        if self._written is None or region in self._marked:
            return
        if region is None:
            self._written = None
            return
        self._marked.add(region)
        self._written[self._slices(region)] = True

    def missing(self, region: Region | None) -> tuple[tuple[int, ...], bool] | None:
        """Return the first element of the region that nothing wrote, and whether nothing wrote any of it.

        None when all of it is written.
        """
        if self._written is None or region is None or region in self._complete:
            return None
        part = self._written[self._slices(region)]
        if part.all():
            self._complete.add(region)
            return None
        cell = np.unravel_index(int(np.argmin(part)), part.shape) if part.ndim else ()
        first = tuple(
            max(p.start, cuts[bisect_left(cuts, p.start) + int(c) * _cells_per_step(p, cuts)])
            for p, cuts, c in zip(region, self._cuts, cell, strict=True)
        )
        return first, not bool(part.any())

    def _slices(self, region: Region) -> tuple[slice, ...]:
        return tuple(_slice(p, cuts) for p, cuts in zip(region, self._cuts, strict=True))


def _cuts(extent: int, progressions: list[Progression]) -> list[int]:
    """Return the borders of an axis's cells, from 0 to ``extent``."""
    if any(p.step > 1 for p in progressions):
        return list(range(extent + 1))
    return sorted({0, extent, *(p.start for p in progressions), *(p.last + 1 for p in progressions)})


def _cells_per_step(progression: Progression, cuts: list[int]) -> int:
    return progression.step if progression.step > 1 else 1


def _slice(progression: Progression, cuts: list[int]) -> slice:
    start = bisect_left(cuts, progression.start)
    stop = bisect_left(cuts, progression.last + 1)
    return slice(start, stop, progression.step)
