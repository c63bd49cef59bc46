"""List scheduling: which node starts when, on which of a few lanes, by the cost model."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

from planc.passes.cost import CostModel, levels
from planc.passes.dag import Dag, Pair

NO_LANE = -1
_SEEN = 64  # how many nodes before a join are looked at for a lane


@dataclass(frozen=True, slots=True)
class Work:
    """A :class:`Dag` with what lists need: costs in µs, and which positions a lane may hold, by position."""

    dag: Dag
    costs: list[float]
    movable: list[bool]
    after: list[list[int]]
    level: list[float]


def work_of(dag: Dag, costs: list[float], movable: list[bool]) -> Work:
    """Return the work, costs and ``movable`` by position."""
    after = dag.after()
    return Work(dag, costs, movable, after, levels(after, costs))


@dataclass(slots=True)
class Listing:
    """Positions in the order of their start; by position, lane and start in µs; edges that lanes add."""

    order: list[int]
    lane: list[int]
    start: list[float]
    edges: list[Pair] = field(default_factory=list)
    end: float = 0.0
    width: int = 0


class _Lanes:
    """The lanes opened so far: when each is free, and its last position."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.free: list[float] = []
        self.tail: list[int] = []
        self._heap: list[tuple[float, int]] = []

    def earliest(self) -> float:
        """Return when a lane is free."""
        return 0.0 if len(self.free) < self.width else self._least()[0]

    def _least(self) -> tuple[float, int]:
        while self.free[self._heap[0][1]] != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0]

    def choose(self, tails: list[int], lane_of: list[int]) -> int:
        """Return a lane: one that ends with one of ``tails``, a new one, or the first to be free."""
        best = NO_LANE
        for tail in tails:
            lane = lane_of[tail]
            if self.tail[lane] == tail and (best == NO_LANE or self.free[lane] > self.free[best]):
                best = lane
        if best != NO_LANE:
            return best
        if len(self.free) < self.width:
            self.free.append(0.0)
            self.tail.append(NO_LANE)
            return len(self.free) - 1
        return self._least()[1]

    def take(self, lane: int, position: int, until: float) -> None:
        self.free[lane] = until
        self.tail[lane] = position
        heapq.heappush(self._heap, (until, lane))


class _Run:
    """One pass of list scheduling: of the nodes that could start, that with the longest way to the end."""

    def __init__(self, work: Work, width: int, model: CostModel) -> None:
        count = len(work.costs)
        self.work, self.model = work, model
        self.lanes = _Lanes(width)
        self.listing = Listing([], [NO_LANE] * count, [0.0] * count)
        self.ready_at = [0.0] * count
        self.waiting = [len(direct) for direct in work.dag.before]
        self.coming: list[tuple[float, int]] = []
        self.open: list[tuple[float, int]] = []
        self.through: dict[int, list[int]] = {}
        self.slot = 0.0

    def run(self) -> Listing:
        for position in [p for p, count in enumerate(self.waiting) if not count]:
            self._release(position, 0.0)
        while self.open or self.coming:
            now = max(self.slot, self.lanes.earliest())
            if not self.open:
                now = max(now, self.coming[0][0])
            while self.coming and self.coming[0][0] <= now:
                position = heapq.heappop(self.coming)[1]
                heapq.heappush(self.open, (-self.work.level[position], position))
            self._start(heapq.heappop(self.open)[1], now)
        self.listing.width = len(self.lanes.free)
        return self.listing

    def _release(self, position: int, at: float) -> None:
        """Enter a node whose predecessors are all started; what no lane may hold takes no time."""
        self.ready_at[position] = at
        if self.work.movable[position]:
            heapq.heappush(self.coming, (at, position))
        else:
            self.through[position] = self._tails(position)[-_SEEN:]
            self._end(position, at, at + self.work.costs[position])

    def _start(self, position: int, now: float) -> None:
        tails = self._tails(position)
        lane = self.lanes.choose(tails, self.listing.lane)
        tail = self.lanes.tail[lane]
        if tail not in (NO_LANE, *tails):
            self.listing.edges.append((tail, position))
        start = max(now, self.ready_at[position], self.lanes.free[lane])
        crossing = len(self.work.dag.before[position]) - (tail in tails)
        self.slot = max(self.slot, now) + self.model.slot + self.model.edge * crossing
        self.listing.lane[position] = lane
        self.lanes.take(lane, position, start + self.work.costs[position])
        self._end(position, start, start + self.work.costs[position])

    def _tails(self, position: int) -> list[int]:
        """Return the positions on lanes that come right before, seen through nodes that are on none."""
        found: list[int] = []
        for previous in self.work.dag.before[position]:
            found.extend([previous] if self.work.movable[previous] else self.through[previous])
        return found

    def _end(self, position: int, start: float, end: float) -> None:
        self.listing.order.append(position)
        self.listing.start[position] = start
        self.listing.end = max(self.listing.end, end)
        for following in self.work.after[position]:
            self.ready_at[following] = max(self.ready_at[following], end)
            self.waiting[following] -= 1
            if not self.waiting[following]:
                self._release(following, self.ready_at[following])


def list_nodes(work: Work, width: int, model: CostModel) -> Listing:
    """Return the listing of ``work`` on at most ``width`` lanes. Its order keeps every edge of the dag.

    The first nodes of lanes cost the host :attr:`CostModel.head` each; ``end`` counts it where the host
    would be later than the device.
    """
    listing = _Run(work, width, model).run()
    listing.end = max(listing.end, listing.width * model.head)
    return listing
