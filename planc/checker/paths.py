"""Does a path of full edges lead from these nodes to those? Answered for many questions in a few sweeps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

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


class _Block(NamedTuple):
    """Sources (positions, rising), a bit each; by target, which bits each question wants there."""

    sources: list[int]
    wanted: dict[int, list[tuple[int, Question]]]


class Paths:
    """The full edges of a schedule whose order is a legal one. Programmatic edges carry no path."""

    def __init__(self, schedule: Schedule) -> None:
        """Number the nodes by their place in the order."""
        count = len(schedule.order)
        place = np.empty(count, np.int64)
        place[schedule.order] = np.arange(count)
        full = schedule.edges[schedule.edges["type"] == EdgeType.FULL]
        self.place: list[int] = place.tolist()
        self._rows: list[int] = schedule.order.tolist()
        self._before: list[list[int]] = [[] for _ in range(count)]
        pairs = zip(place[full["before"]].tolist(), place[full["after"]].tolist(), strict=True)
        for source, target in pairs:
            self._before[target].append(source)

    def missing(self, questions: Iterable[Question]) -> Iterator[tuple[Question, int, int]]:
        """Yield (question, source, target) where no path leads; one source a target stands for all."""
        asked = list(questions)
        named = sorted({self.place[source] for question in asked for source in question.sources})
        rank = {source: number for number, source in enumerate(named)}
        blocks = [_Block(named[at : at + _AT_ONCE], {}) for at in range(0, len(named), _AT_ONCE)]
        for question in asked:
            masks: dict[int, int] = {}
            for source in question.sources:
                block, bit = divmod(rank[self.place[source]], _AT_ONCE)
                masks[block] = masks.get(block, 0) | 1 << bit
            for target in question.targets:
                for block, mask in masks.items():
                    blocks[block].wanted.setdefault(self.place[target], []).append((mask, question))
        for part in blocks:
            yield from self._sweep(part)

    def _sweep(self, block: _Block) -> Iterator[tuple[Question, int, int]]:
        """Follow the sources of ``block`` from the first of them to the last target that is asked about."""
        sources, wanted = block
        bit = {source: 1 << number for number, source in enumerate(sources)}
        first = sources[0]
        reached: list[int] = []
        for position in range(first, max(wanted) + 1):
            mine = 0
            for previous in self._before[position]:
                if previous >= first:
                    mine |= reached[previous - first] | bit.get(previous, 0)
            reached.append(mine)
        for target, asked in wanted.items():
            have = reached[target - first] if target >= first else 0
            for mask, question in asked:
                if lacking := mask & ~have:
                    source = sources[lacking.bit_length() - 1]
                    yield question, self._rows[source], self._rows[target]


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
