"""mov, with vectors packed and unpacked (PTX ISA, "mov")."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from planc.ptx.syntax import Instruction, Vector
from planc.simt.arith.forms import Decoded, Form, UnsupportedForm, form, spellings
from planc.simt.arith.types import UNSIGNED, Bits, Function, cut, width

_PACKED = {"b16": (2,), "b32": (2, 4), "b64": (2, 4)}
"""Numbers of elements that a vector may have beside a register of each type."""


def _copy(name: str) -> Function:
    dtype = UNSIGNED[width(name)]
    return lambda a: np.array(a, dtype)


def scalar_forms() -> Iterator[Form]:
    """Moves of one register, immediate or address, which the core fetches like any operand."""
    for text in spellings("mov", "pred b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"):
        name = text.partition(".")[2]
        yield form(text, name, name, _copy(name))


def _pack(bits: int, count: int) -> Function:
    """Elements, lowest first, into one register of ``bits``."""
    whole, part = UNSIGNED[bits], UNSIGNED[bits // count]

    def function(*elements: Bits) -> Bits:
        kind = np.dtype(whole).type
        words = [cut(cut(x, part), whole) << kind(i * bits // count) for i, x in enumerate(elements)]
        result: Bits = np.bitwise_or.reduce(np.broadcast_arrays(*words))
        return result

    return function


def _unpack(bits: int, count: int) -> Function:
    """One register of ``bits`` into its elements, lowest first."""
    whole, part = UNSIGNED[bits], UNSIGNED[bits // count]

    def function(register: Bits) -> tuple[Bits, ...]:
        kind, raw = np.dtype(whole).type, cut(register, whole)
        return tuple((raw >> kind(i * bits // count)).astype(part) for i in range(count))

    return function


def _vector_length(instruction: Instruction, position: int) -> int:
    operand = instruction.operands[position]
    return len(operand.items) if isinstance(operand, Vector) else 0


def _typed(instruction: Instruction, count: int) -> int:
    """The width of the register beside a vector of ``count`` elements; refuses what the ISA lacks."""
    (name,) = instruction.modifiers
    if count not in _PACKED.get(name, ()):
        raise UnsupportedForm(f"{instruction.form} with a vector of {count}")
    return width(name)


def decode_vector(instruction: Instruction) -> Decoded | None:
    """A mov with a vector on one side; None if neither side is one.

    The function takes, or returns as a tuple, one array per element in the order of the text
    (``_`` included: the core drops that result). Raises :class:`UnsupportedForm`.
    """
    if len(instruction.operands) != 2 or len(instruction.modifiers) != 1:
        return None
    into, out = _vector_length(instruction, 1), _vector_length(instruction, 0)
    if into and out:
        raise UnsupportedForm(f"{instruction.form} from vector to vector")
    if into:
        bits = _typed(instruction, into)
        return Decoded(_pack(bits, into), (bits // into,) * into, (bits,))
    if out:
        bits = _typed(instruction, out)
        return Decoded(_unpack(bits, out), (bits,), (bits // out,) * out)
    return None
