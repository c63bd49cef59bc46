"""``setp`` on whole numbers: the condition that a comparison of two forms gives."""

from __future__ import annotations

from planc.effects.arithmetic import Arithmetic
from planc.effects.bounds import Facts, interval
from planc.effects.conditions import (
    FALSE,
    TRUE,
    UNKNOWN,
    Condition,
    Conjunction,
    equal,
    less,
    negate,
    unknown_comparison,
)
from planc.effects.forms import Form, subtract, wrap

_ORDER = {
    "lt": (False, False, None),
    "ge": (False, True, None),
    "gt": (True, False, None),
    "le": (True, True, None),
    "lo": (False, False, False),
    "hs": (False, True, False),
    "hi": (True, False, False),
    "ls": (True, True, False),
}
"""Comparison: operands swapped, result negated, signedness where the name fixes it."""


def compare(
    arithmetic: Arithmetic, relation: str, first: Form, second: Form, kind: tuple[int, bool], facts: Facts
) -> Condition:
    """Return the condition of ``setp.<relation>``; ``kind`` is (bits, signed)."""
    width, signed = kind
    if relation in ("eq", "ne"):
        found = _equal(arithmetic, first, second, width, facts)
        return found if relation == "eq" else negate(found)
    if relation not in _ORDER:
        return UNKNOWN
    swapped, negated, fixed = _ORDER[relation]
    signed = signed if fixed is None else fixed
    one, other = (second, first) if swapped else (first, second)
    found = _less(arithmetic, one, other, width, signed, facts)
    return negate(found) if negated else found


def _equal(arithmetic: Arithmetic, first: Form, second: Form, width: int, facts: Facts) -> Condition:
    """Registers are equal iff their difference is 0 modulo the width."""
    difference = wrap(subtract(first, second), width)
    low, high = interval(arithmetic.symbols, difference, facts)
    if low <= -(1 << width) or high >= 1 << width or (high - low) >= 1 << (width + 1):
        return unknown_comparison("eq", first, second, width)
    return equal(difference, Form(0), low, high)


def _less(
    arithmetic: Arithmetic, first: Form, second: Form, width: int, signed: bool, facts: Facts
) -> Condition:
    one = arithmetic.exact(first, width, signed, facts)
    other = arithmetic.exact(second, width, signed, facts)
    if one is not None and other is not None:
        return _decide(arithmetic, less(one, other), subtract(one, other), facts)
    if not signed:
        found = _non_negative(arithmetic, first, second, width, facts)
        found = found or _not_above(arithmetic, first, second, width, facts)
        if found is not None:
            return found
    if (one is None) != (other is None):
        return _half(arithmetic, first, second, (width, signed), facts)
    return unknown_comparison("lt", first, second, width)


def _decide(arithmetic: Arithmetic, condition: Condition, difference: Form, facts: Facts) -> Condition:
    low, high = interval(arithmetic.symbols, difference, facts)
    if high < 0:
        return TRUE
    return FALSE if low >= 0 else condition


def _non_negative(
    arithmetic: Arithmetic, first: Form, second: Form, width: int, facts: Facts
) -> Condition | None:
    """``a < b`` unsigned with 0 <= b < 2**(w-1) says 0 <= a < b of the signed numbers, and back."""
    one = arithmetic.exact(first, width, True, facts)
    other = arithmetic.exact(second, width, True, facts)
    if one is None or other is None or interval(arithmetic.symbols, other, facts)[0] < 0:
        return None
    below = less(one, other).true
    # The number itself is at least 0 where the comparison holds.
    return Condition(
        Conjunction((one, *below.facts), below.is_exact, below.raw),
        unknown_comparison("lt", first, second, width).false,
    )


def _not_above(
    arithmetic: Arithmetic, first: Form, second: Form, width: int, facts: Facts
) -> Condition | None:
    """``not a < b`` unsigned with 0 <= a < 2**(w-1) says 0 <= b <= a of the signed numbers, and back."""
    one = arithmetic.exact(first, width, True, facts)
    other = arithmetic.exact(second, width, True, facts)
    if one is None or other is None or interval(arithmetic.symbols, one, facts)[0] < 0:
        return None
    above = less(one, other).false
    return Condition(
        unknown_comparison("lt", first, second, width).true,
        Conjunction((other, *above.facts), above.is_exact, above.raw),
    )


def _half(
    arithmetic: Arithmetic, first: Form, second: Form, kind: tuple[int, bool], facts: Facts
) -> Condition:
    """One side may wrap: compare its opaque number, which later reads of the register meet again."""
    width, signed = kind
    one = arithmetic.number(first, width, signed, facts)
    other = arithmetic.number(second, width, signed, facts)
    found = less(one, other)
    raw = unknown_comparison("lt", first, second, width)
    return Condition(
        Conjunction(found.true.facts, False, raw.true.raw),
        Conjunction(found.false.facts, False, raw.false.raw),
    )
