"""Operands of instructions (PTX ISA, "Instruction Operands")."""

from __future__ import annotations

from planc.ptx.constants import literal, parse_constant
from planc.ptx.cursor import Cursor
from planc.ptx.lexer import NUMBER, WORD
from planc.ptx.names import Scopes
from planc.ptx.special import is_special
from planc.ptx.syntax import (
    Address,
    Arguments,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)

_LARGEST_LIST = 1024
_VIDEO_PARTS = frozenset({"b0", "b1", "b2", "b3", "h0", "h1", "b", "h", "hi", "lo"})
_ENDS = frozenset({",", ";", "]", "}", ")"})


class OperandReader:
    """Reads operands at a cursor; names mean what ``scopes`` say."""

    __slots__ = ("_cursor", "_literals", "_scopes")

    def __init__(self, cursor: Cursor, scopes: Scopes) -> None:
        """Read for one function."""
        self._cursor = cursor
        self._scopes = scopes
        self._literals: dict[str, Immediate] = {}

    def operands(self, opcode: str) -> tuple[Operand, ...]:
        """Read the operands of ``opcode`` up to and with the ``;``."""
        cursor = self._cursor
        if cursor.kinds[cursor.at] == ";":
            cursor.at += 1
            return ()
        call = opcode == "call"
        found = [self._operand(call)]
        while cursor.kinds[cursor.at] == ",":
            cursor.at += 1
            found.append(self._operand(call))
        if cursor.kinds[cursor.at] != ";":
            raise cursor.unexpected("`,` or `;`", f"the operands of `{opcode}`")
        cursor.at += 1
        return tuple(found)

    def _operand(self, call: bool) -> Operand:
        cursor = self._cursor
        kind = cursor.kinds[cursor.at]
        if kind == WORD:
            return self._named()
        if kind == "[":
            return self._address()
        if kind == "{":
            return Vector(self._list("{", "}", "a vector"))
        if kind == "(" and call:
            return Arguments(self._list("(", ")", "an argument list"))
        return self._plain()

    def _named(self) -> Operand:
        """Read a name and what may follow it: ``|second``, ``+offset``, ``[index]``."""
        first = self._plain()
        cursor = self._cursor
        kind = cursor.kinds[cursor.at]
        if kind == ",":
            return first
        if kind == "|":
            cursor.at += 1
            return Pair(first, self._plain())
        if isinstance(first, Symbol):
            return self._symbol(first, kind)
        return first

    def _symbol(self, first: Symbol, kind: str) -> Symbol:
        if kind == "[":
            message = f"planc does not read the index after `{first.name}`"
            raise self._cursor.mistake("PLC490", message, f"write the bytes, `[{first.name}+4]`")
        return Symbol(first.name, first.offset + self._offset())

    def _plain(self) -> Operand:
        """Read a name, ``!p``, ``-r`` or a constant."""
        cursor = self._cursor
        kind = cursor.kinds[cursor.at]
        if kind == WORD:
            cursor.at += 1
            name = cursor.texts[cursor.at - 1]
            return self._scopes.find(name) or self._unknown(name)
        if kind == NUMBER and cursor.kinds[cursor.at + 1] in _ENDS:
            cursor.at += 1
            return self._literal(cursor.at - 1)
        if kind in ("!", "-") and cursor.kinds[cursor.at + 1] == WORD:
            return self._negated(kind)
        return parse_constant(cursor)

    def _literal(self, at: int) -> Immediate:
        text = self._cursor.texts[at]
        known = self._literals.get(text)
        if known is None:
            known = self._literals[text] = literal(self._cursor, at)
        return known

    def _negated(self, sign: str) -> Operand:
        cursor = self._cursor
        if cursor.texts[cursor.at + 1] == "WARP_SZ":
            return parse_constant(cursor)
        cursor.at += 1
        operand = self._plain()
        if not isinstance(operand, Register):
            raise cursor.mistake(
                "PLC490",
                f"`{sign}` stands before what is no register",
                help="write a predicate register after it",
                at=cursor.at - 1,
            )
        return Negated(operand, sign)

    def _list(self, opening: str, closing: str, what: str) -> tuple[Operand, ...]:
        cursor = self._cursor
        cursor.expect(opening, what)
        if cursor.accept(closing):
            return ()
        found = [self._plain()]
        while cursor.accept(","):
            found.append(self._plain())
            if len(found) > _LARGEST_LIST:
                raise cursor.mistake(
                    "PLC493", f"{what} has more than {_LARGEST_LIST} elements", help="write a shorter list"
                )
        cursor.expect(closing, what)
        return tuple(found)

    def _address(self) -> Address:
        cursor = self._cursor
        cursor.at += 1
        base, offset = self._base()
        if cursor.kinds[cursor.at] == "]":
            cursor.at += 1
            return Address(base, offset)
        more: list[Operand] = []
        while cursor.accept(","):
            more.append(self._coordinate())
        cursor.expect("]", "an address")
        return Address(base, offset, tuple(more))

    def _base(self) -> tuple[Register | Symbol | None, int]:
        cursor = self._cursor
        if cursor.kinds[cursor.at] != WORD or cursor.texts[cursor.at] == "WARP_SZ":
            return None, self._integer()
        base = self._plain()
        if not isinstance(base, Register | Symbol):
            raise cursor.mistake(
                "PLC490",
                "the base of an address is a register or a name",
                help="write `[%rd1+4]`, `[name+4]` or a whole number of bytes",
                at=cursor.at - 1,
            )
        return base, self._offset()

    def _coordinate(self) -> Operand:
        return Vector(self._list("{", "}", "coordinates")) if self._cursor.kind == "{" else self._plain()

    def _offset(self) -> int:
        """Read ``+8``, ``+-8``, ``-8``, ``+8+4`` or nothing."""
        total = 0
        while self._cursor.kind in ("+", "-"):
            negative = self._cursor.kind == "-"
            self._cursor.at += 1
            value = self._step()
            total += -value if negative else value
        return total

    def _step(self) -> int:
        cursor = self._cursor
        if cursor.kind == NUMBER and cursor.kinds[cursor.at + 1] in ("]", ",", ";", "+", "-"):
            value = self._literal(cursor.at)
            cursor.at += 1
            return self._whole(value)
        return self._integer()

    def _integer(self) -> int:
        return self._whole(parse_constant(self._cursor))

    def _whole(self, value: Immediate) -> int:
        if value.kind != "int":
            raise self._cursor.mistake(
                "PLC494",
                "an address takes whole bytes",
                help="write a whole number of bytes",
                at=self._cursor.at - 1,
            )
        return value.bits

    def _unknown(self, name: str) -> Operand:
        """Return what a name in no scope is, or raise PLC491."""
        if name == "WARP_SZ":
            self._cursor.at -= 1
            return parse_constant(self._cursor)
        if is_special(name):
            return Register(name)
        base, _, part = name.rpartition(".")
        whole = self._scopes.find(base) if base else None
        if isinstance(whole, Register) and part in _VIDEO_PARTS:
            return Register(f"{whole.name}.{part}")
        if "%" in name or "." in name:
            raise self._cursor.mistake(
                "PLC491",
                f"no register `{name}` is declared here",
                "declare it with `.reg` before its use",
                at=self._cursor.at - 1,
            )
        self._scopes.missing.setdefault(name, self._cursor.at - 1)
        return Symbol(name)
