"""Schedules: a legal order of all nodes, paths for all edges of the program, scratch in its arena."""

from __future__ import annotations

import numpy as np

from planc.plan import limits
from planc.plan.program import EdgeType, NodeKind, Role, Schedule, Table
from planc.plan.rules.corners import Column
from planc.plan.rules.order import check_rows, find_cycle
from planc.plan.rules.scope import Scope, strictly_rising

_AT_ONCE = 4_096
"""How many sources of edges one pass over the graph follows: a bit each in every node's set."""


def orders(scope: Scope) -> None:
    """Check the order, the lanes and the emitted edges of each schedule.

    PLC660 cycle, PLC661 no permutation, PLC662 an order against an edge, PLC671 programmatic edge without
    certificate, and the rules of every table of edges.
    """
    for schedule in scope.schedules:
        check_rows(scope, f"{schedule.name}.edges", schedule.edges)
        _lanes(scope, schedule)
        _types(scope, schedule)
        if _permutes(scope, schedule):
            _forward(scope, schedule)


def _lanes(scope: Scope, schedule: Schedule) -> None:
    past = schedule.lanes >= max(len(schedule.lanes), 1)
    scope.found.rows("PLC636", "lanes", past, "row {row} of `lanes` names a lane past the number of nodes")


def _types(scope: Scope, schedule: Schedule) -> None:
    rows = schedule.edges
    nodes = scope.program.nodes["kind"]
    programmatic = rows["type"] == EdgeType.PROGRAMMATIC
    kernels = (nodes[rows["before"]] == NodeKind.KERNEL) & (nodes[rows["after"]] == NodeKind.KERNEL)
    name = f"{schedule.name}.edges"
    scope.found.rows(
        "PLC671",
        name,
        programmatic & ~kernels,
        f"row {{row}} of `{name}` is a programmatic edge that does not join two kernels",
    )
    scope.found.rows(
        "PLC671",
        name,
        programmatic & kernels,
        f"row {{row}} of `{name}` is a programmatic edge, and format 0.1 holds no certificate for it",
    )


def _permutes(scope: Scope, schedule: Schedule) -> bool:
    count = len(scope.program.nodes)
    times = np.bincount(schedule.order, minlength=count) if count else np.zeros(0, np.int64)
    if (times == 1).all():
        return True
    node = int(np.flatnonzero(times != 1)[0])
    scope.found.add(
        "PLC661",
        f"schedule `{schedule.name}` runs node {scope.node(node)} {times[node]} times",
        schedule=schedule.name,
        node=scope.program.node_names[node],
    )
    return False


