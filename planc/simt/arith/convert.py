"""cvt (PTX ISA, "cvt" and "cvt.pack").

Integers that a signed conversion yields come widened by their sign to 64 bits, since the destination
register may be wider than the type.

NaN between float formats, which the ISA leaves open, as measured on an NVIDIA H200: to and from f64 the sign
and what fits of the payload are kept, made quiet; cvt.f32.f32 and cvt.f32.bf16 move the bits as they are;
everything else, and f32 with .ftz, gives the canonical NaN of the format (:func:`_nan_of`).

Where the manual is explicit and the machine does otherwise, this follows the machine (measured):

- .ftz on f32 to f16 does nothing: with .rm and .rp a subnormal operand gives the smallest subnormal f16
- cvt.rna.tf32 of a NaN cuts its low 13 bits, which may leave an infinity; .satfinite then takes one unit
  in the last place off, as it does with an infinity (:func:`_to_nearest_tf32`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planc.simt.arith import exact, narrow
from planc.simt.arith.floating import MODES
from planc.simt.arith.formats import (
    BF16,
    E4M3,
    E5M2,
    F16,
    F32,
    F64,
    FORMATS,
    TF32,
    Format,
    canonical,
    flush,
    to_double,
)
from planc.simt.arith.forms import Form, form, spellings
from planc.simt.arith.types import (
    UNSIGNED,
    Bits,
    Function,
    cut,
    extended,
    integers,
    is_signed,
    quiet,
    value_dtype,
    width,
)

_INTEGERS = tuple(f"{kind}{size}" for kind in "us" for size in (8, 16, 32, 64))
_FLOATS = ("f16", "bf16", "f32", "f64")
_TO_INTEGER: dict[str, Callable[[Bits], Bits]] = {
    "rni": np.rint,
    "rzi": np.trunc,
    "rmi": np.floor,
    "rpi": np.ceil,
}
INTEGER_MODES = "rni rzi rmi rpi"


def _written(values: Bits, name: str) -> Bits:
    """Integers of type ``name`` as result bits, widened where signed."""
    return extended(values) if is_signed(name) else values.astype(value_dtype(name))


def _limits(name: str) -> tuple[int, int]:
    info = np.iinfo(value_dtype(name))
    return int(info.min), int(info.max)


def _saturated_integer(values: Bits, name: str) -> Bits:
    """Integers clamped to the range of ``name``."""
    low, high = _limits(name)
    own = np.iinfo(values.dtype)
    return np.clip(values, max(low, int(own.min)), min(high, int(own.max))).astype(value_dtype(name))


def _integer_to_integer(to: str, source: str, *, saturate: bool) -> Function:
    dtype = value_dtype(to)

    def function(a: Bits) -> Bits:
        values = integers(a, source)
        return _written(_saturated_integer(values, to) if saturate else values.astype(dtype), to)

    return function


def _integer_to_float(to: Format, source: str, mode: str) -> Function:
    # The host converts to f32 and f64 in one rounding, to nearest.
    if mode == "rn" and to.name in ("f32", "f64"):
        host = np.dtype(f"f{to.width // 8}")
        return lambda a: integers(a, source).astype(host).view(UNSIGNED[to.width])
    return lambda a: exact.from_integers(integers(a, source), to, mode).astype(UNSIGNED[to.width])


def _of_nan(to: str, source: str) -> int:
    """What a NaN becomes (PTX ISA, cvt): 0, but the sign bit alone where f64 or 64-bit integers take part."""
    if source != "f64" and width(to) < 64:
        return 0
    return -(1 << (width(to) - 1)) if is_signed(to) else 1 << (width(to) - 1)


def _float_to_integer(to: str, source: Format, mode: str, ftz: bool) -> Function:
    rounding, dtype, (low, high) = _TO_INTEGER[mode], value_dtype(to), _limits(to)
    nan = dtype.type(_of_nan(to, source.name))
    # 2**64 is a double and 2**64 - 1 is not: compare against the first value too large.
    beyond = float(high + 1)

    def function(a: Bits) -> Bits:
        bits = cut(a, UNSIGNED[source.width])
        values = rounding(to_double(flush(bits, source) if ftz else bits, source))
        inside = (values >= low) & (values < beyond)
        kept = np.where(inside, values, 0.0).astype(dtype)
        kept = np.where(values >= beyond, dtype.type(high), np.where(values < low, dtype.type(low), kept))
        return _written(np.where(np.isnan(values), nan, kept), to)

    return quiet(function)


def _payload(bits: Bits, to: Format, source: Format) -> Bits:
    """Sign and payload of NaN ``bits`` in another format, the low bits cut or zeros appended."""
    raw = bits.astype(np.uint64)
    shift = np.uint64(abs(to.mantissa - source.mantissa))
    fraction = raw & np.uint64((1 << source.mantissa) - 1)
    moved = fraction << shift if to.mantissa >= source.mantissa else fraction >> shift
    sign = np.where((raw & np.uint64(source.sign)) != 0, np.uint64(to.sign), np.uint64(0))
    return (sign | np.uint64(to.infinity) | moved).astype(UNSIGNED[to.width])


def _nan_of(to: Format, source: Format, ftz: bool) -> Function | None:
    """The function from NaNs of ``source`` to NaNs of ``to``; None if there is one canonical NaN."""
    silent = UNSIGNED[to.width].type(1 << (to.mantissa - 1))
    if source is F32 and to is F64 and ftz:
        return lambda bits: _payload(canonical(bits, F32), F64, F32)
    if F64 in (to, source):
        return lambda bits: _payload(bits, to, source) | silent
    if to is F32 and source in (F32, BF16) and not ftz:
        return lambda bits: _payload(bits, to, source)
    return None


def _float_to_float(to: Format, source: Format, mode: str | None, ftz: bool) -> Function:
    """Bits to bits; ``mode`` rounds to the format, or to an integer in it."""
    if mode in _TO_INTEGER:
        return _to_integral(to, source, mode)
    if source is to is F64:
        return np.array
    convert, nan_of = _number(to, source, mode or "rn", ftz), _nan_of(to, source, ftz)
    if nan_of is None:
        return convert
    largest = UNSIGNED[source.width].type(source.infinity), UNSIGNED[source.width].type(source.sign - 1)

    def function(bits: Bits) -> Bits:
        result: Bits = convert(bits)
        nan = (bits & largest[1]) > largest[0]
        return np.where(nan, nan_of(bits), result) if nan.any() else result

    return function


def _number(to: Format, source: Format, mode: str, ftz: bool) -> Function:
    """Conversion of all but NaNs, which come out canonical."""
    if source is to:
        return lambda bits: canonical(bits, to)
    if to is F64:
        return lambda bits: to_double(bits, source).view(np.uint64)
    if to is F32 and ftz:
        return lambda bits: narrow.flushed(
            narrow.from_double(to_double(bits, source), to, mode), lambda: to_double(bits, source), to, mode
        )
    return lambda bits: narrow.from_double(to_double(bits, source), to, mode)


def _to_integral(to: Format, source: Format, mode: str) -> Function:
    rounding = _TO_INTEGER[mode]

    def function(bits: Bits) -> Bits:
        values = rounding(to_double(bits, source))
        if to is F64:
            return values.view(np.uint64)
        return narrow.from_double(values, to, "rn")

    return function


def _with_flush(core: Function, to: Format, source: Format, ftz: bool, saturate: bool) -> Function:
    """``core`` with .ftz, which flushes f32 and bf16 only, not even f32 on its way to f16, and with .sat."""
    before = ftz and source.exponent == F32.exponent and to is not F16
    after = ftz and to.exponent == F32.exponent

    def function(a: Bits) -> Bits:
        bits = cut(a, UNSIGNED[source.width])
        result: Bits = core(flush(bits, source) if before else bits)
        result = flush(result, to) if after else result
        return narrow.saturated(result, to) if saturate else result

    return quiet(function)


def _integer_forms() -> Iterator[Form]:
    for text in spellings("cvt", "- sat", " ".join(_INTEGERS), " ".join(_INTEGERS)):
        *words, to, source = text.split(".")
        if "sat" in words and _holds(to, source):
            continue  # refused by the assembler: nothing to clamp
        function = _integer_to_integer(to, source, saturate="sat" in words)
        yield form(text, source, to, function)


def _holds(to: str, source: str) -> bool:
    """Whether every integer of type ``source`` is one of type ``to``."""
    (low, high), (least, most) = _limits(to), _limits(source)
    return low <= least and most <= high


def _saturations(*names: str) -> str:
    """.sat goes with every type but bf16."""
    return "-" if "bf16" in names else "- sat"


def _from_integer_forms() -> Iterator[Form]:
    names = " ".join(_INTEGERS)
    texts = spellings("cvt", MODES, "- sat", "f16 f32 f64", names) + spellings("cvt", MODES, "bf16", names)
    texts += spellings("cvt", MODES, "ftz", "- sat", "f32", names)
    for text in texts:
        _, mode, *words, to, source = text.split(".")
        fmt = FORMATS[to]
        function = _integer_to_float(fmt, source, mode)
        if "sat" in words:
            function = _then_saturated(function, fmt)
        yield form(text, source, to, function)


def _then_saturated(function: Function, fmt: Format) -> Function:
    return lambda a: narrow.saturated(function(a), fmt)


def _to_integer_forms() -> Iterator[Form]:
    for source in _FLOATS:
        ftz = "- ftz" if source == "f32" else "-"
        sat, names = _saturations(source), " ".join(_INTEGERS)
        for text in spellings("cvt", INTEGER_MODES, ftz, sat, names, source):
            _, mode, *words, to, _ = text.split(".")
            yield form(text, source, to, _float_to_integer(to, FORMATS[source], mode, "ftz" in words))


def _rounding_words(to: Format, source: Format) -> str:
    """The rounding modifiers of a conversion between two float formats, ``-`` for none."""
    if to is source:
        return f"- {INTEGER_MODES}"
    wider = to.mantissa >= source.mantissa and to.exponent >= source.exponent
    return "-" if wider else MODES


def _float_forms() -> Iterator[Form]:
    for to in (F16, BF16, F32, F64):
        for source in (F16, BF16, F32, F64):
            flushes = "- ftz" if F32 in (to, source) else "-"
            words, sat = _rounding_words(to, source), _saturations(to.name, source.name)
            for text in spellings("cvt", words, flushes, sat, to.name, source.name):
                mode = next((w for w in text.split(".") if w in f"{MODES} {INTEGER_MODES}".split()), None)
                ftz = ".ftz" in text
                core = _float_to_float(to, source, mode, ftz)
                function = _with_flush(core, to, source, ftz, ".sat" in text)
                yield form(text, source.name, to.name, function)


def _bounded(bits: Bits, fmt: Format) -> Bits:
    """``.satfinite``: infinity becomes the largest finite number of its sign."""
    kind = bits.dtype.type
    infinite = (bits & kind(fmt.sign - 1)) == kind(fmt.infinity)
    return np.where(infinite, (bits & kind(fmt.sign)) | kind(fmt.largest), bits)


def rounded_to(values: Bits, fmt: Format, words: list[str]) -> Bits:
    """``float64`` values in ``fmt``, with .relu and .satfinite: ``uint64`` bits of the register."""
    mode = next(w for w in words if w in ("rn", "rz"))
    bits = exact.from_double(values, fmt, mode)
    if "satfinite" in words:
        bits = np.where(np.isnan(values), bits, _bounded(bits, fmt))
    if "relu" in words:
        bits = narrow.rectified(bits, fmt)
    return np.where(np.isnan(values), np.uint64(fmt.nan), bits << np.uint64(fmt.pad))


def _to_one(fmt: Format, words: list[str]) -> Function:
    dtype = UNSIGNED[fmt.width]
    return quiet(lambda a: rounded_to(to_double(a, F32), fmt, words).astype(dtype))


def _to_nearest_tf32(bounded: bool) -> Function:
    """rna, ties away from zero: half a unit added to the pattern and the rest cut off.

    A NaN or infinity has nothing added; ``bounded`` (.satfinite) takes a unit off what is then infinite or
    NaN. That is how the assembler computes it for NVIDIA H200.
    """
    rest = np.uint32((1 << TF32.pad) - 1)
    infinity, magnitude = np.uint32(F32.infinity), np.uint32(F32.sign - 1)

    def function(a: Bits) -> Bits:
        bits = cut(a, np.uint32)
        finite = (bits & magnitude) < infinity
        kept = np.where(finite, bits + (rest >> np.uint32(1)) + np.uint32(1), bits) & ~rest
        if bounded:
            kept = np.where((kept & magnitude) >= infinity, kept - rest - np.uint32(1), kept)
        return kept

    return function


def _to_pair(fmt: Format, words: list[str]) -> Function:
    """Two f32 into one register, the first in the upper half."""
    dtype, shift = UNSIGNED[2 * fmt.width], np.uint64(fmt.width)

    def function(a: Bits, b: Bits) -> Bits:
        high, low = (rounded_to(to_double(x, F32), fmt, words) for x in (a, b))
        return ((high << shift) | low).astype(dtype)

    return quiet(function)


def _pair_to_pair(fmt: Format, words: list[str]) -> Function:
    """The two halves of an f16x2 register into two numbers of 8 bits."""
    pair = _to_pair(fmt, words)

    def function(a: Bits) -> Bits:
        raw = cut(a, np.uint32)
        halves = (raw >> np.uint32(16)).astype(np.uint16), raw.astype(np.uint16)
        high, low = (to_double(x, F16).astype(np.float32).view(np.uint32) for x in halves)
        result: Bits = pair(high, low)
        return result

    return quiet(function)


def _from_eight(fmt: Format, relu: bool) -> Function:
    """Two numbers of 8 bits into f16x2, exactly; every value is looked up."""
    table = _values_of_eight(fmt)
    table = narrow.rectified(table, F16) if relu else table

    def function(a: Bits) -> Bits:
        raw = cut(a, np.uint16)
        high, low = table[raw >> np.uint16(8)], table[raw & np.uint16(0xFF)]
        result: Bits = (high.astype(np.uint32) << np.uint32(16)) | low
        return result

    return function


def _values_of_eight(fmt: Format) -> Bits:
    """The f16 bits of all 256 patterns of an 8-bit format."""
    patterns = np.arange(256, dtype=np.int64)
    magnitude = patterns & (fmt.sign - 1)
    steps, fraction = magnitude >> fmt.mantissa, magnitude & ((1 << fmt.mantissa) - 1)
    whole = np.where(steps == 0, fraction, fraction + (1 << fmt.mantissa))
    values = np.ldexp(whole.astype(np.float64), np.maximum(steps, 1) - fmt.bias - fmt.mantissa)
    values = np.where(magnitude == fmt.infinity, np.nan if fmt.finite else np.inf, values)
    values = np.where(magnitude > fmt.infinity, np.nan, values)
    values = np.where(patterns & fmt.sign, -values, values)
    return narrow.from_double(values, F16, "rn")


def _narrow_forms() -> Iterator[Form]:
    for name in ("f16", "bf16"):
        fmt = FORMATS[name]
        for text in spellings("cvt", "rn rz", "- relu", "- satfinite", f"{name} {name}x2", "f32"):
            words = text.split(".")
            if words[-2] == name and not {"relu", "satfinite"} & set(words):
                continue  # the plain conversions are in the table of all float types
            make, operands = (_to_pair, "f32 f32") if words[-2] != name else (_to_one, "f32")
            yield form(text, operands, words[-2], make(fmt, words))
    for text in spellings("cvt", "rna", "- satfinite", "tf32", "f32"):
        yield form(text, "f32", "tf32", _to_nearest_tf32(".satfinite" in text))
    for text in spellings("cvt", "rn rz", "- relu", "tf32", "f32"):
        yield form(text, "f32", "tf32", _to_one(TF32, text.split(".")))


def _eight_forms() -> Iterator[Form]:
    for fmt in (E4M3, E5M2):
        name = f"{fmt.name}x2"
        for text in spellings("cvt", "rn", "satfinite", "- relu", name, "f32"):
            yield form(text, "f32 f32", name, _to_pair(fmt, text.split(".")))
        for text in spellings("cvt", "rn", "satfinite", "- relu", name, "f16x2"):
            yield form(text, "f16x2", name, _pair_to_pair(fmt, text.split(".")))
        for text in spellings("cvt", "rn", "- relu", "f16x2", name):
            yield form(text, name, "f16x2", _from_eight(fmt, ".relu" in text))


def _pack(to: str, merged: bool) -> Function:
    bits = width(to)
    low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if to[0] == "s" else (0, (1 << bits) - 1)

    def clamped(a: Bits) -> Bits:
        return np.clip(integers(a, "s32"), low, high).astype(np.uint32) & np.uint32((1 << bits) - 1)

    def function(a: Bits, b: Bits, *c: Bits) -> Bits:
        pair = (clamped(a) << np.uint32(bits)) | clamped(b)
        return pair | (cut(c[0], np.uint32) << np.uint32(2 * bits)) if merged else pair

    return function


def _pack_forms() -> Iterator[Form]:
    for to in ("u16", "s16"):
        yield form(f"cvt.pack.sat.{to}.s32", "s32 s32", "b32", _pack(to, merged=False))
    for to in ("u8", "s8", "u4", "s4", "u2", "s2"):
        yield form(f"cvt.pack.sat.{to}.s32.b32", "s32 s32 b32", "b32", _pack(to, merged=True))


def forms() -> Iterator[Form]:
    """All conversion forms."""
    families = (_integer_forms, _from_integer_forms, _to_integer_forms, _float_forms)
    for family in (*families, _narrow_forms, _eight_forms, _pack_forms):
        yield from family()
