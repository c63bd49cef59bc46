"""Finding the range of bytes that each of many addresses lies in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Addresses = NDArray[np.uint64]
"""One address per thread."""


class Outside(Exception):
    """The access of element ``lane`` lies in no range."""

    def __init__(self, lane: int) -> None:
        """Keep the index of the first offender."""
        super().__init__(lane)
        self.lane = lane


class RangeTable:
    """Disjoint ranges ``[start, end)``, sorted by start."""

    __slots__ = ("_ends", "_starts", "ends", "starts")

    def __init__(self, starts: Sequence[int], ends: Sequence[int]) -> None:
        """Take sorted, disjoint ranges."""
        self.starts = list(starts)
        self.ends = list(ends)
        self._starts = np.array(self.starts, dtype=np.uint64)
        self._ends = np.array(self.ends, dtype=np.uint64)

    def find(self, addresses: Addresses, size: int) -> int | NDArray[np.int64]:
        """Return the index of the range that holds ``size`` bytes at each address.

        A single integer where one range holds them all, which costs two passes; else an index per
        address. Raises :class:`Outside` with the first address whose bytes no range holds.
        """
        low, high = int(addresses.min()), int(addresses.max())
        index = bisect_right(self.starts, low) - 1
        if index >= 0 and high + size <= self.ends[index]:
            return index
        return self._find_each(addresses, size)

    def _find_each(self, addresses: Addresses, size: int) -> NDArray[np.int64]:
        if not self.starts:
            raise Outside(0)
        found = np.searchsorted(self._starts, addresses, "right").astype(np.int64) - 1
        ends = self._ends[found]
        inside = (found >= 0) & (addresses < ends)
        inside &= ends - addresses >= np.uint64(size)
        if not inside.all():
            raise Outside(int(np.argmin(inside)))
        return found

    def nearest(self, address: int, size: int) -> int:
        """Return the index of the range closest to an access, or -1 where there is none."""
        if not self.starts:
            return -1
        index = max(bisect_right(self.starts, address) - 1, 0)
        after = index + 1
        if after < len(self.starts) and self.starts[after] - (address + size) < address - self.ends[index]:
            return after
        return index


def split_by(found: NDArray[np.int64]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return each index that occurs in ``found`` with the positions where it does."""
    return [(int(index), np.flatnonzero(found == index)) for index in np.unique(found)]


def element_index(addresses: Addresses, start: int, shift: int) -> NDArray[np.int64]:
    """Return ``(address - start) >> shift`` as an index array."""
    offsets: NDArray[Any] = addresses - np.uint64(start)
    if shift:
        offsets >>= np.uint64(shift)
    return offsets.view(np.int64)
