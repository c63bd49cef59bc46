"""f64 arithmetic: IEEE 754 in all four rounding modes, fused multiply-add with one rounding.

NaN results. The ISA leaves the payload open. Here, as measured on an NVIDIA H200: a NaN operand, made
quiet, and 0xfff8000000000000 where no operand is NaN (``inf - inf``). Of several NaN operands add, sub and
mul take the second, fma the second before the third before the first, div the first. (The assembler may
exchange the operands of a commutative instruction, so a program may meet another of them.)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from planc.simt.arith import exact
from planc.simt.arith.formats import F64
from planc.simt.arith.types import Bits

_QUIET = np.uint64(1 << 51)
_INFINITY = np.uint64(F64.infinity)
_MAGNITUDE = np.uint64(F64.sign - 1)
_SPLIT = 134217729.0
"""2**27 + 1: Dekker's constant, which cuts a significand of 53 bits in two halves."""

Operation = Callable[..., Bits]


def is_nan(bits: Bits) -> Bits:
    """Which f64 patterns are NaN."""
    return (bits & _MAGNITUDE) > _INFINITY


def propagated(result: Bits, *operands: Bits) -> Bits:
    """``result`` bits, and where NaN the first NaN of ``operands``, quiet; the module says in which order."""
    nan = is_nan(result)
    if not nan.any():
        return result
    payload: Bits = np.full(result.shape, F64.nan, np.uint64)
    for bits in reversed(operands):
        payload = np.where(is_nan(bits), bits | _QUIET, payload)
    return np.where(nan, payload, result)


def _by_precedence(host: Operation, operands: Sequence[Bits]) -> Sequence[Bits]:
    """``operands`` in the order in which their NaNs are chosen: the last first, but for quotients."""
    return operands if host is np.divide else operands[::-1]


def _host(operation: Operation) -> Operation:
    """Round to nearest by the host's own IEEE arithmetic; bits in, bits out."""

    def function(*operands: Bits) -> Bits:
        result = operation(*(x.view(np.float64) for x in operands)).view(np.uint64)
        return propagated(result, *_by_precedence(operation, operands))

    return function


def _directed(host: Operation, precise: Callable[..., Bits], mode: str) -> Operation:
    """``precise`` where operands and IEEE result class allow, else what ``host`` gives."""

    def function(*operands: Bits) -> Bits:
        arrays = [*np.broadcast_arrays(*(x.view(np.float64) for x in operands))]
        result = np.array(host(*arrays).view(np.uint64))
        ordinary = np.logical_and.reduce([np.isfinite(x) for x in arrays]) & ~is_nan(result)
        chosen = [x[ordinary] for x in arrays]
        result[ordinary] = precise(*chosen, mode)
        return propagated(result, *_by_precedence(host, [x.view(np.uint64) for x in arrays]))

    return function


def _sum(a: Bits, b: Bits, mode: str) -> Bits:
    return exact.fma(a, np.ones_like(a), b, mode)


def _difference(a: Bits, b: Bits, mode: str) -> Bits:
    return _sum(a, -b, mode)


def _product(a: Bits, b: Bits, mode: str) -> Bits:
    # Adding a zero of the product's own sign changes nothing, not even a zero's sign.
    return exact.fma(a, b, np.where(np.signbit(a) ^ np.signbit(b), -0.0, 0.0), mode)


def _quotient(a: Bits, b: Bits, mode: str) -> Bits:
    zero = b == 0
    limit = np.where(np.signbit(a) ^ np.signbit(b), -np.inf, np.inf).view(np.uint64)
    return np.where(zero, limit, exact.divide(a, np.where(zero, 1.0, b), mode))


def add(mode: str) -> Operation:
    """The sum of two f64, rounded by ``mode``."""
    return _host(np.add) if mode == "rn" else _directed(np.add, _sum, mode)


def subtract(mode: str) -> Operation:
    """The difference of two f64, rounded by ``mode``."""
    return _host(np.subtract) if mode == "rn" else _directed(np.subtract, _difference, mode)


