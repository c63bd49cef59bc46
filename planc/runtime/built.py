"""A driver graph and its executable graph, built from a schedule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from planc.plan.program import EdgeType, Schedule
from planc.runtime.driver import Driver, DriverFailure, Handle
from planc.runtime.lowering import Lowering


@dataclass(frozen=True, slots=True)
class BuiltGraph:
    """``nodes`` maps a program node to its driver nodes, in the order of their chain."""

    graph: Handle
    executable: Handle
    nodes: Mapping[int, tuple[Handle, ...]]


def build_graph(driver: Driver, schedule: Schedule, lowering: Lowering) -> BuiltGraph:
    """Create, fill and instantiate a graph; nothing of it is left if a call fails."""
    graph = driver.create_graph()
    try:
        nodes = _add_nodes(driver, graph, schedule, lowering)
        _add_edges(driver, graph, schedule, nodes)
        with _naming(nodes):
            executable = driver.instantiate(graph)
    except BaseException:
        _quietly(driver, lambda: driver.destroy_graph(graph))
        raise
    return BuiltGraph(graph, executable, nodes)


def _add_nodes(
    driver: Driver, graph: Handle, schedule: Schedule, lowering: Lowering
) -> dict[int, tuple[Handle, ...]]:
    nodes: dict[int, tuple[Handle, ...]] = {}
    for row in schedule.order.tolist():
        try:
            nodes[row] = tuple(driver.add_node(graph, n) for n in lowering.nodes(row))
        except DriverFailure as failure:
            failure.node = row
            raise
    return nodes


def _add_edges(
    driver: Driver, graph: Handle, schedule: Schedule, nodes: Mapping[int, tuple[Handle, ...]]
) -> None:
    before: list[Handle] = []
    after: list[Handle] = []
    types: list[int] = []
    for chain in nodes.values():
        before += chain[:-1]
        after += chain[1:]
        types += [int(EdgeType.FULL)] * (len(chain) - 1)
    for edge in schedule.edges.tolist():
        before.append(nodes[edge[0]][-1])
        after.append(nodes[edge[1]][0])
        types.append(edge[2])
    if before:
        driver.add_edges(graph, before, after, types)


@contextmanager
def _naming(nodes: Mapping[int, tuple[Handle, ...]]) -> Iterator[None]:
    """Tell a failure that names a driver node which program node that is."""
    try:
        yield
    except DriverFailure as failure:
        if failure.handle is not None:
            wanted = int(failure.handle)
            failure.node = next((row for row, hs in nodes.items() if wanted in map(int, hs)), None)
        raise


def destroy(driver: Driver, built: BuiltGraph) -> None:
    """Destroy both; the second is tried if the first fails."""
    try:
        driver.destroy_executable(built.executable)
    finally:
        driver.destroy_graph(built.graph)


def _quietly(driver: Driver, action: object) -> None:
    """Free something on the way out of a failure, whose error is the one to tell."""
    if driver.dead is not None or not callable(action):
        return
    try:
        action()
    except DriverFailure:
        return
