"""The pass ``order``: the order in which nodes are handed to the driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from planc.passes.base import choice
from planc.passes.cost import durations, levels
from planc.passes.dag import Dag, arranged, dag_of
from planc.plan.program import Program, Schedule


@dataclass(frozen=True, slots=True)
class Order:
    """Arrange the nodes along their edges, by one of three keys.

    ``start``: when each could start, then the longest way to the end. ``critical``: the longest way to the
    end. ``text``: as the author wrote them, which settles all ties.
    """

    name: ClassVar[str] = "order"
    by: str = choice("start", "critical", "text")

    def run(self, program: Program, schedule: Schedule) -> Schedule:
        """Return the schedule in the new order; each node keeps its lane."""
        dag = dag_of(schedule)
        order = arranged(dag, _KEYS[self.by](program, dag))
        picked = np.array(order, np.int64)
        return replace(schedule, order=schedule.order[picked], lanes=schedule.lanes[picked])


Key = Callable[[int], Any]


def _by_text(program: Program, dag: Dag) -> Key:
    del program
    return dag.rows.__getitem__


def _by_level(program: Program, dag: Dag) -> Key:
    level = levels(dag.after(), _costs(program, dag))
    return lambda p: (-level[p], dag.rows[p])


def _by_start(program: Program, dag: Dag) -> Key:
    costs = _costs(program, dag)
    level = levels(dag.after(), costs)
    start = [0.0] * len(costs)
    for position, direct in enumerate(dag.before):
        start[position] = max((start[b] + costs[b] for b in direct), default=0.0)
    return lambda p: (start[p], -level[p], dag.rows[p])


def _costs(program: Program, dag: Dag) -> list[float]:
    costs = durations(program)
    return [costs[row] for row in dag.rows]


_KEYS: dict[str, Callable[[Program, Dag], Key]] = {
    "start": _by_start,
    "critical": _by_level,
    "text": _by_text,
}
