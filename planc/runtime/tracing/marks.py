"""Marks: one byte per byte of a buffer, set by many accesses at once and collected as intervals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planc.runtime.tracing.bytesets import EMPTY, ByteSet, from_mask

_WIDEST = 8
_PAD = 32  # an access of 32 bytes may stand at the end
_DTYPES = {size: np.dtype(f"<u{size}") for size in (1, 2, 4, 8)}
_ONES = {size: dtype.type(int.from_bytes(b"\x01" * size, "little")) for size, dtype in _DTYPES.items()}


class Spot(NamedTuple):
    """The words that an access touches, of ``width`` bytes, counted from the start of a buffer.

    ``low`` is its first byte, ``high`` the one past its last.
    """

    words: NDArray[np.int64]
    width: int
    low: int
    high: int


def spot(addresses: NDArray[np.uint64], size: int, start: int) -> Spot:
    """Return the words of accesses of ``size`` bytes, a power of two that divides their offsets."""
    offsets = (addresses - np.uint64(start)).view(np.int64)
    low, high = int(offsets.min()), int(offsets.max()) + size
    if size <= _WIDEST:
        return Spot(offsets >> (size.bit_length() - 1), size, low, high)
    words = np.add.outer(offsets >> 3, np.arange(size >> 3)).reshape(-1)
    return Spot(words, _WIDEST, low, high)


class Marks:
    """A mark for each byte of a buffer; only bytes from ``low`` to before ``high`` can have one."""

    __slots__ = ("_octets", "_views", "high", "low")

    def __init__(self, size: int) -> None:
        """Start without marks."""
        self._octets = np.zeros(-(-size // _PAD) * _PAD, np.uint8)
        self._views: dict[int, NDArray[Any]] = {w: self._octets.view(d) for w, d in _DTYPES.items()}
        self.low, self.high = size, 0

    def __bool__(self) -> bool:
        """Return whether something may be marked."""
        return self.high > self.low

    def _widen(self, low: int, high: int) -> None:
        self.low, self.high = min(self.low, low), max(self.high, high)

    def set(self, where: Spot) -> None:
        """Mark the bytes of an access."""
        self._views[where.width][where.words] = _ONES[where.width]
        self._widen(where.low, where.high)

    def set_absent(self, where: Spot, other: Marks) -> None:
        """Mark those bytes of an access that ``other`` has not marked."""
        held = other._views[where.width][where.words]
        if (held == _ONES[where.width]).all():
            return
        self._views[where.width][where.words] |= held ^ _ONES[where.width]
        self._widen(where.low, where.high)

    def add(self, other: Marks) -> None:
        """Mark all that ``other`` has marked."""
        if other:
            part = slice(other.low, other.high)
            self._octets[part] |= other._octets[part]
            self._widen(other.low, other.high)

    def add_bytes(self, held: ByteSet) -> None:
        """Mark the bytes of a set."""
        if held:
            low, high = held.first, held.last + 1
            self._octets[low:high] |= held.mask(low, high).view(np.uint8)
            self._widen(low, high)

    def bytes(self, low: int | None = None, high: int | None = None) -> ByteSet:
        """Return the marked bytes, of all or from ``low`` to before ``high``."""
        low, high = self.low if low is None else low, self.high if high is None else high
        return from_mask(self._octets[low:high], low) if high > low else EMPTY

    def take(self) -> ByteSet:
        """Return the marked bytes and remove the marks."""
        found = self.bytes()
        self._octets[self.low : self.high] = 0
        self.low, self.high = len(self._octets), 0
        return found

    def first_gap(self, start: int, size: int) -> int:
        """Return the first byte from ``start`` on without a mark, ``size`` where there is none."""
        part = self._octets[start:size].view(np.bool_)
        if not len(part):
            return size
        gap = int(part.argmin())
        return size if part[gap] else start + gap
