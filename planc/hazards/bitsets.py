"""Sets of positions as the bits of Python integers."""

from __future__ import annotations

import numpy as np

_FEW = 24


def top_bits(mask: int, most: int) -> list[int]:
    """Return the ``most`` greatest positions in ``mask``, rising."""
    found: list[int] = []
    while mask and len(found) < most:
        top = mask.bit_length() - 1
        found.append(top)
        mask ^= 1 << top
    return found[::-1]


def bits(mask: int) -> list[int]:
    """Return the positions in ``mask``, rising."""
    if mask.bit_count() <= _FEW:
        return top_bits(mask, _FEW)
    data = np.frombuffer(mask.to_bytes((mask.bit_length() + 7) // 8, "little"), dtype=np.uint8)
    positions: list[int] = np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()
    return positions


class Positions:
    """A growing set of positions: a list while it is short, then a mask, so that many sets stay small."""

    __slots__ = ("_few", "_mask")

    def __init__(self) -> None:
        """Start empty."""
        self._few: list[int] = []
        self._mask = 0

    def add(self, position: int) -> None:
        """Add one position."""
        if len(self._few) < _FEW:
            self._few.append(position)
            return
        for few in self._few:
            self._mask |= 1 << few
        self._mask |= 1 << position
        self._few.clear()

    def within(self, mask: int, base: int) -> int:
        """Return the positions whose bit is in ``mask``, both counted from ``base``."""
        found = self._mask >> base & mask
        for few in self._few:
            if few >= base and mask >> (few - base) & 1:
                found |= 1 << (few - base)
        return found
