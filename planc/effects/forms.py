"""Affine forms: ``const + sum(coefficient * symbol)`` over whole numbers.

A form held by a register of ``w`` bits is congruent to its number modulo ``2**w``; :func:`wrap` brings its
coefficients to the least absolute remainders. Symbols are small integers, see
:mod:`planc.effects.symbols`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd

Terms = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Form:
    """``const`` plus each (symbol, coefficient) of ``terms``, sorted by symbol; no coefficient is 0."""

    const: int
    terms: Terms = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Hash once: forms are keys everywhere."""
        object.__setattr__(self, "_hash", hash((self.const, self.terms)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def is_constant(self) -> bool:
        """Whether no symbol occurs."""
        return not self.terms

    @property
    def symbols(self) -> tuple[int, ...]:
        """The symbols that occur."""
        return tuple(symbol for symbol, _ in self.terms)

    def coefficient(self, symbol: int) -> int:
        """Return the coefficient of ``symbol``, 0 where it does not occur."""
        return next((c for s, c in self.terms if s == symbol), 0)


ZERO = Form(0)
ONE = Form(1)


def constant(value: int) -> Form:
    """Return the form of a number."""
    return Form(value)


def symbol_form(symbol: int, factor: int = 1) -> Form:
    """Return ``factor * symbol``; ``factor`` is not 0."""
    return Form(0, ((symbol, factor),))


def add(first: Form, second: Form, factor: int = 1) -> Form:
    """Return ``first + factor * second``."""
    if not second.terms:
        return Form(first.const + factor * second.const, first.terms)
    merged = dict(first.terms)
    for symbol, coefficient in second.terms:
        merged[symbol] = merged.get(symbol, 0) + factor * coefficient
    terms = tuple(sorted((s, c) for s, c in merged.items() if c))
    return Form(first.const + factor * second.const, terms)


def subtract(first: Form, second: Form) -> Form:
    """Return ``first - second``."""
    return add(first, second, -1)


def scale(form: Form, factor: int) -> Form:
    """Return ``factor * form``."""
    if factor == 0:
        return ZERO
    return Form(form.const * factor, tuple((s, c * factor) for s, c in form.terms))


def shift(form: Form, offset: int) -> Form:
    """Return ``form + offset``."""
    return Form(form.const + offset, form.terms) if offset else form


def centred(value: int, width: int) -> int:
    """Return the number congruent to ``value`` modulo ``2**width`` that a signed register shows."""
    half = 1 << (width - 1)
    return ((value + half) & ((1 << width) - 1)) - half


def wrap(form: Form, width: int) -> Form:
    """Return the form modulo ``2**width`` with least absolute coefficients."""
    half = 1 << (width - 1)
    if -half <= form.const < half and all(-half <= c < half for _, c in form.terms):
        return form
    terms = tuple((s, centred(c, width)) for s, c in form.terms)
    return Form(centred(form.const, width), tuple((s, c) for s, c in terms if c))


def tight(fact: Form) -> Form:
    """Return the strongest form that is at least 0 for the same whole numbers: common factors go."""
    common = gcd(*(c for _, c in fact.terms)) if fact.terms else 1
    if common == 1:
        return fact
    return Form(fact.const // common, tuple((s, c // common) for s, c in fact.terms))


def substitute(form: Form, symbol: int, value: Form) -> Form:
    """Return the form with ``value`` in the place of ``symbol``."""
    coefficient = form.coefficient(symbol)
    if not coefficient:
        return form
    rest = Form(form.const, tuple((s, c) for s, c in form.terms if s != symbol))
    return add(rest, value, coefficient)