def multiply(mode: str) -> Operation:
    """The product of two f64, rounded by ``mode``."""
    return _host(np.multiply) if mode == "rn" else _directed(np.multiply, _product, mode)


def divide(mode: str) -> Operation:
    """The quotient of two f64, rounded by ``mode``."""
    return _host(np.divide) if mode == "rn" else _directed(np.divide, _quotient, mode)


def square_root(mode: str) -> Operation:
    """The root of an f64, rounded by ``mode``."""
    return _host(np.sqrt) if mode == "rn" else _directed(np.sqrt, exact.square_root, mode)


def two_sum(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """The rounded sum and its exact error (Knuth); both finite and no overflow on the way."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Bits, b: Bits) -> tuple[Bits, Bits]:
    """The rounded product and its exact error (Dekker, Veltkamp).

    Needs |a| and |b| below 2**990, and a product of at least 2**-960 or an exact 0.
    """
    product = a * b
    shifted = a * _SPLIT
    a_high = shifted - (shifted - a)
    a_low = a - a_high
    shifted = b * _SPLIT
    b_high = shifted - (shifted - b)
    b_low = b - b_high
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def odd(total: Bits, error: Bits) -> Bits:
    """Round the exact ``total + error`` to odd: a truncated significand whose last bit is sticky.

    ``total`` is the sum rounded to nearest, ``error`` what it lacks. Rounding the result again to at
    least two bits less is rounding the exact sum once (Boldo and Melquiond, 2008).
    """
    bits = total.view(np.int64)
    moved = (error != 0) & ((bits & 1) == 0)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return (bits + np.where(moved, step, 0)).view(np.float64)


def _fast_fma(a: Bits, b: Bits, c: Bits) -> Bits:
    product, low = two_product(a, b)
    total, error = two_sum(product, c)
    correction = odd(*two_sum(error, low))
    # Adding +0 would turn an exact -0 into +0.
    return np.where(correction == 0, total, total + correction)


_HUGE, _TINY = 2.0**990, 2.0**-960


def _all_safe(*values: Bits) -> bool:
    """Whether :func:`_safe` holds everywhere, by a look at the extremes; the last is the product."""
    largest = [np.abs(x).max(initial=0.0) < _HUGE for x in values]
    return all(largest) and bool(np.abs(values[-1]).min(initial=1.0) > _TINY)


def _safe(a: Bits, b: Bits, c: Bits, product: Bits) -> Bits:
    """Where no step of :func:`_fast_fma` can overflow or lose bits to underflow."""
    size = np.abs(product)
    small = (np.abs(a) < _HUGE) & (np.abs(b) < _HUGE) & (np.abs(c) < _HUGE)
    result: Bits = small & (size < _HUGE) & ((size > _TINY) | (a == 0) | (b == 0))
    return result


def _fused_special(a: Bits, b: Bits, c: Bits) -> Bits:
    """``a * b + c`` where an operand is not finite."""
    # A finite product may overflow on the host, but its sum with an infinity is that infinity.
    product = np.where(np.isfinite(a) & np.isfinite(b), 0.0, a * b)
    return (product + c).view(np.uint64)


def _fused_slow(a: Bits, b: Bits, c: Bits, mode: str) -> Bits:
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    result = np.array(_fused_special(a, b, c))
    result[finite] = exact.fma(a[finite], b[finite], c[finite], mode)
    return result


def _fused_nearest(a: Bits, b: Bits, c: Bits) -> Bits:
    product = a * b
    result = _fast_fma(a, b, c).view(np.uint64)
    if not _all_safe(a, b, c, product):
        rest = ~_safe(a, b, c, product)
        result[rest] = _fused_slow(a[rest], b[rest], c[rest], "rn")
    return result


def fma(mode: str) -> Operation:
    """``a * b + c`` in f64 with one rounding by ``mode``."""

    def function(a: Bits, b: Bits, c: Bits) -> Bits:
        x, y, z = np.broadcast_arrays(*(bits.view(np.float64) for bits in (a, b, c)))
        result = _fused_nearest(x, y, z) if mode == "rn" else _fused_slow(x, y, z, mode)
        return propagated(result, *np.broadcast_arrays(b, c, a))

    return function
