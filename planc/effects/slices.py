"""Which arguments matter: those that flow into addresses, guards or calls."""

from __future__ import annotations

from planc.effects.memory import access_bytes
from planc.ptx.instructions import memory_accesses, read_registers, written_registers
from planc.ptx.syntax import Address, Arguments, Function, Instruction, Operand, Register, Symbol, Vector

Spans = frozenset[tuple[int, int]]
EVERYTHING: Spans = frozenset({(0, 1 << 30)})


def relevant_parameters(function: Function) -> Spans:
    """Return (first, end) in bytes of the parameter block of each load whose value matters.

    The slice ignores order: a register matters if any instruction uses it in an address, as a guard or in a
    call, or to compute a register that matters.
    """
    needed: set[str] = set()
    for instruction in function.body:
        needed.update(_seeds(instruction))
    found: set[tuple[int, int]] = set()
    pending = [i for i in function.body if written_registers(i)]
    changed = True
    while changed:
        changed = False
        left: list[Instruction] = []
        for instruction in pending:
            if not needed.intersection(written_registers(instruction)):
                left.append(instruction)
                continue
            needed.update(read_registers(instruction))
            span = _span(function, instruction)
            if span is not None:
                found.add(span)
            changed = True
        pending = left
    return frozenset(found)


def _seeds(instruction: Instruction) -> set[str]:
    found: set[str] = set()
    if instruction.guard is not None:
        found.add(instruction.guard.register)
    if instruction.opcode in ("call", "brx", "cp", "discard"):
        found.update(read_registers(instruction))
    if instruction.opcode == "st" and "param" in instruction.modifiers:
        found.update(read_registers(instruction))
    for access in memory_accesses(instruction):
        found.update(_names((access.address,)))
    return found


def _names(operands: tuple[Operand, ...]) -> set[str]:
    found: set[str] = set()
    for operand in operands:
        if isinstance(operand, Register):
            found.add(operand.name)
        elif isinstance(operand, Vector | Arguments):
            found |= _names(operand.items)
        elif isinstance(operand, Address):
            found |= _names((*(() if operand.base is None else (operand.base,)), *operand.more))
    return found


def _span(function: Function, instruction: Instruction) -> tuple[int, int] | None:
    """Return the parameter bytes that an instruction loads; all of them where that is not plain."""
    if instruction.opcode != "ld":
        return None
    address = instruction.operands[-1]
    if not isinstance(address, Address):
        return None
    if not isinstance(address.base, Symbol):
        is_param = any(word.startswith("param") for word in instruction.modifiers)
        return next(iter(EVERYTHING)) if is_param else None
    name, offset = address.base.name, address.base.offset + address.offset
    for parameter in function.parameters:
        if parameter.name == name:
            first = parameter.offset + offset
            return first, first + access_bytes(instruction)
    return None


def takes_parameter_address(function: Function) -> bool:
    """Whether the address of a parameter is taken: then any of its bytes may be read anywhere."""
    names = {parameter.name for parameter in function.parameters}
    return any(
        isinstance(operand, Symbol) and operand.name in names
        for instruction in function.body
        for operand in instruction.operands
    )
