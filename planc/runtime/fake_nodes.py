"""Driver nodes as the fake driver keeps them: read from the tables, as a driver copies its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planc.plan.program import Table
from planc.runtime.driver import DriverNodeKind
from planc.runtime.nodes import MEMCPY_PARAMS, NodeTables


@dataclass(frozen=True, slots=True)
class KernelNode:
    """A launch. ``parameters`` is the address of an array of ``count`` pointers to the arguments."""

    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    parameters: int
    count: int
    kind: DriverNodeKind = DriverNodeKind.KERNEL


@dataclass(frozen=True, slots=True)
class MemsetNode:
    """``height`` rows of ``width`` items, ``pitch`` bytes apart (CUDA_MEMSET_NODE_PARAMS)."""

    target: int
    pitch: int
    value: int
    item: int
    width: int
    height: int
    kind: DriverNodeKind = DriverNodeKind.MEMSET


@dataclass(frozen=True, slots=True)
class MemcpyNode:
    """``depth`` planes of ``height`` rows of ``width`` bytes (CUDA_MEMCPY3D).

    Rows are ``*_pitch`` bytes apart, planes ``*_pitch * *_rows``.
    """

    source: int
    source_pitch: int
    source_rows: int
    target: int
    target_pitch: int
    target_rows: int
    width: int
    height: int
    depth: int
    kind: DriverNodeKind = DriverNodeKind.MEMCPY

    @property
    def patchable(self) -> bool:
        """Whether an executable graph takes new pointers: one dimension (cuGraphExecMemcpyNodeSetParams)."""
        return self.height == self.depth == 1


@dataclass(frozen=True, slots=True)
class EmptyNode:
    """Nothing but its edges."""

    kind: DriverNodeKind = DriverNodeKind.EMPTY


DriverNode = KernelNode | MemsetNode | MemcpyNode | EmptyNode


def node_at(tables: NodeTables, index: int) -> DriverNode:
    """Return a copy of the parameters of a driver node."""
    return _READ[DriverNodeKind(int(tables.kinds[index]))](tables, index)


def _position(tables: NodeTables, index: int, table: Table) -> int:
    """Return which row of a table the address of a node's parameters is."""
    return (int(tables.params[index]) - table.ctypes.data) // table.itemsize


def _kernel(tables: NodeTables, index: int) -> KernelNode:
    position = _position(tables, index, tables.kernels)
    function, grid, block, shared, parameters = tables.kernels[position].tolist()
    axes = [tuple(int(n) for n in axis) for axis in (grid, block)]
    (x, y, z), (u, v, w) = axes
    return KernelNode(function, (x, y, z), (u, v, w), shared, parameters, int(tables.counts[position]))


def _memset(tables: NodeTables, index: int) -> MemsetNode:
    row = tables.memsets[_position(tables, index, tables.memsets)]
    return MemsetNode(*row.tolist())


def _memcpy(tables: NodeTables, index: int) -> MemcpyNode:
    row = tables.memcpys[_position(tables, index, tables.memcpys)]
    values = {name: int(row[name]) for name in _MEMCPY_FIELDS}
    return MemcpyNode(**values, kind=DriverNodeKind.MEMCPY)


_MEMCPY_FIELDS = tuple(n for n in MEMCPY_PARAMS.names or () if not n.endswith("_type"))
_READ: Mapping[DriverNodeKind, Callable[[NodeTables, int], DriverNode]] = MappingProxyType(
    {
        DriverNodeKind.KERNEL: _kernel,
        DriverNodeKind.MEMSET: _memset,
        DriverNodeKind.MEMCPY: _memcpy,
        DriverNodeKind.EMPTY: lambda tables, index: EmptyNode(),
    }
)
