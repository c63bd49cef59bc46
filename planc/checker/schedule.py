"""Proves a schedule against its program, knowing nothing of how it was made.

The checks: each node runs once; the order and the lanes fit the edges; every edge of the program is a path of
full edges of the schedule; each scratch buffer has a place inside the arena, aligned, and no two share bytes.
Together with race freedom of the program that makes every legal run of the schedule a legal run of the
program. A failure is a fault of planc, never of the author's files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from planc.diagnostics import Diagnostic, InternalFault
from planc.plan.program import EdgeType, Program, Role, Schedule, Table

_FEW = 8


def check_schedule(program: Program, schedule: Schedule) -> None:
    """Raise :class:`InternalFault` (PLC950 to PLC957) with everything by which the schedule is wrong.

    Rows that the program does not have (PLC957) end the check at once, since nothing after them means
    anything.
    """
    for stage in _STAGES:
        found = [d for rule in stage for d in rule(program, schedule)]
        if found:
            raise InternalFault(found)


Rule = Callable[[Program, Schedule], Iterator[Diagnostic]]


def _fault(code: str, schedule: Schedule, message: str, **facts: str | int) -> Diagnostic:
    return Diagnostic(
        code,
        f"schedule `{schedule.name}` of planc is wrong: {message}",
        help="this is a fault of planc; please report it with the graph file",
        facts={"schedule": schedule.name, **facts},
    )


def _rows(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC957: every row that the schedule names is there."""
    nodes, buffers = len(program.nodes), len(program.buffers)
    named = (
        ("order", schedule.order, nodes),
        ("edge", schedule.edges["before"], nodes),
        ("edge", schedule.edges["after"], nodes),
        ("placement", schedule.placements["buffer"], buffers),
    )
    for what, column, count in named:
        if len(column) and int(column.max()) >= count:
            yield _fault(
                "PLC957", schedule, f"an entry of its {what}s names row {int(column.max())} of {count}"
            )
    if len(schedule.lanes) != len(schedule.order):
        lanes, order = len(schedule.lanes), len(schedule.order)
        yield _fault("PLC957", schedule, f"it has {lanes} lanes for {order} nodes in its order")
    if not np.isin(schedule.edges["type"], [int(t) for t in EdgeType]).all():
        yield _fault("PLC957", schedule, "it has an edge of an unknown type")


def _permutation(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC950: each node stands in the order exactly once."""
    times = np.bincount(schedule.order, minlength=len(program.nodes))
    for node in np.flatnonzero(times != 1)[:_FEW].tolist():
        name = program.node_names[node]
        yield _fault("PLC950", schedule, f"node `{name}` is run {int(times[node])} times", node=name)


def _forward(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC951: the order, and each lane in it, runs along every edge of the schedule and of the program."""
    position = _positions(schedule)
    for edges in (schedule.edges, program.edges):
        wrong = position[edges["before"]] >= position[edges["after"]]
        for edge in edges[wrong][:_FEW]:
            before, after = (program.node_names[int(edge[end])] for end in ("before", "after"))
            yield _fault(
                "PLC951", schedule, f"`{after}` is run before `{before}`", before=before, after=after
            )


def _positions(schedule: Schedule) -> Table:
    position = np.empty(len(schedule.order), dtype=np.int64)
    position[schedule.order] = np.arange(len(schedule.order))
    return position


def _paths(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC952: each edge of the program is a path of full edges.

    Programmatic edges carry no path: what runs after one may begin before the work before it is done.
    """
    count = len(program.nodes)
    full = schedule.edges[schedule.edges["type"] == EdgeType.FULL]
    kept = np.isin(_keys(program.edges, count), _keys(full, count))
    missing = program.edges[~kept]
    if not len(missing):
        return
    for before, after in islice(_unreached(schedule, full, missing), _FEW):
        first, second = program.node_names[before], program.node_names[after]
        message = f"no path leads from `{first}` to `{second}`"
        yield _fault("PLC952", schedule, message, before=first, after=second)


def _keys(edges: Table, count: int) -> Table:
    keys: Table = edges["before"].astype(np.int64) * count + edges["after"]
    return keys


def _unreached(schedule: Schedule, full: Table, wanted: Table) -> Iterator[tuple[int, int]]:
    """Yield the wanted pairs without a path, by one pass over the order with bit sets of the sources."""
    bit = {source: place for place, source in enumerate(np.unique(wanted["before"]).tolist())}
    targets: dict[int, list[int]] = {}
    for before, after in zip(wanted["before"].tolist(), wanted["after"].tolist(), strict=True):
        targets.setdefault(after, []).append(before)
    before_of: list[list[int]] = [[] for _ in range(len(schedule.order))]
    for before, after in zip(full["before"].tolist(), full["after"].tolist(), strict=True):
        before_of[after].append(before)
    reached = [0] * len(schedule.order)
    for node in schedule.order.tolist():
        mine = 0
        for previous in before_of[node]:
            mine |= reached[previous] | (1 << bit[previous] if previous in bit else 0)
        reached[node] = mine
        yield from ((source, node) for source in targets.get(node, ()) if not mine >> bit[source] & 1)


def _placed(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC953: exactly the scratch buffers have a place, each one."""
    times = np.bincount(schedule.placements["buffer"], minlength=len(program.buffers)).tolist()
    for row, buffer in enumerate(program.buffers):
        want = int(buffer.role is Role.SCRATCH)
        if times[row] != want:
            message = f"buffer `{buffer.name}` has {times[row]} places, and needs {want}"
            yield _fault("PLC953", schedule, message, buffer=buffer.name)


def _arena(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC954 to PLC956: places are disjoint, inside the arena and aligned."""
    places = schedule.placements[np.argsort(schedule.placements["offset"], kind="stable")]
    end, last = 0, ""
    for row, offset in zip(places["buffer"].tolist(), places["offset"].tolist(), strict=True):
        buffer = program.buffers[row]
        name = buffer.name
        if offset < end:
            yield _fault("PLC954", schedule, f"`{last}` and `{name}` share bytes", first=last, second=name)
        if offset % buffer.align:
            message = f"`{name}` is at byte {offset}, and needs a multiple of {buffer.align}"
            yield _fault("PLC956", schedule, message, buffer=name, offset=offset)
        if offset + buffer.nbytes > schedule.arena_bytes:
            message = f"`{name}` ends at byte {offset + buffer.nbytes} of an arena of {schedule.arena_bytes}"
            yield _fault("PLC955", schedule, message, buffer=name, offset=offset)
        if offset + buffer.nbytes > end:
            end, last = offset + buffer.nbytes, name


_STAGES: tuple[tuple[Rule, ...], ...] = ((_rows,), (_permutation, _placed), (_forward, _arena), (_paths,))
