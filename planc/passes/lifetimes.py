"""Which scratch buffers a schedule may hold at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planc.graph.reach import Past, holds, settled
from planc.passes.dag import Dag, Pair, Sweep


@dataclass(frozen=True, slots=True)
class Lifetime:
    """One buffer's uses as positions, rising, and ``past``: what comes before each one of them."""

    buffer: int
    uses: list[int]
    past: Past

    def after(self, other: Lifetime) -> bool:
        """Return whether, in every legal run, all uses of ``other`` come before all uses of this one."""
        base = self.past[0]
        if other.uses[-1] < base:
            return True
        return other.uses[-1] < self.uses[0] and all(holds(self.past, u) for u in other.uses if u >= base)


def common(first: Past, second: Past) -> Past:
    """Return the intersection of two pasts."""
    if first[0] > second[0]:
        first, second = second, first
    gap = second[0] - first[0]
    return settled(first[0], first[1] & (second[1] << gap | ((1 << gap) - 1)))


def lifetimes(dag: Dag, uses: Mapping[int, list[int]]) -> list[Lifetime]:
    """Return the lifetimes of the buffers that have a use, by their first one; ``uses`` are rows."""
    place = {row: position for position, row in enumerate(dag.rows)}
    at: dict[int, list[int]] = {}
    positions = {buffer: sorted(place[node] for node in nodes) for buffer, nodes in uses.items()}
    for buffer, where in positions.items():
        for position in where:
            at.setdefault(position, []).append(buffer)
    pasts: dict[int, Past] = {}
    sweep = Sweep(dag)
    for position in range(len(dag.rows)):
        past, _ = sweep.step(position)
        for buffer in at.get(position, ()):
            pasts[buffer] = common(pasts[buffer], past) if buffer in pasts else past
    used = [Lifetime(b, where, pasts[b]) for b, where in positions.items() if where]
    return sorted(used, key=lambda life: (life.uses[0], life.buffer))


def conflicts(lives: list[Lifetime]) -> list[Pair]:
    """Return the pairs of indices of ``lives``, by first use, of which neither comes after the other."""
    return [
        (other, index)
        for index, candidates in _candidates(lives)
        for other in candidates
        if not lives[index].after(lives[other])
    ]


def _candidates(lives: list[Lifetime]) -> Iterator[tuple[int, list[int]]]:
    """Yield each index with the earlier ones that may still be in use where it or a later one begins."""
    floor = [0] * len(lives)
    least = lives[-1].past[0] if lives else 0
    for index in range(len(lives) - 1, -1, -1):
        least = min(least, lives[index].past[0])
        floor[index] = least
    active: list[int] = []
    for index in range(len(lives)):
        active = [other for other in active if lives[other].uses[-1] >= floor[index]]
        yield index, active
        active.append(index)


def live_sets(lives: list[Lifetime], sizes: list[int]) -> tuple[list[list[int]], int]:
    """Return the largest sets that are live at once in the run along the order, and most bytes of one.

    Two buffers that one legal run holds at once are never ordered, so a set needs as many bytes as its sum.
    """
    ends = sorted(range(len(lives)), key=lambda i: lives[i].uses[-1])
    live: dict[int, None] = {}
    sets: list[list[int]] = []
    peak = total = done = 0
    grown = False
    for index, life in enumerate(lives):
        while done < len(ends) and lives[ends[done]].uses[-1] < life.uses[0]:
            if grown:
                sets.append(list(live))
                grown = False
            del live[ends[done]]
            total -= sizes[ends[done]]
            done += 1
        live[index] = None
        total += sizes[index]
        peak, grown = max(peak, total), True
    return ([*sets, list(live)] if grown else sets), peak
