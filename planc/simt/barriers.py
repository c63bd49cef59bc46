"""Barriers of a block: ``bar`` and ``barrier``, with ``sync``, ``arrive`` and ``red`` (PTX ISA, "bar").

A barrier without a thread count waits for all threads of the block that have not ended. One with a count
waits for that many arrivals; arrivals are counted by warps, as the hardware does: once every
lane of a warp that has not ended is there, the warp counts 32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planc.ptx.syntax import Instruction
from planc.simt.chunk import Chunk
from planc.simt.frames import WAITING, Fragment
from planc.simt.program import Block, Release
from planc.simt.registers import Bits
from planc.simt.report import thread_failure

BARRIERS = 16
"""Barriers of each block."""

Counts = NDArray[np.int64]


@dataclass(slots=True, eq=False)
class BarrierGate:
    """``bar.sync`` and ``bar.red``: slots of the barrier's number, thread count and predicate (-1: none).

    ``reduction`` is ``popc``, ``and``, ``or`` or empty; ``target`` the slot of its result.
    """

    instruction: Instruction
    number: int
    count: int = -1
    reduction: str = ""
    predicate: int = -1
    negated: bool = False
    target: int = -1
    following: Block | None = None

    @property
    def release(self) -> Release:
        """Serve all barriers of the chunk together."""
        return release

    def arrive(self, fragment: Fragment) -> Fragment | None:
        """Pass at once where every thread of the chunk is here, else wait."""
        chunk = fragment.chunk
        if self.count < 0 and fragment.n == chunk.alive_count and not self.reduction:
            numbers = fragment.regs[self.number]
            if numbers.min() == numbers.max():
                self.check(fragment)
                return fragment
        self.check(fragment)
        fragment.state = WAITING
        chunk.put(fragment)
        return None

    def check(self, fragment: Fragment) -> None:
        """Refuse a barrier number that does not exist."""
        wrong = fragment.regs[self.number] >= BARRIERS
        if wrong.any():
            lane = int(np.argmax(wrong))
            what = f"waits at barrier {int(fragment.regs[self.number][lane])} of {BARRIERS}"
            raise thread_failure("PLC753", what, fragment, lane, self.instruction)

    def keys(self, fragment: Fragment) -> Counts:
        """Return for each thread an index of its block and barrier."""
        return barrier_keys(fragment, fragment.regs[self.number])

    def values(self, fragment: Fragment) -> Bits:
        """Return the predicate that each thread brings."""
        held: Bits = fragment.regs[self.predicate]
        return ~held if self.negated else held


def barrier_keys(fragment: Fragment, numbers: Bits) -> Counts:
    """Return for each thread an index of its block in the chunk and of the barrier."""
    blocks = fragment.chunk.geometry.block_numbers[fragment.threads]
    return blocks * BARRIERS + numbers.astype(np.int64)


def warp_counts(chunk: Chunk, threads: Counts, keys: Counts) -> tuple[Counts, Counts]:
    """Return the key and the number of arrivals of each warp, for threads that arrived at barriers."""
    lanes = chunk.lane_count()
    warps = chunk.geometry.warps[threads]
    pairs, counts = np.unique(np.stack((warps, keys)), axis=1, return_counts=True)
    full = counts == lanes[pairs[0]]
    return pairs[1], np.where(full, 32, counts)


def release(chunk: Chunk, fragments: list[Fragment]) -> bool:
    """Let the threads of every complete barrier pass."""
    for each in fragments:
        each.fetch()
    gates = [_gate(each) for each in fragments]
    keys = [gate.keys(each) for gate, each in zip(gates, fragments, strict=True)]
    complete = _complete(chunk, fragments, gates, keys)
    if not complete.any():
        return False
    results = _reduce(fragments, gates, keys, len(complete))
    for each, gate, key in zip(fragments, gates, keys, strict=True):
        passes = complete[key]
        if passes.any():
            _pass(each, gate, passes, results[gate.reduction][key] if gate.reduction else None)
    return True


def _gate(fragment: Fragment) -> BarrierGate:
    gate = fragment.block.gate
    assert isinstance(gate, BarrierGate)
    return gate


def _complete(
    chunk: Chunk, fragments: list[Fragment], gates: list[BarrierGate], keys: list[Counts]
) -> NDArray[np.bool_]:
    size = chunk.blocks * BARRIERS
    here = np.bincount(np.concatenate(keys), minlength=size)
    blocks = chunk.geometry.block_numbers[chunk.alive]
    wanted = np.repeat(np.bincount(blocks, minlength=chunk.blocks), BARRIERS)
    complete: NDArray[np.bool_] = (here > 0) & (here == wanted)
    counted = [k for k, gate in enumerate(gates) if gate.count >= 0]
    if counted:
        arrived = chunk.arrivals.copy()
        threads = np.concatenate([each.threads for each in fragments])
        by_warp, counts = warp_counts(chunk, threads, np.concatenate(keys))
        np.add.at(arrived, by_warp, counts)
        for k in counted:
            expected = np.zeros(size, np.int64)
            expected[keys[k]] = fragments[k].regs[gates[k].count].astype(np.int64)
            used = expected > 0
            complete[used] = arrived[used] >= expected[used]
            done = used & complete
            chunk.arrivals[done] = 0
    return complete


def _reduce(
    fragments: list[Fragment], gates: list[BarrierGate], keys: list[Counts], size: int
) -> dict[str, Bits]:
    """Return for each reduction its result per key."""
    found: dict[str, Bits] = {}
    for reduction in {gate.reduction for gate in gates} - {""}:
        holds = np.zeros(size, np.int64)
        brought = np.zeros(size, np.int64)
        for each, gate, key in zip(fragments, gates, keys, strict=True):
            if gate.reduction == reduction:
                holds += np.bincount(key[gate.values(each)], minlength=size)
                brought += np.bincount(key, minlength=size)
        if reduction == "popc":
            found[reduction] = holds.astype(np.uint32)
        else:
            found[reduction] = holds == brought if reduction == "and" else holds > 0
    return found


def _pass(fragment: Fragment, gate: BarrierGate, passes: NDArray[np.bool_], result: Bits | None) -> None:
    """Move the threads that pass to the block after the barrier; the others wait on."""
    chunk = fragment.chunk
    following = gate.following
    assert following is not None
    del chunk.table[fragment.frame, fragment.block]
    if passes.all():
        passing = fragment
    else:
        fragment.flush(fragment.block.live | following.live)
        waiting = fragment.part(np.flatnonzero(~passes), fragment.block)
        waiting.state = WAITING
        chunk.put(waiting)
        passing = fragment.part(np.flatnonzero(passes), following)
    passing.block = following
    passing.state = 0
    passing.stalls = 0
    if result is not None and gate.target >= 0:
        passing.regs[gate.target] = result[passes]
        passing.dirty |= 1 << gate.target
    chunk.put(passing)


@dataclass(slots=True, eq=False)
class Arrive:
    """``bar.arrive``: count the threads at a barrier and go on."""

    instruction: Instruction
    number: int

    def __call__(self, fragment: Fragment) -> None:
        """Count them."""
        chunk = fragment.chunk
        keys, counts = warp_counts(
            chunk, fragment.threads, barrier_keys(fragment, fragment.regs[self.number])
        )
        np.add.at(chunk.arrivals, keys, counts)
        chunk.launch.effects += 1
