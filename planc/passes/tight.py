"""Placement by when buffers are in use, with edges that make sure of it and lengthen no critical path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planc.passes.dag import Dag, Pair
from planc.passes.lifetimes import Lifetime
from planc.passes.problem import Placed, Problem, interval_problem


@dataclass(frozen=True, slots=True)
class Times:
    """The earliest start and end of each position, were there nothing but the edges."""

    start: list[float]
    end: list[float]


def earliest(dag: Dag, costs: list[float]) -> Times:
    """Return the times of ``dag``, with ``costs`` by position."""
    start, end = [0.0] * len(costs), [0.0] * len(costs)
    for position, direct in enumerate(dag.before):
        start[position] = max((end[b] for b in direct), default=0.0)
        end[position] = start[position] + costs[position]
    return Times(start, end)


def timed_problem(
    lives: list[Lifetime], sizes: list[int], aligns: list[int], times: Times, pinned: list[bool]
) -> Problem:
    """Return the problem where buffers conflict if their times of use overlap.

    A buffer that an unmovable node uses (``pinned``, by position) is taken to be in use all the time, since
    no edge may be added at such a node.
    """
    lower, upper = [], []
    for life in lives:
        fixed = any(pinned[use] for use in life.uses)
        lower.append(-1.0 if fixed else min(times.start[use] for use in life.uses))
        upper.append(max(times.end) + 1.0 if fixed else max(times.end[use] for use in life.uses))
    problem = interval_problem(sizes, lower, upper)
    return Problem(sizes, aligns, problem.neighbours, problem.cliques, problem.bound)


def added_edges(
    dag: Dag, lives: list[Lifetime], sizes: list[int], placed: Placed, times: Times
) -> list[Pair]:
    """Return edges that put each buffer after those whose bytes it takes over, where no path does already.

    Every edge goes from a node to one that starts no earlier than the first one ends.
    """
    after = dag.after()
    found: list[Pair] = []
    for former, heir in _handovers(lives, sizes, placed, times):
        if not lives[heir].after(lives[former]):
            lasts, firsts = lives[former].uses, lives[heir].uses
            lasts = [use for use in lasts if not _meets(after[use], lasts)]
            firsts = [use for use in firsts if not _meets(dag.before[use], firsts)]
            found.extend((last, first) for last in lasts for first in firsts)
    return found


def _meets(some: list[int], others: list[int]) -> bool:
    return not set(some).isdisjoint(others)


def _handovers(
    lives: list[Lifetime], sizes: list[int], placed: Placed, times: Times
) -> Iterator[tuple[int, int]]:
    """Yield (former, next) owner of some byte, each pair once, in the order of time."""
    begin = [min(times.start[use] for use in life.uses) for life in lives]
    spans: Mapping[tuple[int, int], int] = {}
    for heir in sorted(range(len(lives)), key=lambda i: (begin[i], i)):
        low, high = placed.offsets[heir], placed.offsets[heir] + sizes[heir]
        kept: dict[tuple[int, int], int] = {}
        formers = set()
        for (start, end), owner in spans.items():
            if end <= low or high <= start:
                kept[start, end] = owner
                continue
            formers.add(owner)
            if start < low:
                kept[start, low] = owner
            if high < end:
                kept[high, end] = owner
        kept[low, high] = heir
        spans = kept
        yield from ((former, heir) for former in sorted(formers))
