"""Operations on values in memory, for atomics and reductions (PTX ISA, "atom", "red", "redux.sync")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from planc.simt.arith import integer
from planc.simt.arith.bitwise import LOGIC
from planc.simt.arith.floating import arithmetic, limit
from planc.simt.arith.formats import FORMATS
from planc.simt.arith.forms import UnsupportedForm
from planc.simt.arith.types import UNSIGNED, Bits, Function, cut, packed, width

_INTEGERS = frozenset({"u16", "s16", "u32", "s32", "u64", "s64"})
_FLOATS = frozenset({"f16", "bf16", "f16x2", "bf16x2", "f32", "f64"})


def _integer(name: str, type_name: str) -> Function:
    return {"add": integer.add, "min": integer.minimum, "max": integer.maximum}[name](type_name)


def _float_limit(name: str, type_name: str) -> Function:
    function = limit(name, FORMATS[type_name.removesuffix("x2")], frozenset())
    return packed(function) if type_name.endswith("x2") else function


def _float(name: str, type_name: str, ftz: bool) -> Function:
    if name != "add":
        return _float_limit(name, type_name)
    return arithmetic(f"add.rn.ftz.{type_name}" if ftz else f"add.rn.{type_name}")


def _raw(type_name: str, operation: Callable[..., Bits]) -> Function:
    dtype = UNSIGNED[width(type_name)]
    return lambda *operands: operation(*(cut(x, dtype) for x in operands))


def _increment(old: Bits, bound: Bits) -> Bits:
    result: Bits = np.where(old >= bound, old.dtype.type(0), old + old.dtype.type(1))
    return result


def _decrement(old: Bits, bound: Bits) -> Bits:
    return np.where((old == 0) | (old > bound), bound, old - old.dtype.type(1))


def _exchange(old: Bits, new: Bits) -> Bits:
    return np.where(np.ones(old.shape, np.bool_), new, old)


def _compare_and_swap(old: Bits, compare: Bits, new: Bits) -> Bits:
    return np.where(old == compare, new, old)


_RAW: Mapping[str, Callable[..., Bits]] = MappingProxyType(
    {
        **LOGIC,
        "inc": _increment,
        "dec": _decrement,
        "exch": _exchange,
        "cas": _compare_and_swap,
    }
)


def binary(name: str, type_name: str, *, ftz: bool = False) -> Function:
    """The new value in memory from the old one and the operand: bits in, bits out.

    ``name`` is add, min, max, and, or, xor, inc, dec, exch or cas; cas takes (old, compare, new).
    ``type_name`` is a PTX type: b, u and s of 16 to 64 bits, f32, f64, f16, bf16 and their packed forms.
    ``ftz`` flushes subnormal operands and results of f32 addition, as ``atom.add.f32`` on global memory
    does. Raises :class:`UnsupportedForm` for a pair that is not one of these.
    """
    if name in ("add", "min", "max"):
        if type_name in _INTEGERS:
            return _integer(name, type_name)
        if type_name in _FLOATS:
            return _float(name, type_name, ftz)
    elif name in _RAW and type_name[:1] in "bus" and type_name in ("b16", "b32", "b64", *_INTEGERS):
        return _raw(type_name, _RAW[name])
    raise UnsupportedForm(f"{name}.{type_name}")
