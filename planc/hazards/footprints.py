"""Distinct footprints of a program's effects, and which of them share bytes.

Nodes of a loop touch the same few views, or many disjoint ones, so effects are grouped by (buffer, boxes)
first. Of a buffer with many footprints only pairs that can meet are tested: the axis along which the fewest
intervals overlap is swept, the others filter, and what is left is decided exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.plan.boxes import Box, boxes_meet
from planc.plan.dtypes import DTYPES
from planc.plan.program import NONE, Program
from planc.plan.regions import Region, meet_regions, region_of

_FEW = 24
_MOST_PAIRS = 1 << 22

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Footprint:
    """The may boxes of an effect on one buffer; ``region`` where they are one product of progressions."""

    buffer: int
    boxes: tuple[Box, ...]
    region: Region | None


class Footprints:
    """All footprints of a program; ``of_effect[i]`` is the index of effect ``i``'s, -1 for none."""

    def __init__(self, program: Program) -> None:
        """Group the effects of ``program``."""
        self._program = program
        effects = program.effects
        boxes = read_boxes(program)
        self.all: list[Footprint] = []
        self.of_effect: list[int] = []
        self.of_buffer: dict[int, list[int]] = {}
        known: dict[tuple[int, int, int], int] = {}
        columns = (effects[name].tolist() for name in ("buffer", "may", "may_count"))
        for buffer, first, count in zip(*columns, strict=True):
            if buffer == NONE:
                self.of_effect.append(-1)
                continue
            key = (buffer, first, count)
            if key not in known:
                known[key] = self._add(buffer, tuple(boxes[first : first + count]))
            self.of_effect.append(known[key])
        self._near: dict[int, Mapping[int, list[int]] | None] = {}
        self._aliases = _alias_map(program)

    def _add(self, buffer: int, boxes: tuple[Box, ...]) -> int:
        row = self._program.buffers[buffer]
        region = None
        if len(boxes) == 1:
            region = region_of(boxes[0], row.shape, DTYPES[row.dtype].itemsize)
        self.all.append(Footprint(buffer, boxes, region))
        self.of_buffer.setdefault(buffer, []).append(len(self.all) - 1)
        return len(self.all) - 1

    def aliases(self, buffer: int) -> Sequence[int]:
        """Return the other buffers that may share memory with this one."""
        return self._aliases.get(buffer, ())

    def meeting(self, index: int) -> Sequence[int]:
        """Return every footprint that shares a byte with footprint ``index``, or may by alias; itself too."""
        buffer = self.all[index].buffer
        near = self._neighbours(buffer)
        if near is None:
            own = [other for other in self.of_buffer[buffer] if self.meet(index, other)]
        else:
            own = near[index]
        partners = self.aliases(buffer)
        if not partners:
            return own
        return [*own, *(other for p in partners for other in self.of_buffer.get(p, ()))]

    def meet(self, first: int, second: int) -> bool:
        """Return whether two footprints share a byte or may by alias. Exact for one buffer."""
        one, two = self.all[first], self.all[second]
        if one.buffer != two.buffer:
            return two.buffer in self.aliases(one.buffer)
        return first == second or footprints_meet(one, two)

    def _neighbours(self, buffer: int) -> Mapping[int, list[int]] | None:
        if buffer not in self._near:
            members = self.of_buffer[buffer]
            self._near[buffer] = _few(self, members) if len(members) <= _FEW else _many(self, members)
        return self._near[buffer]


def read_boxes(program: Program) -> list[Box]:
    """Return the rows of Program.boxes as values."""
    axes = list(zip(program.axes["count"].tolist(), program.axes["stride"].tolist(), strict=True))
    columns = (program.boxes[name].tolist() for name in ("offset", "axis", "axes", "item"))
    return [
        Box(offset, tuple(axes[first : first + count]), item)
        for offset, first, count, item in zip(*columns, strict=True)
    ]


def footprints_meet(first: Footprint, second: Footprint) -> bool:
    """Return whether two footprints of one buffer share a byte. Exact."""
    if first.region is not None and second.region is not None:
        return meet_regions(first.region, second.region) is not None
    return any(boxes_meet(one, two) for one in first.boxes for two in second.boxes)


def _alias_map(program: Program) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    for first, second in program.may_alias:
        found[first] = (*found.get(first, ()), second)
        found[second] = (*found.get(second, ()), first)
    return found


def _few(footprints: Footprints, members: Sequence[int]) -> Mapping[int, list[int]]:
    near = {index: [index] for index in members}
    for first, second in combinations(members, 2):
        if footprints_meet(footprints.all[first], footprints.all[second]):
            near[first].append(second)
            near[second].append(first)
    return near


def _many(footprints: Footprints, members: Sequence[int]) -> Mapping[int, list[int]] | None:
    """Return the neighbours of many footprints; None where even the candidates are too many to list."""
    regions = [footprints.all[index].region for index in members]
    plain = [region for region in regions if region is not None]
    columns = _region_columns(plain) if len(plain) == len(regions) and plain[0] else None
    low, high, step = columns if columns is not None else _byte_columns(footprints, members)
    axis = min(range(len(low)), key=lambda a: _overlap_count(low[a], high[a]))
    if _overlap_count(low[axis], high[axis]) > _MOST_PAIRS:
        return None
    first, second = _overlapping(low[axis], high[axis])
    for other in range(len(low)):
        keep = (low[other][first] <= high[other][second]) & (low[other][second] <= high[other][first])
        common = np.gcd(step[other][first], step[other][second])
        keep &= (low[other][first] - low[other][second]) % common == 0
        first, second = first[keep], second[keep]
    certain = np.all((step[:, first] == 1) & (step[:, second] == 1), axis=0) & (columns is not None)
    near: dict[int, list[int]] = {index: [index] for index in members}
    for a, b, sure in zip(first.tolist(), second.tolist(), certain.tolist(), strict=True):
        one, two = members[a], members[b]
        if sure or footprints_meet(footprints.all[one], footprints.all[two]):
            near[one].append(two)
            near[two].append(one)
    return near


def _region_columns(regions: Sequence[Region]) -> tuple[Ints, Ints, Ints]:
    """Return (first, last, step) as arrays of axes by regions."""
    rows: Any = [[(p.start, p.last, p.step) for p in region] for region in regions]
    cube: Ints = np.array(rows, dtype=np.int64).transpose(2, 1, 0)
    return cube[0], cube[1], cube[2]


def _byte_columns(footprints: Footprints, members: Sequence[int]) -> tuple[Ints, Ints, Ints]:
    intervals = [[box.interval for box in footprints.all[index].boxes] or [(0, 0)] for index in members]
    low = np.array([[min(lo for lo, _ in many) for many in intervals]], dtype=np.int64)
    high = np.array([[max(hi for _, hi in many) - 1 for many in intervals]], dtype=np.int64)
    return low, high, np.ones_like(low)


def _overlap_count(low: Ints, high: Ints) -> int:
    """Return how many pairs of closed intervals overlap."""
    order = np.argsort(low, kind="stable")
    reach = np.searchsorted(low[order], high[order], side="right")
    return int(np.sum(reach - np.arange(len(order)) - 1))


def _overlapping(low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """Return the pairs of closed intervals that overlap."""
    order = np.argsort(low, kind="stable")
    reach = np.searchsorted(low[order], high[order], side="right")
    counts = reach - np.arange(len(order)) - 1
    first = np.repeat(np.arange(len(order)), counts)
    within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return order[first], order[first + 1 + within]
