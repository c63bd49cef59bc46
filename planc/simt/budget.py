"""Runs that would not end: the step budget, deadlocks, threads that wait in vain."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from planc.diagnostics import Diagnostic, ReplayError
from planc.diagnostics.diagnostic import Fact
from planc.simt.registers import Bits
from planc.simt.report import span, who

if TYPE_CHECKING:
    from planc.simt.chunk import Chunk
    from planc.simt.frames import Fragment
    from planc.simt.program import Block

Signature = tuple[tuple[int, int, int, int], ...]
"""The places of all fragments of a chunk with hashes of their threads and registers."""


def refuse_budget(chunk: Chunk, fragment: Fragment) -> NoReturn:
    """Refuse to go on: the launch used up its thread-instructions."""
    launch = chunk.launch
    facts = _facts(fragment)
    facts |= {"budget": launch.budget, "executed": launch.executed}
    where = f"{who(facts)} is {_where(fragment.block)}"
    message = f"`{launch.name}` ran more than {launch.budget} thread-instructions; {where}"
    raise _refusal("PLC752", message, fragment.block, facts, "let the loop end, or raise the step budget")


def refuse_deadlock(chunk: Chunk) -> NoReturn:
    """Refuse to go on: every thread that has not ended waits at a barrier that never completes."""
    fragments = sorted(chunk.table.values(), key=lambda each: int(each.threads[0]))
    first = fragments[0]
    waiting = sum(each.n for each in fragments)
    facts = _facts(first) | {"waiting": waiting}
    facts["lines"] = [*sorted({each.block.line for each in fragments})]
    message = f"{who(facts)} waits for threads that never come, at {_line(first.block)}"
    notes = tuple(f"{each.n} threads wait at {_line(each.block)}" for each in fragments)
    cure = "let every thread that a barrier counts, or a member mask names, reach the same barrier"
    raise _refusal("PLC753", message, first.block, facts, cure, notes)


def refuse_livelock(chunk: Chunk) -> NoReturn:
    """Refuse to go on: the threads that are left poll memory that no thread will change."""
    fragments = sorted(chunk.table.values(), key=lambda each: int(each.threads[0]))
    first = next(each for each in fragments if each.block.polls)
    facts = _facts(first) | {"waiting": sum(each.n for each in fragments)}
    message = f"{who(facts)} waits for a change of memory that no thread makes, {_where(first.block)}"
    notes = tuple(f"{each.n} threads are at {_line(each.block)}" for each in fragments)
    cure = "let a thread that can still run make the change"
    raise _refusal("PLC764", message, first.block, facts, cure, notes)


def signature(chunk: Chunk) -> Signature:
    """Describe all that the fragments of a stalled chunk know; equal ones will do the same again."""
    rows = []
    for fragment in chunk.table.values():
        registers = hash(tuple(_content(fragment, slot) for slot in _members(fragment.block.live)))
        rows.append((fragment.block.rank, fragment.frame.depth, hash(fragment.threads.tobytes()), registers))
    return tuple(sorted(rows))


def _content(fragment: Fragment, slot: int) -> bytes:
    held: Bits | None = fragment.regs[slot]
    if held is None:
        held = fragment.frame.base[slot][fragment.where]
    return np.ascontiguousarray(held).tobytes()


def _members(bits: int) -> list[int]:
    return [slot for slot in range(bits.bit_length()) if bits >> slot & 1]


def _facts(fragment: Fragment) -> dict[str, Fact]:
    thread, block = fragment.chunk.coordinates(int(fragment.threads[0]))
    found: dict[str, Fact] = {"kernel": fragment.chunk.launch.name, "thread": [*thread], "block": [*block]}
    place = fragment.block.loop or fragment.block
    found["ptx_line"] = place.line
    if place.source is not None:
        found |= {"cuda_file": place.source.file, "cuda_line": place.source.line}
    return found


def _line(block: Block) -> str:
    source = f" ({block.source.file}:{block.source.line})" if block.source else ""
    return f"PTX line {block.line}{source}"


def _where(block: Block) -> str:
    return f"in the loop at {_line(block.loop)}" if block.loop is not None else f"at {_line(block)}"


def _refusal(
    code: str, message: str, block: Block, facts: dict[str, Fact], cure: str, notes: tuple[str, ...] = ()
) -> ReplayError:
    source = (block.loop or block).source
    return ReplayError(Diagnostic(code, message, span(source), cure, (), notes, facts))
