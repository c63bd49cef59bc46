"""Does a path of full edges lead from these nodes to those? Answered for many questions in a few sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from planc.plan.program import EdgeType, Schedule, Table

_AT_ONCE = 2_048
"""How many sources one sweep follows: a bit each in the set of every node that it passes."""


@dataclass(frozen=True, slots=True)
class Question:
    """Does each of ``sources`` have a path to each of ``targets``? Rows; ``about`` is for who asks."""

    sources: Sequence[int]
    targets: Sequence[int]
    about: tuple[int, ...] = ()


class Paths:
    """The full edges of a schedule whose order is a legal one. Programmatic edges carry no path."""

    def __init__(self, schedule: Schedule) -> None:
        """Number the nodes by their place in the order."""
        count = len(schedule.order)
        self.place = np.empty(count, np.int64)
        self.place[schedule.order] = np.arange(count)
        full = schedule.edges[schedule.edges["type"] == EdgeType.FULL]
        self._rows: list[int] = schedule.order.tolist()
        self._before: list[list[int]] = [[] for _ in range(count)]
        pairs = zip(self.place[full["before"]].tolist(), self.place[full["after"]].tolist(), strict=True)
        for source, target in pairs:
            self._before[target].append(source)

    def missing(self, questions: Iterable[Question]) -> Iterator[tuple[Question, int, int]]:
        """Yield (question, source, target) for each pair of rows between which no path leads."""
        wanted: dict[int, list[tuple[int, Question]]] = {}
        for question in questions:
            targets = sorted(int(self.place[t]) for t in question.targets)
            for source in question.sources:
                wanted.setdefault(int(self.place[source]), []).extend((t, question) for t in targets)
        sources = sorted(wanted)
        for start in range(0, len(sources), _AT_ONCE):
            yield from self._sweep(sources[start : start + _AT_ONCE], wanted)

    def _sweep(
        self, sources: list[int], wanted: dict[int, list[tuple[int, Question]]]
    ) -> Iterator[tuple[Question, int, int]]:
        """Follow ``sources``, rising, from the first of them to the last target that is asked about."""
        asked: dict[int, list[tuple[int, Question]]] = {}
        for source in sources:
            for target, question in wanted[source]:
                asked.setdefault(target, []).append((source, question))
        bit = {source: 1 << number for number, source in enumerate(sources)}
        first = sources[0]
        reached: list[int] = []
        for position in range(first, max(asked) + 1):
            mine = 0
            for previous in self._before[position]:
                if previous >= first:
                    mine |= reached[previous - first] | bit.get(previous, 0)
            reached.append(mine)
            for source, question in asked.get(position, ()):
                if not mine & bit[source]:
                    yield question, self._rows[source], self._rows[position]
        for target in asked:
            if target < first:
                yield from ((q, self._rows[s], self._rows[target]) for s, q in asked[target])


def program_edges(edges: Table, schedule: Schedule) -> Iterator[Question]:
    """Yield a question for each edge of the program that is not a full edge of the schedule itself."""
    count = len(schedule.order)
    full = schedule.edges[schedule.edges["type"] == EdgeType.FULL]
    keys = [t["before"].astype(np.int64) * count + t["after"] for t in (edges, full)]
    for before, after, _ in edges[~np.isin(keys[0], keys[1])].tolist():
        yield Question((before,), (after,))


def lane_steps(kinds: Table, schedule: Schedule, chained: Sequence[int]) -> Iterator[Question]:
    """Yield a question for each two nodes of ``chained`` kinds that follow each other on a lane."""
    nodes = schedule.order[np.isin(kinds[schedule.order], chained)]
    lanes = schedule.lanes[np.isin(kinds[schedule.order], chained)]
    grouped = np.argsort(lanes, kind="stable")
    nodes, lanes = nodes[grouped], lanes[grouped]
    for step in np.flatnonzero(lanes[:-1] == lanes[1:]).tolist():
        yield Question((int(nodes[step]),), (int(nodes[step + 1]),), (int(lanes[step]),))
