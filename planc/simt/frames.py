"""Who runs where: frames (calls in flight) and fragments (threads at one place).

A **frame** is one activation of a function by a set of threads. Its ``base`` holds one array per
register slot, with one element per thread of the frame.

A **fragment** is a set of threads of one frame that stand at the start of one block. While it covers
the whole frame, its registers *are* the frame's. Otherwise it gathers a register from the frame when a
block first reads it, keeps it compact (one element per thread of the fragment), and scatters what it
changed and what is still live when it splits or joins. So no instruction ever computes with a mask,
and none costs more than the threads that run it.

Register arrays are values: an instruction binds a new array and never changes one in place. Only
:meth:`Fragment.flush` writes in place, and only into arrays that it copied itself (``Frame.fresh``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from planc.simt.registers import Bits

if TYPE_CHECKING:
    from planc.simt.chunk import Chunk
    from planc.simt.program import Block, CallSite, FunctionCode

READY, STALLED, WAITING = 0, 1, 2
"""States of a fragment: it can run; it spins and lets others go first; it waits at a barrier."""

Positions = NDArray[np.int64] | slice
"""Ascending positions of threads in a frame; a slice where they are consecutive."""


class Frame:
    """One activation of a function; ``threads`` are the chunk's indices of its threads, ascending.

    ``origin`` are the positions of those threads in the ``caller`` frame, None for all of them.
    ``path`` are the ranks of the calls that led here: the order in which frames are served.
    ``local_base`` is where the function's local variables start in each thread's local memory;
    ``stalls`` and ``seen`` keep those of the calling fragment.
    """

    __slots__ = (
        "base",
        "caller",
        "chunk",
        "code",
        "depth",
        "fresh",
        "local_base",
        "n",
        "origin",
        "path",
        "seen",
        "site",
        "stalls",
        "threads",
    )

    def __init__(self, chunk: Chunk, code: FunctionCode, threads: NDArray[np.int64]) -> None:
        """Start the outermost frame of a chunk."""
        self.chunk = chunk
        self.code = code
        self.threads = threads
        self.n = len(threads)
        self.base: list[Any] = [None] * code.slots
        self.fresh: set[int] = set()
        self.caller: Frame | None = None
        self.origin: Positions | None = None
        self.site: CallSite | None = None
        self.path: tuple[int, ...] = ()
        self.depth = 0
        self.local_base = 0
        self.stalls = self.seen = 0

    def own(self, slot: int) -> Bits:
        """Return the array of ``slot``, safe to change in place."""
        held: Bits | None = self.base[slot]
        if held is None or slot not in self.fresh:
            held = self.code.zeros(slot, self.n) if held is None else held.copy()
            self.base[slot] = held
            self.fresh.add(slot)
        return held


class Fragment:
    """Threads of one frame at the start of ``block``; ``where`` is None for all of the frame."""

    __slots__ = (
        "_shared_base",
        "_threads",
        "block",
        "chunk",
        "dirty",
        "frame",
        "lane_masks",
        "n",
        "regs",
        "seen",
        "stalls",
        "state",
        "where",
    )

    def __init__(self, frame: Frame, where: Positions | None, n: int, block: Block) -> None:
        """Place ``n`` threads; registers are gathered later."""
        self.frame = frame
        self.chunk = frame.chunk
        self.where = where
        self.n = n
        self.block = block
        self.regs: list[Any] = frame.base if where is None else [None] * len(frame.base)
        self.dirty = 0
        self.stalls = 0
        self.seen = 0
        self.state = READY
        self.lane_masks: NDArray[np.int64] | None = None
        self._shared_base: NDArray[np.int64] | None = None
        self._threads: NDArray[np.int64] | None = frame.threads if where is None else None

    @property
    def threads(self) -> NDArray[np.int64]:
        """Indices in the chunk, ascending."""
        if self._threads is None:
            self._threads = self.frame.threads[self.where]
        return self._threads

    @property
    def shared_base(self) -> NDArray[np.int64]:
        """Where the shared memory of each thread's block starts, in bytes."""
        base = self._shared_base
        if base is None:
            base = self._shared_base = self.chunk.shared_base[self.threads]
        return base

    def fetch(self) -> None:
        """Gather the registers that the block reads and this fragment does not hold yet."""
        regs, frame, where = self.regs, self.frame, self.where
        for slot in self.block.uses:
            if regs[slot] is None:
                base = frame.base[slot]
                assert base is not None
                part = base[where]
                regs[slot] = part.copy() if slot in frame.fresh and isinstance(where, slice) else part
        for slot in self.block.constants:
            if regs[slot] is None:
                base = frame.base[slot]
                assert base is not None
                regs[slot] = base[: self.n]

    def flush(self, live: int) -> None:
        """Scatter changed registers of the bit set ``live`` into the frame."""
        if self.where is None:
            return
        pending = self.dirty & live
        self.dirty &= ~live
        while pending:
            low = pending & -pending
            pending ^= low
            slot = low.bit_length() - 1
            self.frame.own(slot)[self.where] = self.regs[slot]

    def part(self, positions: NDArray[np.int64], block: Block) -> Fragment:
        """Return some of the threads, at ``positions`` of this flushed fragment, as one at ``block``."""
        if isinstance(self.where, slice):
            where: Positions = as_slice(positions + self.where.start)
        elif self.where is None:
            where = as_slice(positions)
        else:
            where = as_slice(self.where[positions])
        child = Fragment(self.frame, where, len(positions), block)
        child.stalls, child.seen = self.stalls, self.seen
        return child

    def join(self, other: Fragment) -> None:
        """Take in the threads of ``other``, which stands at the same block of the same frame."""
        self.flush(self.block.live)
        other.flush(self.block.live)
        where = union(self.where, other.where)
        self.n += other.n
        self.dirty = 0
        self._threads = self._shared_base = self.lane_masks = None
        self.stalls = 0 if STALLED in (self.state, other.state) else max(self.stalls, other.stalls)
        self.seen = max(self.seen, other.seen)
        self.state = READY
        if self.n == self.frame.n:
            self.where, self.regs = None, self.frame.base
            self._threads = self.frame.threads
            self.frame.fresh.clear()
        else:
            self.where, self.regs = where, [None] * len(self.frame.base)


def as_slice(positions: NDArray[np.int64]) -> Positions:
    """Return ascending positions as a slice where they are consecutive."""
    first, last = int(positions[0]), int(positions[-1])
    return slice(first, last + 1) if last - first + 1 == len(positions) else positions


def as_array(where: Positions) -> NDArray[np.int64]:
    """Return positions as an array."""
    return np.arange(where.start, where.stop) if isinstance(where, slice) else where


def union(a: Positions | None, b: Positions | None) -> Positions:
    """Return the ascending union of two disjoint sets of positions, none of which is a whole frame."""
    assert a is not None and b is not None
    if isinstance(a, slice) and isinstance(b, slice):
        if a.stop == b.start:
            return slice(a.start, b.stop)
        if b.stop == a.start:
            return slice(b.start, a.stop)
    merged = np.concatenate((as_array(a), as_array(b)))
    merged.sort(kind="stable")
    return as_slice(merged)
