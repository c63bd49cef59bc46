"""PTX types as NumPy holds them: raw bits in unsigned arrays, ``bool`` for predicates.

Every function of this package takes and returns such arrays. Operands may be wider than their
type (PTX ISA, "Operand Size Exceeding Instruction-Type Size": ``cvt`` and ``st`` allow it), so
each is first cut to its type; shapes need only broadcast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[Any]
Function = Callable[..., Any]
"""A decoded instruction: bits of each operand in, bits of each result out (a tuple if several)."""

WIDTHS: Mapping[str, int] = MappingProxyType(
    {
        "pred": 1,
        **{f"{kind}{width}": width for kind in "bus" for width in (8, 16, 32, 64)},
        **{"f16": 16, "bf16": 16, "f32": 32, "tf32": 32, "f64": 64},
        **{"f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "e4m3x2": 16, "e5m2x2": 16},
        **{"u2": 2, "s2": 2, "u4": 4, "s4": 4},
    }
)
"""Bits of each PTX type that may stand in an instruction of this package."""

UNSIGNED: Mapping[int, np.dtype[Any]] = MappingProxyType(
    {1: np.dtype(np.bool_), **{n: np.dtype(f"u{n // 8}") for n in (8, 16, 32, 64)}}
)
"""The dtype of a register by its width in bits; width 1 is a predicate."""

SIGNED: Mapping[int, np.dtype[Any]] = MappingProxyType({n: np.dtype(f"i{n // 8}") for n in (8, 16, 32, 64)})
"""The signed dtype of each width."""

INTEGERS = ("u16", "u32", "u64", "s16", "s32", "s64")
"""The types of integer arithmetic, in the manual's order."""


def width(name: str) -> int:
    """Bits of the PTX type ``name``."""
    return WIDTHS[name]


def is_signed(name: str) -> bool:
    """Whether ``name`` is ``s8`` to ``s64`` (packed and floating types are not)."""
    return name[0] == "s" and name[1:].isdigit()


def register_dtype(name: str) -> np.dtype[Any]:
    """The dtype of a register that holds a value of type ``name``."""
    return UNSIGNED[width(name)]


def value_dtype(name: str) -> np.dtype[Any]:
    """The dtype in which an integer type computes: ``int32`` for ``s32``, ``uint32`` for ``b32``."""
    return SIGNED[width(name)] if is_signed(name) else UNSIGNED[width(name)]


def cut(bits: Bits, dtype: npt.DTypeLike) -> Bits:
    """``bits`` in ``dtype`` (unsigned): the low bits of a wider register, as they are otherwise."""
    return bits if bits.dtype == dtype else bits.astype(dtype)


def integers(bits: Bits, name: str) -> Bits:
    """The integers that ``bits`` hold as PTX type ``name``; never written to by the caller."""
    raw = cut(bits, UNSIGNED[width(name)])
    return raw.view(SIGNED[width(name)]) if is_signed(name) else raw


def as_register(values: Bits) -> Bits:
    """The raw bits of an array of integers or floats."""
    return values.view(UNSIGNED[values.dtype.itemsize * 8])


def extended(values: Bits) -> Bits:
    """Signed ``values`` widened to 64 bits, so that a cast to any register is a sign extension."""
    return values.astype(np.int64).view(np.uint64)


def quiet(function: Function) -> Function:
    """``function`` without NumPy's floating-point warnings: PTX has no exceptions to report."""

    def silent(*operands: Bits) -> Any:
        with np.errstate(all="ignore"):
            return function(*operands)

    return silent


def packed(function: Function) -> Function:
    """``function`` on 16-bit lanes, applied to both halves of 32-bit registers."""

    def both(*operands: Bits) -> Bits:
        arrays = [np.atleast_1d(cut(x, np.uint32)) for x in operands]
        if len({x.shape for x in arrays}) > 1:
            arrays = [*np.broadcast_arrays(*arrays)]
        halves = (np.ascontiguousarray(x).view(np.uint16) for x in arrays)
        result: Bits = np.ascontiguousarray(function(*halves))
        return result.view(np.uint32)

    return both
