"""Slow conversions on Python integers and fractions."""

from __future__ import annotations

from fractions import Fraction

from tests.simt_arith import oracle_float as flt
from tests.simt_arith import oracle_integer as num

_INTEGRAL = ("rni", "rzi", "rmi", "rpi")


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


def _nan(bits: int, source: str, to: str) -> int:
    """Only f64 keeps something of a NaN: sign and payload of an f32, sign of none else."""
    if to != "f64":
        return flt.FMT[to].nan
    if source == "f32":
        return (bits >> 31) << 63 | 0x7FF << 52 | 1 << 51 | (bits & 0x7FFFFF) << 29
    return 0x7FFFFC0000000000 if source == "f16" else 0x7FFFE00000000000


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
    if "ftz" in words and fmt.exponent == 8:
        bits = flt.flush(bits, fmt)
    value = flt.decode(bits, fmt)
    if source == to == "f64" and value.kind == flt.NAN:
        kept = bits | 1 << 51 if _mode(words) in _INTEGRAL else bits
        return 0 if "sat" in words else kept
    if value.kind == flt.NUMBER and _mode(words) in _INTEGRAL:
        whole = flt.integral(value.signed, _mode(words))
        value = flt.Value(flt.NUMBER, value.negative, Fraction(abs(whole)))
    result = _nan(bits, source, to) if value.kind == flt.NAN else rounded(value, to, words)
    if "ftz" in words and target.exponent == 8:
        result = flt.flush(result, target)
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
        return 0x7FFFFFFF if value.kind == flt.NAN else rounded(value, to, words) << 13
    if to in flt.FMT and source in flt.FMT:
        return _between_floats(words, ops[0], source, to)
    if to in flt.FMT:
        return _from_integer(words, ops[0], source, to)
    if source in flt.FMT:
        return _to_integer(words, ops[0], source, to)
    number = num.value(ops[0], source)
    return num.clamp(number, *num.bounds(to)) if "sat" in words else num.value(number, to)
