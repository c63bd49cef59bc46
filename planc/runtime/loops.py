"""The loops that add and patch a graph's nodes: in C, or in Python with the same calls on the same tables."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from planc.runtime.driver import DriverNodeKind
from planc.runtime.native import native
from planc.runtime.nodes import Handles, Indices, NodeTables

ENTRIES = (
    "cuGraphAddKernelNode",
    "cuGraphAddMemsetNode",
    "cuGraphAddMemcpyNode",
    "cuGraphAddEmptyNode",
    "cuGraphAddDependencies",
    "cuGraphExecKernelNodeSetParams",
    "cuGraphExecMemsetNodeSetParams",
    "cuGraphExecMemcpyNodeSetParams",
)
"""The driver's functions that the loops call, in the order of ``Calls`` in native.c."""
ENTRY_VERSION = 12030
"""The CUDA version whose variants are meant: kernel parameters and edges of ``_v2`` (cudaTypedefs.h)."""

_ADD_JOB = np.dtype(
    [
        (name, "<u8")
        for name in (
            *("calls", "graph", "context", "count", "kinds", "params", "firsts", "befores"),
            *("late", "late_before", "late_after", "late_data", "handles", "scratch", "failed"),
        )
    ]
)
_SET_JOB = np.dtype(
    [
        (name, "<u8")
        for name in (
            *("calls", "executable", "context", "count"),
            *("rows", "kinds", "params", "handles", "failed"),
        )
    ]
)


class Loop(Protocol):
    """Calls the driver for each node; other threads run meanwhile. The context must be current."""

    name: str

    def add(self, graph: int, context: int, tables: NodeTables, handles: Handles) -> tuple[int, int]:
        """Add all nodes and edges; fill ``handles``. Return (CUresult, index of the node that failed).

        The index is the number of nodes where it was the late edges that failed.
        """
        ...

    def set(
        self, executable: int, context: int, tables: NodeTables, handles: Handles, indices: Indices
    ) -> tuple[int, int]:
        """Patch nodes in order; return (CUresult, position in ``indices`` that failed)."""
        ...


class NativeLoop:
    """The loop of native.c."""

    name = "native"

    def __init__(self, module: Any, entries: Sequence[int]) -> None:
        """Keep the module and the table of entry points."""
        self._module = module
        self._entries = np.array(entries, np.uint64)

    def add(self, graph: int, context: int, tables: NodeTables, handles: Handles) -> tuple[int, int]:
        """Add all nodes and edges."""
        edges = tables.edges
        scratch = np.empty(edges.most, np.uint64)
        job = np.zeros((), _ADD_JOB)
        arrays: dict[str, NDArray[Any]] = {
            "calls": self._entries,
            "kinds": tables.kinds,
            "params": tables.params,
            "firsts": edges.firsts,
            "befores": edges.befores,
            "late_before": edges.late_before,
            "late_after": edges.late_after,
            "late_data": edges.late_data,
            "handles": handles,
            "scratch": scratch,
        }
        for name, array in arrays.items():
            job[name] = array.ctypes.data
        job["graph"], job["context"] = graph, context
        job["count"], job["late"] = len(tables.kinds), len(edges.late_before)
        return self._module.add(job.ctypes.data), int(job["failed"])

    def set(
        self, executable: int, context: int, tables: NodeTables, handles: Handles, indices: Indices
    ) -> tuple[int, int]:
        """Patch nodes."""
        job = np.zeros((), _SET_JOB)
        rows = indices.astype(np.uint64)
        for name, array in (("calls", self._entries), ("rows", rows), ("handles", handles)):
            job[name] = array.ctypes.data
        job["kinds"], job["params"] = tables.kinds.ctypes.data, tables.params.ctypes.data
        job["executable"], job["context"], job["count"] = executable, context, len(rows)
        return self._module.set(job.ctypes.data), int(job["failed"])


_Add = Callable[[int, int, Any, int, int, int], int]
_Set = Callable[[int, int, int, int], int]


class PythonLoop:
    """The same calls through ctypes, each with the address of a structure that is already there."""

    name = "python"

    def __init__(self, entries: Sequence[int]) -> None:
        """Make functions of the entry points."""
        found = dict(zip(ENTRIES, entries, strict=True))
        pointer, size = ctypes.c_void_p, ctypes.c_size_t
        plain = (pointer, pointer, pointer, size)

        def function(name: str, *arguments: Any) -> Any:
            return ctypes.CFUNCTYPE(ctypes.c_int, *arguments)(found[name])

        kernel = function("cuGraphAddKernelNode", *plain, pointer)
        memset = function("cuGraphAddMemsetNode", *plain, pointer, pointer)
        memcpy = function("cuGraphAddMemcpyNode", *plain, pointer, pointer)
        empty = function("cuGraphAddEmptyNode", *plain)
        self._add: dict[int, _Add] = {
            DriverNodeKind.KERNEL: lambda n, g, b, count, p, c: kernel(n, g, b, count, p),
            DriverNodeKind.MEMSET: memset,
            DriverNodeKind.MEMCPY: memcpy,
            DriverNodeKind.EMPTY: lambda n, g, b, count, p, c: empty(n, g, b, count),
        }
        self._edges = function("cuGraphAddDependencies", pointer, pointer, pointer, pointer, size)
        patch = (pointer, pointer, pointer)
        set_kernel = function("cuGraphExecKernelNodeSetParams", *patch)
        self._set: dict[int, _Set] = {
            DriverNodeKind.KERNEL: lambda e, n, p, c: set_kernel(e, n, p),
            DriverNodeKind.MEMSET: function("cuGraphExecMemsetNodeSetParams", *patch, pointer),
            DriverNodeKind.MEMCPY: function("cuGraphExecMemcpyNodeSetParams", *patch, pointer),
        }

    def add(self, graph: int, context: int, tables: NodeTables, handles: Handles) -> tuple[int, int]:
        """Add all nodes and edges."""
        edges, made = tables.edges, handles.ctypes.data
        firsts, befores = edges.firsts.tolist(), edges.befores
        ends = np.empty(edges.most, np.uint64)
        room = ends.ctypes.data
        for row, (kind, params) in enumerate(zip(tables.kinds.tolist(), tables.params.tolist(), strict=True)):
            first, last = firsts[row], firsts[row + 1]
            count = last - first
            if count:
                ends[:count] = handles[befores[first:last]]
            status = self._add[kind](made + 8 * row, graph, room if count else None, count, params, context)
            if status:
                return status, row
        return self._add_late(graph, tables, handles), len(handles)

    def _add_late(self, graph: int, tables: NodeTables, handles: Handles) -> int:
        edges = tables.edges
        if not len(edges.late_before):
            return 0
        before, after = handles[edges.late_before], handles[edges.late_after]
        data = edges.late_data.ctypes.data
        return int(self._edges(graph, before.ctypes.data, after.ctypes.data, data, len(before)))

    def set(
        self, executable: int, context: int, tables: NodeTables, handles: Handles, indices: Indices
    ) -> tuple[int, int]:
        """Patch nodes."""
        kinds, params, nodes = (a[indices].tolist() for a in (tables.kinds, tables.params, handles))
        for place, (kind, node, address) in enumerate(zip(kinds, nodes, params, strict=True)):
            status = self._set[kind](executable, node, address, context)
            if status:
                return status, place
        return 0, len(kinds)


def graph_loop(entries: Sequence[int]) -> Loop:
    """Return the native loop where there is one, else the one in Python. ``entries`` go by ENTRIES."""
    module = native().module
    return PythonLoop(entries) if module is None else NativeLoop(module, entries)
