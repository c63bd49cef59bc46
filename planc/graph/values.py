"""Single values as bytes of an element type: what fits, what does not, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from planc.plan.dtypes import DType
from planc.source.flat import Number


def integer_range(dtype: DType) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type."""
    bits = dtype.itemsize * 8
    if dtype.kind == "u":
        return 0, (1 << bits) - 1
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def kind_fault(value: object, dtype: DType) -> str | None:
    """Return why a value is of the wrong kind for ``dtype`` (a fraction for an integer), or None."""
    if not isinstance(value, bool | int | float):
        return f"`{value!r}` is no number"
    return _KIND[dtype.kind](value, dtype)


def _integer_kind(value: Number, dtype: DType) -> str | None:
    if isinstance(value, bool):
        return f"`{_shown(value)}` is a truth value, and `{dtype.name}` holds integers"
    if isinstance(value, float):
        return f"`{value}` is a floating value, and `{dtype.name}` holds integers"
    return None


def _float_kind(value: Number, dtype: DType) -> str | None:
    if isinstance(value, bool):
        return f"`{_shown(value)}` is a truth value, and `{dtype.name}` holds numbers"
    return None


def _bool_kind(value: Number, dtype: DType) -> str | None:
    if isinstance(value, bool) or (isinstance(value, int) and value in (0, 1)):
        return None
    return f"`{value}` is no truth value"


_KIND: Mapping[str, Callable[[Number, DType], str | None]] = MappingProxyType(
    {"i": _integer_kind, "u": _integer_kind, "f": _float_kind, "b": _bool_kind}
)


def range_fault(value: Number, dtype: DType) -> str | None:
    """Return why a value of the right kind lies outside ``dtype``, or None.

    A finite number that would round to infinity is outside; rounding to a near value is not a fault.
    """
    if dtype.kind in "iu":
        low, high = integer_range(dtype)
        return None if low <= value <= high else f"`{value}` lies outside `{dtype.name}` ({low} to {high})"
    if dtype.kind == "f" and math.isfinite(value) and not math.isfinite(_rounded(value, dtype)):
        return f"`{value}` is beyond the largest `{dtype.name}`"
    return None


def _rounded(value: Number, dtype: DType) -> float:
    try:
        with np.errstate(over="ignore"):
            return float(np.array(float(value)).astype(dtype.numpy))
    except OverflowError:
        return math.inf


def value_fault(value: object, dtype: DType) -> str | None:
    """Return why ``dtype`` cannot hold ``value``, or None when it can."""
    fault = kind_fault(value, dtype)
    if fault is None and isinstance(value, bool | int | float):
        fault = range_fault(value, dtype)
    return fault


def encode(value: Number, dtype: DType) -> bytes:
    """Return the little-endian bytes of a value that :func:`value_fault` accepts."""
    if dtype.kind in "iu":
        return int(value).to_bytes(dtype.itemsize, "little", signed=dtype.kind == "i")
    if dtype.kind == "b":
        return b"\1" if value else b"\0"
    return np.array(float(value)).astype(dtype.numpy).tobytes()


def _shown(value: bool) -> str:
    return "true" if value else "false"
