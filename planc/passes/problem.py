"""The placement problem: blocks, some pairs of which may not overlap, in as few bytes as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.passes.dag import Pair

Matrix = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Problem:
    """``neighbours`` of a block are those that need other bytes than it.

    ``cliques`` are sets of blocks that all need bytes of their own, together every block; ``bound`` is the
    most bytes of one, which no placement can go below. Offsets are multiples of ``aligns``.
    """

    sizes: list[int]
    aligns: list[int]
    neighbours: list[list[int]]
    cliques: list[list[int]]
    bound: int


@dataclass(frozen=True, slots=True)
class Placed:
    """Offsets of the blocks, and the end of the last byte used."""

    offsets: list[int]
    height: int


def problem_of(
    sizes: Sequence[int], aligns: Sequence[int], pairs: Sequence[Pair], cliques: list[list[int]]
) -> Problem:
    """Return the problem whose blocks conflict in ``pairs``."""
    neighbours: list[list[int]] = [[] for _ in sizes]
    for first, second in pairs:
        neighbours[first].append(second)
        neighbours[second].append(first)
    bound = max((sum(sizes[i] for i in clique) for clique in cliques), default=0)
    return Problem(list(sizes), list(aligns), neighbours, cliques, bound)


def interval_problem(sizes: Sequence[int], lower: Sequence[float], upper: Sequence[float]) -> Problem:
    """Return the problem of blocks that each live in the half-open interval [lower, upper)."""
    starts, ends = np.asarray(lower), np.asarray(upper)
    cliques: list[list[int]] = []
    for moment in np.unique(starts).tolist():
        live = np.flatnonzero((starts <= moment) & (moment < ends)).tolist()
        if cliques and set(cliques[-1]) <= set(live):
            cliques[-1] = live
        elif not cliques or not set(live) <= set(cliques[-1]):
            cliques.append(live)
    both = (starts[:, None] < ends[None, :]) & (starts[None, :] < ends[:, None])
    pairs = np.argwhere(np.triu(both, 1)).tolist()
    return problem_of(sizes, [1] * len(sizes), [(a, b) for a, b in pairs], cliques)


def areas(problem: Problem) -> tuple[list[int], list[int]]:
    """Return how many cliques each block is in, and the most bytes of one of them."""
    spans, loads = [0] * len(problem.sizes), [0] * len(problem.sizes)
    for clique in problem.cliques:
        load = sum(problem.sizes[i] for i in clique)
        for block in clique:
            spans[block] += 1
            loads[block] = max(loads[block], load)
    return spans, loads
