"""What an attempt is: bytes that somebody might hand to a service, and what comes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from planc.plan import Parts, encode, put_together, take_apart
from planc.plan.example import example_plan
from planc.plan.layout import row_type

Change = Callable[[Parts], object]


@dataclass(frozen=True)
class Attempt:
    """One attempt. ``verdict``: codes of the refusal, or ``accepted``; ``why`` judges it."""

    number: int
    title: str
    make: Callable[[], bytes]
    verdict: str
    why: str


def resealed(change: Change, *, fill: bool = True) -> bytes:
    """Return the example after ``change``, with digests that fit again."""
    parts = take_apart(encode(example_plan()))
    change(parts)
    return put_together(parts, fill=fill)


def cells(table: str, row: int, **values: Any) -> Change:
    """Return a change of some cells of one row of a table (``nodes``, ``schedule/0/edges``)."""

    def change(parts: Parts) -> None:
        name = f"program/0/{table}"
        rows = np.frombuffer(parts.sections[name], row_type(name)).copy()
        for column, value in values.items():
            rows[column][row] = value
        parts.sections[name] = rows.tobytes()

    return change


def program(parts: Parts) -> dict[str, Any]:
    """Return the header of the first program."""
    found: dict[str, Any] = parts.header["programs"][0]
    return found
