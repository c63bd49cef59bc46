"""Exact arithmetic on finite ``float64`` values, rounded once to any format in any direction.

A magnitude is an integer significand and an exponent. Every operation reduces its exact result to 64
bits whose lowest bit is set when anything nonzero lies below (it is "sticky"); :func:`pack` rounds that
once. Nothing here is on the fast path: round to nearest uses the host's arithmetic where that is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planc.simt.arith import wide
from planc.simt.arith.formats import F64, Format
from planc.simt.arith.types import Bits

_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_FAR = -(1 << 20)


class Parts(NamedTuple):
    """Values ``(-1)**sign * significand * 2**exponent``, the significand 0 or with bit 63 set."""

    sign: Bits
    exponent: Bits
    significand: Bits


def normalised(sign: Bits, exponent: Bits, significand: Bits) -> Parts:
    """The same values with bit 63 of every nonzero significand set."""
    zeros = wide.leading_zeros(significand)
    shifted = significand << np.minimum(zeros, np.uint64(63))
    return Parts(sign, exponent - zeros.astype(np.int64), shifted)


def unpack(values: Bits) -> Parts:
    """The parts of finite ``float64`` values."""
    bits = values.view(np.uint64)
    biased = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    fraction = bits & np.uint64((1 << 52) - 1)
    hidden = np.where(biased == 0, _ZERO, np.uint64(1 << 52))
    exponent = np.maximum(biased, 1) - (1023 + 52)
    return normalised((bits >> np.uint64(63)) != 0, exponent, fraction | hidden)


def _rounds_up(sign: Bits, odd: Bits, rest: Bits, half: Bits, mode: str) -> Bits:
    """Whether the magnitude grows: ``rest`` is what is cut off, ``half`` a tie."""
    inexact, nearer, tied = rest != 0, rest > half, rest == half
    up: Bits = {
        "rn": nearer | (tied & odd),
        "rz": np.zeros_like(inexact),
        "rm": inexact & sign,
        "rp": inexact & ~sign,
    }[mode]
    return up


def _overflowed(sign: Bits, fmt: Format, mode: str) -> Bits:
    """The pattern of a magnitude above the largest: infinity, or the largest if rounding is inward."""
    inward: Bits = {"rz": np.ones_like(sign), "rm": ~sign, "rp": sign}.get(mode, np.zeros_like(sign))
    return np.where(inward, np.uint64(fmt.largest), np.uint64(fmt.infinity))


def pack(parts: Parts, fmt: Format, mode: str) -> Bits:
    """Round once to ``fmt``; ``mode`` is rn, rz, rm or rp. ``uint64`` bits, without padding.

    Bit 0 of a significand may stand for anything nonzero below it. Overflow of a ``finite`` format
    gives its NaN pattern.
    """
    top = parts.exponent + 63
    below = np.maximum(fmt.least - top, 0)
    shift = np.minimum(63 - fmt.mantissa + below, 65)
    # A shift of 65 leaves less than half a unit: one sticky bit under a shift of 64 says the same.
    value = np.where(shift > 64, (parts.significand != 0).astype(np.uint64), parts.significand)
    count = np.minimum(shift, 64).astype(np.uint64)
    kept = np.where(count == 64, _ZERO, value >> np.minimum(count, np.uint64(63)))
    rest = np.where(count == 64, value, value & ((_ONE << np.minimum(count, np.uint64(63))) - _ONE))
    half = _ONE << (count - _ONE)
    kept = kept + _rounds_up(parts.sign, (kept & _ONE) != 0, rest, half, mode)
    # Adding the hidden bit to the exponent field makes carries and subnormals come out by themselves.
    steps = (np.maximum(top, fmt.least) - fmt.least).astype(np.uint64)
    magnitude = np.where(parts.significand == 0, _ZERO, (steps << np.uint64(fmt.mantissa)) + kept)
    over = (magnitude >= np.uint64(fmt.infinity)) | ((top > fmt.bias + 1) & (parts.significand != 0))
    magnitude = np.where(over, _overflowed(parts.sign, fmt, mode), magnitude)
    return magnitude | np.where(parts.sign, np.uint64(fmt.sign), _ZERO)


def _jammed(sign: Bits, exponent: Bits, high: Bits, low: Bits) -> Parts:
    """128-bit magnitudes of the given lowest exponent, normalised and cut to 64 sticky bits."""
    zeros = wide.leading_zeros(high) + np.where(high == 0, wide.leading_zeros(low), _ZERO)
    top, rest = wide.shift_left(high, low, np.minimum(zeros, np.uint64(127)))
    return Parts(sign, exponent - zeros.astype(np.int64) + 64, top | (rest != 0))


def fma(a: Bits, b: Bits, c: Bits, mode: str) -> Bits:
    """``a * b + c`` of finite ``float64`` values, rounded once to f64: ``uint64`` bits."""
    x, y, z = unpack(a), unpack(b), unpack(c)
    high, low = wide.multiply(x.significand, y.significand)
    product = _aligned(high, low, x.exponent + y.exponent)
    addend = _aligned(z.significand, np.zeros_like(low), z.exponent - 64)
    return pack(_sum(x.sign ^ y.sign, product, z.sign, addend, mode), F64, mode)


Wide = tuple[Bits, Bits, Bits]
"""Exponent of the lowest bit, high word, low word."""


def _aligned(high: Bits, low: Bits, exponent: Bits) -> Wide:
    """The same magnitude with its highest bit at 126, which leaves room for a carry; zero far below."""
    # Products of 53-bit significands end in 22 zeros, so that halving loses nothing.
    zeros = wide.leading_zeros(high)
    high, low = wide.shift_left(high, low, np.minimum(zeros, np.uint64(63)))
    high, low = wide.shift_right_jam(high, low, np.ones_like(high))
    return np.where(high == 0, _FAR, exponent - zeros.astype(np.int64) + 1), high, low


def _sum(sign: Bits, first: Wide, other_sign: Bits, second: Wide, mode: str) -> Parts:
    """The signed sum of two aligned magnitudes."""
    larger = (first[0] > second[0]) | ((first[0] == second[0]) & _at_least(first, second))
    big = [np.where(larger, p, q) for p, q in zip(first, second, strict=True)]
    small = [np.where(larger, q, p) for p, q in zip(first, second, strict=True)]
    distance = np.minimum(big[0] - small[0], 128).astype(np.uint64)
    shifted = wide.shift_right_jam(small[1], small[2], distance)
    total = wide.add((big[1], big[2]), shifted)
    gap = wide.subtract((big[1], big[2]), shifted)
    same = sign == other_sign
    high, low = np.where(same, total[0], gap[0]), np.where(same, total[1], gap[1])
    # An exact zero takes the common sign, else +0, or -0 when rounding down (IEEE 754, 6.3).
    empty = np.where(same, sign, mode == "rm")
    result = np.where((high | low) == 0, empty, np.where(larger, sign, other_sign))
    return _jammed(result, big[0], high, low)


def _at_least(first: Wide, second: Wide) -> Bits:
    result: Bits = (first[1] > second[1]) | ((first[1] == second[1]) & (first[2] >= second[2]))
    return result


def divide(a: Bits, b: Bits, mode: str) -> Bits:
    """``a / b`` of finite ``float64`` values, b nonzero, rounded once to f64: ``uint64`` bits."""
    x, y = unpack(a), unpack(b)
    rest, divisor = x.significand >> _ONE, y.significand >> _ONE
    quotient = np.zeros_like(rest)
    for _ in range(57):
        fits = rest >= divisor
        quotient = (quotient << _ONE) | fits
        rest = (rest - np.where(fits, divisor, _ZERO)) << _ONE
    exponent = x.exponent - y.exponent - 56
    sticky = (quotient << np.uint64(6)) | (rest != 0)
    return pack(normalised(x.sign ^ y.sign, exponent - 6, sticky), F64, mode)


def square_root(a: Bits, mode: str) -> Bits:
    """The root of finite ``float64`` values that are not below -0, rounded once to f64: ``uint64`` bits."""
    x = unpack(a)
    significand, exponent = x.significand >> np.uint64(11), x.exponent + 11
    odd = (exponent & 1) != 0
    radicand = np.where(odd, significand << _ONE, significand)
    root, rest = np.zeros_like(radicand), np.zeros_like(radicand)
    for step in range(57):
        pair = (radicand >> np.uint64(52 - 2 * step)) & np.uint64(3) if step <= 26 else _ZERO
        rest, trial = (rest << np.uint64(2)) | pair, (root << np.uint64(2)) | _ONE
        fits = rest >= trial
        rest = rest - np.where(fits, trial, _ZERO)
        root = (root << _ONE) | fits
    sticky = (root << np.uint64(6)) | (rest != 0)
    half = (exponent - odd - 60) >> 1
    return pack(normalised(x.sign, half - 6, sticky), F64, mode)


def from_integers(values: Bits, fmt: Format, mode: str) -> Bits:
    """Integers of any dtype up to 64 bits rounded once to ``fmt``: ``uint64`` bits, without padding."""
    sign = values < 0
    raw = values.astype(np.int64).view(np.uint64) if values.dtype.kind == "i" else values.astype(np.uint64)
    magnitude = np.where(sign, _ZERO - raw, raw)
    return pack(normalised(sign, np.zeros(raw.shape, np.int64), magnitude), fmt, mode)


def from_double(values: Bits, fmt: Format, mode: str) -> Bits:
    """``float64`` values rounded once to ``fmt``: ``uint64`` bits, without padding; NaNs canonical.

    Infinity stays infinity in every mode (of a ``finite`` format: the NaN in its place).
    """
    finite = np.isfinite(values)
    rounded = pack(unpack(np.where(finite, values, 0.0)), fmt, mode)
    infinite = np.uint64(fmt.infinity) | np.where(values < 0, np.uint64(fmt.sign), _ZERO)
    rounded = np.where(finite, rounded, infinite)
    return np.where(np.isnan(values), np.uint64(fmt.nan >> fmt.pad), rounded)
