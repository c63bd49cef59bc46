"""The nodes of a driver graph as tables in the driver's own layouts, so that nothing is made per node.

Layouts are those of the CUDA driver API on 64-bit machines: CUDA_KERNEL_NODE_PARAMS_v2,
CUDA_MEMSET_NODE_PARAMS_v1, CUDA_MEMCPY3D_v2 and CUgraphEdgeData.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planc.plan.program import EdgeType, Table
from planc.runtime.driver import DriverNodeKind

Handles = NDArray[np.uint64]
Indices = NDArray[np.intp]


def _layout(nbytes: int, fields: Sequence[tuple[str, int, str]], **vectors: int) -> np.dtype[np.void]:
    """Return a structure of ``nbytes`` from (field, offset, format); the rest of it stays zero."""
    formats = [(f, (vectors[n],)) if n in vectors else f for n, _, f in fields]
    names, offsets = [n for n, _, _ in fields], [o for _, o, _ in fields]
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": nbytes})


KERNEL_PARAMS = _layout(
    72,
    [
        ("function", 0, "<u8"),
        ("grid", 8, "<u4"),
        ("block", 20, "<u4"),
        ("shared", 32, "<u4"),  # bytes
        ("parameters", 40, "<u8"),  # address of the array of pointers to the arguments
    ],
    grid=3,
    block=3,
)
MEMSET_PARAMS = _layout(
    40,
    [
        ("target", 0, "<u8"),
        ("pitch", 8, "<u8"),  # bytes between rows
        ("value", 16, "<u4"),
        ("item", 20, "<u4"),  # 1, 2 or 4 bytes
        ("width", 24, "<u8"),  # items
        ("height", 32, "<u8"),
    ],
)
MEMCPY_PARAMS = _layout(
    200,
    [
        ("source_type", 32, "<u4"),
        ("source", 48, "<u8"),
        ("source_pitch", 72, "<u8"),
        ("source_rows", 80, "<u8"),  # between planes
        ("target_type", 120, "<u4"),
        ("target", 136, "<u8"),
        ("target_pitch", 160, "<u8"),
        ("target_rows", 168, "<u8"),
        ("width", 176, "<u8"),  # bytes
        ("height", 184, "<u8"),
        ("depth", 192, "<u8"),
    ],
)
EDGE_DATA = _layout(8, [("from_port", 0, "<u1"), ("to_port", 1, "<u1"), ("type", 2, "<u1")])
MEMORY_DEVICE = 2  # CU_MEMORYTYPE_DEVICE
PORT_PROGRAMMATIC = 1  # CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC


@dataclass(frozen=True, slots=True)
class DriverEdges:
    """What each driver node depends on.

    Node ``i`` is added with the nodes ``befores[firsts[i]:firsts[i + 1]]`` before it. The edges
    ``late_before[k]`` to ``late_after[k]``, with CUgraphEdgeData ``late_data[k]``, are added after all nodes.
    """

    firsts: NDArray[np.uint64]
    befores: NDArray[np.uint32]
    late_before: NDArray[np.uint32]
    late_after: NDArray[np.uint32]
    late_data: Table

    @classmethod
    def of(cls, count: int, before: Indices, after: Indices, types: NDArray[np.uint32]) -> DriverEdges:
        """Sort the edges of ``count`` nodes; what a node's own call cannot say is late.

        That is an edge of another type than full, or to an earlier node.
        """
        early = (types == EdgeType.FULL) & (before < after)
        order = np.argsort(after[early], kind="stable")
        firsts = np.zeros(count + 1, np.uint64)
        np.cumsum(np.bincount(after[early], minlength=count), out=firsts[1:])
        data = np.zeros(int((~early).sum()), EDGE_DATA)
        programmatic = types[~early] == EdgeType.PROGRAMMATIC
        data["type"][programmatic] = int(EdgeType.PROGRAMMATIC)
        data["from_port"][programmatic] = PORT_PROGRAMMATIC
        befores = before[early][order].astype(np.uint32)
        late = (before[~early].astype(np.uint32), after[~early].astype(np.uint32))
        return cls(firsts, befores, *late, data)

    @property
    def most(self) -> int:
        """How many ends of edges one call takes at most."""
        fan_in = int(np.diff(self.firsts).max(initial=0))
        return max(fan_in, 2 * len(self.late_before), 1)


@dataclass(frozen=True, slots=True)
class NodeTables:
    """The driver nodes of a schedule, in the order in which they are added.

    For each: ``kinds`` DriverNodeKind (uint32), ``params`` the address of its structure (uint64, 0 for an
    empty node), ``rows`` the program's node (uint32). Program node ``n`` is the chain of the driver nodes
    ``starts[n]`` to ``stops[n] - 1``. ``kernels``, ``memsets`` and ``memcpys`` are what ``params`` points
    into; ``counts`` says how many arguments each of ``kernels`` has.
    """

    kinds: NDArray[np.uint32]
    params: Handles
    rows: NDArray[np.uint32]
    starts: Indices
    stops: Indices
    edges: DriverEdges
    kernels: Table
    counts: Indices
    memsets: Table
    memcpys: Table

    def indices(self, nodes: Sequence[int]) -> Indices:
        """Return the driver nodes of program nodes that have parameters, in order."""
        if len(nodes) == 1:
            found = np.arange(self.starts[nodes[0]], self.stops[nodes[0]])
        else:
            parts = [np.arange(self.starts[n], self.stops[n]) for n in nodes]
            found = np.concatenate([*parts, np.empty(0, np.intp)])
        filled: Indices = found[self.kinds[found] != DriverNodeKind.EMPTY]
        return filled


def addresses_of(table: Table) -> Handles:
    """Return the address of each row of a table."""
    return np.uint64(table.ctypes.data) + np.arange(len(table), dtype=np.uint64) * np.uint64(table.itemsize)
