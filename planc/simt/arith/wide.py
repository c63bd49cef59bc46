"""Integers of 128 bits as pairs of ``uint64`` arrays, high word first, and leading zeros."""

from __future__ import annotations

import numpy as np

from planc.simt.arith.types import Bits

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)


def multiply(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """The full product of ``uint64`` arrays."""
    a0, a1, b0, b1 = a & _LOW, a >> _HALF, b & _LOW, b >> _HALF
    low, middle, high = a0 * b0, a1 * b0, a1 * b1
    middle = middle + (low >> _HALF)
    other = a0 * b1 + (middle & _LOW)
    return high + (middle >> _HALF) + (other >> _HALF), a * b


def multiply_high_unsigned(a: Bits, b: Bits) -> Bits:
    """Bits 64 to 127 of the unsigned product."""
    return multiply(a, b)[0]


def multiply_high_signed(a: Bits, b: Bits) -> Bits:
    """Bits 64 to 127 of the product of raw bits taken as ``s64``."""
    high = multiply(a, b)[0]
    return high - np.where(a.view(np.int64) < 0, b, _ZERO) - np.where(b.view(np.int64) < 0, a, _ZERO)


def leading_zeros(values: Bits) -> Bits:
    """Zeros above the highest one of ``uint64`` arrays, as ``uint64``; 64 for 0."""
    # Clearing every bit below a one keeps the conversion from rounding up to the next power of two.
    lone = values & ~(values >> _ONE)
    exponent = lone.astype(np.float64).view(np.uint64) >> np.uint64(52)
    return np.where(values == 0, np.uint64(64), np.uint64(1023 + 63) - exponent)


def shift_left(high: Bits, low: Bits, count: Bits) -> tuple[Bits, Bits]:
    """Shift by 0 to 127 places; bits that leave at the top are lost."""
    inner = count & np.uint64(63)
    carried = (low >> np.uint64(1)) >> (np.uint64(63) - inner)
    near = ((high << inner) | carried, low << inner)
    far = count >= 64
    return np.where(far, low << inner, near[0]), np.where(far, _ZERO, near[1])


def shift_right_jam(high: Bits, low: Bits, count: Bits) -> tuple[Bits, Bits]:
    """Shift right by any count; what is lost sets the lowest bit if it was not 0."""
    count = np.minimum(count, np.uint64(127))
    inner = count & np.uint64(63)
    carried = (high << np.uint64(1)) << (np.uint64(63) - inner)
    far = count >= 64
    new_high = np.where(far, _ZERO, high >> inner)
    new_low = np.where(far, high >> inner, (low >> inner) | carried)
    under = (_ONE << inner) - _ONE
    lost = np.where(far, (low != 0) | ((high & under) != 0), (low & under) != 0)
    return new_high, new_low | lost


def add(a: tuple[Bits, Bits], b: tuple[Bits, Bits]) -> tuple[Bits, Bits]:
    """Sum modulo 2**128."""
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]), low


def subtract(a: tuple[Bits, Bits], b: tuple[Bits, Bits]) -> tuple[Bits, Bits]:
    """Difference modulo 2**128."""
    return a[0] - b[0] - (a[1] < b[1]), a[1] - b[1]
