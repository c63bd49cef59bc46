"""Races of a program: every pair of nodes with conflicting effects and no path between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planc.hazards.bitsets import bits, top_bits
from planc.hazards.footprints import Footprint
from planc.hazards.sweep import NO_OPERATORS, Access, Mended, Operators, Sweep, conflict
from planc.plan.dtypes import DTYPES
from planc.plan.program import EffectKind, Program
from planc.plan.regions import Region, meet_regions, region_bytes

_READ = int(EffectKind.READ)
_NEAR = 4
MANY = 1 << 15
"""Races beyond this number are counted, not listed one by one."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two effects (rows) that share bytes of ``buffer``, one of each node, and need an order.

    ``low`` and ``high`` bound the shared bytes, from the first to past the last; ``region`` is their exact
    set of elements where the footprints are views. Where two buffers may be aliases, ``other`` is the second
    node's, and the bytes are the first's.
    """

    first: int
    second: int
    buffer: int
    other: int
    write_write: bool
    low: int
    high: int
    region: Region | None


@dataclass(frozen=True, slots=True)
class Race:
    """Two nodes (rows, ``first`` earlier in a legal order) and why they may not run at once.

    ``conflicts`` is empty when one of them may touch anything.
    """

    first: int
    second: int
    conflicts: tuple[Conflict, ...]

    @property
    def write_write(self) -> bool:
        """Whether both nodes write some shared byte."""
        return any(c.write_write for c in self.conflicts)


class Races:
    """All races of one program, found and counted; reasons are worked out for those that are asked for."""

    def __init__(self, program: Program, operators: Operators = NO_OPERATORS) -> None:
        """Find the races of an acyclic program; ``operators`` are those of its proved reductions."""
        self._program = program
        self._sweep = Sweep(program, operators)
        self._pairs: list[tuple[int, int]] = []
        self._overlaps: dict[tuple[int, int], tuple[int, int, Region | None]] = {}
        self.count = 0
        """How many pairs of nodes race."""
        order = self._sweep.order
        for position, base, mask in self._sweep.conflicts():
            self.count += mask.bit_count()
            earlier = bits(mask) if self.count <= MANY else top_bits(mask, _NEAR)
            self._pairs.extend((order[base + place], order[position]) for place in earlier)

    def pairs(self) -> Sequence[tuple[int, int]]:
        """Return the pairs (rows), the one that is earlier in a legal order first.

        All of them up to ``MANY``; of more, the last few before each node.
        """
        return self._pairs

    def nearest(self) -> list[Race]:
        """Return :meth:`pairs` with their reasons, those nearest to each other in the text first."""
        return [self.explain(*p) for p in sorted(self._pairs, key=lambda p: (abs(p[1] - p[0]), max(p)))]

    def explain(self, first: int, second: int) -> Race:
        """Return the race of a pair with all its conflicts."""
        by_node = self._sweep.accesses.by_node
        footprints = self._sweep.accesses.footprints
        found = [
            self._conflict(one, two)
            for one in by_node[first]
            for two in by_node[second]
            if conflict(one, two) and footprints.meet(one.footprint, two.footprint)
        ]
        return Race(first, second, tuple(found))

    def mend(self) -> Mended:
        """Return the least edges that order every race, in the direction of the text where that is legal."""
        return self._sweep.infer()

    def _conflict(self, first: Access, second: Access) -> Conflict:
        footprints = self._sweep.accesses.footprints
        one, two = footprints.all[first.footprint], footprints.all[second.footprint]
        write_write = first.kind != _READ and second.kind != _READ
        if one.buffer != two.buffer:
            low, high, region = *_interval(one), one.region
        else:
            key = (first.footprint, second.footprint)
            if key not in self._overlaps:
                self._overlaps[key] = self._shared(one, two)
            low, high, region = self._overlaps[key]
        return Conflict(
            first.effect, second.effect, first.buffer, second.buffer, write_write, low, high, region
        )

    def _shared(self, one: Footprint, two: Footprint) -> tuple[int, int, Region | None]:
        if one.region is not None and two.region is not None:
            region = meet_regions(one.region, two.region)
            if region is not None:
                buffer = self._program.buffers[one.buffer]
                low, high = region_bytes(region, buffer.shape, DTYPES[buffer.dtype].itemsize)
                return low, high, region
        first, second = _interval(one), _interval(two)
        return max(first[0], second[0]), min(first[1], second[1]), None


def _interval(footprint: Footprint) -> tuple[int, int]:
    intervals = [box.interval for box in footprint.boxes] or [(0, 0)]
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def find_races(program: Program, operators: Operators = NO_OPERATORS) -> Races:
    """Return the races of a program whose edges have no cycle.

    ``operators`` gives that of a proved reduction (a row of the effects), as ``add.u32``.
    """
    return Races(program, operators)
