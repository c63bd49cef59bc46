"""The pass ``lanes``: bounds how many nodes may run at once, by chains that the driver can keep up with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from planc.passes.base import number
from planc.passes.cost import DEFAULT_COSTS, CostModel, durations
from planc.passes.dag import Dag, dag_of, joined, with_edges
from planc.passes.listing import Listing, Work, list_nodes, work_of
from planc.plan.program import NodeKind, Program, Schedule

MOVABLE = (NodeKind.KERNEL, NodeKind.FILL, NodeKind.COPY)
"""Kinds that end by themselves once started, so that an edge more cannot make anybody wait for ever."""
WIDEST = 128
_WORTH = 0.98


@dataclass(frozen=True, slots=True)
class Lanes:
    """Put kernels, fills and copies on at most ``width`` lanes, and order each lane by edges.

    Critical-path-first list scheduling on the cost model. ``width`` 0 takes the least width that the model
    finds within 2% of the best. A node stays on the lane of a direct predecessor where it can, so that a
    graph that is no wider than its lanes gets no edge. Other kinds of nodes get no edge, and the number of
    a lane that means nothing. Width costs dearly: 2,048 independent kernels took 2,424 µs on an NVIDIA H200,
    and 350 as 8 to 64 chains.
    """

    name: ClassVar[str] = "lanes"
    width: int = number(0, 0, 65_536)

    def run(self, program: Program, schedule: Schedule) -> Schedule:
        """Return the schedule with lanes, their edges, and the order of the listing."""
        if not len(schedule.order):
            return schedule
        work = _work(program, dag_of(schedule))
        listing = self._listing(work, DEFAULT_COSTS)
        return _applied(schedule, work.dag, listing)

    def _listing(self, work: Work, model: CostModel) -> Listing:
        if self.width:
            return list_nodes(work, self.width, model)
        width = first_width(work, model)
        best = list_nodes(work, width, model)
        while best.width == width < WIDEST:
            width = min(2 * width, WIDEST)
            wider = list_nodes(work, width, model)
            if wider.end > _WORTH * best.end:
                break
            best = wider
        return best


def first_width(work: Work, model: CostModel) -> int:
    """Return the power of two at or above the lanes kept busy by a device that starts nodes at full rate."""
    busy = sum(work.costs)
    least = max(sum(work.movable) * model.slot, max(work.level), 1e-9)
    width = 1
    while width < WIDEST and width < busy / least:
        width *= 2
    return width


def _work(program: Program, dag: Dag) -> Work:
    costs = durations(program)
    kinds = np.isin(program.nodes["kind"], MOVABLE).tolist()
    return work_of(dag, [costs[row] for row in dag.rows], [kinds[row] for row in dag.rows])


def _applied(schedule: Schedule, dag: Dag, listing: Listing) -> Schedule:
    wider = with_edges(schedule, joined(dag, listing.edges))
    order = np.array([dag.rows[position] for position in listing.order], np.uint32)
    lanes = np.array([max(listing.lane[p], 0) for p in listing.order], np.uint32)
    return replace(wider, order=order, lanes=lanes)
