"""Warp operations: shuffles, votes, matches, reductions.

See "Parallel Synchronization and Communication Instructions" in the PTX ISA. A ``.sync`` operation is a gate:
threads wait until every lane that the member mask names, and that has not ended, stands at the same
instruction. Then the step exchanges values between those lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planc.ptx.syntax import Instruction
from planc.simt.chunk import Chunk
from planc.simt.frames import READY, WAITING, Fragment
from planc.simt.program import Block, Release
from planc.simt.registers import Bits

Lanes = NDArray[np.int64]
"""Bit masks of lanes."""


@dataclass(slots=True, eq=False)
class WarpGate:
    """A ``.sync`` operation of warps; ``mask`` is the slot of its member mask.

    ``following`` is the block after a ``bar.warp.sync``, None for other operations.
    """

    instruction: Instruction
    mask: int
    following: Block | None = None

    @property
    def release(self) -> Release:
        """Serve all warp operations of the chunk together."""
        return release

    def arrive(self, fragment: Fragment) -> Fragment | None:
        """Let the threads pass whose warp is complete; the others wait."""
        chunk = fragment.chunk
        if fragment.n == chunk.alive_count:
            return fragment
        ready = self.ready(fragment, warp_masks(fragment))
        if ready.all():
            return fragment
        if not ready.any():
            fragment.state = WAITING
            chunk.put(fragment)
            return None
        fragment.flush(fragment.block.live)
        waiting = fragment.part(np.flatnonzero(~ready), fragment.block)
        waiting.state = WAITING
        chunk.put(waiting)
        return fragment.part(np.flatnonzero(ready), fragment.block)

    def ready(self, fragment: Fragment, present: Lanes) -> NDArray[np.bool_]:
        """Return for each thread whether all lanes of its mask are ``present`` or have ended."""
        warps = fragment.chunk.geometry.warps[fragment.threads]
        wanted = member_masks(fragment, self.mask) & fragment.chunk.alive_lanes()[warps]
        missing: NDArray[np.bool_] = (wanted & ~present[warps]) == 0
        return missing


def member_masks(fragment: Fragment, slot: int) -> Lanes:
    """Return the member mask of each thread."""
    held: Lanes = fragment.regs[slot].astype(np.int64)
    return held


def warp_masks(fragment: Fragment) -> Lanes:
    """Return for each warp of the chunk the lanes that the fragment holds."""
    if fragment.lane_masks is None:
        fragment.lane_masks = fragment.chunk.lane_masks(fragment.threads)
    return fragment.lane_masks


def release(chunk: Chunk, fragments: list[Fragment]) -> bool:
    """Wake fragments with complete warps: lanes may have ended since, or wait at other ``bar.warp.sync``."""
    released = False
    together = np.zeros(chunk.blocks * chunk.launch.block_warps, np.int64)
    for each in fragments:
        each.fetch()
        if _gate(each).following is not None:
            together |= warp_masks(each)
    for each in fragments:
        gate = _gate(each)
        if gate.following is not None:
            released |= _pass(each, gate, gate.ready(each, together), gate.following)
        elif gate.ready(each, warp_masks(each)).any():
            each.state = READY
            released = True
    return released


def _gate(fragment: Fragment) -> WarpGate:
    gate = fragment.block.gate
    assert isinstance(gate, WarpGate)
    return gate


def _pass(fragment: Fragment, gate: WarpGate, ready: NDArray[np.bool_], following: Block) -> bool:
    if not ready.any():
        return False
    chunk = fragment.chunk
    del chunk.table[fragment.frame, fragment.block]
    fragment.flush(fragment.block.live | following.live)
    if not ready.all():
        waiting = fragment.part(np.flatnonzero(~ready), fragment.block)
        waiting.state = WAITING
        chunk.put(waiting)
        fragment = fragment.part(np.flatnonzero(ready), following)
    fragment.block = following
    fragment.state = READY
    chunk.put(fragment)
    return True


# What the lanes compute. Each function takes the fragment, its lane masks and the operands' bits.


def _positions(f: Fragment) -> NDArray[np.int64]:
    """Return for each lane of the chunk (warp times 32 plus lane) its position in the fragment, or -1."""
    geometry = f.chunk.geometry
    places = np.full(f.chunk.blocks * f.chunk.launch.block_warps * 32, -1, np.int64)
    places[geometry.warps[f.threads] * 32 + geometry.lanes[f.threads]] = np.arange(f.n)
    return places


Chooser = Callable[[Lanes, Lanes, Lanes], tuple[Lanes, NDArray[np.bool_]]]
"""From lane, b and c to the source lane and whether it is in range."""


def _bounds(lane: Lanes, c: Lanes) -> tuple[Lanes, Lanes, Lanes]:
    """Return the segment mask, the lowest and the highest lane (PTX ISA, "shfl.sync")."""
    segment = (c >> 8) & 31
    return segment, lane & segment, (lane & segment) | (c & 31 & ~segment)


def _up(lane: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, NDArray[np.bool_]]:
    _, _, limit = _bounds(lane, c)
    source = lane - (b & 31)
    return source, source >= limit


def _down(lane: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, NDArray[np.bool_]]:
    _, _, limit = _bounds(lane, c)
    source = lane + (b & 31)
    return source, source <= limit


def _bfly(lane: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, NDArray[np.bool_]]:
    _, _, limit = _bounds(lane, c)
    source = lane ^ (b & 31)
    return source, source <= limit


def _idx(lane: Lanes, b: Lanes, c: Lanes) -> tuple[Lanes, NDArray[np.bool_]]:
    segment, lowest, limit = _bounds(lane, c)
    source = lowest | (b & 31 & ~segment)
    return source, source <= limit


SHUFFLES: dict[str, Chooser] = {"up": _up, "down": _down, "bfly": _bfly, "idx": _idx}
"""The modes of ``shfl``."""


def shuffle(f: Fragment, choose: Chooser, a: Bits, b: Bits, c: Bits) -> tuple[Bits, NDArray[np.bool_]]:
    """Return what each thread reads, and whether its source was in range.

    A source lane that does not take part is undefined in PTX; here the thread reads its own value.
    """
    geometry = f.chunk.geometry
    lane, warp = geometry.lanes[f.threads], geometry.warps[f.threads]
    source, in_range = choose(lane, b.astype(np.int64), c.astype(np.int64))
    source = np.where(in_range, source, lane)
    position = _positions(f)[warp * 32 + source]
    absent = position < 0
    if absent.any():
        position = np.where(absent, np.arange(f.n), position)
    return a[position], in_range


def ballot(f: Fragment, holds: NDArray[np.bool_]) -> Lanes:
    """Return for each thread the lanes of its warp, within the fragment, where ``holds``."""
    chunk = f.chunk
    return chunk.lane_masks(f.threads[holds])[chunk.geometry.warps[f.threads]]


def present(f: Fragment) -> Lanes:
    """Return for each thread the lanes of its warp within the fragment."""
    return warp_masks(f)[f.chunk.geometry.warps[f.threads]]


def vote(f: Fragment, mode: str, holds: NDArray[np.bool_], members: Lanes) -> Bits:
    """Return the vote of each thread's members: ``all``, ``any``, ``uni`` or ``ballot``."""
    votes = ballot(f, holds) & members
    if mode == "ballot":
        return votes.astype(np.uint32)
    everyone: NDArray[np.bool_] = votes == (present(f) & members)
    if mode == "all":
        return everyone
    some: NDArray[np.bool_] = votes != 0
    return some if mode == "any" else everyone | ~some


