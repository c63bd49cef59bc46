"""Literals and constant expressions (PTX ISA, "Constants" and "Constant Expressions")."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType

from planc.ptx.cursor import Cursor
from planc.ptx.lexer import NUMBER, WORD
from planc.ptx.syntax import Immediate

_MAX_DEPTH = 64
_WARP_SIZE = 32
_SIGNS = ("-", "+", "~", "!")


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b)


def _shift_left(a: int, b: int) -> int:
    return a << b if 0 <= b < 64 else 0


def _shift_right(a: int, b: int) -> int:
    return a >> min(b, 64) if b >= 0 else 0


_BINARY: Mapping[str, tuple[int, Callable[[int, int], int]]] = MappingProxyType(
    {
        "||": (1, lambda a, b: int(bool(a) or bool(b))),
        "&&": (2, lambda a, b: int(bool(a) and bool(b))),
        "|": (3, operator.or_),
        "^": (4, operator.xor),
        "&": (5, operator.and_),
        "==": (6, lambda a, b: int(a == b)),
        "!=": (6, lambda a, b: int(a != b)),
        "<": (7, lambda a, b: int(a < b)),
        "<=": (7, lambda a, b: int(a <= b)),
        ">": (7, lambda a, b: int(a > b)),
        ">=": (7, lambda a, b: int(a >= b)),
        "<<": (8, _shift_left),
        ">>": (8, _shift_right),
        "+": (9, operator.add),
        "-": (9, operator.sub),
        "*": (10, operator.mul),
        "/": (10, _divide),
        "%": (10, _remainder),
    }
)
_UNARY: Mapping[str, Callable[[int], int]] = MappingProxyType(
    {"-": operator.neg, "+": operator.pos, "~": operator.invert, "!": lambda a: int(not a)}
)


def parse_constant(cursor: Cursor) -> Immediate:
    """Read a literal or a constant expression at the cursor.

    Integers are 64 bits wide; a result above the signed range is unsigned, as the ISA has it.
    Raises :class:`Mistake`: PLC490 where no constant stands, PLC493 where it nests too deep,
    PLC494 where it has no value (a division by zero, more than 64 bits).
    """
    kinds = cursor.kinds
    if kinds[cursor.at] == NUMBER and kinds[cursor.at + 1] in (",", ";", "}", "]", ")"):
        cursor.at += 1
        return literal(cursor, cursor.at - 1)
    value = _conditional(cursor, 0)
    return value


def literal(cursor: Cursor, at: int) -> Immediate:
    """Return the value of the number token of index ``at``."""
    text = cursor.texts[at]
    head = text[:2].lower()
    if head == "0f":
        return Immediate("f32", int(text[2:], 16))
    if head == "0d":
        return Immediate("f64", int(text[2:], 16))
    if head != "0x" and ("." in text or "e" in text or "E" in text):
        return Immediate("f64", struct.unpack("<Q", struct.pack("<d", float(text)))[0])
    return Immediate("int", _integer(cursor, text, head, at))


def _integer(cursor: Cursor, text: str, head: str, at: int) -> int:
    digits = text.rstrip("U")
    try:
        if head in ("0x", "0b"):
            value = int(digits, 16 if head == "0x" else 2)
        elif len(digits) > 1 and digits[0] == "0":
            value = int(digits, 8)
        else:
            value = int(digits)
    except ValueError:
        raise cursor.mistake(
            "PLC494",
            f"`{text[:60]}` is no integer",
            help="write decimal, `0x` and hexadecimal, `0` and octal, or `0b` and binary digits",
            at=at,
        ) from None
    if value >> 64:
        raise cursor.mistake(
            "PLC494", f"`{text[:60]}` needs more than 64 bits", help="write a number below 2**64", at=at
        )
    return value


def _conditional(cursor: Cursor, depth: int) -> Immediate:
    condition = _binary(cursor, 0, depth)
    if not cursor.accept("?"):
        return condition
    chosen = _conditional(cursor, _deeper(cursor, depth))
    cursor.expect(":", "a constant expression")
    other = _conditional(cursor, _deeper(cursor, depth))
    return chosen if _whole(cursor, condition) else other


def _binary(cursor: Cursor, least: int, depth: int) -> Immediate:
    left = _unary(cursor, depth)
    while cursor.kind in _BINARY and _BINARY[cursor.kind][0] > least:
        at, sign = cursor.at, cursor.kind
        cursor.at += 1
        level, function = _BINARY[sign]
        right = _binary(cursor, level, _deeper(cursor, depth))
        a, b = _whole(cursor, left), _whole(cursor, right)
        if b == 0 and sign in ("/", "%"):
            raise cursor.mistake(
                "PLC494", "the constant expression divides by zero", help="write another divisor", at=at
            )
        left = Immediate("int", _wrap(function(a, b)))
    return left


def _unary(cursor: Cursor, depth: int) -> Immediate:
    sign = cursor.kind
    if sign in _SIGNS:
        cursor.at += 1
        return _signed(cursor, sign, _unary(cursor, _deeper(cursor, depth)))
    if sign == "(":
        cursor.at += 1
        return _parenthesis(cursor, _deeper(cursor, depth))
    if sign == NUMBER:
        cursor.at += 1
        return literal(cursor, cursor.at - 1)
    if sign == WORD and cursor.accept("WARP_SZ"):
        return Immediate("int", _WARP_SIZE)
    raise cursor.unexpected("a constant", "an expression")


def _parenthesis(cursor: Cursor, depth: int) -> Immediate:
    if cursor.text in (".s64", ".u64"):
        unsigned = cursor.text == ".u64"
        cursor.at += 1
        cursor.expect(")", "a cast")
        value = _whole(cursor, _unary(cursor, depth)) & (1 << 64) - 1
        return Immediate("int", value if unsigned or not value >> 63 else value - (1 << 64))
    inner = _conditional(cursor, depth)
    cursor.expect(")", "a constant expression")
    return inner


def _signed(cursor: Cursor, sign: str, value: Immediate) -> Immediate:
    if value.kind == "int":
        return Immediate("int", _wrap(_UNARY[sign](value.bits)))
    if sign == "-":
        return Immediate(value.kind, value.bits ^ (1 << (31 if value.kind == "f32" else 63)))
    return Immediate(value.kind, value.bits) if sign == "+" else _refuse_float(cursor)


def _whole(cursor: Cursor, value: Immediate) -> int:
    return value.bits if value.kind == "int" else _refuse_float(cursor).bits


def _refuse_float(cursor: Cursor) -> Immediate:
    raise cursor.mistake(
        "PLC494",
        "planc does not compute with floating-point constants",
        help="write the result itself",
        at=cursor.at - 1,
    )


def _deeper(cursor: Cursor, depth: int) -> int:
    if depth >= _MAX_DEPTH:
        raise cursor.mistake(
            "PLC493", f"the expression nests deeper than {_MAX_DEPTH}", help="write the result itself"
        )
    return depth + 1


def _wrap(value: int) -> int:
    """Return ``value`` modulo 2**64: as it is if it fits 64 bits, signed or not."""
    if -(1 << 63) <= value < 1 << 64:
        return value
    low = value & (1 << 64) - 1
    return low - (1 << 64) if value < 0 and low >> 63 else low
