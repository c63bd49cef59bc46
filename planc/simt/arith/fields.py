"""Bit counting, bit fields and byte dot products (PTX ISA, "Integer Arithmetic Instructions").

Positions and lengths of bfe and bfi: the manual reads their low 8 bits. The machine does so for 32-bit
fields alone. For 64 bits the assembler writes shifts that read the whole register and clamp it, which can
be seen from 256 on; what runs is what a program gets, so this follows the machine (measured on an NVIDIA
H200).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planc.simt.arith import wide
from planc.simt.arith.forms import Form, form, spellings
from planc.simt.arith.types import UNSIGNED, Bits, Function, cut, integers, is_signed, width

_NONE = np.uint32(0xFFFFFFFF)
_BYTE = np.uint32(0xFF)
_WORD = np.uint32(64)
_FIVE = np.uint32(31)


def _population(name: str) -> Function:
    return lambda a: np.bitwise_count(cut(a, UNSIGNED[width(name)])).astype(np.uint32)


def _zeros(raw: Bits) -> Bits:
    """Leading zeros of ``uint32`` or ``uint64`` arrays, as ``uint32``."""
    spare = 64 - 8 * raw.dtype.itemsize
    return (wide.leading_zeros(raw.astype(np.uint64)) - np.uint64(spare)).astype(np.uint32)


def _leading(name: str) -> Function:
    return lambda a: _zeros(cut(a, UNSIGNED[width(name)]))


def _find(name: str, *, shift_amount: bool) -> Function:
    top = np.uint32(width(name) - 1)

    def function(a: Bits) -> Bits:
        raw = cut(a, UNSIGNED[width(name)])
        if is_signed(name):
            raw = np.where(integers(raw, name) < 0, ~raw, raw)
        zeros = _zeros(raw)
        return np.where(raw == 0, _NONE, zeros if shift_amount else top - np.minimum(zeros, top))

    return function


_NO_MAGNITUDE = -(1 << 31)
_SWAPS = ((1, 0x5555555555555555), (2, 0x3333333333333333), (4, 0x0F0F0F0F0F0F0F0F))


def _reverse(name: str) -> Function:
    dtype = UNSIGNED[width(name)]
    whole = (1 << width(name)) - 1

    def function(a: Bits) -> Bits:
        bits = cut(a, dtype).byteswap()
        for distance, mask in _SWAPS:
            keep, step = dtype.type(mask & whole), dtype.type(distance)
            bits = ((bits & keep) << step) | ((bits >> step) & keep)
        return bits

    return function


def _shifted_left(values: Bits, count: Bits, bits: int) -> Bits:
    """``values << count`` with 0 from a count of ``bits`` on."""
    inside = np.minimum(count, bits - 1).astype(values.dtype)
    result: Bits = np.where(count < bits, values << inside, values.dtype.type(0))
    return result


def _low_mask(count: Bits, dtype: np.dtype[np.unsignedinteger]) -> Bits:
    """``count`` ones at the bottom, all ones from the width on."""
    return ~_shifted_left(np.full(count.shape, np.iinfo(dtype).max, dtype), count, 8 * dtype.itemsize)


def _place(operand: Bits, bits: int) -> Bits:
    """The position or length that a field instruction on ``bits`` bits reads from its operand."""
    raw = cut(operand, np.uint32)
    return raw & _BYTE if bits == 32 else np.minimum(raw, _WORD)


def _extract(name: str) -> Function:
    bits, dtype = width(name), UNSIGNED[width(name)]

    def function(a: Bits, b: Bits, c: Bits) -> Bits:
        raw = cut(a, dtype)
        start, count = _place(b, bits), _place(c, bits)
        inside = np.minimum(start, np.uint32(bits - 1)).astype(dtype)
        mask = _low_mask(np.minimum(count, np.uint32(bits) - np.minimum(start, np.uint32(bits))), dtype)
        field: Bits = (raw >> inside) & mask
        if not is_signed(name):
            return field
        # The sign is the top bit of the field, or of the operand where the field passes its end.
        last = np.minimum(start + count - np.uint32(1), np.uint32(bits - 1)).astype(dtype)
        negative = ((raw >> last) & dtype.type(1)) != 0
        return np.where(negative & (count != 0), field | ~mask, field)

    return function


def _insert(name: str) -> Function:
    bits, dtype = width(name), UNSIGNED[width(name)]

    def function(a: Bits, b: Bits, c: Bits, d: Bits) -> Bits:
        start, count = _place(c, bits), _place(d, bits)
        mask = _shifted_left(_low_mask(count, dtype), start, bits)
        value = _shifted_left(cut(a, dtype), start, bits)
        return (cut(b, dtype) & ~mask) | (value & mask)

    return function


def _mask(clamp: bool) -> Function:
    def function(a: Bits, b: Bits) -> Bits:
        start, count = cut(a, np.uint32), cut(b, np.uint32)
        if not clamp:
            start, count = start & _FIVE, count & _FIVE
        ones = _low_mask(np.minimum(count, np.uint32(32)), np.dtype(np.uint32))
        return _shifted_left(ones, start, 32)

    return function


def _extend(clamp: bool, signed: bool) -> Function:
    def function(a: Bits, b: Bits) -> Bits:
        raw, count = cut(a, np.uint32), cut(b, np.uint32)
        if not clamp:
            count = count & _FIVE
        mask = _low_mask(np.minimum(count, np.uint32(32)), np.dtype(np.uint32))
        low = raw & mask
        if not signed:
            return low
        top = (low >> ((count - np.uint32(1)) & _FIVE)) & np.uint32(1)
        return np.where((top != 0) & (count != 0), low | ~mask, low)

    return function


def _nth_set(mask: Bits, base: Bits, offset: Bits) -> Bits:
    """fns: the bit where the count of ones from ``base`` on reaches |offset|; all ones if none."""
    bits, start = cut(mask, np.uint32), cut(base, np.uint32)
    steps = integers(offset, "s32").astype(np.int64)
    left, result = np.abs(steps), np.full(np.broadcast_shapes(bits.shape, start.shape, steps.shape), _NONE)
    left = np.where(steps == 0, 1, left)
    direction, place = np.sign(steps), start.astype(np.int64)
    for _ in range(32):
        inside = (place >= 0) & (place < 32)
        hit = inside & (((bits >> np.clip(place, 0, 31).astype(np.uint32)) & np.uint32(1)) != 0)
        left = left - hit
        result = np.where(hit & (left == 0), place.astype(np.uint32), result)
        # Offset 0 asks for the base alone, and who has left the word does not come back.
        place = np.where(inside & (steps != 0), place + direction, 64)
    # -2**31 has no magnitude in 32 bits; the machine's search ends at bit 0 then (measured).
    return np.where(steps == _NO_MAGNITUDE, np.uint32(0), result)


def lanes(bits: Bits, size: int, signed: bool) -> list[Bits]:
    """The lanes of ``size`` bits of 32-bit registers, lowest first, in ``int64``."""
    raw, spare = cut(bits, np.uint32), np.uint32(32 - size)
    moved = [raw << np.uint32(32 - size * (i + 1)) for i in range(32 // size)]
    lanes = [x.view(np.int32) >> spare.view(np.int32) if signed else x >> spare for x in moved]
    return [x.astype(np.int64) for x in lanes]


def _dot(size: int, first: int, types: tuple[str, str]) -> Function:
    """Lanes of ``size`` bits of a times bytes of b from number ``first`` on, plus c, modulo 2**32."""

    def function(a: Bits, b: Bits, c: Bits) -> Bits:
        left = lanes(a, size, is_signed(types[0]))
        right = lanes(b, 8, is_signed(types[1]))[first:]
        total = cut(c, np.uint32).astype(np.int64)
        for x, y in zip(left, right, strict=False):
            total = total + x * y
        return total.astype(np.uint32)

    return function


def _dot_forms() -> Iterator[Form]:
    for text in spellings("dp4a", "u32 s32", "u32 s32") + spellings("dp2a", "lo hi", "u32 s32", "u32 s32"):
        opcode, *mode, left, right = text.split(".")
        total = "u32" if (left, right) == ("u32", "u32") else "s32"
        size, first = (8, 0) if opcode == "dp4a" else (16, 2 if mode == ["hi"] else 0)
        yield form(text, f"{left} {right} {total}", total, _dot(size, first, (left, right)))


def _count_forms() -> Iterator[Form]:
    for name in ("b32", "b64"):
        yield form(f"popc.{name}", name, "u32", _population(name))
        yield form(f"clz.{name}", name, "u32", _leading(name))
        yield form(f"brev.{name}", name, name, _reverse(name))
    for name in ("u32", "u64", "s32", "s64"):
        yield form(f"bfind.{name}", name, "u32", _find(name, shift_amount=False))
        yield form(f"bfind.shiftamt.{name}", name, "u32", _find(name, shift_amount=True))


def _field_forms() -> Iterator[Form]:
    for name in ("u32", "u64", "s32", "s64"):
        yield form(f"bfe.{name}", f"{name} u32 u32", name, _extract(name))
    for name in ("b32", "b64"):
        yield form(f"bfi.{name}", f"{name} {name} u32 u32", name, _insert(name))
    for mode in ("clamp", "wrap"):
        yield form(f"bmsk.{mode}.b32", "u32 u32", "b32", _mask(mode == "clamp"))
        for name in ("u32", "s32"):
            yield form(f"szext.{mode}.{name}", f"{name} u32", name, _extend(mode == "clamp", name == "s32"))
    yield form("fns.b32", "b32 b32 s32", "b32", _nth_set)


def forms() -> Iterator[Form]:
    """All forms of bit counting, bit fields and dot products."""
    for family in (_count_forms, _field_forms, _dot_forms):
        yield from family()
