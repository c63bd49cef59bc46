"""Values of scalar slots: type, range, bytes."""

from __future__ import annotations

import numbers
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from planc.diagnostics import Diagnostic
from planc.plan.dtypes import DTYPES, DType
from planc.plan.program import Slot

Scalar = int | float | bool
_WORDS = MappingProxyType({"b": "a bool", "i": "an integer", "u": "an integer", "f": "a number"})


class BadScalar(Exception):
    """The value is refused; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        """Keep it."""
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def encode(slot: Slot, value: object) -> tuple[bytes, Scalar]:
    """Return the bytes of ``value`` as the slot's type, and the value that they hold.

    The range is that of the slot, both ends legal, or of its type; the value is compared as given,
    before it is rounded to the type. NaN has no place in a range. Raises :class:`BadScalar`.
    """
    dtype = DTYPES[slot.dtype]
    number = _CHECKS[dtype.kind](slot, value)
    outside = _outside(slot, dtype, number)
    if outside:
        raise _out_of_range(slot, repr(number), outside)
    with np.errstate(over="ignore"):
        stored = np.array(number).astype(dtype.numpy)
    return stored.tobytes(), stored.item()


def _boolean(slot: Slot, value: object) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise _wrong_type(slot, value)


def _integer(slot: Slot, value: object) -> int:
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        return int(value)
    raise _wrong_type(slot, value)


def _floating(slot: Slot, value: object) -> float:
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    scalar = isinstance(value, numbers.Real) or (isinstance(value, np.generic) and kind in "fVi")
    if not scalar or isinstance(value, bool):
        raise _wrong_type(slot, value)
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        raise _out_of_range(slot, f"{value!s:.20}…", f"the finite values of {slot.dtype}") from None
    except (TypeError, ValueError):
        raise _wrong_type(slot, value) from None


_CHECKS: Mapping[str, Callable[[Slot, object], Any]] = MappingProxyType(
    {"b": _boolean, "i": _integer, "u": _integer, "f": _floating}
)


def _wrong_type(slot: Slot, value: object) -> BadScalar:
    word = _WORDS[DTYPES[slot.dtype].kind]
    return BadScalar(
        Diagnostic(
            "PLC712",
            f"`{slot.name}` is {slot.dtype} and takes {word}, not a `{type(value).__name__}`",
            help=f"give {word}",
            facts={"slot": slot.name, "dtype": slot.dtype, "type": type(value).__name__},
        )
    )


def _out_of_range(slot: Slot, value: str, outside: str) -> BadScalar:
    return BadScalar(
        Diagnostic(
            "PLC713",
            f"`{slot.name}` is {value}, outside {outside}",
            help=f"give a value of {outside}",
            facts={"slot": slot.name, "value": value, "range": outside},
        )
    )


def _outside(slot: Slot, dtype: DType, number: Any) -> str:
    """Return the range in words if ``number`` lies outside it, else the empty string."""
    if slot.low is not None or slot.high is not None:
        above = slot.low is None or number >= slot.low
        below = slot.high is None or number <= slot.high
        if not (above and below):
            return _words(slot.low, slot.high)
    if dtype.kind in "iu":
        info = np.iinfo(dtype.numpy)
        if not info.min <= number <= info.max:
            return _words(int(info.min), int(info.max))
    if dtype.kind == "f" and _overflows(dtype, number):
        return f"the finite values of {dtype.name}"
    return ""


def _words(low: object, high: object) -> str:
    return f"{'-inf' if low is None else low} to {'inf' if high is None else high}"


def _overflows(dtype: DType, number: float) -> bool:
    if not np.isfinite(number):
        return False
    if dtype.name == "f32":  # struct rounds and raises as one, where NumPy gives inf and a warning
        try:
            struct.pack("<f", number)
        except OverflowError:
            return True
        return False
    with np.errstate(over="ignore"):
        return not bool(np.isfinite(np.array(number).astype(dtype.numpy).astype(np.float64)))
