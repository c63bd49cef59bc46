"""The pass ``arena``: places scratch buffers so that those that are never live at once share bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from planc.passes.base import choice, number
from planc.passes.cost import durations
from planc.passes.dag import Dag, arranged, dag_of, joined, with_edges
from planc.passes.lanes import MOVABLE
from planc.passes.lifetimes import Lifetime, conflicts, lifetimes, live_sets
from planc.passes.packing import pack
from planc.passes.problem import Placed, problem_of
from planc.passes.sweepfit import sweep_fit
from planc.passes.tight import added_edges, earliest, timed_problem
from planc.passes.uses import scratch_rows, scratch_uses
from planc.passes.written import PLACE_ALIGN, written
from planc.plan.program import PLACEMENT, Program, Schedule

MANY = 2_048
"""Above this many buffers in use, placement is one sweep and adds no edge."""


@dataclass(frozen=True, slots=True)
class Arena:
    """Place scratch buffers in one arena.

    ``memory``: ``strict`` lets two buffers share bytes only if in every run that the edges allow all uses of
    one come before all uses of the other. ``tight`` goes by the earliest times of the cost model and adds the
    edges that this needs, none of which lengthens the critical path; where that saves nothing it is
    ``strict``. ``separate`` shares nothing. ``effort`` is the work of the search for a better placement.
    """

    name: ClassVar[str] = "arena"
    memory: str = choice("strict", "tight", "separate")
    effort: int = number(2_000, 0, 1_000_000_000)

    def run(self, program: Program, schedule: Schedule) -> Schedule:
        """Return the schedule with places, and in ``tight`` perhaps more edges and another order."""
        if self.memory == "separate":
            whole = written(program)
            return replace(schedule, placements=whole.placements, arena_bytes=whole.arena_bytes)
        scene = _scene(program, schedule)
        strict = _placed(program, schedule, scene, self._strict(scene))
        if self.memory == "strict" or len(scene.lives) > MANY:
            return strict
        tight = self._tight(program, schedule)
        return tight if tight.arena_bytes < strict.arena_bytes else strict

    def _strict(self, scene: _Scene) -> Placed:
        if len(scene.lives) > MANY:
            step = max(scene.aligns)
            return sweep_fit(scene.lives, [-(-size // step) * step for size in scene.sizes])
        sets, _ = live_sets(scene.lives, scene.sizes)
        return pack(problem_of(scene.sizes, scene.aligns, conflicts(scene.lives), sets), self.effort)

    def _tight(self, program: Program, schedule: Schedule) -> Schedule:
        schedule = _by_time(program, schedule)
        scene = _scene(program, schedule)
        times = earliest(scene.dag, _costs(program, scene.dag))
        pinned = (~np.isin(program.nodes["kind"][scene.dag.rows], MOVABLE)).tolist()
        problem = timed_problem(scene.lives, scene.sizes, scene.aligns, times, pinned)
        placed = pack(problem, self.effort)
        extra = added_edges(scene.dag, scene.lives, scene.sizes, placed, times)
        return _placed(program, with_edges(schedule, joined(scene.dag, extra)), scene, placed)


@dataclass(frozen=True, slots=True)
class _Scene:
    """The buffers in use, by their first one, with what a placement needs; ``sizes`` in whole steps."""

    dag: Dag
    lives: list[Lifetime]
    sizes: list[int]
    aligns: list[int]


def _scene(program: Program, schedule: Schedule) -> _Scene:
    dag = dag_of(schedule)
    lives = lifetimes(dag, scratch_uses(program))
    buffers = [program.buffers[life.buffer] for life in lives]
    return _Scene(
        dag,
        lives,
        [-(-buffer.nbytes // PLACE_ALIGN) * PLACE_ALIGN for buffer in buffers],
        [max(PLACE_ALIGN, buffer.align) for buffer in buffers],
    )


def _costs(program: Program, dag: Dag) -> list[float]:
    costs = durations(program)
    return [costs[row] for row in dag.rows]


def _by_time(program: Program, schedule: Schedule) -> Schedule:
    """Return the schedule in the order of the earliest starts, along which time never falls."""
    dag = dag_of(schedule)
    start = earliest(dag, _costs(program, dag)).start
    order = np.array(arranged(dag, start.__getitem__), np.int64)
    return replace(schedule, order=schedule.order[order], lanes=schedule.lanes[order])


def _placed(program: Program, schedule: Schedule, scene: _Scene, placed: Placed) -> Schedule:
    """Return the schedule with ``placed``; a buffer that nothing uses lies at the start of the arena."""
    offsets = {row: 0 for row in scratch_rows(program)}
    for life, offset in zip(scene.lives, placed.offsets, strict=True):
        offsets[life.buffer] = offset
    ends = [offset + program.buffers[row].nbytes for row, offset in offsets.items()]
    size = -(-max(ends, default=0) // PLACE_ALIGN) * PLACE_ALIGN
    rows = np.array([(row, 0, offset) for row, offset in offsets.items()], PLACEMENT)
    return replace(schedule, placements=rows, arena_bytes=size)


@dataclass(frozen=True, slots=True)
class ArenaReport:
    """How well an arena does, in bytes.

    ``peak`` is the arena; ``bound`` is live at once in some legal run, so that no arena for these edges goes
    below it; ``separate`` is all buffers side by side.
    """

    peak: int
    bound: int
    separate: int


def arena_report(program: Program, schedule: Schedule) -> ArenaReport:
    """Return what the arena of ``schedule`` takes, against the least that its edges would allow.

    The bound looks at two runs: along the order of the schedule, and with the earliest starts first.
    """
    bound = 0
    for run in (schedule, _by_time(program, schedule)):
        scene = _scene(program, run)
        bound = max(bound, live_sets(scene.lives, scene.sizes)[1])
    return ArenaReport(schedule.arena_bytes, bound, written(program).arena_bytes)
