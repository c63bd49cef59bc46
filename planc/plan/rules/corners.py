"""How far boxes reach, as columns. Rows must be well formed, so that no sum can overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.plan.program import Program

Column = NDArray[Any]


def corners(program: Program) -> tuple[Column, Column]:
    """Return the first byte and the end of each box, relative to its buffer (int64)."""
    low = program.boxes["offset"].astype(np.int64)
    high = low + program.boxes["item"]
    for rows, axis in axis_by_axis(program):
        reach = (program.axes["count"][axis].astype(np.int64) - 1) * program.axes["stride"][axis]
        low[rows] += np.minimum(reach, 0)
        high[rows] += np.maximum(reach, 0)
    return low, high


def elements(program: Program) -> Column:
    """Return how many items each box counts, as float64: exact below 2**53, and monotonic above."""
    result = np.ones(len(program.boxes), np.float64)
    for rows, axis in axis_by_axis(program):
        result[rows] *= program.axes["count"][axis]
    return result


def axis_by_axis(program: Program) -> list[tuple[Column, Column]]:
    """Return, for the first axis of all boxes, then the second, …: which boxes have it, and its row."""
    first = program.boxes["axis"].astype(np.int64)
    count = program.boxes["axes"]
    result = []
    for position in range(int(count.max(initial=0))):
        rows = np.flatnonzero(count > position)
        result.append((rows, first[rows] + position))
    return result
