"""f32, f16 and bf16 arithmetic, each result rounded once.

Products of f32 are exact in ``float64``; sums there are rounded to odd, and roots and quotients
cannot fall on a boundary of f32 without being exact. So one more rounding, to the format and in
its direction, rounds the exact result. NaN results are the canonical NaN of the format (CUDA C++
Programming Guide, "Floating-Point Standard": 0x7fffffff for f32; 0x7fff for f16 and bf16).

``.ftz``: which results count as subnormal is decided after rounding as if exponents had no lower bound
(IEEE 754, 7.5, the second way to detect tininess). The ISA does not say. Measured on an NVIDIA H200:
0x00800000 times 0x3f7fffff, which has 24 bits and lies below 2**-126, is flushed though the nearest number
of the format is 2**-126; a sum nearer than 2**-151 to 2**-126 is not flushed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from planc.simt.arith import exact
from planc.simt.arith.double import odd, two_sum
from planc.simt.arith.formats import F32, Format, canonical, flush, to_double
from planc.simt.arith.types import UNSIGNED, Bits, Function, cut, quiet

_TOWARDS = {"rz": 0.0, "rm": -np.inf, "rp": np.inf}


def _directed_f32(values: Bits, mode: str) -> Bits:
    nearest = values.astype(np.float32)
    back = nearest.astype(np.float64)
    passed = {
        "rz": lambda: np.abs(back) > np.abs(values),
        "rm": lambda: back > values,
        "rp": lambda: back < values,
    }[mode]()
    inward = np.nextafter(nearest, np.float32(_TOWARDS[mode]))
    return np.where(passed & np.isfinite(values), inward, nearest).view(np.uint32)


def _odd_f32(values: Bits) -> Bits:
    """``float64`` rounded to odd in f32, as ``uint32`` bits; NaN and infinity as they are."""
    nearest = values.astype(np.float32)
    back = nearest.astype(np.float64)
    bits = nearest.view(np.uint32)
    moved = (back != values) & ((bits & np.uint32(1)) == 0)
    step = np.where(np.abs(back) < np.abs(values), 1, -1).astype(np.int32).view(np.uint32)
    return np.where(moved, bits + step, bits)


def _nearest_bf16(values: Bits) -> Bits:
    bits = _odd_f32(values)
    last = (bits >> np.uint32(16)) & np.uint32(1)
    return ((bits + np.uint32(0x7FFF) + last) >> np.uint32(16)).astype(np.uint16)


_FAST: dict[tuple[str, str], Callable[[Bits], Bits]] = {
    ("f32", "rn"): lambda x: x.astype(np.float32).view(np.uint32),
    ("f32", "rz"): lambda x: _directed_f32(x, "rz"),
    ("f32", "rm"): lambda x: _directed_f32(x, "rm"),
    ("f32", "rp"): lambda x: _directed_f32(x, "rp"),
    ("f16", "rn"): lambda x: x.astype(np.float16).view(np.uint16),
    ("bf16", "rn"): _nearest_bf16,
}


def from_double(values: Bits, fmt: Format, mode: str) -> Bits:
    """``float64`` values rounded once to f32, f16 or bf16: bits of the format, NaNs canonical."""
    fast = _FAST.get((fmt.name, mode))
    if fast is None:
        return exact.from_double(values, fmt, mode).astype(UNSIGNED[fmt.width])
    bits = fast(values)
    nan = values != values
    return np.where(nan, bits.dtype.type(fmt.nan), bits) if nan.any() else bits


def _sum(a: Bits, b: Bits, mode: str) -> Bits:
    """``a + b`` rounded to odd; an exact zero from unlike signs is -0 when rounding down."""
    total, error = two_sum(a, b)
    # Infinities make the error NaN: the host's sum is already right there.
    result = odd(total, np.where(np.isfinite(total), error, 0.0))
    if mode == "rm":
        unlike = np.signbit(a) != np.signbit(b)
        result = np.where((total == 0) & unlike, -0.0, result)
    return result


def _difference(a: Bits, b: Bits, mode: str) -> Bits:
    return _sum(a, -b, mode)


def _product(a: Bits, b: Bits, mode: str) -> Bits:
    del mode
    return a * b


def _quotient(a: Bits, b: Bits, mode: str) -> Bits:
    del mode
    return a / b


def _root(a: Bits, mode: str) -> Bits:
    del mode
    return np.sqrt(a)


def _fused(a: Bits, b: Bits, c: Bits, mode: str) -> Bits:
    return _sum(a * b, c, mode)


_OPERATIONS: dict[str, Callable[..., Bits]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "div": _quotient,
    "sqrt": _root,
    "fma": _fused,
}

_HOST: dict[str, Callable[..., Bits]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "sqrt": np.sqrt,
}


def saturated(bits: Bits, fmt: Format) -> Bits:
    """``.sat``: clamp to [+0, 1]; NaN and -0 become +0."""
    kind = bits.dtype.type
    one = kind(fmt.bias << fmt.mantissa)
    # Patterns of positive numbers sort as integers, negative ones come after every NaN.
    capped = np.minimum(bits, one)
    outside = (bits >= kind(fmt.sign)) | (bits > kind(fmt.infinity))
    result: Bits = np.where(outside, kind(0), capped)
    return result


def rectified(bits: Bits, fmt: Format) -> Bits:
    """``.relu``: negative numbers and -0 become +0; a NaN is canonical already."""
    kind = bits.dtype.type
    negative = (bits >= kind(fmt.sign)) & (bits <= kind(fmt.sign | fmt.infinity))
    return np.where(negative, kind(0), bits)


def _host_f32(name: str) -> Function:
    operation = _HOST[name]

    def function(*operands: Bits) -> Bits:
        floats = (cut(x, np.uint32).view(np.float32) for x in operands)
        return canonical(operation(*floats).view(np.uint32), F32)

    return function


def _fused_f32(a: Bits, b: Bits, c: Bits) -> Bits:
    """fma.rn.f32: the plain double sum, unless it may sit on a tie between two f32."""
    x, y, z = (to_double(bits, F32) for bits in (a, b, c))
    product = x * y
    total = product + z
    low = total.view(np.uint64) & np.uint64(0x1FFFFFFF)
    doubtful = (low == 0x10000000) | ((np.abs(total) < 2.0**-126) & (total != 0))
    if doubtful.any():
        total = _sum(product, z, "rn")
    return from_double(total, F32, "rn")


def _by_double(name: str, fmt: Format, mode: str) -> Function:
    operation = _OPERATIONS[name]

    def function(*operands: Bits) -> Bits:
        return from_double(operation(*(to_double(x, fmt) for x in operands), mode), fmt, mode)

    return function


def _rounded(name: str, fmt: Format, mode: str) -> Function:
    if fmt is F32 and mode == "rn":
        return _fused_f32 if name == "fma" else _host_f32(name)
    return _by_double(name, fmt, mode)


def tiny(values: Bits, fmt: Format, mode: str) -> Bits:
    """Which ``float64`` values stay below the smallest normal number of ``fmt`` when they are rounded.

    They are rounded as if exponents had no lower bound: to the format's bits of significand alone.
    """
    wide = Format(f"{fmt.name} without underflow", 64, fmt.mantissa, 11, nan=0)
    magnitude = exact.from_double(values, wide, mode) & np.uint64(wide.sign - 1)
    result: Bits = magnitude < np.uint64((fmt.least + wide.bias) << wide.mantissa)
    return result


def flushed(bits: Bits, values: Callable[[], Bits], fmt: Format, mode: str) -> Bits:
    """``.ftz`` of results ``bits``: what ``values`` yields (``float64``) rounded to ``fmt`` by ``mode``."""
    flat = flush(bits, fmt)
    # Only what was rounded up to the smallest normal number may have been tiny and not look it.
    least = (flat & flat.dtype.type(fmt.sign - 1)) == flat.dtype.type(1 << fmt.mantissa)
    if not least.any():
        return flat
    chosen = np.flatnonzero(least)
    low = chosen[tiny(np.broadcast_to(values(), flat.shape)[chosen], fmt, mode)]
    flat[low] &= flat.dtype.type(fmt.sign)
    return flat


def _flushing(core: Function, name: str, fmt: Format, mode: str) -> Function:
    """``core`` with its tiny results flushed."""
    operation = _OPERATIONS[name]

    def function(*operands: Bits) -> Bits:
        return flushed(
            core(*operands), lambda: operation(*(to_double(x, fmt) for x in operands), mode), fmt, mode
        )

    return function


def operation(name: str, fmt: Format, mode: str = "rn", modifiers: frozenset[str] = frozenset()) -> Function:
    """The function of add, sub, mul, div, sqrt or fma in f32, f16 or bf16.

    ``modifiers`` may hold ftz, sat and relu; ``mode`` is rn, rz, rm or rp.
    """
    core = _rounded(name, fmt, mode)
    if "ftz" in modifiers:
        core = _flushing(core, name, fmt, mode)
    return quiet(finished(core, fmt, modifiers))


def finished(core: Function, fmt: Format, modifiers: frozenset[str]) -> Function:
    """``core`` with subnormal operands and results flushed, then saturated or rectified, as asked."""
    dtype = UNSIGNED[fmt.width]
    after = [
        step for word, step in (("ftz", flush), ("sat", saturated), ("relu", rectified)) if word in modifiers
    ]

    def function(*operands: Bits) -> Bits:
        if "ftz" in modifiers:
            operands = tuple(flush(cut(x, dtype), fmt) for x in operands)
        result: Bits = core(*operands)
        for step in after:
            result = step(result, fmt)
        return result

    return function
