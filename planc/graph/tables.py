"""Growing tables of a program: boxes, effects and argument bytes, and their final NumPy form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from planc.plan.boxes import Box
from planc.plan.program import AXIS, BOX, Table


class BoxTable:
    """Interned boxes: equal boxes share one row of Program.boxes."""

    def __init__(self) -> None:
        """Start empty."""
        self._rows: dict[Box, int] = {}

    def row(self, box: Box) -> int:
        """Return the row of ``box``, adding it if it is new."""
        return self._rows.setdefault(box, len(self._rows))

    def tables(self) -> tuple[Table, Table]:
        """Return the BOX and AXIS tables."""
        boxes: list[tuple[int, int, int, int, int]] = []
        axes: list[tuple[int, int]] = []
        for box in self._rows:
            boxes.append((box.offset, box.item, len(axes), len(box.axes), 0))
            axes.extend(box.axes)
        return table(boxes, BOX), table(axes, AXIS)


def table(rows: Iterable[tuple[Any, ...]], dtype: np.dtype[Any]) -> Table:
    """Return rows as a structured array."""
    return np.array(list(rows), dtype=dtype)
