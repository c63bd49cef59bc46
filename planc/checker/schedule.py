"""Proves a schedule against its program, knowing nothing of how it was made.

The checks: each node runs once; the order fits the edges; every edge of the program is a path of full edges
of the schedule; lanes are chains; each scratch buffer has a place inside the arena, aligned; and of two that
share a byte, all uses of one come before all uses of the other on paths, whichever legal run is taken.
Together with race freedom of the program that makes every legal run of the schedule a legal run of the
program. A failure is a fault of planc, never of the author's files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np

from planc.checker.memory import handovers, ordered, users
from planc.checker.paths import Paths, lane_steps, program_edges
from planc.diagnostics import Diagnostic, InternalFault
from planc.plan.program import EdgeType, NodeKind, Program, Role, Schedule, Table

_FEW = 8
_CHAINED = (NodeKind.KERNEL, NodeKind.FILL, NodeKind.COPY)


def check_schedule(program: Program, schedule: Schedule) -> None:
    """Raise :class:`InternalFault` (PLC911, PLC950 to PLC957) with everything by which the schedule is wrong.

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
    """PLC952: each edge of the program is a path of full edges."""
    questions = program_edges(program.edges, schedule)
    for _, before, after in islice(Paths(schedule).missing(questions), _FEW):
        first, second = program.node_names[before], program.node_names[after]
        message = f"no path leads from `{first}` to `{second}`"
        yield _fault("PLC952", schedule, message, before=first, after=second)


def _lanes(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC911: nodes that follow each other on a lane do so along a path, once there is a lane besides 0."""
    if not schedule.lanes.any():
        return
    steps = lane_steps(program.nodes["kind"], schedule, _CHAINED)
    for step, before, after in islice(Paths(schedule).missing(steps), _FEW):
        first, second = program.node_names[before], program.node_names[after]
        message = f"no path leads from `{first}` to `{second}` on lane {step.about[0]}"
        yield _fault("PLC911", schedule, message, before=first, after=second)


def _shared(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC954: buffers that share bytes are never live at once."""
    paths, uses = Paths(schedule), users(program)
    pairs = set(handovers(program, schedule, uses, paths.place))
    questions = [ordered(pair, uses, paths.place) for pair in sorted(pairs)]
    seen: set[tuple[int, ...]] = set()
    for question, before, after in paths.missing(questions):
        if question.about in seen or len(seen) >= _FEW:
            continue
        seen.add(question.about)
        buffers = [program.buffers[row].name for row in question.about]
        nodes = [program.node_names[row] for row in (before, after)]
        message = (
            f"`{buffers[0]}` and `{buffers[1]}` share bytes, and no path leads from `{nodes[0]}`, which uses "
            f"the one, to `{nodes[1]}`, which uses the other"
        )
        yield _fault(
            "PLC954",
            schedule,
            message,
            first=buffers[0],
            second=buffers[1],
            before=nodes[0],
            after=nodes[1],
        )


def _placed(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC953: exactly the scratch buffers have a place, each one."""
    times = np.bincount(schedule.placements["buffer"], minlength=len(program.buffers)).tolist()
    for row, buffer in enumerate(program.buffers):
        want = int(buffer.role is Role.SCRATCH)
        if times[row] != want:
            message = f"buffer `{buffer.name}` has {times[row]} places, and needs {want}"
            yield _fault("PLC953", schedule, message, buffer=buffer.name)


def _arena(program: Program, schedule: Schedule) -> Iterator[Diagnostic]:
    """PLC955, PLC956: places are inside the arena and aligned."""
    for row, _, offset in schedule.placements.tolist():
        buffer = program.buffers[row]
        name = buffer.name
        if offset % buffer.align:
            message = f"`{name}` is at byte {offset}, and needs a multiple of {buffer.align}"
            yield _fault("PLC956", schedule, message, buffer=name, offset=offset)
        if offset + buffer.nbytes > schedule.arena_bytes:
            message = f"`{name}` ends at byte {offset + buffer.nbytes} of an arena of {schedule.arena_bytes}"
            yield _fault("PLC955", schedule, message, buffer=name, offset=offset)


_STAGES: tuple[tuple[Rule, ...], ...] = (
    (_rows,),
    (_permutation, _placed),
    (_forward, _arena),
    (_paths, _lanes, _shared),
)