def match(f: Fragment, mode: str, a: Bits, members: Lanes) -> tuple[Bits, NDArray[np.bool_]]:
    """Return the members with the same value (``any``), or all of them if all agree, else 0 (``all``)."""
    geometry = f.chunk.geometry
    warps, lanes = geometry.warps[f.threads], geometry.lanes[f.threads]
    _, value = np.unique(a, return_inverse=True)
    _, group = np.unique(warps * (int(value.max()) + 1) + value, return_inverse=True)
    masks = np.zeros(int(group.max()) + 1, np.int64)
    np.bitwise_or.at(masks, group, np.int64(1) << lanes)
    same = masks[group] & members
    if mode == "any":
        return same.astype(np.uint32), np.ones(f.n, np.bool_)
    agree = same == (present(f) & members)
    return np.where(agree, same, 0).astype(np.uint32), agree


_REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def reduce(f: Fragment, mode: str, a: Bits, members: Lanes) -> Bits:
    """Return the reduction over each thread's members; ``a`` has the dtype in which it is done."""
    warps = f.chunk.geometry.warps[f.threads]
    _, group = np.unique(warps << 32 | members, return_inverse=True)
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    totals: Bits = _REDUCTIONS[mode].reduceat(a[order], starts, dtype=a.dtype)
    return totals[group]


def elect(f: Fragment, members: Lanes) -> tuple[Bits, NDArray[np.bool_]]:
    """Return the elected lane (the lowest member), and whether the thread is it."""
    here = present(f) & members
    lowest = here & -here
    leader = np.log2(np.maximum(lowest, 1)).astype(np.int64)
    elected: NDArray[np.bool_] = f.chunk.geometry.lanes[f.threads] == leader
    return leader.astype(np.uint32), elected
