"""First fit: each block in turn at the lowest offset where it overlaps nothing that it may not."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from planc.passes.problem import Placed, Problem, areas


def first_fit(problem: Problem, order: Sequence[int]) -> Placed:
    """Return the placement of the blocks taken in ``order``."""
    offsets = [-1] * len(problem.sizes)
    height = 0
    for block in order:
        taken = sorted(
            (offsets[other], offsets[other] + problem.sizes[other])
            for other in problem.neighbours[block]
            if offsets[other] >= 0
        )
        size, align = problem.sizes[block], problem.aligns[block]
        at = 0
        for low, high in taken:
            if low >= at + size:
                break
            if high > at:
                at = -(-high // align) * align
        offsets[block] = at
        height = max(height, at + size)
    return Placed(offsets, height)


def by_size(problem: Problem) -> Placed:
    """Return first fit by size, the largest first."""
    return first_fit(problem, sorted(range(len(problem.sizes)), key=lambda i: -problem.sizes[i]))


def best_fit(problem: Problem, rounds: int) -> Placed:
    """Return the best of first fit in a few orders, the best one improved for ``rounds``.

    Each round moves blocks that stick out above the rest, and one other, towards the front of the order; the
    bound ends it. The same problem gives the same placement.
    """
    orders = _orders(problem)
    tried = [(first_fit(problem, order), order) for order in orders]
    best, order = min(tried, key=lambda pair: pair[0].height)
    rng = Random(len(problem.sizes))
    for _ in range(rounds):
        if best.height <= problem.bound:
            break
        moved = _moved(problem, best, order, rng)
        found = first_fit(problem, moved)
        if found.height <= best.height:
            best, order = found, moved
    return best


def _orders(problem: Problem) -> list[list[int]]:
    spans, loads = areas(problem)
    sizes, blocks = problem.sizes, range(len(problem.sizes))
    keys = (
        lambda i: (-sizes[i], i),
        lambda i: (-sizes[i] * spans[i], i),
        lambda i: (-spans[i], -sizes[i], i),
        lambda i: (-loads[i], -spans[i], -sizes[i], i),
        lambda i: (-len(problem.neighbours[i]), -sizes[i], i),
        lambda i: i,
    )
    return [sorted(blocks, key=key) for key in keys]


def _moved(problem: Problem, placed: Placed, order: list[int], rng: Random) -> list[int]:
    limit = max(problem.bound, placed.height - placed.height // 16)
    high = [b for b in order if placed.offsets[b] + problem.sizes[b] > limit]
    chosen = {*rng.sample(high, min(len(high), 2)), rng.choice(order)}
    left = [b for b in order if b not in chosen]
    for block in chosen:
        left.insert(rng.randrange(len(left) + 1) * rng.randrange(2), block)
    return left
