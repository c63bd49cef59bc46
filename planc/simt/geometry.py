"""Special registers: where each thread of a chunk stands (PTX ISA, "Special Registers")."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from planc.simt.registers import Bits

if TYPE_CHECKING:
    from planc.simt.chunk import Chunk
    from planc.simt.launch import Dimensions, Launch

_U32 = np.uint32
_AXES = "xyz"
PROCESSORS = 132
"""``%nsmid``: streaming multiprocessors of an NVIDIA H200."""
RESIDENT_WARPS = 64
"""``%nwarpid``: warps that one multiprocessor can hold."""


class Geometry:
    """Indices of the threads of a chunk: ``blocks`` whole blocks from block ``first`` on.

    ``linear`` is the thread's index in its block, ``block_numbers`` its block within the chunk,
    ``lanes`` its place in its warp and ``warps`` its warp within the chunk.
    """

    __slots__ = ("block_numbers", "blocks", "first", "lanes", "launch", "linear", "n", "warps")

    def __init__(self, launch: Launch, first: int, blocks: int) -> None:
        """Number the threads."""
        threads = launch.block_threads
        self.launch = launch
        self.first = first
        self.blocks = blocks
        self.n = blocks * threads
        index = np.arange(self.n, dtype=np.int64)
        self.block_numbers: NDArray[np.int64] = index // threads
        self.linear: NDArray[np.int64] = index - self.block_numbers * threads
        self.lanes: NDArray[np.int64] = self.linear & 31
        self.warps: NDArray[np.int64] = self.block_numbers * launch.block_warps + (self.linear >> 5)

    def coordinates(self, thread: int) -> tuple[Dimensions, Dimensions]:
        """Return (x, y, z) of a thread in its block, and of its block in the grid."""
        block = self.first + int(self.block_numbers[thread])
        return (
            _unravel(int(self.linear[thread]), self.launch.block),
            _unravel(block, self.launch.grid),
        )

    def special(self, name: str) -> Bits:
        """Return a special register of every thread; raises KeyError for one that is not supported."""
        base, _, axis = name.removeprefix("%").partition(".")
        if axis and base in _VECTORS:
            return _VECTORS[base](self, _AXES.index(axis)) if axis != "w" else self._same(_FOURTH[base])
        return _PLAIN[base](self)

    def _same(self, value: int) -> Bits:
        return np.full(self.n, value, _U32)

    def _axis(self, linear: NDArray[np.int64], sizes: Dimensions, axis: int) -> Bits:
        before = int(np.prod(sizes[:axis], dtype=np.int64))
        return (linear // before % sizes[axis]).astype(_U32)


def _unravel(linear: int, sizes: Dimensions) -> Dimensions:
    x, y, _ = sizes
    return linear % x, linear // x % y, linear // (x * y)


_FOURTH = {"tid": 0, "ntid": 1, "ctaid": 0, "nctaid": 1}
"""The fourth component of the vectors, ``.w``."""
_VECTORS: Mapping[str, Callable[[Geometry, int], Bits]] = MappingProxyType(
    {
        "tid": lambda g, axis: g._axis(g.linear, g.launch.block, axis),
        "ntid": lambda g, axis: g._same(g.launch.block[axis]),
        "ctaid": lambda g, axis: g._axis(g.block_numbers + g.first, g.launch.grid, axis),
        "nctaid": lambda g, axis: g._same(g.launch.grid[axis]),
        # Without a cluster attribute every block is a cluster of its own.
        "clusterid": lambda g, axis: g._axis(g.block_numbers + g.first, g.launch.grid, axis),
        "nclusterid": lambda g, axis: g._same(g.launch.grid[axis]),
        "cluster_ctaid": lambda g, axis: g._same(0),
        "cluster_nctaid": lambda g, axis: g._same(1),
    }
)
_FOURTH |= {"clusterid": 0, "nclusterid": 1, "cluster_ctaid": 0, "cluster_nctaid": 1}


def _lane_mask(shift: Callable[[NDArray[np.uint64]], NDArray[np.uint64]]) -> Callable[[Geometry], Bits]:
    return lambda g: (shift(g.lanes.astype(np.uint64)) & np.uint64(0xFFFFFFFF)).astype(_U32)


_ONE, _TWO, _ALL = np.uint64(1), np.uint64(2), np.uint64(0xFFFFFFFF)
_PLAIN: Mapping[str, Callable[[Geometry], Bits]] = MappingProxyType(
    {
        "laneid": lambda g: g.lanes.astype(_U32),
        "warpid": lambda g: (g.linear >> 5).astype(_U32),
        "nwarpid": lambda g: g._same(RESIDENT_WARPS),
        "smid": lambda g: ((g.block_numbers + g.first) % PROCESSORS).astype(_U32),
        "nsmid": lambda g: g._same(PROCESSORS),
        "gridid": lambda g: np.zeros(g.n, np.uint64),
        "lanemask_eq": _lane_mask(lambda lane: _ONE << lane),
        "lanemask_lt": _lane_mask(lambda lane: (_ONE << lane) - _ONE),
        "lanemask_le": _lane_mask(lambda lane: (_TWO << lane) - _ONE),
        "lanemask_gt": _lane_mask(lambda lane: _ALL - ((_TWO << lane) - _ONE)),
        "lanemask_ge": _lane_mask(lambda lane: _ALL - ((_ONE << lane) - _ONE)),
        "dynamic_smem_size": lambda g: g._same(g.launch.dynamic),
        "total_smem_size": lambda g: g._same(g.launch.layout.static + g.launch.dynamic),
        "aggr_smem_size": lambda g: g._same(g.launch.layout.static + g.launch.dynamic),
        "is_explicit_cluster": lambda g: np.zeros(g.n, np.bool_),
        "cluster_ctarank": lambda g: g._same(0),
        "cluster_nctarank": lambda g: g._same(1),
        **{f"envreg{number}": lambda g: g._same(0) for number in range(32)},
    }
)

CLOCKS: Mapping[str, int] = MappingProxyType(
    {
        "%clock": 32,
        "%clock_hi": 32,
        "%clock64": 64,
        "%globaltimer": 64,
        "%globaltimer_lo": 32,
        "%globaltimer_hi": 32,
    }
)
"""Special registers that change while a kernel runs, with their widths."""


def read_clock(name: str, chunk: Chunk) -> int:
    """Return a clock: ``%clock64`` counts blocks of instructions served, ``%globaltimer`` nanoseconds."""
    launch = chunk.launch
    value = time.time_ns() if name.startswith("%globaltimer") else 16 * launch.dispatches
    if name.endswith("_hi"):
        return (value >> 32) & 0xFFFFFFFF
    return value & ((1 << CLOCKS[name]) - 1)


def is_supported(name: str) -> bool:
    """Whether special register ``name`` (with its ``%``) can be read."""
    base, _, axis = name.removeprefix("%").partition(".")
    if axis:
        return base in _VECTORS and axis in "xyzw"
    return base in _PLAIN or name in CLOCKS


def is_uniform(name: str) -> bool:
    """Whether special register ``name`` has one value for all threads of a launch."""
    base = name.removeprefix("%").partition(".")[0]
    return base in _UNIFORM


_UNIFORM_NAMES = (
    "ntid nctaid nclusterid cluster_ctaid cluster_nctaid nwarpid nsmid gridid dynamic_smem_size "
    "total_smem_size aggr_smem_size is_explicit_cluster cluster_ctarank cluster_nctarank"
)
_UNIFORM = frozenset(_UNIFORM_NAMES.split())


def special_width(name: str) -> int:
    """Return the width in bits of special register ``name``; predicates have 1."""
    base = name.removeprefix("%").partition(".")[0]
    if name in CLOCKS:
        return CLOCKS[name]
    return {"gridid": 64, "is_explicit_cluster": 1}.get(base, 32)
