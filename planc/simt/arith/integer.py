"""Integer arithmetic (PTX ISA, "Integer Arithmetic Instructions").

Division and remainder by zero are unspecified in PTX; here, as on an NVIDIA H200, every bit of
the result is one. ``INT_MIN / -1`` wraps to ``INT_MIN`` with remainder 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planc.simt.arith.forms import Form, form, spellings
from planc.simt.arith.types import (
    INTEGERS,
    UNSIGNED,
    Bits,
    Function,
    as_register,
    cut,
    integers,
    is_signed,
    packed,
    value_dtype,
    width,
)
from planc.simt.arith.wide import multiply_high_signed, multiply_high_unsigned

_NEXT = {"u16": "u32", "s16": "s32", "u32": "u64", "s32": "s64"}


def _raw(name: str, operation: Callable[..., Bits]) -> Function:
    """``operation`` on the raw bits: right where sign does not matter."""
    dtype = UNSIGNED[width(name)]
    return lambda *operands: operation(*(cut(x, dtype) for x in operands))


def _typed(name: str, operation: Callable[..., Bits]) -> Function:
    """``operation`` on values of the type; it must return the type's own dtype."""
    return lambda *operands: as_register(operation(*(integers(x, name) for x in operands)))


def add(name: str) -> Function:
    """Sum modulo 2**width."""
    return _raw(name, np.add)


def subtract(name: str) -> Function:
    """Difference modulo 2**width."""
    return _raw(name, np.subtract)


def minimum(name: str) -> Function:
    """The smaller by the type's order."""
    return _typed(name, np.minimum)


def maximum(name: str) -> Function:
    """The larger by the type's order."""
    return _typed(name, np.maximum)


def _clamped(values: Bits) -> Bits:
    limits = np.iinfo(np.int32)
    return np.clip(values, limits.min, limits.max).astype(np.int32)


def _wide_sum(sign: int) -> Function:
    def saturated(a: Bits, b: Bits) -> Bits:
        return _clamped(a.astype(np.int64) + sign * b.astype(np.int64))

    return _typed("s32", saturated)


def _product_low(name: str) -> Function:
    return _raw(name, np.multiply)


def _product_high(name: str) -> Function:
    if name in _NEXT:
        wider = value_dtype(_NEXT[name])
        shift = wider.type(width(name))

        def high(a: Bits, b: Bits) -> Bits:
            result: Bits = ((a.astype(wider) * b.astype(wider)) >> shift).astype(a.dtype)
            return result

        return _typed(name, high)
    return _raw(name, multiply_high_signed if is_signed(name) else multiply_high_unsigned)


def _product_wide(name: str) -> Function:
    wider = value_dtype(_NEXT[name])

    def wide(a: Bits, b: Bits) -> Bits:
        return as_register(integers(a, name).astype(wider) * integers(b, name).astype(wider))

    return wide


PRODUCTS: dict[str, Callable[[str], Function]] = {
    "lo": _product_low,
    "hi": _product_high,
    "wide": _product_wide,
}
"""The maker of a product by the mode of ``mul`` and ``mad``."""


def _plus(product: Function, name: str) -> Function:
    total = add(name)
    return lambda a, b, c: total(product(a, b), c)


def _saturated_plus(product: Function) -> Function:
    total = _wide_sum(1)
    return lambda a, b, c: total(product(a, b), c)


def _low24(bits: Bits, name: str) -> Bits:
    """The 24-bit operand of ``mul24`` in 64 bits, extended by its sign where signed."""
    raw = cut(bits, np.uint32)
    if is_signed(name):
        return ((raw << np.uint32(8)).view(np.int32) >> np.int32(8)).astype(np.int64)
    return (raw & np.uint32(0xFFFFFF)).astype(np.int64)


def _product24(mode: str, name: str) -> Function:
    shift = np.int64(16 if mode == "hi" else 0)
    return lambda a, b: ((_low24(a, name) * _low24(b, name)) >> shift).astype(np.uint32)


def _difference(a: Bits, b: Bits) -> Bits:
    """|a - b| as raw bits, exact for the whole range of the type."""
    return as_register(np.maximum(a, b)) - as_register(np.minimum(a, b))


def _sad(name: str) -> Function:
    def function(a: Bits, b: Bits, c: Bits) -> Bits:
        return cut(c, UNSIGNED[width(name)]) + _difference(integers(a, name), integers(b, name))

    return function


