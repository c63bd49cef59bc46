"""The author's edges: their table, cycles, and one order that keeps them and stays near the text."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import networkx as nx
import numpy as np

from planc.diagnostics import Related
from planc.graph.report import Reporter
from planc.plan.program import EDGE, EdgeOrigin, Table
from planc.source.flat import After, FlatGraph, FlatNode

_SHOWN = 12


def author_edges(nodes: Sequence[FlatNode]) -> Table:
    """Return the distinct edges that ``after:`` asks for, sorted."""
    pairs = [(after.node, row) for row, node in enumerate(nodes) for after in node.after]
    return edge_table(pairs, EdgeOrigin.AUTHOR)


def edge_table(pairs: Sequence[tuple[int, int]], origin: EdgeOrigin) -> Table:
    """Return EDGE rows for the distinct (before, after) pairs, sorted."""
    distinct = sorted(set(pairs))
    edges = np.zeros(len(distinct), dtype=EDGE)
    if distinct:
        columns = np.array(distinct, dtype=np.uint32)
        edges["before"], edges["after"] = columns[:, 0], columns[:, 1]
    edges["origin"] = origin
    return edges


def predecessors(edges: Table, count: int) -> list[list[int]]:
    """Return each node's direct predecessors."""
    before: list[list[int]] = [[] for _ in range(count)]
    for source, target in zip(edges["before"].tolist(), edges["after"].tolist(), strict=True):
        before[target].append(source)
    return before


def topological_order(edges: Table, count: int) -> list[int]:
    """Return rows so that each edge points forward, the least ready row first.

    That is the order of the text wherever it is legal. Rows on a cycle, or after one, are left out.
    """
    if not len(edges) or bool(np.all(edges["before"] < edges["after"])):
        return list(range(count))
    waiting = np.bincount(edges["after"], minlength=count).tolist()
    followers: list[list[int]] = [[] for _ in range(count)]
    for source, target in zip(edges["before"].tolist(), edges["after"].tolist(), strict=True):
        followers[source].append(target)
    ready = [row for row in range(count) if waiting[row] == 0]
    order: list[int] = []
    while ready:
        row = heapq.heappop(ready)
        order.append(row)
        for follower in followers[row]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heapq.heappush(ready, follower)
    return order


def check_cycles(flat: FlatGraph, edges: Table, reporter: Reporter) -> bool:
    """Report one shortest cycle of each knot of edges (PLC501); return whether there is none."""
    count = len(flat.nodes)
    order = topological_order(edges, count)
    if len(order) == count:
        return True
    left = set(range(count)).difference(order)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_edges_from(
        (before, after)
        for before, after in zip(edges["before"].tolist(), edges["after"].tolist(), strict=True)
        if before in left and after in left
    )
    for knot in sorted(nx.strongly_connected_components(graph), key=min):
        if len(knot) > 1 or graph.has_edge(*(2 * tuple(knot))):
            _report(flat, _shortest_cycle(graph, knot), reporter)
    return False


def _shortest_cycle(graph: nx.DiGraph[int], knot: set[int]) -> list[int]:
    """Return a shortest cycle through the first node of the knot, along the edges."""
    first = min(knot)
    inside = graph.subgraph(knot)
    if inside.has_edge(first, first):
        return [first]
    paths = nx.single_source_shortest_path(inside, first)
    last = min(inside.predecessors(first), key=lambda row: (len(paths[row]), row))
    return list(paths[last])


def _report(flat: FlatGraph, cycle: list[int], reporter: Reporter) -> None:
    nodes = flat.nodes
    names = [nodes[row].name for row in cycle]
    edges = [_after(nodes[row], cycle[place - 1]) for place, row in enumerate(cycle)]
    shown = names if len(names) <= _SHOWN else [*names[: _SHOWN - 1], "…"]
    if len(cycle) == 1:
        message = f"node `{names[0]}` comes after itself"
    else:
        message = f"nodes form a cycle: {' → '.join(f'`{n}`' for n in [*shown, names[0]])}"
    first, *rest = edges
    reporter.add(
        "PLC501",
        message,
        first.span,
        help="take one of these edges out",
        related=tuple(
            Related(f"`{nodes[row].name}` comes after `{nodes[edge.node].name}`", edge.span)
            for row, edge in list(zip(cycle[1:], rest, strict=True))[:_SHOWN]
        ),
        nodes=list(names),
    )


def _after(node: FlatNode, before: int) -> After:
    return next(a for a in node.after if a.node == before)
