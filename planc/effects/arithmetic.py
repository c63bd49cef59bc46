"""Whole-number operations on forms modulo a power of two.

Sums, differences and products with constants keep a form congruent whatever wraps. Every other
operation reads the number, so it first asks whether the form lies in the range of the type; where it does
not, the result is opaque, bounded by its type.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import gcd

from planc.effects.bounds import Facts, interval
from planc.effects.forms import Form, add, centred, constant, scale, shift, subtract, symbol_form, wrap
from planc.effects.symbols import Definition, Origin, Symbols

_LONGEST_TEXT = 120


def type_range(width: int, signed: bool) -> tuple[int, int]:
    """Return the least and greatest number of a type."""
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)


class Arithmetic:
    """Operations on forms; results are interned in ``symbols``."""

    def __init__(self, symbols: Symbols) -> None:
        """Work over these symbols."""
        self.symbols = symbols

    def exact(self, form: Form, width: int, signed: bool, facts: Facts) -> Form | None:
        """Return the number that a register of ``width`` bits shows, or None where it may wrap."""
        least, most = type_range(width, signed)
        for low, high in (self.symbols.interval(form), interval(self.symbols, form, facts)):
            turns = -((low - least) >> width)
            if high + (turns << width) <= most:
                return shift(form, turns << width)
        return None

    def number(self, form: Form, width: int, signed: bool, facts: Facts) -> Form:
        """Return the number of a register as a form: itself, or an opaque symbol of the type's range."""
        found = self.exact(form, width, signed, facts)
        if found is not None:
            return found
        low, high = type_range(width, signed)
        text = self.symbols.text(form)
        label = f"{'s' if signed else 'u'}{width}({text})" if len(text) <= _LONGEST_TEXT else "?"
        return self.opaque(("number", form, width, signed), low, high, form, label=label)

    def opaque(
        self,
        key: Hashable,
        low: int,
        high: int,
        *sources: Form,
        facts: tuple[Form, ...] = (),
        label: str = "?",
    ) -> Form:
        """Return a symbol between ``low`` and ``high``, tainted by the pointers in ``sources``."""
        taint: frozenset[int] = frozenset()
        for source in sources:
            taint |= self.symbols.taint(source)
        if low == high:
            return constant(low)
        definition = Definition(Origin.OPAQUE, label, low, high, facts, taint=taint)
        return symbol_form(self.symbols.make(key, definition))

    def product(self, first: Form, second: Form, width: int, facts: Facts) -> Form:
        """Return ``first * second`` of registers of ``width`` bits, modulo ``2**width``."""
        if second.is_constant:
            return wrap(scale(first, second.const), width)
        if first.is_constant:
            return wrap(scale(second, first.const), width)
        one = self.number(first, width, True, facts)
        other = self.number(second, width, True, facts)
        low, high = _corners(self.symbols.interval(one), self.symbols.interval(other))
        least, most = type_range(width, True)
        if low < least or high > most:
            low, high = least, most
        key = ("mul", *sorted((one, other), key=lambda f: (f.terms, f.const)), width)
        return self.opaque(key, low, high, one, other, label=self._text(one, "*", other))

    def _text(self, first: Form, sign: str, second: Form) -> str:
        """Return the text of an operation, short enough for a message."""
        parts = [self.symbols.text(form) for form in (first, second)]
        text = sign.join(part if part.isidentifier() else f"({part})" for part in parts)
        return text if len(text) <= _LONGEST_TEXT else "…"

    def wide_product(self, first: Form, second: Form, width: int) -> Form:
        """Return ``mul.wide`` of two numbers of ``width`` bits."""
        if first.is_constant:
            first, second = second, first
        if second.is_constant:
            return wrap(scale(first, second.const), 2 * width)
        low, high = _corners(self.symbols.interval(first), self.symbols.interval(second))
        low, high = (low, high) if high - low < 1 << (2 * width) else type_range(2 * width, True)
        key = ("wide", first, second, width)
        return self.opaque(key, low, high, first, second, label=self._text(first, "*", second))

    def quotient(self, form: Form, divisor: int) -> Form:
        """Return ``floor(form / divisor)`` of a number, ``divisor`` > 0."""
        if divisor == 1:
            return form
        whole = Form(
            form.const // divisor, tuple((s, c // divisor) for s, c in form.terms if c % divisor == 0)
        )
        rest = Form(form.const % divisor, tuple((s, c) for s, c in form.terms if c % divisor))
        low, high = self.symbols.interval(rest)
        if low // divisor == high // divisor:
            return shift(whole, low // divisor)
        common = gcd(divisor, *(c for _, c in rest.terms))
        if common > 1:
            rest = Form(rest.const // common, tuple((s, c // common) for s, c in rest.terms))
            return add(whole, self._quotient(rest, divisor // common))
        return add(whole, self._quotient(rest, divisor))

    def _quotient(self, form: Form, divisor: int) -> Form:
        low, high = self.symbols.interval(form)
        if low // divisor == high // divisor:
            return constant(low // divisor)
        common = gcd(form.const, *(c for _, c in form.terms))
        if common > 1 and divisor & (divisor - 1) == 0:
            inner = Form(form.const // common, tuple((s, c // common) for s, c in form.terms))
            found = self._division(inner, common, divisor.bit_length() - 1)
            if found is not None:
                return found
        nested = self._nested(form)
        if nested is not None:
            base, first = nested
            return self.quotient(shift(base, form.const * first), first * divisor)
        key = ("div", form, divisor)
        symbol = self.symbols.find(key)
        if symbol is None:
            label = f"({self.symbols.text(form)})/{divisor}"
            bounds = (low // divisor, high // divisor)
            taint = self.symbols.taint(form)
            plain = Definition(Origin.QUOTIENT, label, *bounds, (), form, divisor, taint)
            symbol = self.symbols.make(key, plain)
            rest = subtract(form, symbol_form(symbol, divisor))
            facts = (rest, subtract(constant(divisor - 1), rest))
            self.symbols.make(key, Definition(Origin.QUOTIENT, label, *bounds, facts, form, divisor, taint))
        return symbol_form(symbol)

    def _nested(self, form: Form) -> tuple[Form, int] | None:
        """Return dividend and divisor of a form that is one quotient: ``(x/a + c)/b == (x + a*c)/(a*b)``."""
        if len(form.terms) != 1 or form.terms[0][1] != 1:
            return None
        definition = self.symbols[form.terms[0][0]]
        return None if definition.base is None else (definition.base, definition.divisor)

    def divide(self, first: Form, second: Form, width: int, signed: bool, facts: Facts) -> Form:
        """Return ``div``: the quotient rounded towards zero."""
        one = self.number(first, width, signed, facts)
        other = self.number(second, width, signed, facts)
        low, high = interval(self.symbols, one, facts)
        if other.is_constant and other.const > 0 and low >= 0:
            return self.quotient(one, other.const)
        least, most = type_range(width, signed)
        if low >= 0 and interval(self.symbols, other, facts)[0] > 0:
            least, most = 0, self.symbols.interval(one)[1]
            if self.symbols.interval(one)[0] < 0 or self.symbols.interval(other)[0] <= 0:
                return self.opaque(("div", one, other, width, facts.items), 0, max(high, 0), one, other)
        label = self._text(one, "/", other)
        return self.opaque(("div", one, other, width, signed), least, most, one, other, label=label)

    def remainder(self, first: Form, second: Form, width: int, signed: bool, facts: Facts) -> Form:
        """Return ``rem``: what :meth:`divide` leaves, with the sign of the dividend."""
        one = self.number(first, width, signed, facts)
        other = self.number(second, width, signed, facts)
        low, _ = interval(self.symbols, one, facts)
        if other.is_constant and other.const > 0 and low >= 0:
            return subtract(one, scale(self.quotient(one, other.const), other.const))
        least, most = self.symbols.interval(other)
        key = ("rem", one, other, width, signed)
        if least <= 0:
            return self.opaque(key, *type_range(width, signed), one, other)
        if self.symbols.interval(one)[0] >= 0:
            form = self.opaque(key, 0, most - 1, one, other)
            facts_ = (shift(subtract(other, form), -1),)
            label = self._text(one, "%", other)
            return self.opaque(key, 0, most - 1, one, other, facts=facts_, label=label)
        return self.opaque(key, 1 - most, most - 1, one, other)

    def extreme(self, first: Form, second: Form, width: int, signed: bool, facts: Facts, least: bool) -> Form:
        """Return ``min`` (``least``) or ``max`` of two registers."""
        one = self.number(first, width, signed, facts)
        other = self.number(second, width, signed, facts)
        sign = 1 if least else -1
        low, high = interval(self.symbols, scale(subtract(other, one), sign), facts)
        if low >= 0:
            return one
        if high <= 0:
            return other
        ends, more = self.symbols.interval(one), self.symbols.interval(other)
        pick = min if least else max
        bounds = pick(ends[0], more[0]), pick(ends[1], more[1])
        key = ("min" if least else "max", one, other)
        label = f"{key[0]}({self.symbols.text(one)}, {self.symbols.text(other)})"
        form = self.opaque(key, *bounds, one, other)
        limits = tuple(scale(subtract(each, form), sign) for each in (one, other))
        return self.opaque(key, *bounds, one, other, facts=limits, label=label)

    def shift_left(self, form: Form, count: Form, width: int, facts: Facts) -> Form:
        """Return ``shl``; a count of ``width`` or more gives 0."""
        if count.is_constant:
            places = count.const & 0xFFFFFFFF
            return wrap(scale(form, 1 << places), width) if places < width else constant(0)
        return self.opaque(("shl", form, count, width), *type_range(width, True), form, count)

    def shift_right(self, form: Form, count: Form, width: int, signed: bool, facts: Facts) -> Form:
        """Return ``shr``: floor division by a power of two."""
        number = self.number(form, width, signed, facts)
        if count.is_constant:
            places = min(count.const & 0xFFFFFFFF, width)
            magic = self._magic(number, places)
            return magic if magic is not None else self.quotient(number, 1 << places)
        low, high = self.symbols.interval(number)
        return self.opaque(("shr", number, count, width), min(low, 0), max(high, 0), number, count)

    def high_product(self, first: Form, second: Form, width: int, signed: bool, facts: Facts) -> Form:
        """Return ``mul.hi``; with the constant of a division by multiplication its quotient."""
        one, other = (self.number(f, width, signed, facts) for f in (first, second))
        if one.is_constant:
            one, other = other, one
        low, high = _corners(self.symbols.interval(one), self.symbols.interval(other))
        key = ("mulhi", one, other, width)
        if other.is_constant and other.const > 0:
            return self.quotient_of_product(one, other.const, width)
        return self.opaque(key, low >> width, high >> width, one, other)

    def quotient_of_product(self, form: Form, factor: int, places: int) -> Form:
        """Return ``floor(form * factor / 2**places)``, the shape of a division by a constant."""
        found = self._division(form, factor, places)
        if found is not None:
            return found
        low, high = self.symbols.interval(form)
        key = ("magic", form, factor, places)
        return self.opaque(key, low * factor >> places, high * factor >> places, form, label="product")

    def _magic(self, form: Form, places: int) -> Form | None:
        """Return the quotient where ``form`` is such a product, shifted by ``places`` more."""
        if form.const or len(form.terms) != 1 or form.terms[0][1] != 1:
            return None
        key = self.symbols.key(form.terms[0][0])
        if not isinstance(key, tuple) or key[0] != "magic":
            return None
        return self._division(key[1], key[2], key[3] + places)

    def _division(self, form: Form, factor: int, places: int) -> Form | None:
        """Return ``floor(x/d)`` where that is ``floor(x*m / 2**p)`` for all x from 0 to its bound."""
        low, high = self.symbols.interval(form)
        divisor = -(-(1 << places) // factor)
        excess = factor * divisor - (1 << places)
        if low < 0 or excess * (high + 1) >= (1 << places) or divisor < 2:
            return None
        # x = q*d + r gives x*m = q*2**p + q*e + r*m; with r <= d-1 the rest stays below 2**p
        worst = (high // divisor) * excess + (divisor - 1) * factor
        return self.quotient(form, divisor) if worst < (1 << places) else None

    def bit_and(self, first: Form, second: Form, width: int, facts: Facts) -> Form:
        """Return ``and``; masks of low or of high bits are remainders and multiples."""
        if first.is_constant:
            first, second = second, first
        if second.is_constant:
            if first.is_constant:
                return constant(centred(first.const & second.const, width))
            return self._masked(first, second.const & ((1 << width) - 1), width, facts)
        low, high = type_range(width, True)
        one, other = (self.number(f, width, True, facts) for f in (first, second))
        tops = [self.symbols.interval(f) for f in (one, other)]
        if any(bottom >= 0 for bottom, _ in tops):
            low, high = 0, min(top for bottom, top in tops if bottom >= 0)
        return self.opaque(("and", first, second, width), low, high, first, second)

    def _masked(self, form: Form, mask: int, width: int, facts: Facts) -> Form:
        full = (1 << width) - 1
        if mask in (0, full):
            return form if mask else constant(0)
        if mask & (mask + 1) == 0:
            return self._low_bits(form, mask + 1, width, facts)
        inverse = full ^ mask
        if inverse & (inverse + 1) == 0:
            return wrap(subtract(form, self._low_bits(form, inverse + 1, width, facts)), width)
        low_zero = mask & -mask
        if (mask // low_zero) & (mask // low_zero + 1) == 0:
            field = self._masked(form, mask | (low_zero - 1), width, facts)
            return subtract(field, self._low_bits(field, low_zero, width, facts))
        return self.opaque(("and", form, mask, width), 0, mask, form)

    def _low_bits(self, form: Form, size: int, width: int, facts: Facts) -> Form:
        """Return ``form mod size``; the wrap of the register does not matter, ``size`` divides it."""
        half = size >> 1
        terms = tuple((s, (c + half) % size - half) for s, c in form.terms if c % size)
        small = Form(form.const % size, terms)
        plain = Form(form.const % size, tuple((s, c) for s, c in form.terms if c % size))
        for each in (small, plain):
            low, high = self.symbols.interval(each)
            if low >= 0 and high < size:
                return each
        number = plain if self.symbols.interval(plain)[0] >= 0 else self.number(form, width, False, facts)
        return subtract(number, scale(self.quotient(number, size), size))

    def bit_or(self, first: Form, second: Form, width: int, facts: Facts, name: str = "or") -> Form:
        """Return ``or`` or ``xor``; operands without common bits add up."""
        if first.is_constant and second.is_constant:
            bits = first.const | second.const if name == "or" else first.const ^ second.const
            return constant(centred(bits, width))
        if name == "xor" and second == constant(-1):
            return wrap(shift(scale(first, -1), -1), width)
        for one, other in ((first, second), (second, first)):
            if self._fits_below(one, other, width, facts):
                return wrap(add(one, other), width)
        ends = [self.symbols.interval(self.number(f, width, True, facts)) for f in (first, second)]
        low, high = type_range(width, True)
        if all(bottom >= 0 for bottom, _ in ends):
            low, high = 0, (1 << max(top for _, top in ends).bit_length()) - 1
        return self.opaque((name, first, second, width), low, high, first, second)

    def _fits_below(self, one: Form, other: Form, width: int, facts: Facts) -> bool:
        """Whether ``other`` lies in the low bits that are 0 in ``one``."""
        common = gcd(one.const, *(c for _, c in one.terms))
        bit = min(common & -common, 1 << width) if common else 1 << width
        low, high = interval(self.symbols, other, facts)
        return low >= 0 and high < bit


def _corners(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
    products = [x * y for x in first for y in second]
    return min(products), max(products)
