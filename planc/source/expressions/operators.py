"""What operators and functions do: Python's arithmetic on int and float, checked.

A bool is no number here, an integer has 64 bits (signed or unsigned), and finite numbers make no
infinite one.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planc.source.expressions.fault import Mistake
from planc.source.limits import GREATEST, LEAST

Number = int | float | bool
Binary = Callable[[Number, Number], Number]
Unary = Callable[[Number], Number]

_WORDS: Mapping[type, str] = {bool: "a bool", int: "an int", float: "a float"}


def kind_of(value: object) -> str:
    """Return what ``value`` is, with its article."""
    return _WORDS.get(type(value), "not a number")


def divided_by_zero() -> Mistake:
    """Return the mistake of a division by zero."""
    return Mistake(
        "PLC135",
        "division by zero",
        "let the divisor be another number, or guard it: `a // n if n != 0 else 0`",
    )


def too_large() -> Mistake:
    """Return the mistake of a result that 64 bits or a double cannot hold."""
    return Mistake("PLC136", "the result is out of range", "integers have 64 bits, other numbers are doubles")


def checked(value: Number, *operands: Number) -> Number:
    """Return ``value`` if it is a number of the language. Raises Mistake PLC136 or PLC137."""
    if type(value) is int:
        if not LEAST <= value <= GREATEST:
            raise too_large()
    elif type(value) is float:
        if not math.isfinite(value) and all(map(math.isfinite, operands)):
            raise too_large()
    elif type(value) is not bool:
        raise Mistake("PLC137", "the result is not a real number", "take a root of a positive number only")
    return value


def _numbers(symbol: str, *values: Number) -> None:
    for value in values:
        if type(value) is not int and type(value) is not float:
            cure = "write `1 if condition else 0` to make a number of it"
            raise Mistake("PLC137", f"`{symbol}` takes numbers, not {kind_of(value)}", cure)


def _integers(symbol: str, *values: Number) -> None:
    for value in values:
        if type(value) is not int:
            cure = "round it with `int(…)`, or divide with `//`"
            raise Mistake("PLC137", f"`{symbol}` takes integers, not {kind_of(value)}", cure)


def _arithmetic(symbol: str, function: Callable[[Number, Number], Number]) -> Binary:
    def apply(a: Number, b: Number) -> Number:
        _numbers(symbol, a, b)
        try:
            return checked(function(a, b), a, b)
        except ZeroDivisionError:
            raise divided_by_zero() from None
        except OverflowError:
            raise too_large() from None

    return apply


def _bitwise(symbol: str, function: Callable[[int, int], int]) -> Binary:
    def apply(a: Number, b: Number) -> Number:
        _integers(symbol, a, b)
        return checked(function(int(a), int(b)))

    return apply


def _power(a: Number, b: Number) -> Number:
    if type(a) is int and type(b) is int and b > 0 and abs(a) > 1 and (a.bit_length() - 1) * b > 64:
        raise OverflowError
    return a**b


def _shift(symbol: str, function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    def apply(a: int, b: int) -> int:
        if b < 0:
            other = ">>" if symbol == "<<" else "<<"
            raise Mistake("PLC136", f"`{symbol}` by a negative count", f"shift by `{other}` instead")
        if b > 64 and symbol == "<<" and a != 0:
            raise too_large()
        return function(a, min(b, 128))

    return apply


BINARY: Mapping[type[ast.operator], Binary] = {
    ast.Add: _arithmetic("+", operator.add),
    ast.Sub: _arithmetic("-", operator.sub),
    ast.Mult: _arithmetic("*", operator.mul),
    ast.Div: _arithmetic("/", operator.truediv),
    ast.FloorDiv: _arithmetic("//", operator.floordiv),
    ast.Mod: _arithmetic("%", operator.mod),
    ast.Pow: _arithmetic("**", _power),
    ast.LShift: _bitwise("<<", _shift("<<", operator.lshift)),
    ast.RShift: _bitwise(">>", _shift(">>", operator.rshift)),
    ast.BitAnd: _bitwise("&", operator.and_),
    ast.BitOr: _bitwise("|", operator.or_),
    ast.BitXor: _bitwise("^", operator.xor),
}


def _negative(a: Number) -> Number:
    _numbers("-", a)
    return checked(-a, a)


def _positive(a: Number) -> Number:
    _numbers("+", a)
    return a


def _inverted(a: Number) -> Number:
    _integers("~", a)
    return checked(~int(a))


def truth(symbol: str, value: Number) -> bool:
    """Return a bool as it is. Raises Mistake PLC137 for a number."""
    if type(value) is not bool:
        cure = "compare it, as in `n != 0`"
        raise Mistake("PLC137", f"`{symbol}` takes a bool, not {kind_of(value)}", cure)
    return value


UNARY: Mapping[type[ast.unaryop], Unary] = {
    ast.USub: _negative,
    ast.UAdd: _positive,
    ast.Invert: _inverted,
    ast.Not: lambda a: not truth("not", a),
}


def _ordered(symbol: str, function: Callable[[Number, Number], bool]) -> Binary:
    def apply(a: Number, b: Number) -> bool:
        _numbers(symbol, a, b)
        return function(a, b)

    return apply


def _same(symbol: str, function: Callable[[Number, Number], bool]) -> Binary:
    def apply(a: Number, b: Number) -> bool:
        if (type(a) is bool) != (type(b) is bool):
            cure = "compare two numbers, or two truth values"
            raise Mistake("PLC137", f"`{symbol}` compares {kind_of(a)} with {kind_of(b)}", cure)
        return function(a, b)

    return apply


COMPARE: Mapping[type[ast.cmpop], Binary] = {
    ast.Lt: _ordered("<", operator.lt),
    ast.LtE: _ordered("<=", operator.le),
    ast.Gt: _ordered(">", operator.gt),
    ast.GtE: _ordered(">=", operator.ge),
    ast.Eq: _same("==", operator.eq),
    ast.NotEq: _same("!=", operator.ne),
}


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the language: how many arguments it takes (``most`` None: any number), what it gives."""

    least: int
    most: int | None
    apply: Callable[..., Number]


def _extreme(name: str, function: Callable[..., Number]) -> Callable[..., Number]:
    def apply(*values: Number) -> Number:
        _numbers(name, *values)
        return function(values)

    return apply


def _absolute(a: Number) -> Number:
    _numbers("abs", a)
    return checked(abs(a), a)


def _ceildiv(a: Number, b: Number) -> Number:
    _integers("ceildiv", a, b)
    if b == 0:
        raise divided_by_zero()
    return checked(-(-int(a) // int(b)))


def _to_int(a: Number) -> Number:
    if type(a) is float and not math.isfinite(a):
        raise Mistake("PLC136", f"`int` of {a}, which no integer is", "give it a finite number")
    return checked(int(a))


FUNCTIONS: Mapping[str, Function] = {
    "min": Function(2, None, _extreme("min", min)),
    "max": Function(2, None, _extreme("max", max)),
    "abs": Function(1, 1, _absolute),
    "ceildiv": Function(2, 2, _ceildiv),
    "int": Function(1, 1, _to_int),
    "float": Function(1, 1, float),
}
CONSTANTS: Mapping[str, Number] = {
    "true": True,
    "false": False,
    "inf": math.inf,
    "nan": math.nan,
}
