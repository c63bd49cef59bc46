"""What a loop's register is guessed to hold in every turn, and how a guess is weakened."""

from __future__ import annotations

from dataclasses import dataclass

from planc.effects.bounds import interval
from planc.effects.forms import ZERO, Form, subtract, symbol_form
from planc.effects.state import State
from planc.effects.symbols import Origin, Symbols
from planc.effects.values import MOST_OPTIONS, Choice, Number, Option, Value, options_of

_LOWS = (1, 0, -1, -(1 << 15), -(1 << 31), -(1 << 63))
_HIGHS = ((1 << 8) - 1, (1 << 15) - 1, (1 << 31) - 1, (1 << 32) - 1, (1 << 63) - 1)


@dataclass(frozen=True, slots=True)
class Stepping:
    """A register that each turn adds ``step`` to."""

    initial: Number | Choice
    step: int


@dataclass(frozen=True, slots=True)
class Ranging:
    """A register between two numbers from ``base`` (a pointer, or 0) on; ``tries`` counts widenings."""

    low: int
    high: int
    width: int
    tries: int = 0
    base: Form = ZERO


@dataclass(frozen=True, slots=True)
class Picking:
    """A register that holds one of a few pointers."""

    options: tuple[Option, ...]
    width: int


@dataclass(frozen=True, slots=True)
class Nothing:
    """A register of which nothing is known; ``sources`` are the numbers it comes from."""

    width: int
    sources: tuple[Form, ...] = ()


Guess = Stepping | Ranging | Picking | Nothing


def is_invariant(form: Form, mark: int) -> bool:
    """Whether every symbol of a form was made before symbol ``mark``: before the loop."""
    return all(symbol < mark for symbol in form.symbols)


def widened(symbols: Symbols, guess: Ranging, value: Value | None, state: State) -> Guess:
    """Return a range that holds ``value`` too, wider where a few tries did not do."""
    if not isinstance(value, Number):
        return Nothing(guess.width, (guess.base,))
    offset = subtract(value.form, guess.base)
    if symbols.taint(offset):
        return Nothing(guess.width, (value.form, guess.base))
    low, high = interval(symbols, offset, state.facts)
    if guess.low <= low and high <= guess.high:
        return guess
    low, high = min(low, guess.low), max(high, guess.high)
    if guess.tries > 1:
        low = next((t for t in (guess.low, *_LOWS) if t <= low), low)
        high = next((t for t in (guess.high, *_HIGHS) if t >= high), high)
    if high - low >= 1 << guess.width or guess.tries > 6:
        return anything(guess)
    return Ranging(low, high, guess.width, guess.tries + 1, guess.base)


def anything(guess: Ranging) -> Guess:
    """Return the guess that any offset from the base is possible."""
    if not guess.base.terms:
        return Nothing(guess.width)
    low, high = -(1 << (guess.width - 1)), (1 << (guess.width - 1)) - 1
    return Ranging(low, high, guess.width, guess.tries, guess.base)


def common_base(symbols: Symbols, forms: list[Form]) -> Form:
    """Return the one pointer that all forms add something to, or 0."""
    found: set[int] = set()
    for form in forms:
        pointers = [s for s, c in form.terms if symbols[s].origin is Origin.POINTER]
        if len(pointers) != 1 or form.coefficient(pointers[0]) != 1:
            return ZERO
        found.update(pointers)
    return symbol_form(found.pop()) if len(found) == 1 else ZERO


def picked(guess: Picking, value: Value | None, mark: int) -> Guess:
    """Return a choice that has ``value`` too, if it was made before symbol ``mark``."""
    if not isinstance(value, Number | Choice):
        return Nothing(guess.width, tuple(o.form for o in guess.options))
    known = {o.form for o in guess.options}
    more = [Option(o.form) for o in options_of(value) if o.form not in known]
    options = (*guess.options, *more)
    if len(options) > MOST_OPTIONS or not all(is_invariant(o.form, mark) for o in options):
        return Nothing(guess.width, tuple(o.form for o in options))
    return Picking(options, guess.width)


def remembered(symbols: Symbols, guess: Nothing, value: Value | None) -> Guess:
    """Keep the pointers that a number may come from."""
    if not isinstance(value, Number | Choice):
        return guess
    known: frozenset[int] = frozenset().union(*(symbols.taint(f) for f in guess.sources))
    more = [
        symbol_form(symbol) for option in options_of(value) for symbol in symbols.taint(option.form) - known
    ]
    return Nothing(guess.width, (*guess.sources, *more)) if more else guess
