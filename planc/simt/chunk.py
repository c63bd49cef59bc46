"""Running a chunk: some whole blocks of the grid, all of them resident.

The scheduler keeps at most one fragment per (frame, block of code), so threads that arrive at the same
place join at once. It always serves the ready fragment that comes first in program order (see
:mod:`planc.simt.flow`). Threads must not wait for ever behind others that wait for them, so:

- A fragment that goes round a loop which reads what other threads may write (an atomic, a volatile or
  ordered load), and loses no thread for ``PATIENCE`` rounds, is set aside until no other can run.
- Threads at a barrier pass when nothing else can run and the barrier is complete.
- When all that is left spins, the chunk reports ``STALLED`` and the grid serves other chunks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from planc.simt.budget import refuse_budget, refuse_deadlock
from planc.simt.frames import READY, STALLED, WAITING, Fragment, Frame
from planc.simt.geometry import Geometry
from planc.simt.launch import Dimensions, Launch
from planc.simt.memory import Region
from planc.simt.program import Block, Gate, Given, Release
from planc.simt.ranges import RangeTable
from planc.simt.registers import BY_WIDTH, Bits

PATIENCE = 8
"""Rounds of a loop before a fragment lets others go first."""

ROUNDS = 1000
"""How often the spinning rest of a chunk is woken while memory still changes."""

Key = tuple[Frame, Block]


class Chunk:
    """The state of some whole blocks: fragments, shared and local memory, who has not ended."""

    def __init__(self, launch: Launch, first: int, blocks: int) -> None:
        """Start all threads of ``blocks`` blocks, from block ``first`` on, at the kernel's entry."""
        self.launch = launch
        self.geometry = Geometry(launch, first, blocks)
        self.blocks = blocks
        self.n = self.geometry.n
        self.alive: NDArray[np.bool_] = np.ones(self.n, np.bool_)
        self.alive_count = self.n
        self.table: dict[Key, Fragment] = {}
        self.arrivals: NDArray[np.int64] = np.zeros(blocks * 16, np.int64)
        self._given: dict[Given, Bits] = {}
        self._alive_lanes: NDArray[np.int64] | None = None
        self._make_memory()
        entry = launch.entry
        frame = Frame(self, entry, np.arange(self.n, dtype=np.int64))
        self.enter(frame)
        self.put(Fragment(frame, None, self.n, entry.blocks[0]))

    def _make_memory(self) -> None:
        launch = self.launch
        layout, stride = launch.layout, launch.shared_bytes()
        self.shared_stride = stride
        self.shared = Region("shared memory", 0, np.zeros(self.blocks * stride, np.uint8), True)
        ranges = sorted((at, at + layout.sizes[name]) for name, at in layout.placed())
        if launch.dynamic:
            ranges.append((layout.dynamic, layout.dynamic + launch.dynamic))
        self.shared_table = RangeTable([a for a, _ in ranges], [b for _, b in ranges])
        self.shared_base: NDArray[np.int64] = self.geometry.block_numbers * stride
        self.local_stride = 0
        self.local_table = RangeTable([], [])
        self.local = Region("local memory", 0, np.zeros(0, np.uint8), True)

    def reserve_local(self, size: int) -> None:
        """Give every thread at least ``size`` bytes of local memory; what is there stays."""
        stride = -(-size // 16) * 16
        if stride <= self.local_stride:
            return
        grown = np.zeros((self.n, stride), np.uint8)
        grown[:, : self.local_stride] = self.local.data.reshape(self.n, self.local_stride)
        self.local = Region("local memory", 0, grown.reshape(-1), True)
        self.local_stride = stride
        self.local_table = RangeTable([0], [stride])

    # Values that are not computed.

    def enter(self, frame: Frame) -> None:
        """Fill the given and the zeroed slots of a new frame, and make room for its local variables."""
        code = frame.code
        if code.local_size:
            self.reserve_local(frame.local_base + code.local_size)
        for slot, given in code.given:
            frame.base[slot] = self.given(given, frame)
        for slot in code.zeroed:
            if frame.base[slot] is None:
                frame.base[slot] = code.zeros(slot, frame.n)

    def given(self, given: Given, frame: Frame) -> Bits:
        """Return a given value for every thread of ``frame``."""
        if given[0] == "local":
            given = ("imm", 64, frame.local_base + given[1])
        found = self._given.get(given)
        if found is None:
            found = self._given[given] = self._make(given)
            found.flags.writeable = False
        if given[0] == "special" and frame.n != self.n:
            return found[frame.threads]
        return found[: frame.n]

    def _make(self, given: Given) -> Bits:
        kind = given[0]
        if kind == "special":
            return self.geometry.special(given[1])
        if kind == "imm":
            _, width, bits = given
        elif kind == "symbol":
            _, name, offset = given
            width, bits = 64, (self.launch.addresses[name] + offset) & 0xFFFF_FFFF_FFFF_FFFF
        else:
            _, offset, width = given
            bits = self._parameter(offset, width)
        return np.full(self.n, bits, BY_WIDTH[width])

    def _parameter(self, offset: int, width: int) -> int:
        data = self.launch.parameters.data[offset : offset + width // 8]
        return int.from_bytes(data.tobytes(), "little")

    # Threads.

    def coordinates(self, thread: int) -> tuple[Dimensions, Dimensions]:
        """Return (x, y, z) of a thread in its block, and of its block in the grid."""
        return self.geometry.coordinates(thread)

    def global_threads(self, fragment: Fragment) -> NDArray[np.int64]:
        """Return the index in the whole grid of each thread of a fragment."""
        return fragment.threads + self.geometry.first * self.launch.block_threads

    def nearest(self, space: str, address: int, size: int) -> tuple[str, int, int] | None:
        """Return name, start and bytes of what lies closest to an access in a state space."""
        if space == "global":
            region = self.launch.memory.nearest(address, size)
            return (region.name, region.start, region.size) if region else None
        if space == "param":
            return ("parameters", self.launch.parameters.start, self.launch.parameters.size)
        if space == "local":
            return ("local memory", 0, self.local_stride)
        index = self.shared_table.nearest(address, size)
        if index < 0:
            return None
        start = self.shared_table.starts[index]
        names = {at: name for name, at in self.launch.layout.placed()}
        return (names.get(start, "dynamic shared memory"), start, self.shared_table.ends[index] - start)

    def end_threads(self, fragment: Fragment) -> None:
        """Take the threads of ``fragment`` out of the chunk."""
        self.alive[fragment.threads] = False
        self.alive_count -= fragment.n
        self._alive_lanes = None
        self.launch.effects += 1

    def alive_lanes(self) -> NDArray[np.int64]:
        """Return for each warp the bit mask of its lanes that have not ended."""
        if self._alive_lanes is None:
            self._alive_lanes = self.lane_masks(np.flatnonzero(self.alive))
        return self._alive_lanes

    def lane_count(self) -> NDArray[np.int64]:
        """Return for each warp the number of its lanes that have not ended."""
        warps = self.geometry.warps[self.alive]
        return np.bincount(warps, minlength=self.blocks * self.launch.block_warps)

    def lane_masks(self, threads: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return for each warp the bit mask of its lanes among ``threads``."""
        geometry = self.geometry
        masks = np.zeros(self.blocks * self.launch.block_warps, np.int64)
        np.bitwise_or.at(masks, geometry.warps[threads], np.int64(1) << geometry.lanes[threads])
        return masks

    # Scheduling.

    def put(self, fragment: Fragment) -> None:
        """File a fragment under its place, where it joins the one that is there."""
        key = (fragment.frame, fragment.block)
        there = self.table.get(key)
        if there is None:
            self.table[key] = fragment
        else:
            there.join(fragment)

    def run(self) -> bool:
        """Run until all threads ended (True), or until the rest spins (False)."""
        effects, rounds = self.launch.effects, 0
        while True:
            fragment = self._first()
            if fragment is not None:
                del self.table[fragment.frame, fragment.block]
                self._serve(fragment)
            elif not self.table:
                return True
            elif not self._release():
                if all(each.state != STALLED for each in self.table.values()):
                    refuse_deadlock(self)
                if self.launch.effects == effects or rounds == ROUNDS:
                    return False
                effects, rounds = self.launch.effects, rounds + 1
                self.wake()

    def wake(self) -> None:
        """Let the fragments that were set aside go on."""
        for fragment in self.table.values():
            if fragment.state == STALLED:
                fragment.state = READY
                fragment.stalls = 0

    def _first(self) -> Fragment | None:
        best: Fragment | None = None
        order: tuple[int, ...] = ()
        for fragment in self.table.values():
            if fragment.state == READY:
                place = (*fragment.frame.path, fragment.block.rank)
                if best is None or place < order:
                    best, order = fragment, place
        return best

    def _release(self) -> bool:
        """Let waiting threads whose barrier is complete go on; False where there are none."""
        waiting = [each for each in self.table.values() if each.state == WAITING]
        families: dict[Release, list[Fragment]] = {}
        for each in waiting:
            assert each.block.gate is not None
            families.setdefault(each.block.gate.release, []).append(each)
        released = False
        for release, fragments in families.items():
            released |= release(self, fragments)
        if released:
            self.launch.effects += 1
        return released

    def _serve(self, fragment: Fragment | None) -> None:
        """Run a fragment from block to block while it comes first."""
        table = self.table
        while fragment is not None:
            block = fragment.block
            if fragment.where is not None:
                fragment.fetch()
            if block.gate is not None:
                fragment = self._pass_gate(fragment, block.gate)
                if fragment is None:
                    return
            for step in block.steps:
                step(fragment)
            fragment.dirty |= block.writes
            self._count(fragment)
            following = block.end.go(fragment)
            if following is None:
                return
            fragment.block = following
            if following.rank <= block.rank and following.polls and self.set_aside(fragment):
                return
            if table:
                fragment = self._queue(fragment)

    def _pass_gate(self, fragment: Fragment, gate: Gate) -> Fragment | None:
        passing = gate.arrive(fragment)
        if passing is not None and passing is not fragment:
            passing.fetch()
        return passing

    def _count(self, fragment: Fragment) -> None:
        launch = self.launch
        launch.executed += fragment.n * fragment.block.cost
        launch.dispatches += 1
        if launch.budget is not None and launch.executed > launch.budget:
            refuse_budget(self, fragment)

    def _queue(self, fragment: Fragment) -> Fragment | None:
        """Return ``fragment`` if it comes before all others, else file it."""
        place = (*fragment.frame.path, fragment.block.rank)
        for other in self.table.values():
            if other.block is fragment.block and other.frame is fragment.frame:
                other.join(fragment)
                return None
            if other.state == READY and (*other.frame.path, other.block.rank) < place:
                self.put(fragment)
                return None
        return fragment

    def set_aside(self, fragment: Fragment) -> bool:
        """Count a round of a loop that may wait for other threads; True if the fragment stalls."""
        if fragment.n != fragment.seen:
            fragment.seen = fragment.n
            fragment.stalls = 0
            return False
        fragment.stalls += 1
        if fragment.stalls < PATIENCE:
            return False
        fragment.state = STALLED
        self.put(fragment)
        return True
