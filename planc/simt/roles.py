"""Which registers an instruction reads and writes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from planc.ptx.syntax import (
    Address,
    Arguments,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)
from planc.simt.faults import Unsupported

CARRY = "%cc"
"""The condition code register of extended-precision arithmetic (PTX ISA, "add.cc")."""

_CARRY_READERS = frozenset({"addc", "subc", "madc"})
_ONLY_READ = (
    "applypriority bra brkpt brx cp discard exit fence griddepcontrol membar nanosleep pmevent "
    "prefetch prefetchu red ret setmaxnreg st trap"
)
_WITHOUT_RESULT = frozenset(_ONLY_READ.split())


@dataclass(frozen=True, slots=True)
class CallParts:
    """The operands of a ``call``: where results go, what is called, with what, by which prototype."""

    results: tuple[Operand, ...]
    target: Operand
    arguments: tuple[Operand, ...]
    prototype: str | None


def call_parts(instruction: Instruction) -> CallParts:
    """Take the operands of ``call (results), target, (arguments), prototype`` apart.

    Raises :class:`Unsupported` where there is no target.
    """
    rest = list(instruction.operands)
    if not any(isinstance(each, Symbol | Register) for each in rest):
        raise Unsupported(instruction.form, "without a target")
    results: tuple[Operand, ...] = ()
    if isinstance(rest[0], Arguments):
        results = rest.pop(0).items  # type: ignore[union-attr]
    target = rest.pop(0)
    arguments: tuple[Operand, ...] = ()
    if rest and isinstance(rest[0], Arguments):
        arguments = rest.pop(0).items  # type: ignore[union-attr]
    last = rest[0] if rest else None
    return CallParts(results, target, arguments, last.name if isinstance(last, Symbol) else None)


def has_result(instruction: Instruction) -> bool:
    """Whether the first operand is written."""
    if instruction.opcode in ("bar", "barrier"):
        return "red" in instruction.modifiers
    return instruction.opcode not in _WITHOUT_RESULT


def names_in(operand: Operand) -> Iterator[str]:
    """Yield the registers and ``.param`` variables that an operand names."""
    if isinstance(operand, Register | Symbol):
        yield operand.name
    elif isinstance(operand, Negated):
        yield operand.register.name
    elif isinstance(operand, Vector | Arguments):
        for item in operand.items:
            yield from names_in(item)
    elif isinstance(operand, Pair):
        yield from names_in(operand.first)
        yield from names_in(operand.second)
    elif isinstance(operand, Address):
        if operand.base is not None:
            yield operand.base.name
        for item in operand.more:
            yield from names_in(item)


def reads_and_writes(instruction: Instruction) -> tuple[list[str], list[str]]:
    """Return the names read and written, in any order, symbols and special registers among them.

    A write under a guard also reads: the threads that skip it keep the old value. ``st.param``
    changes a part of its variable, so it reads it too.
    """
    reads: list[str] = []
    writes: list[str] = []
    if instruction.opcode == "call":
        parts = call_parts(instruction)
        for operand in (parts.target, *parts.arguments):
            reads.extend(names_in(operand))
        for operand in parts.results:
            writes.extend(names_in(operand))
    else:
        _by_position(instruction, reads, writes)
    _carry(instruction, reads, writes)
    if instruction.guard is not None:
        reads.append(instruction.guard.register)
        reads.extend(writes)
    return reads, writes


def _by_position(instruction: Instruction, reads: list[str], writes: list[str]) -> None:
    operands = instruction.operands
    if has_result(instruction) and operands:
        writes.extend(names_in(operands[0]))
        operands = operands[1:]
    for operand in operands:
        reads.extend(names_in(operand))
    if instruction.opcode == "st" and instruction.modifiers[:1] == ("param",):
        writes.extend(names_in(instruction.operands[0]))


def _carry(instruction: Instruction, reads: list[str], writes: list[str]) -> None:
    if instruction.opcode in _CARRY_READERS:
        reads.append(CARRY)
    if "cc" in instruction.modifiers:
        writes.append(CARRY)
