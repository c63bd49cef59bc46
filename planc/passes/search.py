"""Depth-first search for a placement within a given height.

Blocks are placed from the bottom upwards, each at the lowest offset that those below it leave: every
placement can be pushed down to one of that form, with offsets that never fall. A partial placement is given
up when a clique cannot be finished: its lowest unplaced block is at some offset at least, and all its
unplaced blocks must fit between there and the top. Once the unplaced blocks fall into groups without a
conflict between them, each group is placed for itself, and a group that cannot be ends the whole. Which
block is tried first decides everything, and a start that goes wrong early hardly ever recovers. So there
are many short starts, each with another order of the blocks: a random mixture of five measures, with some
noise, or a variation of one that came far. (Moffitt's MiniMalloc searches along these lines, on intervals,
with a few fixed orders.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from planc.passes.problem import Matrix, Placed, Problem, areas

_FAR = 1 << 29
_LARGEST = 1 << 28
_STEPS = 400
_KEPT = 20
_VARIED = 10


class _SpentError(Exception):
    """The steps of one start are used up."""


@dataclass(frozen=True, slots=True)
class _State:
    """A partial placement.

    ``least`` is by block the least offset left to it (``_FAR``: placed, or of another group), ``left`` by
    clique the bytes of its unplaced blocks, ``last`` the (offset, block) placed last.
    """

    least: Matrix
    left: Matrix
    last: tuple[int, int]


_Key = tuple[bytes, int]


class _Frame(NamedTuple):
    """A group begun: how it is known again, what may come next, the groups left beside it.

    ``outer`` is the bytes of everything unplaced outside of it, by clique and added up.
    """

    key: _Key
    choices: Iterator[_State]
    beside: Iterator[_State]
    outer: int


class _Tables:
    """A problem as matrices, by block and by clique."""

    def __init__(self, problem: Problem) -> None:
        count, columns = len(problem.sizes), len(problem.cliques)
        self.cliques = problem.cliques
        self.sizes = np.array(problem.sizes, np.int32)
        self.member = np.zeros((count, columns), bool)
        for column, clique in enumerate(problem.cliques):
            self.member[clique, column] = True
        self.near = np.zeros((count, count), bool)
        for block, others in enumerate(problem.neighbours):
            self.near[block, others] = True
        self.first, self.last = self._hulls()

    def _hulls(self) -> tuple[Matrix, Matrix]:
        """Return the first and last column that hold each block down together with what it conflicts with."""
        shared = self.member.astype(np.float32) @ self.member.T.astype(np.float32) > 0
        first = self.member.argmax(1)
        last = self.member.shape[1] - 1 - self.member[:, ::-1].argmax(1)
        for block, other in np.argwhere(self.near & ~shared).tolist():
            first[block] = min(first[block], first[other])
            last[block] = max(last[block], last[other])
        return first, last


class _Start:
    """One search, with blocks renumbered in the order in which they are preferred."""

    def __init__(self, tables: _Tables, order: Matrix, height: int, steps: int) -> None:
        count = len(order)
        place = np.empty(count, np.int64)
        place[order] = np.arange(count)
        self.order, self.height, self.steps = order, height, steps
        self.sizes = tables.sizes[order]
        self.flat = np.concatenate([place[clique] for clique in tables.cliques])
        self.starts = np.cumsum([0, *(len(clique) for clique in tables.cliques)])[:-1]
        self.use = np.where(tables.member[order], self.sizes[:, None], 0)
        self.near = tables.near[np.ix_(order, order)]
        self.hull = tables.first[order], tables.last[order]
        self.offsets = np.zeros(count, np.int64)
        self.hopeless: set[_Key] = set()
        self.remains = int(self.use.sum())

    def run(self) -> bool:
        """Return whether all blocks were placed; raise when the steps are used up.

        The stack has the groups begun and not finished, each within the choice of the one below it. A group
        out of choices ends the choice below it, whatever was placed beside it.
        """
        least = np.zeros(len(self.order), np.int32)
        pending = self._groups(_State(least, self.use.sum(0, dtype=np.int32), (-1, -1)))
        stack: list[_Frame] = []
        unplaced = self.remains
        while True:
            group = next(pending, None)
            if group is None and not stack:
                return True
            if group is None:
                unplaced, pending = stack[-1].outer, stack.pop().beside
                continue
            stack.append(self._begin(group, pending, unplaced - int(group.left.sum())))
            while (choice := next(stack[-1].choices, None)) is None:
                self.hopeless.add(stack.pop().key)
                if not stack:
                    return False
            unplaced = stack[-1].outer + int(choice.left.sum())
            self.remains = min(self.remains, unplaced)
            pending = self._groups(choice)

    def _begin(self, group: _State, beside: Iterator[_State], outer: int) -> _Frame:
        """Begin a group; one that was given up before, reached by another way, has no choices."""
        self.steps -= 1
        if self.steps < 0:
            raise _SpentError
        offset, last = group.last
        key = (group.least.tobytes(), last if (group.least == offset).any() else -1)
        choices = iter(()) if key in self.hopeless else self._children(group)
        return _Frame(key, choices, beside, outer)

    def _groups(self, state: _State) -> Iterator[_State]:
        """Yield the parts of ``state`` that have no conflict with each other."""
        open_ = np.flatnonzero(state.least < _FAR)
        if not len(open_):
            return
        first, last = self.hull[0][open_], self.hull[1][open_]
        columns = len(state.left)
        opened, closed = np.bincount(first, minlength=columns), np.bincount(last, minlength=columns)
        ends = np.flatnonzero((np.cumsum(opened - closed) == 0) & (closed > 0))
        if len(ends) < 2:
            yield state
            return
        low = -1
        for high in ends.tolist():
            inside = (self.hull[0] > low) & (self.hull[1] <= high)
            kept = np.zeros(columns, np.int32)
            kept[low + 1 : high + 1] = state.left[low + 1 : high + 1]
            yield _State(np.where(inside, state.least, _FAR), kept, state.last)
            low = high

    def _children(self, state: _State) -> Iterator[_State]:
        """Yield what each possible next block leaves, the lowest offset first, then the preferred block."""
        picks = self._candidates(state)
        if not len(picks):
            return
        offsets = state.least[picks]
        least = np.maximum(state.least[None], offsets[:, None])
        pushed = np.maximum(least, (offsets + self.sizes[picks])[:, None])
        least = np.where(self.near[picks], pushed, least)
        least[np.arange(len(picks)), picks] = _FAR
        left = state.left[None] - self.use[picks]
        floor = np.minimum.reduceat(least[:, self.flat], self.starts, axis=1)
        fits = ((floor + left <= self.height) | (left == 0)).all(1)
        for index in np.flatnonzero(fits).tolist():
            block, offset = int(picks[index]), int(offsets[index])
            self.offsets[block] = offset
            yield _State(least[index], left[index], (offset, block))

    def _candidates(self, state: _State) -> Matrix:
        """Return blocks that may come next: below them nothing else fits, above them everything does."""
        least = state.least
        offset, last = state.last
        able = (least < (least + self.sizes).min()) & (least <= self.height)
        able[: last + 1] &= least[: last + 1] > offset
        picks = np.flatnonzero(able)
        room = np.where(self.use[picks] > 0, self.height - state.left, _FAR).min(1, initial=_FAR)
        picks = picks[least[picks] <= room]
        found: Matrix = picks[np.argsort(least[picks], kind="stable")]
        return found


def search(
    problem: Problem,
    height: int,
    steps: int,
    on_time: Callable[[], bool] = lambda: True,
    seed: int = 0,
) -> Placed | None:
    """Return a placement within ``height``, or None if ``steps`` partial placements showed none.

    Alignment is not looked at: give sizes that are multiples of every alignment. ``on_time`` is asked before
    each new start; with the default the same call gives the same answer. ``seed`` chooses the orders.
    """
    if height < problem.bound or not problem.cliques or sum(problem.sizes) > _LARGEST:
        return None
    tables, orders = _Tables(problem), _Orders(problem, seed)
    for _ in range(steps // _STEPS):
        if not on_time():
            return None
        worth = orders.propose()
        start = _Start(tables, np.argsort(-worth, kind="stable"), height, _STEPS)
        try:
            return _result(problem, start) if start.run() else None
        except _SpentError:
            orders.learn(worth, start.remains)
    return None


def _result(problem: Problem, start: _Start) -> Placed:
    offsets = [0] * len(start.order)
    for block, offset in zip(start.order.tolist(), start.offsets.tolist(), strict=True):
        offsets[block] = offset
    return Placed(offsets, max(o + s for o, s in zip(offsets, problem.sizes, strict=True)))


class _Orders:
    """Orders of the blocks, by their worth, and how far those tried so far came."""

    def __init__(self, problem: Problem, seed: int) -> None:
        spans, loads = areas(problem)
        volumes = [span * size for span, size in zip(spans, problem.sizes, strict=True)]
        degrees = [len(near) for near in problem.neighbours]
        measures = (spans, problem.sizes, loads, volumes, degrees)
        self._measures = np.stack([_standard(values) for values in measures])
        self._random = np.random.default_rng(seed)
        self._best: list[tuple[int, int, Matrix]] = []
        self._tried = 0

    def propose(self) -> Matrix:
        """Return what each block is worth: a fresh mixture, or one of the best with a few blocks moved."""
        random, count = self._random, self._measures.shape[1]
        noise = random.standard_normal(count)
        if len(self._best) < _KEPT or random.random() < 0.2:
            weights = random.random(len(self._measures)) ** 2
            fresh: Matrix = weights @ self._measures / weights.sum() + 0.1 * noise
            return fresh
        varied: Matrix = self._best[int(random.integers(_VARIED))][2]
        return varied + 0.2 * noise * (random.random(count) < 0.3)

    def learn(self, worth: Matrix, remains: int) -> None:
        """Keep ``worth`` if its start left few bytes unplaced."""
        self._tried += 1
        self._best.append((remains, self._tried, worth))
        self._best.sort(key=lambda entry: entry[:2])
        del self._best[_KEPT:]


def _standard(values: list[int]) -> Matrix:
    """Return the logarithms of ``values`` with mean 0 and deviation 1."""
    logs = np.log(np.array(values, np.float64) + 1)
    result: Matrix = (logs - logs.mean()) / (logs.std() + 1e-9)
    return result
