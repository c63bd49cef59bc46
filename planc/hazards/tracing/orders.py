"""Random legal orders of a schedule."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from planc.plan.program import Table

Order = tuple[int, ...]


def random_orders(edges: Table, count: int, seed: int, wanted: int, known: Order) -> Iterator[Order]:
    """Yield up to ``wanted`` different topological orders of ``count`` nodes, none equal to ``known``.

    ``edges`` have columns ``before`` and ``after``. The next node is drawn evenly from those that are ready;
    now and then the last ready or the first ready one is preferred throughout, which turns many pairs round.
    Fewer are yielded where no new one comes up in a few draws.
    """
    rng = random.Random(seed)
    seen = {known}
    followers, waiting = _links(edges, count)
    for number in range(wanted):
        for _ in range(8):
            order = _draw(rng, followers, waiting, latest=number % 4 == 1)
            if order not in seen:
                seen.add(order)
                yield order
                break


def _links(edges: Table, count: int) -> tuple[list[list[int]], list[int]]:
    followers: list[list[int]] = [[] for _ in range(count)]
    for before, after in zip(edges["before"].tolist(), edges["after"].tolist(), strict=True):
        followers[before].append(after)
    return followers, np.bincount(edges["after"], minlength=count).tolist()


def _draw(rng: random.Random, followers: list[list[int]], degrees: list[int], latest: bool) -> Order:
    waiting = list(degrees)
    ready = [row for row, degree in enumerate(waiting) if not degree]
    order: list[int] = []
    while ready:
        place = len(ready) - 1 if latest and rng.random() < 0.9 else rng.randrange(len(ready))
        ready[place], ready[-1] = ready[-1], ready[place]
        row = ready.pop()
        order.append(row)
        for follower in followers[row]:
            waiting[follower] -= 1
            if not waiting[follower]:
                ready.append(follower)
    return tuple(order)
