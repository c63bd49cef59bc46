"""Growing tables of a program: boxes, effects and argument bytes, and their final NumPy form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from planc.plan.boxes import Box
from planc.plan.program import AXIS, BOX, Table


class BoxTable:
    """Interned boxes: equal boxes, and equal runs of boxes, share rows of Program.boxes."""

    def __init__(self) -> None:
        """Start empty."""
        self._boxes: list[Box] = []
        self._rows: dict[Box, int] = {}
        self._runs: dict[tuple[Box, ...], int] = {}

    def row(self, box: Box) -> int:
        """Return the row of ``box``, adding it if it is new."""
        found = self._rows.get(box)
        if found is None:
            found = self._rows[box] = len(self._boxes)
            self._boxes.append(box)
        return found

    def run(self, boxes: tuple[Box, ...]) -> tuple[int, int]:
        """Return (first row, count) of neighbouring rows that hold ``boxes``; (0, 0) for none."""
        if len(boxes) < 2:
            return (self.row(boxes[0]), 1) if boxes else (0, 0)
        first = self._runs.get(boxes)
        if first is None:
            first = self._runs[boxes] = len(self._boxes)
            for place, box in enumerate(boxes):
                self._rows.setdefault(box, first + place)
            self._boxes.extend(boxes)
        return first, len(boxes)

    def tables(self) -> tuple[Table, Table]:
        """Return the BOX and AXIS tables."""
        boxes: list[tuple[int, int, int, int, int]] = []
        axes: list[tuple[int, int]] = []
        for box in self._boxes:
            boxes.append((box.offset, box.item, len(axes), len(box.axes), 0))
            axes.extend(box.axes)
        return table(boxes, BOX), table(axes, AXIS)


def table(rows: Iterable[tuple[Any, ...]], dtype: np.dtype[Any]) -> Table:
    """Return rows as a structured array."""
    return np.array(list(rows), dtype=dtype)
