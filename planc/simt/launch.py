"""What all threads of one launch share, and the count of what they did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from planc.simt.memory import Memory, Region, Trace
from planc.simt.ranges import RangeTable
from planc.simt.spaces import PARAM_WINDOW

if TYPE_CHECKING:
    from planc.simt.program import FunctionCode, SharedLayout
    from planc.simt.sites import Observer

Dimensions = tuple[int, int, int]
"""x, y, z."""


@dataclass(frozen=True, slots=True)
class RunStatistics:
    """What a run did.

    ``thread_instructions`` counts every instruction for every thread that reached it; one whose
    guard is false counts. ``dispatches`` counts blocks of instructions that the interpreter ran,
    ``chunks`` the groups of thread blocks it formed.
    """

    thread_instructions: int
    threads: int
    warps: int
    blocks: int
    chunks: int
    dispatches: int


@dataclass(slots=True, eq=False)
class Launch:
    """One run of a kernel. Sizes are threads and bytes; ``dynamic`` is the dynamic shared memory.

    ``effects`` grows whenever a thread changes memory or ends: as long as it stands still, threads
    that wait for a change wait in vain. ``budget`` is what is left of the thread-instructions.
    """

    name: str
    entry: FunctionCode
    functions: Mapping[int, FunctionCode]
    layout: SharedLayout
    grid: Dimensions
    block: Dimensions
    dynamic: int
    memory: Memory
    addresses: Mapping[str, int]
    parameters: Region
    stdout: Callable[[str], None]
    trace: Trace | None
    budget: int | None
    effects: int = 0
    executed: int = 0
    dispatches: int = 0
    observer: Observer | None = None

    @property
    def block_threads(self) -> int:
        """Threads of one block."""
        return self.block[0] * self.block[1] * self.block[2]

    @property
    def block_count(self) -> int:
        """Blocks of the grid."""
        return self.grid[0] * self.grid[1] * self.grid[2]

    @property
    def block_warps(self) -> int:
        """Warps of one block; the last may be partly empty."""
        return -(-self.block_threads // 32)

    @property
    def param_table(self) -> RangeTable:
        """The range of the kernel's parameters."""
        return RangeTable([PARAM_WINDOW], [PARAM_WINDOW + self.parameters.size])

    def shared_bytes(self) -> int:
        """Bytes of shared memory that one simulated block takes."""
        return -(-(self.layout.dynamic + self.dynamic) // 256) * 256


def parameter_region(data: bytes) -> Region:
    """Return the kernel's parameters as a read-only buffer; it is padded to whole 64-bit words."""
    return Region("parameters", PARAM_WINDOW, np.frombuffer(data, np.uint8), writable=False)
