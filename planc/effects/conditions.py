"""Predicates as linear facts: what holds where a comparison is true, and where it is false."""

from __future__ import annotations

from dataclasses import dataclass

from planc.effects.forms import ONE, Form, scale, shift, subtract, tight, wrap

NEVER = Form(-1)
"""A form that is never at least 0: the fact of a branch that nobody takes."""

Raw = tuple[str, Form]
"""A comparison whose wrap nobody looked at: (``ge`` or ``ne``, form), for ``form >= 0``, ``form != 0``."""


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Facts that hold; ``is_exact``: nothing else is needed for the predicate to hold."""

    facts: tuple[Form, ...] = ()
    is_exact: bool = False
    raw: tuple[Raw, ...] = ()

    @property
    def is_impossible(self) -> bool:
        """Whether no thread can satisfy it, as far as constants show."""
        return any(not fact.terms and fact.const < 0 for fact in self.facts)


@dataclass(frozen=True, slots=True)
class Condition:
    """A predicate: what holds where it is true and where it is false. ``text`` is for people."""

    true: Conjunction
    false: Conjunction
    text: str = ""


UNKNOWN = Condition(Conjunction(), Conjunction())
_ALWAYS = Conjunction((), True)
_NEVER = Conjunction((NEVER,), True)
TRUE = Condition(_ALWAYS, _NEVER, "true")
FALSE = Condition(_NEVER, _ALWAYS, "false")


def decided(condition: Condition) -> bool | None:
    """Return the truth of a condition that constants decide, else None."""
    if condition.false.is_impossible:
        return True
    return False if condition.true.is_impossible else None


def negate(condition: Condition) -> Condition:
    """Return ``not condition``."""
    text = condition.text[4:] if condition.text.startswith("not ") else f"not {condition.text}"
    return Condition(condition.false, condition.true, text)


def both(first: Condition, second: Condition) -> Condition:
    """Return ``first and second``."""
    for one, other in ((first, second), (second, first)):
        known = decided(one)
        if known is not None:
            return other if known else FALSE
    text = f"({first.text} and {second.text})"
    return Condition(_joined(first.true, second.true), _common(first.false, second.false), text)


def either(first: Condition, second: Condition) -> Condition:
    """Return ``first or second``."""
    found = negate(both(negate(first), negate(second)))
    return Condition(found.true, found.false, f"({first.text} or {second.text})")


def _joined(first: Conjunction, second: Conjunction) -> Conjunction:
    facts = tuple(dict.fromkeys(first.facts + second.facts))
    raw = tuple(dict.fromkeys(first.raw + second.raw))
    return Conjunction(facts, first.is_exact and second.is_exact, raw)


def _common(first: Conjunction, second: Conjunction) -> Conjunction:
    if first == second:
        return first
    return Conjunction(tuple(f for f in first.facts if f in second.facts))


def less(first: Form, second: Form) -> Condition:
    """Return ``first < second`` for forms that are the numbers."""
    below, above = shift(subtract(second, first), -1), subtract(first, second)
    return Condition(_exact(below, ("ge", below)), _exact(above, ("ge", above)))


def _exact(fact: Form, *raw: Raw) -> Conjunction:
    if not fact.terms:
        return _ALWAYS if fact.const >= 0 else _NEVER
    return Conjunction((tight(fact),), True, raw)


def equal(first: Form, second: Form, low: int, high: int) -> Condition:
    """Return ``first == second`` for forms that are the numbers; their difference is in [low, high]."""
    difference = subtract(first, second)
    if low == high == 0:
        return TRUE
    if low > 0 or high < 0:
        return FALSE
    same = Conjunction((difference, scale(difference, -1)), True, (("eq", difference),))
    raw = (("ne", difference),)
    if low == 0:
        other = Conjunction((tight(subtract(difference, ONE)),), True, raw)
    elif high == 0:
        other = Conjunction((tight(subtract(scale(difference, -1), ONE)),), True, raw)
    else:
        other = Conjunction((), False, raw)
    return Condition(same, other)


def unknown_comparison(relation: str, first: Form, second: Form, width: int) -> Condition:
    """Return a comparison of registers whose numbers nobody can tell; only its raw form is known."""
    difference = wrap(subtract(first, second), width)
    if relation == "lt":
        below = wrap(shift(scale(difference, -1), -1), width)
        return Condition(
            Conjunction((), False, (("ge", below),)), Conjunction((), False, (("ge", difference),))
        )
    raw_equal, raw_other = (("eq", difference),), (("ne", difference),)
    return Condition(Conjunction((), False, raw_equal), Conjunction((), False, raw_other))
