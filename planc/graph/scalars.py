"""Declared scalars: their values and ranges, and the slots among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from planc.graph.report import Reporter
from planc.graph.values import kind_fault, range_fault
from planc.plan.dtypes import DTYPES
from planc.plan.program import Slot
from planc.source.flat import FlatScalar, Number


def build_slots(scalars: Sequence[FlatScalar], reporter: Reporter) -> tuple[tuple[Slot, ...], dict[str, int]]:
    """Return the slots in order and their rows by name; report PLC456, PLC457 and PLC477."""
    slots: list[Slot] = []
    rows: dict[str, int] = {}
    for scalar in scalars:
        fits = [_fits(scalar, what, v, reporter) for what, v in _numbers(scalar)]
        if all(fits):
            _in_range(scalar, reporter)
        if scalar.slot and scalar.name not in rows:
            rows[scalar.name] = len(slots)
            slots.append(_slot(scalar) if all(fits) else Slot(scalar.name, scalar.dtype, scalar.value))
    return tuple(slots), rows


def _slot(scalar: FlatScalar) -> Slot:
    plain = _PLAIN[DTYPES[scalar.dtype].kind]
    low, high = (None if end is None else plain(end) for end in (scalar.low, scalar.high))
    if plain is bool:
        low = high = None  # both truth values are always legal
    return Slot(scalar.name, scalar.dtype, plain(scalar.value), low, high)


_PLAIN: Mapping[str, type[bool] | type[int] | type[float]] = MappingProxyType(
    {"b": bool, "i": int, "u": int, "f": float}
)


def _numbers(scalar: FlatScalar) -> list[tuple[str, Number]]:
    named = (("value", scalar.value), ("lower bound", scalar.low), ("upper bound", scalar.high))
    return [(what, number) for what, number in named if number is not None]


def _fits(scalar: FlatScalar, what: str, value: Number, reporter: Reporter) -> bool:
    dtype = DTYPES[scalar.dtype]
    kind = kind_fault(value, dtype)
    fault = kind or range_fault(value, dtype)
    if fault is None:
        return True
    reporter.add(
        "PLC457" if kind else "PLC456",
        f"the {what} of scalar `{scalar.name}` is wrong: {fault}",
        scalar.span,
        help=f"give a value of type `{dtype.name}`, or declare another type",
        scalar=scalar.name,
        dtype=dtype.name,
    )
    return False


def _in_range(scalar: FlatScalar, reporter: Reporter) -> None:
    low = scalar.value if scalar.low is None else scalar.low
    high = scalar.value if scalar.high is None else scalar.high
    if low <= scalar.value <= high:
        return
    shown = ["the type's" if end is None else str(end) for end in (scalar.low, scalar.high)]
    reporter.add(
        "PLC477",
        f"the default {scalar.value} of slot `{scalar.name}` lies outside its range {shown[0]} to {shown[1]}",
        scalar.span,
        help="widen the range, or give a default inside it",
        scalar=scalar.name,
    )
