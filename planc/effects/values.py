"""What a register holds: a number, one of several numbers, a predicate, nothing known."""

from __future__ import annotations

from dataclasses import dataclass

from planc.effects.conditions import Condition
from planc.effects.forms import Form


@dataclass(frozen=True, slots=True)
class Number:
    """A form modulo ``2**width``."""

    form: Form
    width: int


@dataclass(frozen=True, slots=True)
class Option:
    """One number that a register may hold, and facts that hold where it does."""

    form: Form
    facts: tuple[Form, ...] = ()


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few numbers modulo ``2**width``: a pointer chosen by a select or a join."""

    options: tuple[Option, ...]
    width: int


Value = Number | Choice | Condition
MOST_OPTIONS = 6


def options_of(value: Number | Choice) -> tuple[Option, ...]:
    """Return what a register may hold, one option for a plain number."""
    return value.options if isinstance(value, Choice) else (Option(value.form),)


def choice_of(options: list[Option], width: int) -> Number | Choice:
    """Return the value of a few options; equal forms keep the facts they share."""
    merged: dict[Form, tuple[Form, ...]] = {}
    for option in options:
        known = merged.get(option.form)
        merged[option.form] = option.facts if known is None else tuple(f for f in known if f in option.facts)
    if len(merged) == 1:
        return Number(next(iter(merged)), width)
    return Choice(tuple(Option(form, facts) for form, facts in merged.items()), width)
