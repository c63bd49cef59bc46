"""Slow floating point on Python integers and fractions: decode, compute exactly, round once, encode.

Written from the definition of the formats and of the rounding modes, with nothing shared with planc.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple


class Fmt(NamedTuple):
    """Widths of the fields; ``nan`` is the result NaN; ``finite`` formats have no infinity."""

    bits: int
    exponent: int
    mantissa: int
    nan: int
    finite: bool = False


FMT = {
    "f16": Fmt(16, 5, 10, 0x7FFF),
    "bf16": Fmt(16, 8, 7, 0x7FFF),
    "f32": Fmt(32, 8, 23, 0x7FFFFFFF),
    "f64": Fmt(64, 11, 52, 0xFFF8000000000000),
    "tf32": Fmt(19, 8, 10, 0x3FFFF),  # the upper 19 bits of the register
    "e4m3": Fmt(8, 4, 3, 0x7F, finite=True),
    "e5m2": Fmt(8, 5, 2, 0x7F),
}

NAN, INF, NUMBER = "nan", "inf", "number"


class Value(NamedTuple):
    """A decoded number: its kind, whether the sign bit is set, and the magnitude of a finite one."""

    kind: str
    negative: bool
    magnitude: Fraction

    @property
    def signed(self) -> Fraction:
        return -self.magnitude if self.negative else self.magnitude


def decode(bits: int, fmt: Fmt) -> Value:
    negative = bool(bits >> (fmt.bits - 1) & 1)
    field = bits >> fmt.mantissa & ((1 << fmt.exponent) - 1)
    fraction = bits & ((1 << fmt.mantissa) - 1)
    top, bias = (1 << fmt.exponent) - 1, (1 << (fmt.exponent - 1)) - 1
    if fmt.finite and field == top and fraction == (1 << fmt.mantissa) - 1:
        return Value(NAN, negative, Fraction(0))
    if field == top and not fmt.finite:
        return Value(NAN if fraction else INF, negative, Fraction(0))
    whole = fraction if field == 0 else fraction + (1 << fmt.mantissa)
    return Value(NUMBER, negative, Fraction(whole) * Fraction(2) ** (max(field, 1) - bias - fmt.mantissa))


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if value >= Fraction(2) ** guess else guess - 1


def _rounds_away(negative: bool, odd: bool, rest: Fraction, mode: str) -> bool:
    half = Fraction(1, 2)
    if mode == "rn":
        return rest > half or (rest == half and odd)
    if mode == "rna":
        return rest >= half
    return rest > 0 and {"rz": False, "rm": negative, "rp": not negative}[mode]


def infinity(fmt: Fmt) -> int:
    return (1 << (fmt.bits - 1)) - 1 if fmt.finite else ((1 << fmt.exponent) - 1) << fmt.mantissa


def encode(negative: bool, magnitude: Fraction, fmt: Fmt, mode: str) -> int:
    """The pattern of an exact finite value rounded once."""
    sign = 1 << (fmt.bits - 1) if negative else 0
    if magnitude == 0:
        return sign
    bias = (1 << (fmt.exponent - 1)) - 1
    exponent = max(_floor_log2(magnitude), 1 - bias)
    scaled = magnitude / Fraction(2) ** (exponent - fmt.mantissa)
    whole = scaled.numerator // scaled.denominator
    whole += _rounds_away(negative, bool(whole & 1), scaled - whole, mode)
    pattern = ((exponent + bias - 1) << fmt.mantissa) + whole
    if pattern >= infinity(fmt):
        inward = mode == "rz" or (mode == "rm" and not negative) or (mode == "rp" and negative)
        pattern = infinity(fmt) - 1 if inward else infinity(fmt)
    return sign | pattern


def root(value: Fraction, fmt: Fmt, mode: str) -> int:
    """The rounded square root of a positive value: the root of an integer, then a sticky bit."""
    shift = 2 * (fmt.mantissa + 40 + fmt.bits * 16)
    scaled = value * Fraction(2) ** shift
    whole = math.isqrt(scaled.numerator // scaled.denominator)
    exact = whole * whole == scaled
    approximate = Fraction(2 * whole + (not exact), 2) / Fraction(2) ** (shift // 2)
    return encode(False, approximate, fmt, mode)


def flush(bits: int, fmt: Fmt) -> int:
    return bits if bits & infinity(fmt) else bits & (1 << (fmt.bits - 1))


def saturate(bits: int, fmt: Fmt) -> int:
    value = decode(bits, fmt)
    if value.kind == NAN or (value.signed <= 0 and not (value.kind == INF and not value.negative)):
        return 0
    one = encode(False, Fraction(1), fmt, "rn")
    return one if value.kind == INF or value.magnitude > 1 else bits


def relu(bits: int, fmt: Fmt) -> int:
    value = decode(bits, fmt)
    return 0 if value.kind != NAN and value.negative else bits


def _nan(opcode: str, operands: list[int], fmt: Fmt) -> int:
    """The NaN of a result: f64 keeps an operand, quiet, by the order seen on an H200; others have one NaN."""
    order = {"fma": (1, 2, 0), "mad": (1, 2, 0), "add": (1, 0), "sub": (1, 0), "mul": (1, 0)}
    if fmt.bits == 64:
        for i in order.get(opcode, range(len(operands))):
            if decode(operands[i], fmt).kind == NAN:
                return operands[i] | 1 << 51
    return fmt.nan


def _sum(a: Value, b: Value, fmt: Fmt, mode: str) -> int | None:
    if a.kind == INF or b.kind == INF:
        if a.kind == b.kind and a.negative != b.negative:
            return None
        negative = a.negative if a.kind == INF else b.negative
        return infinity(fmt) | (negative << (fmt.bits - 1))
    total = a.signed + b.signed
    if total == 0:
        negative = a.negative if a.negative == b.negative else mode == "rm"
        return encode(negative, Fraction(0), fmt, mode)
    return encode(total < 0, abs(total), fmt, mode)


def _product(a: Value, b: Value) -> Value | None:
    negative = a.negative != b.negative
    if INF in (a.kind, b.kind):
        other = b if a.kind == INF else a
        return None if other.kind == NUMBER and other.magnitude == 0 else Value(INF, negative, Fraction(0))
    return Value(NUMBER, negative, a.magnitude * b.magnitude)


def _add(values: list[Value], fmt: Fmt, mode: str) -> int | None:
    return _sum(values[0], values[1], fmt, mode)


def _sub(values: list[Value], fmt: Fmt, mode: str) -> int | None:
    return _sum(values[0], values[1]._replace(negative=not values[1].negative), fmt, mode)


def _mul(values: list[Value], fmt: Fmt, mode: str) -> int | None:
    product = _product(values[0], values[1])
    if product is None:
        return None
    if product.kind == INF:
        return infinity(fmt) | (product.negative << (fmt.bits - 1))
    return encode(product.negative, product.magnitude, fmt, mode)


def _fma(values: list[Value], fmt: Fmt, mode: str) -> int | None:
    product = _product(values[0], values[1])
    return None if product is None else _sum(product, values[2], fmt, mode)


def _div(values: list[Value], fmt: Fmt, mode: str) -> int | None:
    a, b = values
    sign = (a.negative != b.negative) << (fmt.bits - 1)
    zero_divisor = b.kind == NUMBER and b.magnitude == 0
    if (a.kind == INF and b.kind == INF) or (zero_divisor and a.kind == NUMBER and a.magnitude == 0):
        return None
    if a.kind == INF or zero_divisor:
        return infinity(fmt) | sign
    if b.kind == INF:
        return sign
    return encode(bool(sign), a.magnitude / b.magnitude, fmt, mode)


def _sqrt(values: list[Value], fmt: Fmt, mode: str) -> int | None:
    (a,) = values
    if a.kind == NUMBER and a.magnitude == 0:
        return encode(a.negative, Fraction(0), fmt, mode)
    if a.negative:
        return None
    return infinity(fmt) if a.kind == INF else root(a.magnitude, fmt, mode)


_OPERATIONS = {"add": _add, "sub": _sub, "mul": _mul, "fma": _fma, "mad": _fma, "div": _div, "sqrt": _sqrt}


def arithmetic(opcode: str, operands: list[int], name: str, mode: str, words: list[str]) -> int:
    """add, sub, mul, fma, div, sqrt or rcp on patterns of one format."""
    fmt = FMT[name]
    if opcode == "rcp":
        operands, opcode = [encode(False, Fraction(1), fmt, "rn"), *operands], "div"
    if "ftz" in words:
        operands = [flush(x, fmt) for x in operands]
    values = [decode(x, fmt) for x in operands]
    result = None
    if all(v.kind != NAN for v in values):
        result = _OPERATIONS[opcode](values, fmt, mode)
    if result is None:
        result = _nan(opcode, operands, fmt)
    elif "ftz" in words and is_tiny(lambda wide: _OPERATIONS[opcode](values, wide, mode), fmt):
        result &= 1 << (fmt.bits - 1)
    return finish(result, fmt, words)


def is_tiny(compute: Callable[[Fmt], int | None], fmt: Fmt) -> bool:
    """Whether a result is below the normal numbers once rounded with exponents to spare."""
    wide = Fmt(fmt.bits + 3, fmt.exponent + 3, fmt.mantissa, 0)
    bits = compute(wide)
    assert bits is not None
    value = decode(bits, wide)
    return value.kind == NUMBER and value.magnitude < Fraction(2) ** (2 - (1 << (fmt.exponent - 1)))


def finish(bits: int, fmt: Fmt, words: list[str]) -> int:
    """Flush, saturate and rectify a result as the modifiers say."""
    if "ftz" in words:
        bits = flush(bits, fmt)
    if "sat" in words:
        bits = saturate(bits, fmt)
    return relu(bits, fmt) if "relu" in words else bits


def sign_change(opcode: str, bits: int, name: str, words: list[str]) -> int:
    """neg and abs: f64 NaNs keep their sign and become quiet, other NaNs become the result NaN."""
    fmt = FMT[name]
    bits = flush(bits, fmt) if "ftz" in words else bits
    if decode(bits, fmt).kind == NAN:
        return bits | 1 << 51 if fmt.bits == 64 else fmt.nan
    top = 1 << (fmt.bits - 1)
    return bits ^ top if opcode == "neg" else bits & ~top


def _order(value: Value) -> tuple[int, Fraction, int]:
    """A key by which numbers sort: infinities outside, -0 below +0."""
    outside = 0 if value.kind == NUMBER else (-1 if value.negative else 1)
    return outside, value.signed, 0 if value.negative else 1


def limit(opcode: str, a: int, b: int, name: str, words: list[str]) -> int:
    """min and max with .ftz, .NaN and .xorsign.abs."""
    fmt = FMT[name]
    if "ftz" in words:
        a, b = flush(a, fmt), flush(b, fmt)
    top = 1 << (fmt.bits - 1)
    flipped = (a ^ b) & top if "xorsign" in words else 0
    x, y = (a & ~top, b & ~top) if "xorsign" in words else (a, b)
    first, second = decode(x, fmt), decode(y, fmt)
    nans = [v.kind == NAN for v in (first, second)]
    if all(nans) or ("NaN" in words and any(nans)):
        return b | 1 << 51 if fmt.bits == 64 else fmt.nan
    if any(nans):
        return (y if nans[0] else x) | flipped
    pick = min if opcode == "min" else max
    return (x if pick(_order(first), _order(second)) == _order(first) else y) | flipped


def compare(test: str, a: int, b: int, name: str, ftz: bool) -> bool:
    """A comparison of two patterns; the unordered tests are true on NaN, -0 equals +0."""
    fmt = FMT[name]
    values = [decode(flush(x, fmt) if ftz else x, fmt) for x in (a, b)]
    unordered = any(v.kind == NAN for v in values)
    if test in ("num", "nan"):
        return unordered == (test == "nan")
    if unordered:
        return test.endswith("u")
    x, y = ((_order(v)[0], v.signed) for v in values)
    relation = test.removesuffix("u")
    return {
        "eq": x == y, "ne": x != y, "lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y,
    }[relation]  # fmt: skip


def integral(value: Fraction, mode: str) -> int:
    """A value rounded to an integer by rni, rzi, rmi or rpi."""
    floor = value.numerator // value.denominator
    if mode == "rmi" or value == floor:
        return floor
    if mode == "rpi":
        return floor + 1
    if mode == "rzi":
        return floor if value > 0 else floor + 1
    rest = value - floor
    return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1))
