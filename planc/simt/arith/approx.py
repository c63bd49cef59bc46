"""Approximate instructions: computed here as well as the format allows, judged by the ISA's bounds.

The hardware's tables are not public, so a GPU's results differ in the last bits. :data:`APPROXIMATE`
gives each form's documented error, and :func:`violations` says which results of a device break it or
the table of special values (PTX ISA, each instruction's notes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from planc.simt.arith import exact, narrow
from planc.simt.arith.double import propagated
from planc.simt.arith.formats import F64, FORMATS, Format, flush, to_double
from planc.simt.arith.forms import Form, form
from planc.simt.arith.types import UNSIGNED, Bits, Function, cut, packed, quiet


@dataclass(frozen=True, slots=True)
class Bound:
    """A maximum error: ``size`` in ``unit`` (``ulp`` of the result, ``relative``, or ``absolute``).

    ``documented`` is false where the ISA gives no number, so that the precision of the result stands in, and
    where an NVIDIA H200 breaks the ISA's number, so that the measured one does. ``cut``: subnormal results
    are cut off instead of rounded, which costs one more unit in the last place (measured).
    Two forms have more: lg2 is absolute only for operands in (0.5, 2) and relative elsewhere; sin and
    cos have the bound ``far`` beyond 2 pi and none beyond 100 pi.
    """

    unit: str
    size: float
    documented: bool = True
    far: float | None = None
    cut: bool = False


_UPPER = Format("upper f64", 32, 20, 11, nan=0x7FFFFFFF)
"""The upper word of an f64, 1.11.20 (PTX ISA, rcp.approx.ftz.f64)."""

_BOUNDS = {
    "rcp.approx.f32": Bound("ulp", 1),
    "sqrt.approx.f32": Bound("relative", 2.0**-23),
    "rsqrt.approx.f32": Bound("relative", 2.0**-22.9),
    "sin.approx.f32": Bound("absolute", 2.0**-20.5, far=2.0**-14.7),
    "cos.approx.f32": Bound("absolute", 2.0**-20.5, far=2.0**-14.7),
    "lg2.approx.f32": Bound("absolute", 2.0**-22),
    "ex2.approx.f32": Bound("ulp", 2),
    "div.approx.f32": Bound("ulp", 2),
    "div.full.f32": Bound("ulp", 2),
    "tanh.approx.f32": Bound("relative", 2.0**-11),
    "tanh.approx.f16": Bound("absolute", 2.0**-10.987),
    # The manual has 2**-8. Measured on an NVIDIA H200: 1.00007 times that at 0x3f3f.
    "tanh.approx.bf16": Bound("absolute", 2.0**-7.99, documented=False),
    # Measured: 2**-17.21875 is 109.99 units of the smallest subnormal and comes out as 109.
    "ex2.approx.f16": Bound("relative", 2.0**-9.9, cut=True),
    "ex2.approx.ftz.bf16": Bound("relative", 2.0**-7),
    "rcp.approx.ftz.f64": Bound("relative", 2.0**-19, documented=False),
    "rsqrt.approx.ftz.f64": Bound("relative", 2.0**-19, documented=False),
    "rsqrt.approx.f64": Bound("ulp", 2, documented=False),
}

_WITH_FLUSH = (
    "rcp.approx sqrt.approx rsqrt.approx sin.approx cos.approx lg2.approx ex2.approx div.approx div.full"
)


def _bounds() -> dict[str, Bound]:
    table = dict(_BOUNDS)
    for stem in _WITH_FLUSH.split():
        table[f"{stem}.ftz.f32"] = table[f"{stem}.f32"]
    for text in [t for t in table if t.endswith("f16")]:
        table[f"{text}x2"] = table[text]
    return table


APPROXIMATE: Mapping[str, Bound] = MappingProxyType(_bounds())
"""Every approximate form with its maximum error."""


def _quotient(a: Bits, b: Bits) -> Bits:
    return a / b


def _fast_quotient(a: Bits, b: Bits) -> Bits:
    """div.approx: for |b| above 2**126 the reciprocal has gone to zero."""
    size = np.abs(b)
    lost = (size > 2.0**126) & (size < 2.0**128) & ~np.isnan(a)
    sign = np.signbit(a) ^ np.signbit(b)
    zero = np.where(np.isinf(a), np.nan, np.where(sign, -0.0, 0.0))
    return np.where(lost, zero, a / b)


_VALUES: dict[str, Callable[..., Bits]] = {
    "rcp": lambda a: 1.0 / a,
    "sqrt": np.sqrt,
    "rsqrt": lambda a: 1.0 / np.sqrt(a),
    "sin": np.sin,
    "cos": np.cos,
    "lg2": np.log2,
    "ex2": np.exp2,
    "tanh": np.tanh,
    "div.full": _quotient,
    "div.approx": _fast_quotient,
}
"""The mathematical functions on ``float64``."""


def _format(text: str) -> Format:
    return FORMATS[text.rpartition(".")[2].removesuffix("x2")]


def _value(text: str) -> Callable[..., Bits]:
    opcode, mode = text.split(".")[:2]
    return _VALUES[f"{opcode}.{mode}" if opcode == "div" else opcode]


def _reads_upper_word(text: str) -> bool:
    return text.endswith(".ftz.f64")


def _operands(text: str, bits: tuple[Bits, ...]) -> list[Bits]:
    """The numbers that the instruction sees, in ``float64``."""
    fmt = _format(text)
    raws = [cut(x, UNSIGNED[fmt.width]) for x in bits]
    if _reads_upper_word(text):
        raws = [x & np.uint64(0xFFFFFFFF00000000) for x in raws]
    if ".ftz" in text:
        raws = [flush(x, fmt) for x in raws]
    return [to_double(x, fmt) for x in raws]


def _rounded(text: str, values: Bits, bits: tuple[Bits, ...]) -> Bits:
    """``float64`` results in the format of the form."""
    fmt = _format(text)
    if _reads_upper_word(text):
        result = flush(exact.from_double(values, _UPPER, "rn"), _UPPER) << np.uint64(32)
    elif fmt is F64:
        result = propagated(values.view(np.uint64), *(cut(x, np.uint64) for x in bits))
    else:
        result = narrow.from_double(values, fmt, "rn")
    return flush(result, fmt) if ".ftz" in text else result


def _lane(text: str) -> Function:
    """The function of a form on single numbers (of one half, for packed forms)."""
    value = _value(text)
    return quiet(lambda *bits: _rounded(text, value(*_operands(text, bits)), bits))


def forms() -> Iterator[Form]:
    """All approximate forms."""
    for text in APPROXIMATE:
        name = text.rpartition(".")[2]
        lane = _lane(text)
        operands = f"{name} {name}" if text.startswith("div") else name
        yield form(text, operands, name, packed(lane) if name.endswith("x2") else lane)


def _ulp(values: Bits, fmt: Format) -> Bits:
    """The spacing of the format at each value."""
    exponent = np.frexp(np.where(np.isfinite(values), values, 0.0))[1] - 1
    exponent = np.where(values == 0, fmt.least, exponent)
    result: Bits = np.ldexp(1.0, np.maximum(exponent, fmt.least) - fmt.mantissa)
    return result


def _allowed(text: str, operands: list[Bits], values: Bits) -> Bits:
    """The largest error each result may have; infinite where nothing is promised."""
    bound, fmt, first = APPROXIMATE[text], _format(text), operands[0]
    by_unit = {"ulp": _ulp(values, fmt), "relative": np.abs(values), "absolute": np.ones_like(values)}
    allowed = bound.size * by_unit[bound.unit]
    if text.startswith("lg2"):
        allowed = np.where((first > 0.5) & (first < 2), bound.size, bound.size * np.abs(values))
    if bound.far is not None:
        size = np.abs(first)
        allowed = np.where(size <= 2 * np.pi, allowed, np.where(size <= 100 * np.pi, bound.far, np.inf))
    if bound.cut:
        allowed = np.where(np.abs(values) < 2.0**fmt.least, allowed + _ulp(values, fmt), allowed)
    # A relative bound cannot hold below the spacing of the results themselves.
    return np.maximum(allowed, _ulp(values, fmt) / 2)


def _violations(text: str, operands: tuple[Bits, ...], result: Bits) -> Bits:
    fmt = _format(text)
    inputs = _operands(text, operands)
    values = np.asarray(_value(text)(*inputs))
    ours = _rounded(text, values, operands)
    theirs = to_double(result, fmt)
    same = (cut(result, ours.dtype) == ours) | (np.isnan(theirs) & np.isnan(to_double(ours, fmt)))
    special = np.logical_or.reduce([(x == 0) | ~np.isfinite(x) for x in inputs])
    allowed = _allowed(text, inputs, values)
    largest = float(to_double(np.array([fmt.largest], UNSIGNED[fmt.width]), fmt)[0])
    # An overflow that the error may cause counts as the first number beyond the largest.
    reached = np.where(np.isinf(theirs), np.copysign(largest, theirs), theirs)
    near = np.abs(reached - values) <= allowed
    near |= np.isinf(theirs) & (np.abs(values) > largest) & (np.signbit(theirs) == np.signbit(values))
    if ".ftz" in text:
        flushed = (theirs == 0) & (np.signbit(theirs) == np.signbit(values))
        near |= flushed & (np.abs(values) - allowed < 2.0**fmt.least)
    broken: Bits = ~(same | (near & ~special & ~np.isnan(values)))
    return broken


def violations(text: str, operands: tuple[Bits, ...], result: Bits) -> Bits:
    """Where ``result`` bits, from any device, are not what the ISA promises for an approximate form.

    ``operands`` and ``result`` are registers as everywhere; for packed forms the answer has two places
    per register, low half first. Operands that are zero, infinite or NaN must give exactly the value of
    the ISA's table, any NaN for NaN; all others must be within the bound.
    """
    with np.errstate(all="ignore"):
        if text.endswith("x2"):
            halves = [np.ascontiguousarray(cut(x, np.uint32)).view(np.uint16) for x in (*operands, result)]
            return _violations(text, tuple(halves[:-1]), halves[-1])
        return _violations(text, operands, result)
