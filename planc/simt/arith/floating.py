"""Floating-point arithmetic, approximations apart.

PTX ISA, "Floating-Point Instructions" and "Half Precision Floating-Point Instructions". What the ISA
leaves open is settled here as measured on an NVIDIA H200: ``neg`` and ``abs`` of a NaN give the canonical
NaN, but in f64 the operand made quiet, with its sign; ``min`` and ``max`` of two f64 NaNs give the second,
made quiet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planc.simt.arith import double, narrow
from planc.simt.arith.formats import F32, F64, FORMATS, Format, canonical
from planc.simt.arith.forms import Form, form, spellings
from planc.simt.arith.types import UNSIGNED, Bits, Function, cut, packed, quiet

MODES = "rn rz rm rp"
_QUIET_F64 = np.uint64(1 << 51)

_F64: dict[str, Callable[[str], double.Operation]] = {
    "add": double.add,
    "sub": double.subtract,
    "mul": double.multiply,
    "div": double.divide,
    "sqrt": double.square_root,
    "fma": double.fma,
}

_ARITY = {"add": 2, "sub": 2, "mul": 2, "div": 2, "sqrt": 1, "fma": 3, "mad": 3}


def _mode(words: list[str]) -> str:
    return next((w for w in words if w in MODES.split()), "rn")


def arithmetic(text: str) -> Function:
    """The function of a form of add, sub, mul, div, sqrt, fma or mad: ``fma.rn.ftz.f16x2``."""
    opcode, *words, name = text.split(".")
    opcode = "fma" if opcode == "mad" else opcode
    if name == "f64":
        function = _F64[opcode](_mode(words))
        return quiet(lambda *operands: function(*(cut(x, np.uint64) for x in operands)))
    fmt = FORMATS[name.removesuffix("x2")]
    lane = narrow.operation(opcode, fmt, _mode(words), frozenset(words))
    return packed(lane) if name.endswith("x2") else lane


def _reciprocal(text: str) -> Function:
    divide = arithmetic(text.replace("rcp", "div"))
    one = np.uint64(F64.bias << F64.mantissa) if text.endswith("f64") else np.uint32(F32.bias << F32.mantissa)
    return lambda a: divide(np.full(a.shape, one), a)


def _plain(texts: list[str]) -> Iterator[Form]:
    for text in texts:
        opcode, name = text.partition(".")[0], text.rpartition(".")[2]
        yield form(text, " ".join([name] * _ARITY[opcode]), name, arithmetic(text))


def _single_and_double() -> Iterator[Form]:
    yield from _plain(spellings("add sub mul", f"- {MODES}", "- ftz", "- sat", "f32"))
    yield from _plain(spellings("add sub mul", f"- {MODES}", "f64"))
    yield from _plain(spellings("fma mad", MODES, "- ftz", "- sat", "f32"))
    yield from _plain(spellings("fma mad", MODES, "f64"))
    yield from _plain(spellings("div sqrt", MODES, "- ftz", "f32"))
    yield from _plain(spellings("div sqrt", MODES, "f64"))
    for text in [*spellings("rcp", MODES, "- ftz", "f32"), *spellings("rcp", MODES, "f64")]:
        name = text.rpartition(".")[2]
        yield form(text, name, name, _reciprocal(text))


def _half() -> Iterator[Form]:
    yield from _plain(spellings("add sub mul", "- rn", "- ftz", "- sat", "f16 f16x2"))
    yield from _plain(spellings("add sub mul", "- rn", "bf16 bf16x2"))
    yield from _plain(spellings("fma", "rn", "- ftz", "- sat", "f16 f16x2"))
    yield from _plain(spellings("fma", "rn", "- ftz", "relu", "f16 f16x2"))
    yield from _plain(spellings("fma", "rn", "- relu", "bf16 bf16x2"))


def _sign_changed(opcode: str, fmt: Format, modifiers: frozenset[str]) -> Function:
    kind = UNSIGNED[fmt.width].type
    change = np.bitwise_xor if opcode == "neg" else np.bitwise_and
    mask = kind(fmt.sign) if opcode == "neg" else kind(fmt.sign - 1)

    def core(a: Bits) -> Bits:
        bits = cut(a, UNSIGNED[fmt.width])
        changed: Bits = change(bits, mask)
        if fmt is F64:
            return np.where(double.is_nan(bits), bits | _QUIET_F64, changed)
        return canonical(changed, fmt)

    return narrow.finished(core, fmt, modifiers)


def _signs() -> Iterator[Form]:
    texts = spellings("neg abs", "- ftz", "f32 f16 f16x2") + spellings("neg abs", "f64 bf16 bf16x2")
    for text in texts:
        opcode, *words, name = text.split(".")
        function = _sign_changed(opcode, FORMATS[name.removesuffix("x2")], frozenset(words))
        yield form(text, name, name, packed(function) if name.endswith("x2") else function)


def order_key(bits: Bits, fmt: Format) -> Bits:
    """Signed integers that sort as the numbers do, -0 below +0; NaNs sort outside the infinities."""
    signed = bits.view(f"i{fmt.width // 8}")
    result: Bits = signed ^ ((signed >> signed.dtype.type(fmt.width - 1)) & signed.dtype.type(fmt.sign - 1))
    return result


def _nan_of_two(b: Bits, fmt: Format) -> Bits:
    return b | _QUIET_F64 if fmt is F64 else np.full(b.shape, fmt.nan, b.dtype)


def limit(opcode: str, fmt: Format, modifiers: frozenset[str]) -> Function:
    """``min`` or ``max`` of one format; ``modifiers`` may hold ftz, NaN and xorsign (with abs)."""
    dtype = UNSIGNED[fmt.width]
    sign, strict = dtype.type(fmt.sign), "NaN" in modifiers

    def core(a: Bits, b: Bits) -> Bits:
        first, second = cut(a, dtype), cut(b, dtype)
        if "xorsign" in modifiers:
            flipped = (first ^ second) & sign
            first, second = first & ~sign, second & ~sign
        less = order_key(first, fmt) < order_key(second, fmt)
        nans = [(x & ~sign) > dtype.type(fmt.infinity) for x in (first, second)]
        result = np.where((less == (opcode == "min")) & ~nans[0] | nans[1], first, second)
        if "xorsign" in modifiers:
            result = result | flipped
        none = (nans[0] | nans[1]) if strict else (nans[0] & nans[1])
        return np.where(none, _nan_of_two(second, fmt), result) if none.any() else result

    return narrow.finished(core, fmt, modifiers)


def _limits() -> Iterator[Form]:
    texts = spellings("min max", "- ftz", "- NaN", "- xorsign.abs", "f32 f16 f16x2")
    texts += spellings("min max", "- NaN", "- xorsign.abs", "bf16 bf16x2") + spellings("min max", "f64")
    for text in texts:
        opcode, *words, name = text.split(".")
        function = limit(opcode, FORMATS[name.removesuffix("x2")], frozenset(words))
        yield form(text, f"{name} {name}", name, packed(function) if name.endswith("x2") else function)


def _copysign(fmt: Format) -> Function:
    dtype = UNSIGNED[fmt.width]
    sign = dtype.type(fmt.sign)
    return lambda a, b: (cut(a, dtype) & sign) | (cut(b, dtype) & ~sign)


def _property(test: str, fmt: Format) -> Function:
    dtype = UNSIGNED[fmt.width]
    infinity, least = dtype.type(fmt.infinity), dtype.type(1 << fmt.mantissa)
    tests: dict[str, Callable[[Bits], Bits]] = {
        "finite": lambda m: m < infinity,
        "infinite": lambda m: m == infinity,
        "number": lambda m: m <= infinity,
        "notanumber": lambda m: m > infinity,
        # Zeros count as normal (PTX ISA, testp).
        "normal": lambda m: ((m >= least) & (m < infinity)) | (m == 0),
        "subnormal": lambda m: (m < least) & (m != 0),
    }
    return lambda a: tests[test](cut(a, dtype) & dtype.type(fmt.sign - 1))


def _tests() -> Iterator[Form]:
    for text in spellings("testp", "finite infinite number notanumber normal subnormal", "f32 f64"):
        _, test, name = text.split(".")
        yield form(text, name, "pred", _property(test, FORMATS[name]))
    for name in ("f32", "f64"):
        yield form(f"copysign.{name}", f"{name} {name}", name, _copysign(FORMATS[name]))


def forms() -> Iterator[Form]:
    """All floating-point arithmetic forms that are exact."""
    for family in (_single_and_double, _half, _signs, _limits, _tests):
        yield from family()