def _divided(dividend: Bits, divisor: Bits) -> tuple[Bits, Bits]:
    """Quotient and remainder of unsigned arrays; all ones where the divisor is 0."""
    zero = divisor == 0
    safe = np.where(zero, divisor.dtype.type(1), divisor)
    quotient = dividend // safe
    ones = divisor.dtype.type(np.iinfo(divisor.dtype).max)
    return np.where(zero, ones, quotient), np.where(zero, ones, dividend - quotient * safe)


def _magnitude(raw: Bits, negative: Bits) -> Bits:
    return np.where(negative, np.zeros((), raw.dtype) - raw, raw)


def _division(name: str, *, remainder: bool) -> Function:
    dtype = UNSIGNED[width(name)]

    def unsigned(a: Bits, b: Bits) -> Bits:
        return _divided(cut(a, dtype), cut(b, dtype))[remainder]

    def signed(a: Bits, b: Bits) -> Bits:
        x, y = cut(a, dtype), cut(b, dtype)
        down, below = integers(x, name) < 0, integers(y, name) < 0
        result = _divided(_magnitude(x, down), _magnitude(y, below))[remainder]
        flipped = _magnitude(result, down if remainder else down ^ below)
        return np.where(y == 0, dtype.type(np.iinfo(dtype).max), flipped)

    return signed if is_signed(name) else unsigned


def _relu(limit: Function, name: str) -> Function:
    def function(a: Bits, b: Bits) -> Bits:
        values = integers(limit(a, b), name)
        return as_register(np.maximum(values, values.dtype.type(0)))

    return function


def _sums() -> Iterator[Form]:
    for opcode, make in (("add", add), ("sub", subtract)):
        for name in INTEGERS:
            yield form(f"{opcode}.{name}", f"{name} {name}", name, make(name))
        yield form(f"{opcode}.sat.s32", "s32 s32", "s32", _wide_sum(1 if opcode == "add" else -1))
    for name in ("u16x2", "s16x2"):
        yield form(f"add.{name}", f"{name} {name}", name, packed(add("u16")))


def _products() -> Iterator[Form]:
    for text in spellings("mul", "lo hi wide", " ".join(INTEGERS)):
        _, mode, name = text.split(".")
        if mode == "wide" and name not in _NEXT:
            continue
        product = PRODUCTS[mode](name)
        result = _NEXT[name] if mode == "wide" else name
        yield form(text, f"{name} {name}", result, product)
        yield form(f"mad.{mode}.{name}", f"{name} {name} {result}", result, _plus(product, result))
    yield form("mad.hi.sat.s32", "s32 s32 s32", "s32", _saturated_plus(_product_high("s32")))


def _products24() -> Iterator[Form]:
    for text in spellings("mul24", "lo hi", "u32 s32"):
        _, mode, name = text.split(".")
        product = _product24(mode, name)
        yield form(text, f"{name} {name}", name, product)
        yield form(f"mad24.{mode}.{name}", f"{name} {name} {name}", name, _plus(product, name))
    yield form("mad24.hi.sat.s32", "s32 s32 s32", "s32", _saturated_plus(_product24("hi", "s32")))


def _quotients() -> Iterator[Form]:
    for name in INTEGERS:
        yield form(f"div.{name}", f"{name} {name}", name, _division(name, remainder=False))
        yield form(f"rem.{name}", f"{name} {name}", name, _division(name, remainder=True))
        yield form(f"sad.{name}", f"{name} {name} {name}", name, _sad(name))


def _signs() -> Iterator[Form]:
    for name in ("s16", "s32", "s64"):
        yield form(f"neg.{name}", name, name, _raw(name, np.negative))
        yield form(f"abs.{name}", name, name, _typed(name, np.abs))


def _limits() -> Iterator[Form]:
    for opcode, make in (("min", minimum), ("max", maximum)):
        for name in INTEGERS:
            yield form(f"{opcode}.{name}", f"{name} {name}", name, make(name))
        yield form(f"{opcode}.relu.s32", "s32 s32", "s32", _relu(make("s32"), "s32"))
        yield form(f"{opcode}.u16x2", "u16x2 u16x2", "u16x2", packed(make("u16")))
        yield form(f"{opcode}.s16x2", "s16x2 s16x2", "s16x2", packed(make("s16")))
        yield form(f"{opcode}.relu.s16x2", "s16x2 s16x2", "s16x2", packed(_relu(make("s16"), "s16")))


def forms() -> Iterator[Form]:
    """All integer arithmetic forms."""
    for family in (_sums, _products, _products24, _quotients, _signs, _limits):
        yield from family()
