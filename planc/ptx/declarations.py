"""Variables, registers and parameters (PTX ISA, "State Spaces, Types, and Variables")."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from planc.ptx.constants import literal, parse_constant
from planc.ptx.cursor import Cursor
from planc.ptx.initialisers import Initialiser, read_initialiser
from planc.ptx.lexer import DIRECTIVE, NUMBER, WORD
from planc.ptx.syntax import Parameter, Variable
from planc.ptx.widths import OPAQUE_TYPES, TYPE_BYTES, VECTOR_LENGTHS

LINKAGES = frozenset({".visible", ".extern", ".weak", ".common"})
"""Directives before a declaration that say who else may see it."""
SPACES = frozenset({".global", ".const", ".shared", ".local", ".param", ".tex"})
"""State spaces of variables."""

_LARGEST_VARIABLE = 1 << 48
_LARGEST_ALIGNMENT = 1 << 16
_MOST_DIMENSIONS = 16


@dataclass(frozen=True, slots=True)
class Shape:
    """What stands before a name: type, elements of the vector, alignment (0: natural), ``.ptr`` space."""

    type: str
    vector: int = 1
    align: int = 0
    pointer: str | None = None

    @property
    def item(self) -> int:
        """Bytes of one element, a vector taken whole."""
        return TYPE_BYTES[self.type] * self.vector

    @property
    def alignment(self) -> int:
        """Alignment in bytes: as written, else that of the element."""
        return self.align or self.item


def read_shape(cursor: Cursor, where: str) -> Shape:
    """Read ``.align 8 .v2 .b32``, ``.u64 .ptr .global .align 4`` and their like."""
    kind, vector, align, pointer = "", 1, 0, None
    while cursor.kind == DIRECTIVE:
        word = cursor.text[1:]
        cursor.at += 1
        if word == "align":
            align = _alignment(cursor)
        elif word == "ptr":
            pointer = _pointer_space(cursor)
        elif word == "attribute":
            cursor.attribute()
        elif word in VECTOR_LENGTHS:
            vector = VECTOR_LENGTHS[word]
        elif word in TYPE_BYTES and not kind:
            kind = word
        else:
            raise cursor.mistake(
                "PLC490",
                f"`.{word}` is no type that fits {where}",
                help="write a type of PTX, such as `.b32`, `.u64` or `.f32`",
                at=cursor.at - 1,
            )
    if not kind:
        raise cursor.unexpected("a type", where)
    if pointer is not None:
        return Shape(kind, vector, 0, pointer)
    return Shape(kind, vector, align)


def _pointer_space(cursor: Cursor) -> str:
    if cursor.kind == DIRECTIVE and cursor.text in SPACES:
        cursor.at += 1
        return cursor.texts[cursor.at - 1][1:]
    return "generic"


def _alignment(cursor: Cursor) -> int:
    value = whole_number(cursor, "an alignment")
    if value < 1 or value & value - 1 or value > _LARGEST_ALIGNMENT:
        raise cursor.mistake(
            "PLC494",
            f"an alignment of {value} is no power of two",
            help="write 1, 2, 4, 8, 16 or a larger power of two",
            at=cursor.at - 1,
        )
    return value


def whole_number(cursor: Cursor, where: str) -> int:
    """Read one integer literal."""
    if cursor.kind != NUMBER:
        raise cursor.unexpected("a whole number", where)
    value = literal(cursor, cursor.at)
    cursor.at += 1
    if value.kind != "int":
        raise cursor.mistake(
            "PLC494", f"{where} takes a whole number", help="write a whole number", at=cursor.at - 1
        )
    return value.bits


def read_dimensions(cursor: Cursor) -> tuple[int | None, ...]:
    """Read ``[4][8]``; an open first dimension ``[]`` is None."""
    found: list[int | None] = []
    while cursor.accept("["):
        if cursor.accept("]"):
            if found:
                raise cursor.mistake(
                    "PLC494",
                    "only the first dimension may be open",
                    help="give this dimension a number of elements",
                    at=cursor.at - 1,
                )
            found.append(None)
            continue
        value = parse_constant(cursor)
        if value.kind != "int" or not 0 <= value.bits <= _LARGEST_VARIABLE:
            raise cursor.mistake(
                "PLC494",
                "an array needs a whole number of elements",
                help="write a whole number that is not negative",
                at=cursor.at - 1,
            )
        found.append(value.bits)
        cursor.expect("]", "an array")
        if len(found) > _MOST_DIMENSIONS:
            raise cursor.mistake(
                "PLC493",
                f"an array has more than {_MOST_DIMENSIONS} dimensions",
                help="declare it with fewer, and compute the index",
            )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Declared:
    """A variable, the index of the token of its name, and of those names its initial value uses."""

    variable: Variable
    at: int
    uses: tuple[tuple[str, int], ...] = ()


def read_variables(cursor: Cursor, space: str, linkage: str) -> list[Declared]:
    """Read the rest of a declaration ``.global .align 4 .b8 a[4] = {…}, b;`` after its space."""
    while cursor.text == ".attribute":
        cursor.at += 1
        cursor.attribute()
    shape = read_shape(cursor, "a variable")
    found = [_variable(cursor, space, linkage, shape)]
    while cursor.accept(","):
        found.append(_variable(cursor, space, linkage, shape))
    cursor.expect(";", "a declaration")
    return found


def _variable(cursor: Cursor, space: str, linkage: str, shape: Shape) -> Declared:
    at, line = cursor.at, cursor.line
    name = cursor.take(WORD, "a name", "a declaration")
    repeat = _range(cursor)
    if repeat is not None:
        raise cursor.mistake(
            "PLC490",
            "only registers are declared by the range",
            help="declare each variable by its own name",
            at=at,
        )
    written = read_dimensions(cursor)
    variable = Variable(name, space, shape.type, shape.alignment, 0, 0, linkage, line=line)
    if cursor.accept("="):
        return _initialised(cursor, variable, shape, written, at)
    count = math.prod(0 if n is None else n for n in written)
    size = _checked_size(cursor, count * shape.item, at)
    if not size and linkage != "extern":
        raise cursor.mistake("PLC494", f"`{name}` has no size", "give its number of elements", at)
    return Declared(replace(variable, size=size, count=count * shape.vector), at)


def _initialised(
    cursor: Cursor, variable: Variable, shape: Shape, written: tuple[int | None, ...], named: int
) -> Declared:
    at = cursor.at
    if shape.type in OPAQUE_TYPES:
        _skip_braces(cursor)
        return Declared(replace(variable, size=shape.item, count=1), named)
    dimensions = written + ((shape.vector,) if shape.vector > 1 else ())
    data = read_initialiser(cursor, shape.type, dimensions)
    count = math.prod(data.rows if n is None else n for n in dimensions)
    size = _checked_size(cursor, count * TYPE_BYTES[shape.type], at)
    cursor.spend("initialised bytes", size, at)
    initial, symbols = data.encode(cursor, size)
    whole = replace(variable, size=size, count=count, initial=initial, symbols=symbols)
    return Declared(whole, named, _used_names(data))


def _used_names(data: Initialiser) -> tuple[tuple[str, int], ...]:
    return tuple((address.name, address.at) for _, address in data.addresses)


def _skip_braces(cursor: Cursor) -> None:
    cursor.expect("{", "an initialiser")
    while cursor.kind not in ("}", ";", "end"):
        cursor.at += 1
    cursor.expect("}", "an initialiser")


def _checked_size(cursor: Cursor, size: int, at: int) -> int:
    if size > _LARGEST_VARIABLE:
        raise cursor.mistake(
            "PLC493", "the variable is larger than any memory", help="declare fewer elements", at=at
        )
    return size


def _range(cursor: Cursor) -> int | None:
    """Read ``<10>`` after a name: the number of names it stands for."""
    if not cursor.accept("<"):
        return None
    count = whole_number(cursor, "a range of names")
    cursor.expect(">", "a range of names")
    return count


def read_registers(cursor: Cursor) -> tuple[Shape, list[tuple[int, str, int | None]]]:
    """Read ``.reg .b32 %r<10>, %a;`` after the ``.reg``: its type and (token, name, range) of each."""
    shape = read_shape(cursor, "a register")
    found: list[tuple[int, str, int | None]] = []
    while not found or cursor.accept(","):
        at = cursor.at
        name = cursor.take(WORD, "a name", "`.reg`")
        count = _range(cursor)
        cursor.spend("registers", 1 if count is None else count, at)
        found.append((at, name, count))
    cursor.expect(";", "`.reg`")
    return shape, found


def read_parameters(cursor: Cursor) -> list[tuple[int, Parameter]]:
    """Read ``(.param .u64 a, .param .align 8 .b8 b[24])``; nothing where no parenthesis stands.

    Offsets follow the order of the text: each parameter at the next multiple of its alignment
    (PTX ISA, "Kernel Function Parameters"). Returns each with the token of its name.
    """
    found: list[tuple[int, Parameter]] = []
    if not cursor.accept("("):
        return found
    end = 0
    while not cursor.accept(")"):
        if found:
            cursor.expect(",", "the parameters")
        at, parameter = _parameter(cursor, end)
        found.append((at, parameter))
        if not parameter.register:
            end = parameter.offset + parameter.size
    return found


def _parameter(cursor: Cursor, end: int) -> tuple[int, Parameter]:
    register = cursor.text == ".reg"
    if not register and cursor.text != ".param":
        raise cursor.unexpected("`.param`", "the parameters")
    cursor.at += 1
    shape = read_shape(cursor, "a parameter")
    at = cursor.at
    name = cursor.take(WORD, "a name", "the parameters")
    dimensions = read_dimensions(cursor)
    size = shape.item * math.prod(0 if n is None else n for n in dimensions)
    _checked_size(cursor, size, at)
    offset = 0 if register else -(-end // shape.alignment) * shape.alignment
    return at, Parameter(name, shape.type, offset, size, shape.alignment, shape.pointer, register)
