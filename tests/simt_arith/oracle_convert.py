"""Slow conversions on Python integers and fractions."""

from __future__ import annotations

from fractions import Fraction

from tests.simt_arith import oracle_float as flt
from tests.simt_arith import oracle_integer as num

_INTEGRAL = ("rni", "rzi", "rmi", "rpi")
_MOVED = (("f32", "f32"), ("bf16", "f32"))


def _mode(words: list[str]) -> str:
    return next((w for w in words if w in ("rn", "rz", "rm", "rp", "rna", *_INTEGRAL)), "rn")


def _to_integer(words: list[str], bits: int, source: str, to: str) -> int:
    fmt = flt.FMT[source]
    value = flt.decode(flt.flush(bits, fmt) if "ftz" in words else bits, fmt)
    low, high = num.bounds(to)
    if value.kind == flt.NAN:
        return 1 << (num.bits_of(to) - 1) if source == "f64" or to[1:] == "64" else 0
    if value.kind == flt.INF:
        return low if value.negative else high
    return num.clamp(flt.integral(value.signed, _mode(words)), low, high)


def _from_integer(words: list[str], bits: int, source: str, to: str) -> int:
    number, fmt = num.value(bits, source), flt.FMT[to]
    result = flt.encode(number < 0, Fraction(abs(number)), fmt, _mode(words))
    return flt.finish(result, fmt, [w for w in words if w != "ftz"])


def _nan(bits: int, source: str, to: str, words: list[str]) -> int:
    """To and from f64 sign and payload are kept, quiet; bf16 and f32 move to f32 as they are.

    With .ftz, f32 goes through its canonical NaN. All seen on an H200.
    """
    integral = any(w in _INTEGRAL for w in words)
    fmt, target = flt.FMT[source], flt.FMT[to]
    flushed = "ftz" in words and to != "f64" and source != "f64"
    if integral or flushed or (to != "f64" and source != "f64" and (source, to) not in _MOVED):
        return target.nan
    if "ftz" in words and source == "f32":
        bits = fmt.nan
    sign, fraction = bits >> (fmt.bits - 1), bits & ((1 << fmt.mantissa) - 1)
    fraction = (fraction << target.mantissa) >> fmt.mantissa
    quiet = 0 if (source, to) in _MOVED else 1 << (target.mantissa - 1)
    return sign << (target.bits - 1) | flt.infinity(target) | fraction | quiet


def rounded(value: flt.Value, name: str, words: list[str]) -> int:
    """A decoded value in the format ``name``, with .satfinite and .relu; not padded."""
    fmt = flt.FMT[name]
    top = value.negative << (fmt.bits - 1)
    if value.kind == flt.NAN:
        return fmt.nan
    if value.kind == flt.INF:
        result = flt.infinity(fmt) | top
    else:
        result = flt.encode(value.negative, value.magnitude, fmt, _mode(words))
    if "satfinite" in words and result & ~(1 << (fmt.bits - 1)) == flt.infinity(fmt):
        result = (flt.infinity(fmt) - 1) | top
    return flt.relu(result, fmt) if "relu" in words else result


def _between_floats(words: list[str], bits: int, source: str, to: str) -> int:
    fmt, target = flt.FMT[source], flt.FMT[to]
    if "ftz" in words and fmt.exponent == 8 and to != "f16":
        bits = flt.flush(bits, fmt)
    value = flt.decode(bits, fmt)
    if source == to == "f64" and value.kind == flt.NAN:
        kept = bits | 1 << 51 if _mode(words) in _INTEGRAL else bits
        return 0 if "sat" in words else kept
    if value.kind == flt.NUMBER and _mode(words) in _INTEGRAL:
        whole = flt.integral(value.signed, _mode(words))
        value = flt.Value(flt.NUMBER, value.negative, Fraction(abs(whole)))
    result = _nan(bits, source, to, words) if value.kind == flt.NAN else rounded(value, to, words)
    if "ftz" in words and target.exponent == 8:
        result = flt.flush(result, target)
        if value.kind == flt.NUMBER and flt.is_tiny(
            lambda wide: flt.encode(value.negative, value.magnitude, wide, _mode(words)), target
        ):
            result &= 1 << (target.bits - 1)
    return flt.saturate(result, target) if "sat" in words else result


def _pack(types: list[str], ops: list[int]) -> int:
    kind, size = types[0][0], int(types[0][1:])
    low, high = (-(1 << (size - 1)), (1 << (size - 1)) - 1) if kind == "s" else (0, (1 << size) - 1)
    a, b = (num.clamp(num.value(x, "s32"), low, high) & ((1 << size) - 1) for x in ops[:2])
    return b | a << size | (ops[2] << (2 * size) if len(ops) > 2 else 0)


def _packed(words: list[str], types: list[str], ops: list[int]) -> int:
    to, source = types
    if source.endswith("x2"):
        size = 8 if source.startswith("e") else 16
        lane = source.removesuffix("x2")
        parts = [ops[0] >> size & ((1 << size) - 1), ops[0] & ((1 << size) - 1)]
    else:
        lane, parts = source, ops
    name = to.removesuffix("x2")
    high, low = (rounded(flt.decode(x, flt.FMT[lane]), name, words) for x in parts)
    return high << flt.FMT[name].bits | low


def convert(words: list[str], types: list[str], ops: list[int]) -> int:
    """cvt in all its forms."""
    if "pack" in words:
        return _pack(types, ops)
    to, source = types
    if to.endswith("x2") or source.endswith("x2"):
        return _packed(words, types, ops)
    if to == "tf32":
        value = flt.decode(ops[0], flt.FMT["f32"])
        if value.kind != flt.NAN:
            return rounded(value, to, words) << 13
        # By .rna the low bits are cut, and for .satfinite one unit is taken off (seen on an H200).
        cut = (ops[0] >> 13) - ("satfinite" in words)
        return (cut if "rna" in words else flt.FMT[to].nan) << 13
    if to in flt.FMT and source in flt.FMT:
        return _between_floats(words, ops[0], source, to)
    if to in flt.FMT:
        return _from_integer(words, ops[0], source, to)
    if source in flt.FMT:
        return _to_integer(words, ops[0], source, to)
    number = num.value(ops[0], source)
    return num.clamp(number, *num.bounds(to)) if "sat" in words else num.value(number, to)
