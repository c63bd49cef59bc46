"""How blocks end: jumps, branches, tables, calls, returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planc.ptx.syntax import Instruction
from planc.simt.frames import Fragment, Frame, as_array, as_slice
from planc.simt.program import Block, CallSite
from planc.simt.registers import BY_WIDTH, Bits
from planc.simt.report import thread_failure
from planc.simt.slots import Kind
from planc.simt.spaces import FUNCTION_STRIDE, FUNCTION_WINDOW

MAX_DEPTH = 256
"""Calls that may be in flight at once in one thread."""


@dataclass(slots=True, eq=False)
class Jump:
    """All threads go on at one block."""

    target: Block

    def go(self, fragment: Fragment) -> Block | None:
        """Go on."""
        return self.target


@dataclass(slots=True, eq=False)
class Branch:
    """Threads whose predicate holds go to ``taken``, the others to ``other``."""

    predicate: int
    negated: bool
    taken: Block
    other: Block

    def go(self, fragment: Fragment) -> Block | None:
        """Go on together, or split."""
        chosen = fragment.regs[self.predicate]
        count = int(np.count_nonzero(chosen))
        if count in (0, fragment.n):
            return self.taken if (count != 0) != self.negated else self.other
        holds, fails = (self.other, self.taken) if self.negated else (self.taken, self.other)
        fragment.flush(holds.live | fails.live)
        for mask, block in ((chosen, holds), (~chosen, fails)):
            _send(fragment.part(np.flatnonzero(mask), block), fragment.block)
        return None


def _send(part: Fragment, source: Block) -> None:
    """File a part of a split fragment, counting the rounds of a loop that it goes back to."""
    if part.block.rank <= source.rank and part.block.polls and part.chunk.set_aside(part):
        return
    part.chunk.put(part)


@dataclass(slots=True, eq=False)
class Table:
    """``brx.idx``: an index chooses the target."""

    index: int
    targets: tuple[Block, ...]
    instruction: Instruction

    def go(self, fragment: Fragment) -> Block | None:
        """Go on together, or split by index."""
        index = fragment.regs[self.index].astype(np.int64)
        wrong = index >= len(self.targets)
        if wrong.any():
            lane = int(np.argmax(wrong))
            what = f"branches to entry {int(index[lane])} of a table of {len(self.targets)}"
            raise thread_failure("PLC762", what, fragment, lane, self.instruction)
        chosen = np.unique(index)
        if len(chosen) == 1:
            return self.targets[int(chosen[0])]
        live = 0
        for target in self.targets:
            live |= target.live
        fragment.flush(live)
        for each in chosen:
            _send(fragment.part(np.flatnonzero(index == each), self.targets[int(each)]), fragment.block)
        return None


@dataclass(slots=True, eq=False)
class Exit:
    """The threads end."""

    def go(self, fragment: Fragment) -> Block | None:
        """End them."""
        fragment.chunk.end_threads(fragment)
        return None


@dataclass(slots=True, eq=False)
class Call:
    """A call of the function with index ``function``, or of the one whose address is in ``pointer``."""

    site: CallSite
    function: int
    pointer: int = -1
    allowed: frozenset[int] = frozenset()

    def go(self, fragment: Fragment) -> Block | None:
        """Start a frame of the callee for each function that is called."""
        fragment.flush(self.site.following.live)
        if self.pointer < 0:
            self._enter(fragment, self.function)
            return None
        addresses = fragment.regs[self.pointer]
        for address in np.unique(addresses):
            where = np.flatnonzero(addresses == address)
            function = self._function_at(int(address), fragment, int(where[0]))
            part = fragment if len(where) == fragment.n else self._with_arguments(fragment, where)
            self._enter(part, function)
        return None

    def _with_arguments(self, fragment: Fragment, where: NDArray[np.intp]) -> Fragment:
        part = fragment.part(where, fragment.block)
        for slot in self.site.arguments:
            part.regs[slot] = fragment.regs[slot][where]
        return part

    def _function_at(self, address: int, fragment: Fragment, lane: int) -> int:
        index, rest = divmod(address - FUNCTION_WINDOW, FUNCTION_STRIDE)
        if rest or index not in self.allowed:
            what = f"calls {address:#x}, where no function with these parameters is"
            raise thread_failure("PLC762", what, fragment, lane, self.site.instruction)
        return index

    def _enter(self, fragment: Fragment, function: int) -> None:
        caller = fragment.frame
        code = fragment.chunk.launch.functions[function]
        if caller.depth >= MAX_DEPTH:
            what = f"calls `{code.name}` with {MAX_DEPTH} calls in flight"
            raise thread_failure("PLC760", what, fragment, 0, self.site.instruction, "bound the recursion")
        frame = Frame(fragment.chunk, code, fragment.threads)
        frame.caller, frame.origin, frame.site = caller, fragment.where, self.site
        frame.path = (*caller.path, self.site.rank)
        frame.depth = caller.depth + 1
        frame.stalls, frame.seen = fragment.stalls, fragment.seen
        frame.local_base = -(-(caller.local_base + caller.code.local_size) // 16) * 16
        for slot, argument in zip(code.parameters, self.site.arguments, strict=True):
            frame.base[slot] = conform(fragment.regs[argument], code.kinds[slot])
        fragment.chunk.enter(frame)
        fragment.chunk.put(Fragment(frame, None, frame.n, code.blocks[0]))


def conform(bits: Bits, kind: Kind) -> Bits:
    """Return an argument or result as its slot holds it: a register, or a ``.param`` variable's bytes."""
    what, size = kind
    if what == "bits":
        if bits.ndim == 1:
            return bits
        return np.ascontiguousarray(bits[:, : size // 8]).view(BY_WIDTH[size])[:, 0]
    if bits.ndim == 1:
        bits = bits.reshape(-1, 1).view(np.uint8)
    if bits.shape[1] == size:
        return bits
    sized = np.zeros((len(bits), size), np.uint8)
    common = min(size, bits.shape[1])
    sized[:, :common] = bits[:, :common]
    return sized


@dataclass(slots=True, eq=False)
class Return:
    """Back to the caller; from the outermost frame, the end of the threads."""

    results: tuple[int, ...]

    def go(self, fragment: Fragment) -> Block | None:
        """Hand the results over and file the threads after the call."""
        frame = fragment.frame
        if frame.caller is None or frame.site is None:
            fragment.chunk.end_threads(fragment)
            return None
        back = _caller_fragment(fragment, frame.caller, frame.site.following)
        for target, slot in zip(frame.site.results, self.results, strict=True):
            if target >= 0:
                back.regs[target] = conform(fragment.regs[slot], frame.caller.code.kinds[target])
                back.dirty |= 1 << target
        fragment.chunk.put(back)
        return None


def _caller_fragment(fragment: Fragment, caller: Frame, block: Block) -> Fragment:
    """Return the threads of ``fragment`` as a fragment of the caller's frame."""
    origin = fragment.frame.origin
    if fragment.where is None:
        where = origin
    elif origin is None:
        where = fragment.where
    else:
        where = as_slice(as_array(origin)[fragment.where])
    back = Fragment(caller, where, fragment.n, block)
    back.stalls, back.seen = fragment.frame.stalls, fragment.frame.seen
    return back
