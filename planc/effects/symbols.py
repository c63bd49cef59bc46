"""Symbols of affine forms: what each stands for, its interval, what is always true of it.

A symbol is the number that one thread holds in one turn of the loops around it. Symbols of
pure operations are interned by operation and operands, so that equal computations meet in one symbol.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from planc.effects.forms import Form


class Origin(Enum):
    """What a symbol stands for."""

    INDEX = "index"
    """A thread or block index: each value of the interval occurs, in every combination."""
    LOOP = "loop"
    """The turn of a loop, from 0."""
    QUOTIENT = "quotient"
    """A floor division of a form by a positive constant."""
    SLOT = "slot"
    """A scalar argument with a range: one value for the whole launch."""
    POINTER = "pointer"
    """The address in a pointer argument, of a variable, of a parameter."""
    OPAQUE = "opaque"
    """Any number of the interval."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A symbol: ``low`` and ``high`` bound it; every form of ``facts`` is at least 0.

    ``base`` is the dividend of a quotient and ``divisor`` its divisor. ``taint`` holds the pointer symbols
    that the number may have been computed from. ``label`` is how a person reads it.
    """

    origin: Origin
    label: str
    low: int
    high: int
    facts: tuple[Form, ...] = ()
    base: Form | None = None
    divisor: int = 0
    taint: frozenset[int] = frozenset()


class Symbols:
    """The symbols of one analysis."""

    __slots__ = ("_keys", "_names", "all", "quotients")

    def __init__(self) -> None:
        """Start without symbols."""
        self.all: list[Definition] = []
        self._keys: dict[Hashable, int] = {}
        self._names: list[Hashable] = []
        self.quotients: list[int] = []

    def find(self, key: Hashable) -> int | None:
        """Return the symbol made for a key before."""
        return self._keys.get(key)

    def make(self, key: Hashable, definition: Definition) -> int:
        """Return the symbol of ``key``, made or changed to ``definition``."""
        symbol = self._keys.get(key)
        if symbol is None:
            symbol = self._keys[key] = len(self.all)
            self.all.append(definition)
            self._names.append(key)
            if definition.base is not None:
                self.quotients.append(symbol)
        else:
            self.all[symbol] = definition
        return symbol

    def key(self, symbol: int) -> Hashable:
        """Return the key that a symbol was made for."""
        return self._names[symbol]

    def __getitem__(self, symbol: int) -> Definition:
        return self.all[symbol]

    def interval(self, form: Form) -> tuple[int, int]:
        """Return bounds of a form from the intervals of its symbols alone."""
        low = high = form.const
        for symbol, coefficient in form.terms:
            definition = self.all[symbol]
            if coefficient > 0:
                low += coefficient * definition.low
                high += coefficient * definition.high
            else:
                low += coefficient * definition.high
                high += coefficient * definition.low
        return low, high

    def taint(self, form: Form) -> frozenset[int]:
        """Return the pointers that a form holds or was computed from."""
        found: set[int] = set()
        for symbol, _ in form.terms:
            definition = self.all[symbol]
            if definition.origin is Origin.POINTER:
                found.add(symbol)
            else:
                found |= definition.taint
        return frozenset(found)

    def text(self, form: Form) -> str:
        """Return the form as a person reads it."""
        parts = [self._term(s, c) for s, c in form.terms]
        if form.const or not parts:
            parts.append(str(form.const))
        return " + ".join(parts).replace("+ -", "- ")

    def _term(self, symbol: int, coefficient: int) -> str:
        label = self.all[symbol].label
        if coefficient == 1:
            return label
        return f"-{label}" if coefficient == -1 else f"{coefficient}*{label}"
