"""The best placement found within an effort: first fit in many orders, then a search at the bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import gcd

from planc.passes.fit import best_fit
from planc.passes.problem import Placed, Problem
from planc.passes.search import search

SEARCHED = 1_024
"""A search is tried for at most this many blocks: it keeps a matrix of pairs."""


def pack(problem: Problem, effort: int, on_time: Callable[[], bool] = lambda: True, seed: int = 0) -> Placed:
    """Return a placement of ``problem`` for about ``effort`` steps of work.

    The search is for the bound itself, and if it finds nothing, for heights half way down from what there
    is. ``on_time`` may end it early; without it the same call gives the same answer. Another ``seed``
    looks elsewhere.
    """
    count = len(problem.sizes)
    if not count:
        return Placed([], 0)
    best = best_fit(problem, min(effort // (4 * count), 100))
    if not _searchable(problem):
        return best
    unit = gcd(*problem.sizes) or 1
    scaled = replace(problem, sizes=[size // unit for size in problem.sizes], bound=problem.bound // unit)
    height = problem.bound
    for share in (2, 4, 4):
        if best.height <= height or effort < count:
            break
        found = search(scaled, height // unit, effort // share, on_time, seed)
        if found is None:
            height = (height + best.height) // 2
            continue
        best = Placed([offset * unit for offset in found.offsets], found.height * unit)
        height = (problem.bound + best.height) // 2
    return best


def _searchable(problem: Problem) -> bool:
    """Return whether the search, which knows no alignment, may be used."""
    unit = gcd(*problem.sizes)
    return len(problem.sizes) <= SEARCHED and all(unit % align == 0 for align in problem.aligns)
