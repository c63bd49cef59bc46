"""A schedule as passes work on it: nodes by their position in its order, edges as lists of positions."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from planc.graph.reach import NOTHING, Past, holds, including, join, past_of
from planc.plan.program import EMITTED_EDGE, EdgeType, Schedule, Table

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Dag:
    """``rows`` are the program's rows by position; ``before`` each position's direct predecessors, rising.

    Positions are a legal order: each edge goes from a lesser to a greater one. Only full edges count;
    a programmatic edge orders nothing by itself.
    """

    rows: list[int]
    before: list[list[int]]

    def after(self) -> list[list[int]]:
        """Return each position's direct successors, rising."""
        after: list[list[int]] = [[] for _ in self.rows]
        for position, direct in enumerate(self.before):
            for previous in direct:
                after[previous].append(position)
        return after


def dag_of(schedule: Schedule) -> Dag:
    """Return the full edges of ``schedule``, each once."""
    rows: list[int] = schedule.order.tolist()
    position = np.empty(len(rows), np.int64)
    position[schedule.order] = np.arange(len(rows))
    full = schedule.edges[schedule.edges["type"] == EdgeType.FULL]
    pairs = np.unique(position[full["after"]] * len(rows) + position[full["before"]])
    before: list[list[int]] = [[] for _ in rows]
    for pair in pairs.tolist():
        target, source = divmod(pair, len(rows))
        before[target].append(source)
    return Dag(rows, before)


def with_edges(schedule: Schedule, dag: Dag) -> Schedule:
    """Return ``schedule`` with the full edges of ``dag`` instead of its own; others stay."""
    others = schedule.edges[schedule.edges["type"] != EdgeType.FULL]
    counts = [len(direct) for direct in dag.before]
    rows = np.array(dag.rows, np.uint32)
    edges = np.zeros(sum(counts), EMITTED_EDGE)
    edges["after"] = np.repeat(rows, counts)
    flat = [previous for direct in dag.before for previous in direct]
    edges["before"] = rows[np.array(flat, np.int64)]
    edges["type"] = EdgeType.FULL
    taken = np.isin(_keys(others), _keys(edges), invert=True)
    both = np.concatenate([edges, others[taken]])
    return replace(schedule, edges=both[np.lexsort([both["after"], both["before"]])])


def _keys(edges: Table) -> Table:
    keys: Table = edges["before"].astype(np.int64) << 32 | edges["after"]
    return keys


def joined(dag: Dag, extra: Iterable[Pair]) -> Dag:
    """Return ``dag`` with more edges, each from a lesser position to a greater one."""
    before = list(dag.before)
    for source, target in extra:
        if source not in before[target]:
            before[target] = sorted([*before[target], source])
    return Dag(dag.rows, before)


class Sweep:
    """Walks the positions of a :class:`Dag` and keeps what comes before each, as long as it is needed."""

    def __init__(self, dag: Dag) -> None:
        """Start before the first position."""
        self._dag = dag
        self._pasts: list[Past] = [NOTHING] * len(dag.rows)
        self._waiting = [0] * len(dag.rows)
        for direct in dag.before:
            for previous in direct:
                self._waiting[previous] += 1

    def step(self, position: int) -> tuple[Past, list[int]]:
        """Return what comes before ``position``, and those of its direct predecessors that no path implies.

        Positions are asked for in turn, each once.
        """
        direct, pasts = self._dag.before[position], self._pasts
        kept = direct
        if len(direct) > 1:
            implied = NOTHING
            for previous in direct:
                implied = join(implied, pasts[previous])
            kept = [previous for previous in direct if not holds(implied, previous)]
            past = implied
            for previous in kept:
                past = past if holds(past, previous) else including(past, previous)
        else:
            past = past_of(direct, pasts)
        self._keep(position, past)
        return past, kept

    def _keep(self, position: int, past: Past) -> None:
        """Keep a past for the successors, and drop those that nobody will ask for again."""
        for previous in self._dag.before[position]:
            self._waiting[previous] -= 1
            if not self._waiting[previous]:
                self._pasts[previous] = NOTHING
        if self._waiting[position]:
            self._pasts[position] = past


def arranged(dag: Dag, key: Callable[[int], Any]) -> list[int]:
    """Return the positions in the legal order that takes, of all that are ready, the least ``key`` first."""
    after = dag.after()
    waiting = [len(direct) for direct in dag.before]
    ready = [(key(p), p) for p, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        _, position = heapq.heappop(ready)
        order.append(position)
        for following in after[position]:
            waiting[following] -= 1
            if not waiting[following]:
                heapq.heappush(ready, (key(following), following))
    return order
