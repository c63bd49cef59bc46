"""Bounds of affine forms under linear facts.

A fact is a form that is at least 0. Since ``form <= form + t * fact`` for t >= 0, adding multiples of
facts that cancel symbols gives upper bounds; a few such steps are exact for the guards that kernels have.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from planc.effects.forms import Form, add, scale, tight
from planc.effects.symbols import Symbols

_DEPTH = 4
_STEPS = 160
_MOST = 40
_MOST_QUOTIENTS = 12


class Facts:
    """Forms that are at least 0, without repetition, and the bounds found from them."""

    __slots__ = ("cache", "items", "slopes")

    def __init__(self, items: tuple[Form, ...] = ()) -> None:
        """Hold ``items``; the newest ones where there are too many."""
        self.items = items[-_MOST:]
        self.slopes = _slopes(self.items)
        self.cache: dict[Form, int] = {}

    def with_more(self, more: Iterable[Form]) -> Facts:
        """Return these facts and more, or these where nothing is new."""
        new = tuple(dict.fromkeys(f for f in more if f not in self.items and not _trivial(f)))
        return Facts(self.items + new) if new else self


def _trivial(form: Form) -> bool:
    return not form.terms and form.const >= 0


def upper(symbols: Symbols, form: Form, facts: Facts) -> int:
    """Return an upper bound of ``form`` under ``facts``."""
    if not form.terms:
        return form.const
    found = facts.cache.get(form)
    if found is None:
        found = facts.cache[form] = _Search(symbols, facts.slopes).run(form)
    return found


def lower(symbols: Symbols, form: Form, facts: Facts) -> int:
    """Return a lower bound of ``form`` under ``facts``."""
    return -upper(symbols, scale(form, -1), facts)


def interval(symbols: Symbols, form: Form, facts: Facts) -> tuple[int, int]:
    """Return both bounds; the lower one is above the upper one only if no thread comes here."""
    return lower(symbols, form, facts), upper(symbols, form, facts)


def is_contradicted(symbols: Symbols, facts: Facts) -> bool:
    """Whether some fact can be seen to fail: then no thread is here."""
    return any(upper(symbols, fact, facts) < 0 for fact in facts.items)


def divided(symbols: Symbols, fact: Form) -> list[Form]:
    """Return what a fact about a dividend says of its quotient, rounded to whole numbers.

    With ``x = d*q + r`` and 0 <= r < d, ``n - x >= 0`` gives ``n/d - q >= 0``, which no bound of ``x`` shows.
    """
    found: list[Form] = []
    for symbol in symbols.quotients[-_MOST_QUOTIENTS:]:
        definition = symbols[symbol]
        base = definition.base
        assert base is not None
        first, factor = base.terms[0]
        times, left = divmod(fact.coefficient(first), factor)
        if left or times == 0 or any(fact.coefficient(s) != times * c for s, c in base.terms):
            continue
        most = definition.divisor - 1 if times > 0 else 0
        whole = add(fact, Form(base.const - most, (*base.terms,)), -times)
        found.append(tight(add(whole, Form(0, ((symbol, definition.divisor),)), times)))
    return [each for each in found if each.terms]


_Slopes = dict[int, list[tuple[Form, int]]]


def _slopes(items: Iterable[Form]) -> _Slopes:
    found: _Slopes = {}
    for fact in items:
        for symbol, slope in fact.terms:
            found.setdefault(symbol, []).append((fact, slope))
    return found


class _Search:
    """A bounded search for multiples of facts that cancel symbols of a form."""

    def __init__(self, symbols: Symbols, slopes: _Slopes) -> None:
        self.symbols = symbols
        self.slopes = slopes
        self.steps = 0

    def run(self, form: Form) -> int:
        best = self.symbols.interval(form)[1]
        for depth in range(1, _DEPTH + 1):
            self.steps = 0
            best = min(best, self._bound(form, depth, ()))
            if self.steps == 0:
                break
        return best

    def _bound(self, form: Form, depth: int, used: tuple[Form, ...]) -> int:
        best = self.symbols.interval(form)[1]
        if depth == 0:
            return best
        own = self._definitions(form)
        for symbol, coefficient in form.terms:
            for fact, slope in (*self.slopes.get(symbol, ()), *own.get(symbol, ())):
                if slope * coefficient >= 0 or fact in used:
                    continue
                self.steps += 1
                if self.steps > _STEPS:
                    return best
                common = gcd(slope, coefficient)
                times = abs(slope) // common
                sum_ = add(scale(form, times) if times > 1 else form, fact, abs(coefficient) // common)
                best = min(best, self._bound(sum_, depth - 1, (*used, fact)) // times)
        return best

    def _definitions(self, form: Form) -> _Slopes:
        """Return what is always true of the symbols of a form."""
        facts = [fact for symbol, _ in form.terms for fact in self.symbols[symbol].facts]
        return _slopes(facts) if facts else {}
