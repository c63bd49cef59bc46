"""Logic, shifts and byte permutation (PTX ISA, "Logic and Shift Instructions", "prmt")."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planc.ptx.syntax import Immediate, Instruction, Pair
from planc.simt.arith.forms import Form, UnsupportedForm, form, spellings
from planc.simt.arith.types import SIGNED, UNSIGNED, Bits, Function, cut, integers, is_signed, width


def _raw(name: str, operation: Callable[..., Bits]) -> Function:
    dtype = UNSIGNED[width(name)]
    return lambda *operands: operation(*(cut(x, dtype) for x in operands))


LOGIC: dict[str, Callable[..., Bits]] = {
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""The two-operand bitwise operations."""


def logic(opcode: str, name: str) -> Function:
    """``and``, ``or`` or ``xor`` of one type."""
    return _raw(name, LOGIC[opcode])


def _is_zero(name: str) -> Function:
    dtype = UNSIGNED[width(name)]
    return lambda a: (cut(a, dtype) == 0).astype(dtype)


def _logic_forms() -> Iterator[Form]:
    for name in ("pred", "b16", "b32", "b64"):
        for opcode in LOGIC:
            yield form(f"{opcode}.{name}", f"{name} {name}", name, logic(opcode, name))
        yield form(f"not.{name}", name, name, _raw(name, np.invert))
        if name != "pred":
            yield form(f"cnot.{name}", name, name, _is_zero(name))


def _filled_with_zeros(operation: Callable[[Bits, Bits], Bits], name: str) -> Function:
    """A shift that brings in zeros; NumPy's own is undefined from the width on."""
    bits, dtype = width(name), UNSIGNED[width(name)]

    def function(a: Bits, b: Bits) -> Bits:
        values, count = cut(a, dtype), cut(b, np.uint32)
        beyond = count >= bits
        if not beyond.any():
            return operation(values, cut(count, dtype))
        inside = np.minimum(count, np.uint32(bits - 1)).astype(dtype)
        return np.where(beyond, dtype.type(0), operation(values, inside))

    return function


def _shift_right(name: str) -> Function:
    bits, dtype = width(name), UNSIGNED[width(name)]

    def arithmetic(a: Bits, b: Bits) -> Bits:
        count = np.minimum(cut(b, np.uint32), np.uint32(bits - 1)).astype(SIGNED[bits])
        result: Bits = (integers(a, name) >> count).view(dtype)
        return result

    return arithmetic if is_signed(name) else _filled_with_zeros(np.right_shift, name)


def _funnel(left: bool, clamp: bool) -> Function:
    def function(a: Bits, b: Bits, c: Bits) -> Bits:
        both = (cut(b, np.uint32).astype(np.uint64) << np.uint64(32)) | cut(a, np.uint32)
        count = cut(c, np.uint32)
        count = np.minimum(count, np.uint32(32)) if clamp else count & np.uint32(31)
        if left:
            return ((both << count.astype(np.uint64)) >> np.uint64(32)).astype(np.uint32)
        return (both >> count.astype(np.uint64)).astype(np.uint32)

    return function


def _shift_forms() -> Iterator[Form]:
    for name in ("b16", "b32", "b64"):
        yield form(f"shl.{name}", f"{name} u32", name, _filled_with_zeros(np.left_shift, name))
    for text in spellings("shr", "b16 b32 b64 u16 u32 u64 s16 s32 s64"):
        name = text.partition(".")[2]
        yield form(text, f"{name} u32", name, _shift_right(name))
    for text in spellings("shf", "l r", "wrap clamp", "b32"):
        _, side, mode, _ = text.split(".")
        yield form(text, "b32 b32 u32", "b32", _funnel(side == "l", mode == "clamp"))


def table(instruction: Instruction) -> int:
    """The truth table of a ``lop3``, an integer constant from 0 to 255."""
    operand = instruction.operands[4]
    if not isinstance(operand, Immediate) or operand.kind != "int" or not 0 <= operand.bits <= 255:
        raise UnsupportedForm(f"{instruction.form} with a table that is no constant from 0 to 255")
    return operand.bits


def three_inputs(lut: int) -> Function:
    """The bitwise function whose value for (a, b, c) is bit ``4a + 2b + c`` of ``lut``."""

    def function(a: Bits, b: Bits, c: Bits, _: Bits) -> Bits:
        inputs = [cut(x, np.uint32) for x in (a, b, c)]
        result = np.zeros(np.broadcast_shapes(*(x.shape for x in inputs)), np.uint32)
        for row in range(8):
            if lut >> row & 1:
                terms = [x if row >> (2 - i) & 1 else ~x for i, x in enumerate(inputs)]
                result = result | (terms[0] & terms[1] & terms[2])
        return result

    return function


def _three_inputs_tested(opcode: str, instruction: Instruction) -> Function:
    if not isinstance(instruction.operands[0], Pair):
        raise UnsupportedForm(f"{instruction.form} without a second result")
    value, combine = three_inputs(table(instruction)), LOGIC[opcode]

    def function(a: Bits, b: Bits, c: Bits, lut: Bits, q: Bits) -> tuple[Bits, Bits]:
        result = value(a, b, c, lut)
        return result, combine(result != 0, cut(q, np.bool_))

    return function


def _tested(opcode: str) -> Callable[[Instruction], Function]:
    return lambda instruction: _three_inputs_tested(opcode, instruction)


def _table_forms() -> Iterator[Form]:
    inputs = ("b32", "b32", "b32", "b8")
    yield Form("lop3.b32", inputs, ("b32",), lambda instruction: three_inputs(table(instruction)))
    for opcode in ("and", "or"):
        pair = ("b32", "pred")
        yield Form(f"lop3.{opcode}.b32", (*inputs, "pred"), pair, _tested(opcode), pair=pair)


_MODES: dict[str, tuple[str, str, str, str]] = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}
"""Source bytes of the result, highest first, by the two low bits of the control (PTX ISA, prmt)."""


def _permute(selectors: Bits, a: Bits, b: Bits) -> Bits:
    """Pick bytes of ``b:a`` by four nibbles; bit 3 of a nibble replicates the byte's sign."""
    source = (cut(b, np.uint32).astype(np.uint64) << np.uint64(32)) | cut(a, np.uint32)
    result = np.zeros(np.broadcast_shapes(selectors.shape, source.shape), np.uint32)
    for place in range(4):
        nibble = (selectors >> np.uint32(4 * place)) & np.uint32(15)
        byte = (source >> ((nibble & np.uint32(7)).astype(np.uint64) * np.uint64(8))) & np.uint64(0xFF)
        sign = np.where(byte >= 128, np.uint64(0xFF), np.uint64(0))
        picked = np.where(nibble >= 8, sign, byte).astype(np.uint32)
        result = result | (picked << np.uint32(8 * place))
    return result


def _permute_mode(mode: str) -> Function:
    codes = np.array([int(text, 16) for text in _MODES[mode]], np.uint32)
    return lambda a, b, c: _permute(codes[cut(c, np.uint32) & np.uint32(3)], a, b)


def _permute_forms() -> Iterator[Form]:
    yield form("prmt.b32", "b32 b32 b32", "b32", lambda a, b, c: _permute(cut(c, np.uint32), a, b))
    for mode in _MODES:
        yield form(f"prmt.b32.{mode}", "b32 b32 b32", "b32", _permute_mode(mode))


def forms() -> Iterator[Form]:
    """All forms of logic, shifts and permutation."""
    for family in (_logic_forms, _shift_forms, _table_forms, _permute_forms):
        yield from family()
