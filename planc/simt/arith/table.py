"""The table of all forms, and how an instruction is decoded through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from planc.ptx.syntax import Instruction
from planc.simt.arith import (
    approx,
    bitwise,
    carry,
    compare,
    convert,
    fields,
    floating,
    integer,
    move,
    video,
)
from planc.simt.arith.forms import Decoded, Form, Key, UnsupportedForm, key

_FAMILIES: Mapping[Callable[[], Iterator[Form]], str] = MappingProxyType(
    {
        integer.forms: "add sub mul mad mul24 mad24 sad div rem abs neg min max",
        carry.forms: "add addc sub subc mad madc",
        bitwise.forms: "and or xor not cnot lop3 shl shr shf prmt",
        fields.forms: "popc clz bfind brev bfe bfi bmsk szext fns dp4a dp2a",
        floating.forms: "add sub mul fma mad div sqrt rcp abs neg min max testp copysign",
        approx.forms: "rcp sqrt rsqrt sin cos lg2 ex2 tanh div",
        compare.forms: "setp set selp slct",
        convert.forms: "cvt",
        move.scalar_forms: "mov",
        video.forms: "vadd2 vsub2 vabsdiff2 vmin2 vmax2 vadd4 vsub4 vabsdiff4 vmin4 vmax4",
    }
)
"""Which opcodes each family has, so that a family is built only when one of its opcodes is met."""

OPCODES = tuple(sorted({opcode for opcodes in _FAMILIES.values() for opcode in opcodes.split()}))
"""Every opcode of this package."""


@cache
def _family(make: Callable[[], Iterable[Form]]) -> Mapping[str, Mapping[Key, Form]]:
    by_opcode: dict[str, dict[Key, Form]] = {}
    for row in make():
        by_opcode.setdefault(row.opcode, {})[key(row.text.split(".")[1:])] = row
    return by_opcode


@cache
def _rows(opcode: str) -> Mapping[Key, Form]:
    rows: dict[Key, Form] = {}
    for make, opcodes in _FAMILIES.items():
        if opcode in opcodes.split():
            rows.update(_family(make)[opcode])
    return rows


def forms(opcode: str) -> tuple[Form, ...]:
    """All forms of one opcode, ``()`` for one that is not of this package."""
    return tuple(_rows(opcode).values())


def supports_arith(opcode: str, modifiers: Iterable[str]) -> bool:
    """Whether an instruction form is implemented, ``supports_arith("add", ("rn", "f32"))``."""
    return key(modifiers) in _rows(opcode)


def decode(instruction: Instruction) -> Decoded:
    """The function of one instruction; raises :class:`UnsupportedForm` for a form not in the table."""
    vector = move.decode_vector(instruction) if instruction.opcode == "mov" else None
    if vector is not None:
        return vector
    row = _rows(instruction.opcode).get(key(instruction.modifiers))
    if row is None:
        raise UnsupportedForm(instruction.form)
    return row.decode(instruction)


OPERATIONS: Mapping[str, Callable[[Instruction], Decoded]] = MappingProxyType(dict.fromkeys(OPCODES, decode))
"""What the interpreter's core looks an opcode up in."""
