"""Where nodes stand in their author's files, read in place from the debug section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from planc.plan.layout import PLACE
from planc.plan.program import Place, Table


class PlaceTable(Sequence[Place]):
    """A sequence of :class:`Place` over a PLACE table; a place is made when it is asked for."""

    __slots__ = ("files", "rows")

    def __init__(self, files: tuple[str, ...], rows: Table) -> None:
        """Keep the file names and the table; every ``file`` of it must be a row of ``files``."""
        self.files = files
        self.rows = rows

    def __len__(self) -> int:
        """Return how many places there are: one per node, or none."""
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Place: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Place]: ...
    def __getitem__(self, index: int | slice) -> Place | Sequence[Place]:
        """Return one place, or a table of some."""
        if isinstance(index, slice):
            return PlaceTable(self.files, self.rows[index])
        file, line, column = self.rows[index].item()
        return Place(self.files[file], line, column)

    def __eq__(self, other: object) -> bool:
        """Compare place by place with any sequence of places."""
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        """Hash as the tuple of places does."""
        return hash(tuple(self))


def place_table(places: Sequence[Place]) -> PlaceTable:
    """Return places as a table; the files are in order of their names."""
    if isinstance(places, PlaceTable):
        return _sorted(places)
    files = tuple(sorted({place.file for place in places}))
    rows = np.empty(len(places), PLACE)
    number = {file: row for row, file in enumerate(files)}
    rows["file"] = [number[place.file] for place in places]
    rows["line"] = [place.line for place in places]
    rows["column"] = [place.column for place in places]
    return PlaceTable(files, rows)


def _sorted(table: PlaceTable) -> PlaceTable:
    # With counts: without them NumPy imports numpy.ma first, which takes longer than reading a plan.
    used, _ = np.unique(table.rows["file"], return_counts=True)
    files = tuple(sorted({table.files[row] for row in used.tolist()}))
    if files == table.files:
        return table
    rows = table.rows.copy()
    number = np.zeros(len(table.files), np.uint32)
    for row in used.tolist():
        number[row] = files.index(table.files[row])
    rows["file"] = number[rows["file"]]
    return PlaceTable(files, rows)