def positions(order: Column) -> Column:
    """Return where each node stands in an order (int64)."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def _forward(scope: Scope, schedule: Schedule) -> None:
    place = positions(schedule.order)
    for rows in (scope.program.edges, schedule.edges):
        against = np.flatnonzero(place[rows["before"]] >= place[rows["after"]])
        against = against[rows["before"][against] != rows["after"][against]]
        if len(against):
            _explain(scope, schedule, rows, int(against[0]))


def _explain(scope: Scope, schedule: Schedule, rows: Table, row: int) -> None:
    cycle = find_cycle(len(scope.program.nodes), rows)
    if cycle:
        path = " -> ".join(scope.node(node) for node in [*cycle, cycle[0]][:9])
        scope.found.add("PLC660", f"the edges have a cycle: {path}", nodes=len(cycle))
        return
    before, after = int(rows["before"][row]), int(rows["after"][row])
    scope.found.add(
        "PLC662",
        f"schedule `{schedule.name}` runs {scope.node(after)} before {scope.node(before)}, against an edge",
        schedule=schedule.name,
        before=scope.program.node_names[before],
        after=scope.program.node_names[after],
    )


def coverage(scope: Scope) -> None:
    """PLC663 for an edge of the program that no path of a schedule has."""
    for schedule in scope.schedules:
        missing = _missing(scope, schedule)
        if not len(missing):
            continue
        row = scope.program.edges[missing[0]]
        before, after = int(row["before"]), int(row["after"])
        scope.found.add(
            "PLC663",
            f"schedule `{schedule.name}` has no path from {scope.node(before)} to {scope.node(after)}",
            schedule=schedule.name,
            before=scope.program.node_names[before],
            after=scope.program.node_names[after],
            edges=len(missing),
        )


def _missing(scope: Scope, schedule: Schedule) -> Column:
    """Return the rows of the program's edges that are no paths of the schedule."""
    count = len(scope.program.nodes)
    wanted, given = scope.program.edges, schedule.edges
    keys, known = _keys(wanted, count), np.append(_keys(given, count), -1)
    indirect = np.flatnonzero(known[np.searchsorted(known[:-1], keys)] != keys)
    if not len(indirect):
        return indirect
    sources, _ = np.unique(wanted["before"][indirect], return_counts=True)  # as in places.py
    missing = []
    for start in range(0, len(sources), _AT_ONCE):
        group = sources[start : start + _AT_ONCE]
        reach = _reached(schedule, group.tolist())
        bit = {node: index for index, node in enumerate(group.tolist())}
        for row in indirect[np.isin(wanted["before"][indirect], group)].tolist():
            before, after = wanted["before"][row].item(), wanted["after"][row].item()
            if not reach[after] >> bit[before] & 1:
                missing.append(row)
    return np.sort(np.array(missing, np.int64))


def _keys(rows: Table, count: int) -> Column:
    keys: Column = rows["before"].astype(np.int64) * count + rows["after"]
    return keys


def _reached(schedule: Schedule, sources: list[int]) -> list[int]:
    """Return, for each node, the set of ``sources`` with a path to it, as the bits of an integer."""
    reach = [0] * len(schedule.order)
    own = {node: 1 << bit for bit, node in enumerate(sources)}
    place = positions(schedule.order)
    rows = schedule.edges[np.argsort(place[schedule.edges["after"]], kind="stable")]
    for before, after in zip(rows["before"].tolist(), rows["after"].tolist(), strict=True):
        reach[after] |= reach[before] | own.get(before, 0)
    return reach


def placements(scope: Scope) -> None:
    """PLC664 for another set than the scratch buffers, PLC665 for a place, PLC666 for an overlap."""
    scratch = np.flatnonzero(scope.roles == Role.SCRATCH)
    for schedule in scope.schedules:
        rows = schedule.placements
        if not np.array_equal(np.sort(rows["buffer"]), scratch):
            scope.found.add(
                "PLC664",
                f"schedule `{schedule.name}` places {len(rows)} buffers; {len(scratch)} are scratch",
                schedule=schedule.name,
            )
            continue
        if not strictly_rising(rows["buffer"]).all():
            scope.found.add("PLC655", "the rows of `placements` are not in order", table="placements")
        _placed(scope, schedule)


def _placed(scope: Scope, schedule: Schedule) -> None:
    rows = schedule.placements
    far = rows["offset"] > limits.ARENA_BYTES
    start = np.where(far, 0, rows["offset"]).astype(np.int64)
    end = start + scope.nbytes[rows["buffer"]]
    bad = far | (end > schedule.arena_bytes) | (start % scope.align[rows["buffer"]] != 0)
    message = "placement {row} is outside the arena or misaligned"
    if scope.found.rows("PLC665", f"{schedule.name}.placements", bad, message):
        return
    order = np.argsort(start, kind="stable")
    shared = np.flatnonzero(end[order][:-1] > start[order][1:])
    if len(shared):
        first, second = (int(rows["buffer"][order[shared[0] + step]]) for step in (0, 1))
        scope.found.add(
            "PLC666",
            f"schedule `{schedule.name}` lets {scope.buffer(first)} and {scope.buffer(second)} share bytes",
            schedule=schedule.name,
        )
