"""The edges of a program: in order, each once, without a cycle."""

from __future__ import annotations

import numpy as np

from planc.plan.program import Table
from planc.plan.rules.corners import Column
from planc.plan.rules.scope import Scope, strictly_rising


def edges(scope: Scope) -> None:
    """PLC658 for an edge from a node to itself, PLC655 and PLC659 for rows out of order or there twice.

    That there is no cycle follows from the schedules: each orders all nodes along all edges.
    """
    check_rows(scope, "edges", scope.program.edges)


def check_rows(scope: Scope, name: str, rows: Table) -> None:
    """Check a table of edges by itself."""
    before, after = rows["before"], rows["after"]
    loops = np.flatnonzero(before == after)
    if len(loops):
        node = scope.node(int(before[loops[0]]))
        scope.found.add("PLC658", f"row {loops[0]} of `{name}` is an edge from {node} to itself", table=name)
    if strictly_rising(before, after).all():
        return
    order = np.lexsort([after, before])
    twice = np.flatnonzero(~strictly_rising(before[order], after[order]))
    if len(twice):
        row = int(order[twice[0]])
        pair = f"from {scope.node(int(before[row]))} to {scope.node(int(after[row]))}"
        scope.found.add("PLC659", f"`{name}` has the edge {pair} twice", table=name, row=row)
    else:
        scope.found.add("PLC655", f"the rows of `{name}` are not in order", table=name)


def find_cycle(count: int, rows: Table) -> list[int]:
    """Return nodes of one cycle of edges, each before the next, or nothing if there is none.

    Nodes without a predecessor are taken away until none is left; whatever remains has a predecessor that
    remains, so walking backwards must come round.
    """
    waiting = np.bincount(rows["after"], minlength=count).tolist()
    following = _lists(count, rows["before"], rows["after"])
    ready = [node for node in range(count) if not waiting[node]]
    while ready:
        for node in following[ready.pop()]:
            waiting[node] -= 1
            if not waiting[node]:
                ready.append(node)
    left = {node for node in range(count) if waiting[node]}
    return _walk_back(left, rows) if left else []


def _lists(count: int, keys: Column, values: Column) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(count)]
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        lists[key].append(value)
    return lists


def _walk_back(left: set[int], rows: Table) -> list[int]:
    pairs = zip(rows["before"].tolist(), rows["after"].tolist(), strict=True)
    previous = {after: before for before, after in pairs if before in left and after in left}
    node, seen = next(iter(previous)), dict[int, int]()
    walk: list[int] = []
    while node not in seen:
        seen[node] = len(walk)
        walk.append(node)
        node = previous[node]
    return walk[seen[node] :][::-1]
