"""A driver graph and its executable graph, built from tables of nodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import numpy as np

from planc.runtime.driver import Driver, DriverFailure, Handle
from planc.runtime.nodes import Handles, NodeTables
from planc.runtime.stages import Stages


@dataclass(frozen=True, slots=True)
class BuiltGraph:
    """``handles`` (uint64) are the driver's nodes, in the order of the tables."""

    graph: Handle
    executable: Handle
    handles: Handles


def build_graph(driver: Driver, tables: NodeTables, stages: Stages) -> BuiltGraph:
    """Create, fill and instantiate a graph; nothing of it is left if a call fails."""
    graph = driver.create_graph()
    try:
        with naming(tables):
            handles = driver.add_nodes(graph, tables)
        stages.end("add")
        with _finding(handles, tables):
            executable = driver.instantiate(graph)
        stages.end("instantiate")
    except BaseException:
        if driver.dead is None:
            with suppress(DriverFailure):  # the error on its way out is the one to tell
                driver.destroy_graph(graph)
        raise
    return BuiltGraph(graph, executable, handles)


@contextmanager
def naming(tables: NodeTables) -> Iterator[None]:
    """Tell a failure that has the index of a driver node which program node that is."""
    try:
        yield
    except DriverFailure as failure:
        if failure.index is not None:
            failure.node = int(tables.rows[failure.index])
        raise


@contextmanager
def _finding(handles: Handles, tables: NodeTables) -> Iterator[None]:
    """Tell a failure that has the driver's own node which program node that is."""
    try:
        yield
    except DriverFailure as failure:
        if failure.handle is not None:
            found = np.flatnonzero(handles == np.uint64(int(failure.handle)))
            failure.node = int(tables.rows[found[0]]) if len(found) else None
        raise


def destroy(driver: Driver, built: BuiltGraph) -> None:
    """Destroy both; the second is tried if the first fails."""
    try:
        driver.destroy_executable(built.executable)
    finally:
        driver.destroy_graph(built.graph)
