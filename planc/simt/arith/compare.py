"""Comparison and selection (PTX ISA, "Comparison and Selection Instructions" and the half-precision ones)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planc.ptx.syntax import Instruction, Pair
from planc.simt.arith.bitwise import LOGIC
from planc.simt.arith.formats import BF16, F16, F32, FORMATS, Format, flush
from planc.simt.arith.forms import Form, form, spellings
from planc.simt.arith.types import (
    UNSIGNED,
    Bits,
    Function,
    cut,
    integers,
    quiet,
    register_dtype,
    width,
)

_ORDERED: dict[str, Callable[[Bits, Bits], Bits]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_SAME_AS = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}

INTEGER_TESTS = "eq ne lt le gt ge"
UNSIGNED_TESTS = "eq ne lt le gt ge lo ls hi hs"
FLOAT_TESTS = "eq ne lt le gt ge equ neu ltu leu gtu geu num nan"

_TESTS = {
    **{f"b{n}": "eq ne" for n in (16, 32, 64)},
    **{f"u{n}": UNSIGNED_TESTS for n in (16, 32, 64)},
    **{f"s{n}": INTEGER_TESTS for n in (16, 32, 64)},
    **{name: FLOAT_TESTS for name in ("f32", "f64", "f16", "bf16", "f16x2", "bf16x2")},
}
"""The comparisons each type has."""


def _unordered(a: Bits, b: Bits) -> Bits:
    result: Bits = (a != a) | (b != b)
    return result


def _float_test(test: str) -> Callable[[Bits, Bits], Bits]:
    """A comparison of floats: without ``u`` false on NaN, with it true; -0 equals +0."""
    if test == "nan":
        return _unordered
    if test == "num":
        return lambda a, b: ~_unordered(a, b)
    if test == "ne":
        return lambda a, b: (a != b) & ~_unordered(a, b)
    if test in _ORDERED:
        return _ORDERED[test]
    compare = _ORDERED[test[:-1]]
    return lambda a, b: compare(a, b) | _unordered(a, b)


def _floats(bits: Bits, fmt: Format, ftz: bool) -> Bits:
    """Values whose order is that of ``bits``, in a NumPy float type."""
    raw = cut(bits, UNSIGNED[fmt.width])
    raw = flush(raw, fmt) if ftz else raw
    if fmt is BF16:
        return (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return raw.view(f"f{fmt.width // 8}")


def comparison(test: str, name: str, ftz: bool) -> Function:
    """Bits to ``bool`` for one comparison of one type, packed types excepted."""
    if name in FORMATS:
        compare, fmt = _float_test(test), FORMATS[name]
        return quiet(lambda a, b: compare(_floats(a, fmt, ftz), _floats(b, fmt, ftz)))
    ordered = _ORDERED[_SAME_AS.get(test, test)]
    return lambda a, b: ordered(integers(a, name), integers(b, name))


def _halves(bits: Bits) -> tuple[Bits, Bits]:
    raw = cut(bits, np.uint32)
    return raw.astype(np.uint16), (raw >> np.uint32(16)).astype(np.uint16)


def _both(compare: Function) -> Function:
    """``p`` from the low halves and ``q`` from the high ones."""

    def function(a: Bits, b: Bits) -> tuple[Bits, Bits]:
        low, high = zip(_halves(a), _halves(b), strict=True)
        return compare(*low), compare(*high)

    return function


def _low(compare: Function) -> Function:
    """``p`` alone, where a packed form is written without ``q``."""
    return lambda a, b: compare(_halves(a)[0], _halves(b)[0])


def _with_complement(compare: Function) -> Function:
    def function(a: Bits, b: Bits) -> tuple[Bits, Bits]:
        result = compare(a, b)
        return result, ~result

    return function


def _combined(compare: Function, word: str | None) -> Function:
    """``compare`` with its one or two results combined with predicate c by a Boolean operator."""
    if word is None:
        return compare
    combine = LOGIC[word]

    def function(a: Bits, b: Bits, c: Bits) -> Bits | tuple[Bits, ...]:
        result, other = compare(a, b), cut(c, np.bool_)
        if isinstance(result, tuple):
            return tuple(combine(x, other) for x in result)
        return combine(result, other)

    return function


def _split(text: str) -> tuple[str, str | None, bool, list[str]]:
    """Comparison, Boolean operator, .ftz and types of a form of setp or set."""
    _, test, *words = text.split(".")
    boolean = next((w for w in words if w in LOGIC), None)
    return test, boolean, "ftz" in words, [w for w in words if w not in LOGIC and w != "ftz"]


def _maker(text: str) -> Callable[[Instruction], Function]:
    test, boolean, ftz, (name,) = _split(text)
    compare = comparison(test, name.removesuffix("x2"), ftz)
    if name.endswith("x2"):
        single, double = _combined(_low(compare), boolean), _combined(_both(compare), boolean)
    else:
        single, double = _combined(compare, boolean), _combined(_with_complement(compare), boolean)
    return lambda instruction: double if isinstance(instruction.operands[0], Pair) else single


def _setp_forms() -> Iterator[Form]:
    for name, tests in _TESTS.items():
        ftz = "- ftz" if name in ("f32", "f16", "f16x2") else "-"
        for text in spellings("setp", tests, "- and or xor", ftz, name):
            operands = (name, name, "pred") if _split(text)[1] else (name, name)
            pair = () if name in ("f16", "bf16") else ("pred", "pred")
            yield Form(text, operands, ("pred",), _maker(text), pair=pair)


_TRUE = {
    "f32": F32.bias << F32.mantissa,
    "f16": F16.bias << F16.mantissa,
    "bf16": BF16.bias << BF16.mantissa,
}


def _set(text: str) -> Function:
    test, boolean, ftz, (result, name) = _split(text)
    if name.endswith("x2"):
        return _set_packed(text)
    decide = _combined(comparison(test, name, ftz), boolean)
    dtype = register_dtype(result)
    true = dtype.type(_TRUE.get(result, (1 << width(result)) - 1))
    return lambda *operands: np.where(decide(*operands), true, dtype.type(0))


def _set_packed(text: str) -> Function:
    """Both halves at once: 1.0 or, for an integer type, all ones in each."""
    test, boolean, ftz, (result, name) = _split(text)
    lane = name.removesuffix("x2")
    decide = _combined(_both(comparison(test, lane, ftz)), boolean)
    true = np.uint32(_TRUE[lane] if result == name else 0xFFFF)

    def function(*operands: Bits) -> Bits:
        low, high = (np.where(x, true, np.uint32(0)) for x in decide(*operands))
        result: Bits = low | (high << np.uint32(16))
        return result

    return function


_FULL = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"
_HALF = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64"
_SETS: tuple[tuple[str, str], ...] = (
    ("u32 s32 f32", _FULL),
    ("f16", _HALF),
    ("bf16", f"{_HALF} bf16"),
    ("u16 s16 u32 s32", "f16 bf16"),
    ("f16x2 u32 s32", "f16x2"),
    ("bf16x2 u32 s32", "bf16x2"),
)
"""Result types by operand types of ``set``, as in the two syntax tables of the manual."""


def _set_forms() -> Iterator[Form]:
    for results, names in _SETS:
        for name in names.split():
            ftz = "- ftz" if name in ("f32", "f16", "f16x2") and results != "bf16" else "-"
            for text in spellings("set", _TESTS[name], "- and or xor", ftz, results, name):
                _, boolean, _, (result, _) = _split(text)
                operands = f"{name} {name} pred" if boolean else f"{name} {name}"
                yield form(text, operands, result, _set(text))


def _select(name: str) -> Function:
    dtype = UNSIGNED[width(name)]
    return lambda a, b, p: np.where(cut(p, np.bool_), cut(a, dtype), cut(b, dtype))


def _select_by_sign(name: str, test: Function) -> Function:
    dtype = UNSIGNED[width(name)]
    return lambda a, b, c: np.where(test(c), cut(a, dtype), cut(b, dtype))


def _not_negative(ftz: bool) -> Function:
    # NaN selects b, -0 selects a (PTX ISA, slct).
    return quiet(lambda c: _floats(c, F32, ftz) >= 0)


def _select_forms() -> Iterator[Form]:
    for text in spellings("selp", _FULL):
        name = text.partition(".")[2]
        yield form(text, f"{name} {name} pred", name, _select(name))
    for name in _FULL.split():
        by_integer = _select_by_sign(name, lambda c: integers(c, "s32") >= 0)
        yield form(f"slct.{name}.s32", f"{name} {name} s32", name, by_integer)
        for text in spellings("slct", "- ftz", name, "f32"):
            by_float = _select_by_sign(name, _not_negative(".ftz." in text))
            yield form(text, f"{name} {name} f32", name, by_float)


def forms() -> Iterator[Form]:
    """All forms of setp, set, selp and slct."""
    for family in (_setp_forms, _set_forms, _select_forms):
        yield from family()
