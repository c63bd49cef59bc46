"""Placement in one sweep, for programs with so many buffers that pairs of them cannot be looked at."""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Sequence

from planc.passes.lifetimes import Lifetime
from planc.passes.problem import Placed

_SPAN = tuple[int, int]


class _Holes:
    """Free spans below ``top``, by offset; neighbours are merged."""

    def __init__(self) -> None:
        self.spans: list[_SPAN] = []
        self.top = 0

    def take(self, size: int) -> int:
        """Return the offset of ``size`` bytes: the smallest hole that holds them, else the end."""
        fitting = [(high - low, low) for low, high in self.spans if high - low >= size]
        if fitting:
            width, low = min(fitting)
            place = bisect.bisect_left(self.spans, (low, 0))
            self.spans[place : place + 1] = [(low + size, low + width)] if width > size else []
            return low
        low = self.top
        if self.spans and self.spans[-1][1] == self.top:
            low = self.spans.pop()[0]
        self.top = low + size
        return low

    def give(self, low: int, high: int) -> None:
        """Return a span."""
        place = bisect.bisect_left(self.spans, (low, high))
        if place < len(self.spans) and self.spans[place][0] == high:
            high = self.spans.pop(place)[1]
        if place and self.spans[place - 1][1] == low:
            place -= 1
            low = self.spans.pop(place)[0]
        self.spans.insert(place, (low, high))


def sweep_fit(lives: Sequence[Lifetime], sizes: Sequence[int]) -> Placed:
    """Return a placement of buffers given by their first use; ``sizes`` are multiples of every alignment.

    Bytes are used again once *everything* up to their buffer's last use comes before all that is to come.
    """
    floor = [0] * len(lives)
    least = lives[-1].past[0] if lives else 0
    for index in range(len(lives) - 1, -1, -1):
        least = min(least, lives[index].past[0])
        floor[index] = least
    holes, live, offsets = _Holes(), list[tuple[int, int]](), [0] * len(lives)
    for index, size in enumerate(sizes):
        while live and live[0][0] < floor[index]:
            _, done = heapq.heappop(live)
            holes.give(offsets[done], offsets[done] + sizes[done])
        offsets[index] = holes.take(size)
        heapq.heappush(live, (lives[index].uses[-1], index))
    return Placed(offsets, holes.top)
