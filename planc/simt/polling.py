"""Which loops may wait for other threads: those that read what others may write."""

from __future__ import annotations

from dataclasses import replace

from planc.ptx.syntax import Instruction, Register
from planc.simt.flow import Flow
from planc.simt.roles import reads_and_writes

_ORDERED = frozenset({"volatile", "relaxed", "acquire", "cv", "cg", "mmio"})


def names_read(flow: Flow) -> frozenset[str]:
    """Return every name that some instruction reads."""
    return frozenset(
        name for block in flow.blocks for each in block.instructions() for name in reads_and_writes(each)[0]
    )


def names_used(flow: Flow) -> frozenset[str]:
    """Return every name on whose value something depends: a guarded write that keeps the old one does not."""
    found: set[str] = set()
    for block in flow.blocks:
        for each in block.instructions():
            if each.guard is not None:
                found.add(each.guard.register)
            found.update(reads_and_writes(replace(each, guard=None))[0])
    return frozenset(found)


def is_poll(instruction: Instruction, read: frozenset[str]) -> bool:
    """Whether a loop around ``instruction`` may wait for what other threads do.

    An atomic whose result nobody reads does not count, nor does a plain load, unless a fence keeps it there.
    """
    if instruction.opcode == "atom":
        target = instruction.operands[0] if instruction.operands else None
        return isinstance(target, Register) and target.name in read
    if instruction.opcode == "ld":
        return bool(_ORDERED & set(instruction.modifiers))
    return instruction.opcode in ("nanosleep", "membar", "fence")


def polls(flow: Flow) -> bool:
    """Whether any instruction of a function may be polling."""
    read = names_read(flow)
    return any(is_poll(each, read) for block in flow.blocks for each in block.instructions())


def polling_loops(flow: Flow, calls: bool) -> set[int]:
    """Return the headers of loops that may wait; ``calls`` says that a called function may be polling."""
    read = names_read(flow)
    found: set[int] = set()
    for number, block in enumerate(flow.blocks):
        if (calls and block.end.kind == "call") or any(is_poll(each, read) for each in block.instructions()):
            header = flow.order.loops[number]
            while header >= 0:
                found.add(header)
                header = flow.order.outer[header]
    return found
