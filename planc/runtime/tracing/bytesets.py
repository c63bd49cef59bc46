"""Sets of bytes of one buffer as sorted intervals in NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ByteSet:
    """Half-open intervals ``[starts[i], ends[i])``: rising, disjoint, none touching the next.

    Offsets count from the start of a buffer. Never changed.
    """

    starts: Ints
    ends: Ints

    def __bool__(self) -> bool:
        """Return whether it has a byte."""
        return bool(len(self.starts))

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the same bytes."""
        return isinstance(other, ByteSet) and self.key == other.key

    def __hash__(self) -> int:
        """Hash the bytes held."""
        return hash(self.key)

    @property
    def key(self) -> tuple[bytes, bytes]:
        """A value that is equal for equal sets."""
        return self.starts.tobytes(), self.ends.tobytes()

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return int((self.ends - self.starts).sum())

    @property
    def first(self) -> int:
        """Its least byte; the set has one."""
        return int(self.starts[0])

    @property
    def last(self) -> int:
        """Its greatest byte; the set has one."""
        return int(self.ends[-1]) - 1

    def __or__(self, other: ByteSet) -> ByteSet:
        """Return the union."""
        if not self or not other or self is other:
            return self if self else other
        return _combine(self, other, np.logical_or)

    def __and__(self, other: ByteSet) -> ByteSet:
        """Return the intersection."""
        if self is other:
            return self
        return _combine(self, other, np.logical_and) if self and other else EMPTY

    def __sub__(self, other: ByteSet) -> ByteSet:
        """Return what the other lacks."""
        if not self or not other:
            return self
        if self is other or (
            len(other.starts) == 1 and other.first <= self.first and self.last <= other.last
        ):
            return EMPTY
        return EMPTY if self == other else _combine(self, other, _without)

    def meets(self, other: ByteSet) -> bool:
        """Return whether both have some byte."""
        if not self or not other or self.first > other.last or other.first > self.last:
            return False
        few, many = (self, other) if len(self.starts) <= len(other.starts) else (other, self)
        place = np.searchsorted(many.ends, few.starts, "right")
        inside = place < len(many.starts)
        return bool((many.starts[place[inside]] < few.ends[inside]).any())

    def mask(self, low: int, high: int) -> Flags:
        """Return a flag for each byte from ``low`` to before ``high``."""
        steps = np.zeros(high - low + 1, np.int8)
        np.add.at(steps, np.clip(self.starts - low, 0, high - low), 1)
        np.add.at(steps, np.clip(self.ends - low, 0, high - low), -1)
        return np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_)


def _without(one: Flags, two: Flags) -> Flags:
    return one & ~two


def _combine(one: ByteSet, two: ByteSet, keep: np.ufunc | object) -> ByteSet:
    points = np.unique(np.concatenate([one.starts, one.ends, two.starts, two.ends]))
    inside = keep(_holds(one, points), _holds(two, points))  # type: ignore[operator]
    return _from_edges(points, inside)


def _holds(held: ByteSet, points: Ints) -> Flags:
    found: Flags = np.searchsorted(held.starts, points, "right") > np.searchsorted(held.ends, points, "right")
    return found


def _from_edges(points: Ints, inside: Flags) -> ByteSet:
    """Return the set that has or lacks the bytes from each point to the next."""
    before = np.concatenate([[False], inside[:-1]])
    return ByteSet(points[inside & ~before], points[~inside & before])


def interval(low: int, high: int) -> ByteSet:
    """Return the bytes from ``low`` to before ``high``."""
    return ByteSet(np.array([low], np.int64), np.array([high], np.int64)) if high > low else EMPTY


def from_mask(flags: NDArray[np.uint8] | Flags, base: int) -> ByteSet:
    """Return the bytes whose flag is set; the first flag is byte ``base``."""
    padded = np.zeros(len(flags) + 2, np.bool_)
    padded[1:-1] = flags
    edges = np.flatnonzero(padded[1:] != padded[:-1]) + base
    return ByteSet(edges[0::2], edges[1::2])


def from_box(offset: int, item: int, axes: Sequence[tuple[int, int]]) -> ByteSet:
    """Return the bytes of a strided box: ``item`` bytes, ``axes`` of (count, stride in bytes)."""
    starts, run = np.array([offset], np.int64), item
    for count, stride in sorted(axes, key=lambda axis: abs(axis[1])):
        if len(starts) == 1 and abs(stride) <= run and stride:
            low = int(starts[0]) + min(0, (count - 1) * stride)
            starts, run = np.array([low], np.int64), run + (count - 1) * abs(stride)
        elif stride:
            starts = np.add.outer(np.arange(count, dtype=np.int64) * stride, starts).reshape(-1)
    return from_runs(starts, run)


def from_runs(starts: Ints, run: int) -> ByteSet:
    """Return ``run`` bytes at each of ``starts``, which may overlap and stand in any order."""
    if not len(starts) or run <= 0:
        return EMPTY
    ordered = np.unique(starts)
    gap = ordered[1:] - ordered[:-1] > run
    return ByteSet(ordered[np.concatenate([[True], gap])], ordered[np.concatenate([gap, [True]])] + run)


EMPTY = ByteSet(np.empty(0, np.int64), np.empty(0, np.int64))
"""The set without bytes."""
