"""The graphs of the fake driver, and with them the whole of it."""

from __future__ import annotations

import ctypes
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from planc.plan.program import EdgeType
from planc.runtime.driver import ADD_CALLS, EDGES_CALL, SET_CALLS, DriverFailure, Handle
from planc.runtime.fake_memory import EXECUTE, fault
from planc.runtime.fake_nodes import DriverNode, KernelNode, MemcpyNode, MemsetNode, node_at
from planc.runtime.fake_resources import FakeResources
from planc.runtime.nodes import Handles, Indices, NodeTables


@dataclass(frozen=True, slots=True)
class FakeLaunch:
    """A kernel that a replay would have run. ``arguments`` are its parameters' bytes, in order."""

    symbol: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    arguments: tuple[bytes, ...]


@dataclass(slots=True)
class _Graph:
    nodes: dict[int, DriverNode] = field(default_factory=dict)
    captured: dict[int, FakeLaunch] = field(default_factory=dict)
    edges: dict[tuple[int, int], int] = field(default_factory=dict)


class FakeDriver(FakeResources):
    """Implements :class:`planc.runtime.driver.Driver`."""

    name = "fake"
    ordinal = 0
    max_pitch = 2**31 - 1

    def __init__(
        self, architecture: str, fail_at: int | None, error: str, fail_on: dict[str, str], deferred: bool
    ) -> None:
        """Start without graphs."""
        super().__init__(fail_at, error, fail_on, deferred)
        self.architecture = architecture
        self.launches: list[FakeLaunch] = []
        self._shuffle = random.Random(1)

    def create_graph(self) -> Handle:
        """Create an empty graph."""
        self._enter("cuGraphCreate")
        return self._new("graph", _Graph())

    def destroy_graph(self, graph: Handle) -> None:
        """Destroy a graph with its nodes."""
        for node in self._drop("cuGraphDestroy", "graph", graph).nodes:
            del self._handles[node]

    def add_nodes(self, graph: Handle, tables: NodeTables) -> Handles:
        """Add each node behind the nodes it depends on, then the late edges in one call."""
        edges, firsts = tables.edges, tables.edges.firsts.tolist()
        handles = np.zeros(len(tables.kinds), np.uint64)
        for index in range(len(handles)):
            befores = handles[edges.befores[firsts[index] : firsts[index + 1]]].tolist()
            with _at(index):
                handles[index] = self._add_node(graph, node_at(tables, index), befores)
        if len(edges.late_before):
            ends = (handles[edges.late_before].tolist(), handles[edges.late_after].tolist())
            self._add_edges(graph, *ends, edges.late_data["type"].tolist())
        return handles

    def _add_node(self, graph: Handle, node: DriverNode, befores: Sequence[int]) -> int:
        """Add a node whose parameters a driver would take."""
        call = ADD_CALLS[node.kind]
        self._enter(call)
        target = self._get(call, "graph", graph)
        self._checked(call, node)
        for before in befores:
            self._get(call, "node", before)
        handle = self._new("node", graph)
        target.nodes[handle] = node
        target.edges.update({(before, handle): int(EdgeType.FULL) for before in befores})
        if isinstance(node, KernelNode):
            target.captured[handle] = self._captured(node)
        return handle

    def _checked(self, call: str, node: DriverNode) -> None:
        wrong = fault(node)
        if wrong:
            self._fail(call, "CUDA_ERROR_INVALID_VALUE", wrong)

    def _captured(self, node: KernelNode) -> FakeLaunch:
        """Copy the arguments, as the driver does in this very call."""
        symbol, entry = self._get("cuGraphAddKernelNode", "function", node.function)
        sizes = [p.size for p in entry.parameters] if entry else []
        pointers = list((ctypes.c_uint64 * node.count).from_address(node.parameters)) if node.count else []
        arguments = tuple(ctypes.string_at(p, size) for p, size in zip(pointers, sizes, strict=False))
        return FakeLaunch(symbol, node.grid, node.block, node.shared, arguments)

    def _add_edges(
        self, graph: Handle, before: Sequence[int], after: Sequence[int], types: Sequence[int]
    ) -> None:
        """Add edges between nodes of the graph, each once."""
        self._enter(EDGES_CALL)
        target = self._get(EDGES_CALL, "graph", graph)
        for edge, kind in zip(zip(before, after, strict=True), types, strict=True):
            kernels = all(isinstance(target.nodes.get(end), KernelNode) for end in edge)
            known = all(end in target.nodes for end in edge) and edge not in target.edges
            if not known or (kind == EdgeType.PROGRAMMATIC and not kernels):
                self._fail(EDGES_CALL, "CUDA_ERROR_INVALID_VALUE", f"edge {edge}")
            target.edges[edge] = kind

    def instantiate(self, graph: Handle) -> Handle:
        """Copy a graph that has no cycle."""
        call = "cuGraphInstantiateWithParams"
        self._enter(call)
        source = self._get(call, "graph", graph)
        copy = _Graph(dict(source.nodes), dict(source.captured), dict(source.edges))
        if len(self._order(copy)) != len(copy.nodes):
            self._fail(call, "CUDA_ERROR_INVALID_VALUE", "the graph has a cycle")
        return self._new("executable", copy)

    def _order(self, graph: _Graph) -> list[int]:
        """Return the nodes in a random order that the edges allow."""
        missing = Counter(after for _, after in graph.edges)
        following: dict[int, list[int]] = {}
        for before, after in graph.edges:
            following.setdefault(before, []).append(after)
        ready = [n for n in graph.nodes if not missing[n]]
        order = []
        while ready:
            node = ready.pop(self._shuffle.randrange(len(ready)))
            order.append(node)
            for after in following.get(node, ()):
                missing[after] -= 1
                if not missing[after]:
                    ready.append(after)
        return order

    def destroy_executable(self, executable: Handle) -> None:
        """Destroy an executable graph."""
        self._drop("cuGraphExecDestroy", "executable", executable)

    def upload_graph(self, executable: Handle, stream: Handle) -> None:
        """Check the handles."""
        self._enter("cuGraphUpload")
        self._get("cuGraphUpload", "executable", executable)

    def set_nodes(self, executable: Handle, handles: Handles, tables: NodeTables, indices: Indices) -> None:
        """Change nodes of an executable graph within the driver's rules."""
        for index in indices.tolist():
            with _at(index):
                self._set_node(executable, int(handles[index]), node_at(tables, index))

    def _set_node(self, executable: Handle, handle: int, node: DriverNode) -> None:
        call = SET_CALLS[node.kind]
        self._enter(call)
        target = self._get(call, "executable", executable)
        self._get(call, "node", handle)
        self._checked(call, node)
        old = target.nodes.get(handle)
        if old is None or not _may_become(old, node):
            self._fail(call, "CUDA_ERROR_INVALID_VALUE", f"{old} cannot become {node}")
        target.nodes[handle] = node
        if isinstance(node, KernelNode):
            target.captured[handle] = self._captured(node)

    def launch(self, executable: Handle, stream: Handle) -> None:
        """Enqueue the nodes as they are now."""
        self._enter("cuGraphLaunch")
        graph = self._get("cuGraphLaunch", "executable", executable)
        queue = self._get("cuGraphLaunch", "stream", stream)
        nodes = [(graph.nodes[n], graph.captured.get(n)) for n in self._order(graph)]
        self._enqueue(queue, lambda: self._execute(nodes))

    def _execute(self, nodes: Sequence[tuple[DriverNode, FakeLaunch | None]]) -> None:
        for node, captured in nodes:
            if captured is not None:
                self.launches.append(captured)
            EXECUTE[node.kind](self.memory, node)


def _may_become(old: DriverNode, new: DriverNode) -> bool:
    """Whether the driver takes new parameters (cuGraphExecMemsetNodeSetParams and its kin)."""
    if isinstance(old, MemsetNode) and isinstance(new, MemsetNode):
        return (old.width, old.height, old.pitch, old.item) == (new.width, new.height, new.pitch, new.item)
    if isinstance(old, MemcpyNode) and isinstance(new, MemcpyNode):
        return old.patchable and new.patchable
    return isinstance(old, KernelNode) and isinstance(new, KernelNode)


@contextmanager
def _at(index: int) -> Iterator[None]:
    """Tell a failure which node of the tables it is about."""
    try:
        yield
    except DriverFailure as failure:
        failure.index = index
        raise
