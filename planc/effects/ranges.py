"""From the form of an address to strided boxes: all bytes it may touch, bytes it surely touches."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

from planc.effects.bounds import Facts, interval
from planc.effects.forms import Form, shift, substitute, subtract, symbol_form
from planc.effects.symbols import Definition, Origin, Symbols
from planc.plan.boxes import Box, canonical

Items = tuple[Form, ...]


@dataclass(slots=True)
class Spread:
    """A form with the facts about its symbols, rewritten so that its symbols are independent axes.

    ``is_exact`` turns false when a rewriting forgets facts: then only the may side can use the result.
    """

    symbols: Symbols
    form: Form
    items: Items
    is_exact: bool = True
    exact_limits: dict[int, tuple[int, int]] | None = None

    def rewrite(self) -> None:
        """Merge ``t + T*b`` with 0 <= t < T where facts or quotients need it; split quotients."""
        for _ in range(8):
            pair = self._mergeable()
            if pair is None:
                break
            self._merge(*pair)
        for _ in range(8):
            quotient = self._splittable()
            if quotient is None:
                break
            self._split(quotient)

    # Merging

    def _mergeable(self) -> tuple[int, int, int] | None:
        """Return (low symbol, high symbol, size of the low one) that a fact or a quotient holds together."""
        wanted = [*self.items, *self._dividends()]
        found = sorted({s for each in (self.form, *wanted) for s in each.symbols if self._is_free(s)})
        for low in found:
            definition = self.symbols[low]
            size = definition.high - definition.low + 1
            for high in found if size > 1 else ():
                if self._fits(low, high, size) and self._together(wanted, low, high, size):
                    return low, high, size
        return None

    def _fits(self, low: int, high: int, size: int) -> bool:
        return low != high and self.form.coefficient(high) == size * self.form.coefficient(low)

    def _is_free(self, symbol: int) -> bool:
        definition = self.symbols[symbol]
        return definition.low == 0 and definition.origin in (Origin.INDEX, Origin.LOOP)

    def _dividends(self) -> list[Form]:
        found = [self.symbols[s].base for s in self._everywhere()]
        return [form for form in found if form is not None]

    def _together(self, wanted: list[Form], low: int, high: int, size: int) -> bool:
        return any(f.coefficient(low) and f.coefficient(high) == size * f.coefficient(low) for f in wanted)

    def _merge(self, low: int, high: int, size: int) -> None:
        one, other = self.symbols[low], self.symbols[high]
        origin = Origin.LOOP if Origin.LOOP in (one.origin, other.origin) else Origin.INDEX
        label = self.symbols.text(Form(0, ((low, 1), (high, size))))
        definition = Definition(origin, label, 0, size * (other.high + 1) - 1)
        merged = self.symbols.make(("merged", low, high, size), definition)
        value = Form(0, tuple(sorted(((merged, 1), (high, -size)))))
        kept: list[Form] = []
        for item in self.items:
            moved = substitute(item, low, value)
            if moved.coefficient(high):
                self.is_exact = False
            else:
                kept.append(moved)
        self.form = substitute(self.form, low, value)
        self.items = tuple(kept)
        self._rebase(low, value)

    def _rebase(self, low: int, value: Form) -> None:
        """Give quotients of the merged number their dividend in its terms."""
        for symbol in self._everywhere():
            definition = self.symbols[symbol]
            if definition.base is not None and definition.base.coefficient(low):
                base = substitute(definition.base, low, value)
                key = ("rebased", symbol, base)
                again = Definition(
                    Origin.QUOTIENT,
                    definition.label,
                    definition.low,
                    definition.high,
                    (),
                    base,
                    definition.divisor,
                )
                fresh = self.symbols.make(key, again)
                self.form = substitute(self.form, symbol, symbol_form(fresh))
                self.items = tuple(substitute(i, symbol, symbol_form(fresh)) for i in self.items)

    # Splitting

    def _splittable(self) -> int | None:
        """Return a quotient of a single symbol, the one with the least divisor first."""
        for symbol in sorted(self._everywhere(), key=lambda s: (self.symbols[s].divisor, s)):
            base = self.symbols[symbol].base
            if base is None or len(base.terms) != 1 or base.terms[0][1] != 1:
                continue
            if not self._is_divided(symbol):
                return symbol
        return None

    def _everywhere(self) -> set[int]:
        return {symbol for each in (self.form, *self.items) for symbol in each.symbols}

    def _is_divided(self, symbol: int) -> bool:
        """Whether an outer quotient has to be split first."""
        base = self.symbols[symbol].base
        assert base is not None
        whole = base.terms[0][0]
        inner = self.symbols[whole].base
        return inner is not None and any(s in self._everywhere() for s in inner.symbols)

    def _split(self, quotient: int) -> None:
        """Write ``x`` as ``d*q + r - c`` for ``q = (x + c)/d``."""
        definition = self.symbols[quotient]
        assert definition.base is not None
        whole, offset = definition.base.terms[0][0], definition.base.const
        parent = self.symbols[whole]
        divisor = definition.divisor
        rest = self.symbols.make(
            ("rest", quotient), Definition(Origin.INDEX, f"{definition.label} rest", 0, divisor - 1)
        )
        again = self.symbols.make(
            ("part", quotient), Definition(Origin.INDEX, definition.label, definition.low, definition.high)
        )
        value = Form(-offset, tuple(sorted(((again, divisor), (rest, 1)))))
        limits = (shift(value, -parent.low), subtract(Form(parent.high), value))
        self.is_exact &= self._splits_exactly(whole, value, quotient, divisor, again, rest)
        self._rebase_multiples(whole, offset, divisor, again)
        items = [self._replaced(i, whole, value, quotient, again) for i in self.items]
        self.form = self._replaced(self.form, whole, value, quotient, again)
        self.items = (*items, *limits)

    def _rebase_multiples(self, whole: int, offset: int, divisor: int, again: int) -> None:
        """``(x + c)/(d*e)`` is ``q/e``."""
        for symbol in self._everywhere():
            other = self.symbols[symbol]
            if other.base is None or other.base != Form(offset, ((whole, 1),)) or other.divisor == divisor:
                continue
            if other.divisor % divisor == 0:
                base = symbol_form(again)
                label, low, high = other.label, other.low, other.high
                made = Definition(Origin.QUOTIENT, label, low, high, (), base, other.divisor // divisor)
                fresh = symbol_form(self.symbols.make(("rebased", symbol, base), made))
                self.form = substitute(self.form, symbol, fresh)
                self.items = tuple(substitute(i, symbol, fresh) for i in self.items)

    def _replaced(self, form: Form, whole: int, value: Form, quotient: int, again: int) -> Form:
        return substitute(substitute(form, whole, value), quotient, symbol_form(again))

    def _splits_exactly(
        self, whole: int, value: Form, quotient: int, divisor: int, again: int, rest: int
    ) -> bool:
        """Whole rows alone are certain: shrink both axes to what every dividend fills."""
        parent = self.symbols[whole]
        if value.const or parent.low or parent.origin is Origin.OPAQUE:
            return False
        exact = dict(self.exact_limits or {})
        high = exact.pop(whole, (0, parent.high))[1]
        for item in self.items:
            moved = self._replaced(item, whole, value, quotient, again)
            if not (moved.coefficient(again) and moved.coefficient(rest)):
                continue
            if all(symbol in (self.exact_limits or ()) for symbol in item.symbols):
                continue
            slope = item.coefficient(whole)
            if len(item.terms) != 1 or slope > 0:
                return False
            high = min(high, item.const // -slope)
        rows, left = divmod(high + 1, divisor)
        few = {again: (0, 0), rest: (0, left - 1)}
        self.exact_limits = exact | (few if rows == 0 else {again: (0, rows - 1), rest: (0, divisor - 1)})
        return high >= 0


def may_box(symbols: Symbols, form: Form, facts: Facts, width: int) -> Box | None:
    """Return a box with every byte that ``width`` bytes at ``form`` may be, None where there is none.

    None is for facts that contradict each other: no thread comes here.
    """
    low, high = interval(symbols, form, facts)
    if low > high:
        return None
    spread = Spread(symbols, form, _relevant(symbols, form, facts.items))
    spread.rewrite()
    box = _product(spread, Facts(spread.items), width)
    if box is None:
        return None
    first, last = box.interval
    if low <= first and last <= high + width:
        return box
    return _run(form, max(low, first), min(high + width, last) - width, width)


def is_injective(symbols: Symbols, form: Form, facts: Facts, width: int) -> bool:
    """Whether different values of the indices and turns of a form give ``width`` bytes without overlap.

    True where each factor, by size, is at least what all smaller ones reach.
    """
    spread = Spread(symbols, form, _relevant(symbols, form, facts.items))
    spread.rewrite()
    known = Facts(spread.items)
    reach = width
    for symbol, factor in sorted(spread.form.terms, key=lambda term: abs(term[1])):
        if symbols[symbol].origin not in (Origin.INDEX, Origin.LOOP) or abs(factor) < reach:
            return False
        low, high = interval(symbols, symbol_form(symbol), known)
        reach += abs(factor) * max(high - low, 0)
    return True


def _run(form: Form, low: int, high: int, width: int) -> Box:
    """Return the progression from ``low`` to ``high`` with the step that all addresses share."""
    step = gcd(*(c for _, c in form.terms)) if form.terms else 0
    if step == 0 or low >= high:
        return Box(low, (), width)
    low += (form.const - low) % step
    return canonical(Box(low, (((max(high, low) - low) // step + 1, step),), width))


def _relevant(symbols: Symbols, form: Form, items: Items) -> Items:
    """Return the facts that share symbols with the form, directly or through others."""
    reached = set(form.symbols)
    for symbol in form.symbols:
        base = symbols[symbol].base
        reached.update(base.symbols if base is not None else ())
    left = list(items)
    kept: list[Form] = []
    changed = True
    while changed:
        changed = False
        for item in list(left):
            if reached & set(item.symbols):
                left.remove(item)
                kept.append(item)
                reached.update(item.symbols)
                changed = True
    return tuple(kept)


def _product(spread: Spread, facts: Facts, width: int) -> Box | None:
    offset = spread.form.const
    axes: list[tuple[int, int]] = []
    for symbol, coefficient in spread.form.terms:
        low, high = interval(spread.symbols, symbol_form(symbol), facts)
        if low > high:
            return None
        offset += coefficient * low
        axes.append((high - low + 1, coefficient))
    return canonical(Box(offset, tuple(axes), width))


def must_box(symbols: Symbols, form: Form, domain: Items, turns: tuple[int, ...], width: int) -> Box | None:
    """Return a box of bytes that are touched for sure, None where in doubt.

    ``domain`` holds exactly where a thread comes here; ``turns`` are the counters of the loops around.
    """
    items = _without_slots(symbols, domain)
    if items is None or not all(_is_free(symbols, s, turns) for s in _roots(symbols, form, items)):
        return None
    spread = Spread(symbols, form, items)
    spread.rewrite()
    if not spread.is_exact:
        return None
    limits = _axis_limits(symbols, spread)
    if limits is None:
        return None
    offset = spread.form.const
    axes: list[tuple[int, int]] = []
    for symbol, coefficient in spread.form.terms:
        low, high = limits[symbol]
        offset += coefficient * low
        axes.append((high - low + 1, coefficient))
    return canonical(Box(offset, tuple(axes), width))


def _without_slots(symbols: Symbols, domain: Items) -> Items | None:
    """Put the value in the place of each scalar argument that leaves the fewest threads."""
    found: list[Form] = []
    for item in domain:
        for symbol, coefficient in item.terms:
            definition = symbols[symbol]
            if definition.origin is Origin.SLOT:
                item = substitute(item, symbol, Form(definition.low if coefficient > 0 else definition.high))
        if not item.terms and item.const < 0:
            return None
        if item.terms:
            found.append(item)
    return tuple(found)


def _roots(symbols: Symbols, form: Form, items: Items) -> set[int]:
    found: set[int] = set()
    for each in (form, *items):
        for symbol in each.symbols:
            base = symbols[symbol].base
            found.update(base.symbols if base is not None else (symbol,))
    return found


def _is_free(symbols: Symbols, symbol: int, turns: tuple[int, ...]) -> bool:
    origin = symbols[symbol].origin
    return origin is Origin.INDEX or (origin is Origin.LOOP and symbol in turns)


def _axis_limits(symbols: Symbols, spread: Spread) -> dict[int, tuple[int, int]] | None:
    """Return the interval of each symbol, if every fact bounds one symbol and no interval is empty."""
    limits: dict[int, tuple[int, int]] = {}
    for symbol in {*spread.form.symbols, *(s for item in spread.items for s in item.symbols)}:
        definition = symbols[symbol]
        if definition.origin not in (Origin.INDEX, Origin.LOOP):
            return None
        limits[symbol] = (definition.low, definition.high)
    exact = spread.exact_limits or {}
    bounded = set(exact)
    limits.update(exact)
    for item in spread.items:
        if len(item.terms) != 1:
            if all(symbol in exact for symbol in item.symbols):
                continue
            return None
        ((symbol, slope),) = item.terms
        low, high = limits[symbol]
        if slope > 0:
            low = max(low, -(item.const // slope))
        else:
            high = min(high, item.const // -slope)
            bounded.add(symbol)
        limits[symbol] = (low, high)
    for symbol, (low, high) in limits.items():
        if low > high or (symbols[symbol].origin is Origin.LOOP and symbol not in bounded):
            return None
    return limits
