"""Initial values of variables (PTX ISA, "Initializers")."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

from planc.ptx.constants import parse_constant
from planc.ptx.cursor import Cursor
from planc.ptx.lexer import NUMBER, WORD
from planc.ptx.syntax import Immediate
from planc.ptx.widths import TYPE_BYTES

_FLOATS = {"f32": "<f", "f64": "<d"}


@dataclass(frozen=True, slots=True)
class SymbolValue:
    """An address as an initial value; ``mask`` picks one byte of it (``0xFF00(name)``), 0 all."""

    name: str
    addend: int
    generic: bool
    mask: int
    at: int


@dataclass(slots=True)
class Initialiser:
    """Values by element index, and the number of outermost elements."""

    type: str
    rows: int = 0
    constants: list[tuple[int, Immediate, int]] = field(default_factory=list)
    addresses: list[tuple[int, SymbolValue]] = field(default_factory=list)

    def encode(self, cursor: Cursor, size: int) -> tuple[bytes, tuple[tuple[int, str, int, bool], ...]]:
        """Return ``size`` bytes, little-endian, and the addresses to put into them."""
        width = TYPE_BYTES[self.type]
        data = bytearray(size)
        for index, value, at in self.constants:
            data[index * width : (index + 1) * width] = _bytes_of(cursor, value, self.type, at)
        whole = [(i * width, v) for i, v in self.addresses if not v.mask]
        if whole and width < 4:
            raise cursor.mistake(
                "PLC494",
                f"an address does not fit `.{self.type}`",
                help="declare the variable as `.u64` or `.b64`",
                at=whole[0][1].at,
            )
        masked = [(i, v) for i, v in self.addresses if v.mask]
        found = whole + _join_bytes(cursor, masked, width)
        return bytes(data), tuple((start, v.name, v.addend, v.generic) for start, v in sorted_by_start(found))


def sorted_by_start(found: list[tuple[int, SymbolValue]]) -> list[tuple[int, SymbolValue]]:
    """Order addresses by the byte they start at."""
    return sorted(found, key=lambda pair: pair[0])


def _bytes_of(cursor: Cursor, value: Immediate, type_name: str, at: int) -> bytes:
    width = TYPE_BYTES[type_name]
    if value.kind == "int" and type_name not in _FLOATS:
        return (value.bits & (1 << 8 * width) - 1).to_bytes(width, "little")
    if type_name in _FLOATS:
        return _pack_float(_float_of(value), type_name)
    if TYPE_BYTES[value.kind] != width:
        raise cursor.mistake(
            "PLC494",
            f"a {value.kind} literal does not fit `.{type_name}`",
            help="write a literal of the type of the variable",
            at=at,
        )
    return value.bits.to_bytes(width, "little")


def _float_of(value: Immediate) -> float | Immediate:
    if value.kind == "int":
        return float(value.bits)
    return value


def _pack_float(value: float | Immediate, type_name: str) -> bytes:
    if isinstance(value, float):
        return struct.pack(_FLOATS[type_name], value)
    if value.kind == type_name:
        return value.bits.to_bytes(TYPE_BYTES[type_name], "little")
    if value.kind == "f32":
        return struct.pack("<d", struct.unpack("<f", struct.pack("<I", value.bits))[0])
    number = struct.unpack("<d", struct.pack("<Q", value.bits))[0]
    return _narrow(number)


def _narrow(number: float) -> bytes:
    try:
        return struct.pack("<f", number)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, number))


def _join_bytes(
    cursor: Cursor, masked: list[tuple[int, SymbolValue]], width: int
) -> list[tuple[int, SymbolValue]]:
    """Join runs ``0xFF(s), 0xFF00(s), …`` of eight bytes into one address each."""
    found: list[tuple[int, SymbolValue]] = []
    for place in range(0, len(masked), 8):
        run = masked[place : place + 8]
        start, first = run[0]
        expected = [(start + k, 0xFF << 8 * k, first.name, first.addend, first.generic) for k in range(8)]
        if [(i, v.mask, v.name, v.addend, v.generic) for i, v in run] != expected or width != 1:
            raise cursor.mistake(
                "PLC494",
                "planc takes masked addresses only as all eight bytes in order",
                help="initialise a `.u64` with the whole address",
                at=first.at,
            )
        found.append((start, first))
    return found


def read_initialiser(cursor: Cursor, type_name: str, dimensions: tuple[int | None, ...]) -> Initialiser:
    """Read what follows the ``=`` of a declaration; missing elements are zero."""
    found = Initialiser(type_name)
    if cursor.kind != "{":
        _element(cursor, found, 0)
        found.rows = 1
        return found
    if not dimensions:
        raise cursor.mistake(
            "PLC490",
            "braces initialise a variable that is no array",
            help="take the braces out, or declare an array",
        )
    _braces(cursor, found, dimensions)
    return found


def _braces(cursor: Cursor, found: Initialiser, dimensions: tuple[int | None, ...]) -> None:
    """Read nested braces; a closing one goes on after the sub-array that its opening one began."""
    inner = [math.prod(n or 0 for n in dimensions[d + 1 :]) for d in range(len(dimensions))]
    starts: list[int] = []
    place = furthest = 0
    while True:
        if starts:
            _check_place(cursor, dimensions, inner, starts, place)
        if cursor.kind == "{":
            if len(starts) == len(dimensions):
                raise cursor.mistake(
                    "PLC490",
                    "the braces nest deeper than the array has dimensions",
                    help="take a pair of braces out",
                )
            starts.append(place)
            cursor.at += 1
            if cursor.kind != "}":
                continue
        else:
            _element(cursor, found, place)
            place += 1
        furthest = max(furthest, place)
        while cursor.accept("}"):
            begun = starts.pop()
            if not starts:
                found.rows = -(-furthest // max(inner[0], 1))
                return
            place = begun + inner[len(starts) - 1]
            furthest = max(furthest, place)
        cursor.expect(",", "an initialiser")


def _check_place(
    cursor: Cursor, dimensions: tuple[int | None, ...], inner: list[int], starts: list[int], place: int
) -> None:
    depth = len(starts) - 1
    length = dimensions[depth]
    if length is not None and place >= starts[depth] + length * inner[depth]:
        raise cursor.mistake(
            "PLC494",
            "the initialiser has more values than the array has elements",
            help="take values out, or declare more elements",
        )


def _element(cursor: Cursor, found: Initialiser, index: int) -> None:
    at = cursor.at
    following = cursor.kinds[at + 1]
    if cursor.kind == WORD and cursor.text != "WARP_SZ":
        found.addresses.append((index, _symbol(cursor, 0)))
    elif cursor.kind == NUMBER and following == "(":
        mask = parse_mask(cursor)
        found.addresses.append((index, _symbol(cursor, mask)))
        cursor.expect(")", "a masked address")
    else:
        found.constants.append((index, parse_constant(cursor), at))


def parse_mask(cursor: Cursor) -> int:
    """Read ``0xFF00(`` and return the mask."""
    at = cursor.at
    cursor.at += 2
    try:
        mask = int(cursor.texts[at].rstrip("U"), 0)
    except ValueError:
        mask = 0
    if mask not in [0xFF << 8 * k for k in range(8)]:
        raise cursor.mistake(
            "PLC494",
            "a mask picks one byte of an address",
            help="write one of `0xFF`, `0xFF00`, … `0xFF00000000000000`",
            at=at,
        )
    return mask


def _symbol(cursor: Cursor, mask: int) -> SymbolValue:
    at = cursor.at
    name = cursor.take(WORD, "a name", "an initialiser")
    generic = name == "generic" and cursor.accept("(")
    if generic:
        at = cursor.at
        name = cursor.take(WORD, "a name", "`generic`")
        inside = _addend(cursor)
        cursor.expect(")", "`generic`")
        return SymbolValue(name, inside + _addend(cursor), True, mask, at)
    return SymbolValue(name, _addend(cursor), False, mask, at)


def _addend(cursor: Cursor) -> int:
    """Read ``+4``, ``-4``, ``+-4`` or nothing."""
    if cursor.kind not in ("+", "-"):
        return 0
    value = parse_constant(cursor)
    if value.kind != "int":
        raise cursor.mistake(
            "PLC494", "an address takes whole bytes", help="write a whole number of bytes", at=cursor.at - 1
        )
    return value.bits
