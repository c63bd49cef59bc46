"""Which of many sets of bytes share a byte."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planc.runtime.tracing import ByteSet
from planc.runtime.tracing.bytesets import Ints

_MOST = 1 << 23


class Neighbours:
    """Distinct sets of one area; those that meet are found by the pieces that their ends cut the area into.

    Each set is a list of pieces, and two sets meet where they list the same one. Where the lists, or the
    pairs, would be too many, hulls filter instead and pairs are decided one by one.
    """

    def __init__(self, sets: Sequence[ByteSet]) -> None:
        """Take sets that are not empty, each object once."""
        self._sets = sets
        self._index = {id(held): place for place, held in enumerate(sets)}
        self._lists = _meeting(sets)
        self._found: dict[int, list[int]] = {}
        self._low = np.array([held.first for held in sets], np.int64)
        self._high = np.array([held.last for held in sets], np.int64)

    def index(self, held: ByteSet) -> int:
        """Return the place of a set."""
        return self._index[id(held)]

    def of(self, held: ByteSet) -> list[int]:
        """Return the places of all sets that share a byte with one of them, itself among them."""
        place = self._index[id(held)]
        if self._lists is not None:
            return self._lists[place]
        if place not in self._found:
            near = np.flatnonzero((self._low <= held.last) & (self._high >= held.first)).tolist()
            self._found[place] = [other for other in near if held.meets(self._sets[other])]
        return self._found[place]


def _meeting(sets: Sequence[ByteSet]) -> list[list[int]] | None:
    """Return for each set the places of those that it meets, or None where that is too much work."""
    if not sets:
        return []
    piece, owner = _pieces(sets)
    if len(piece) > _MOST:
        return None
    order = np.argsort(piece, kind="stable")
    piece, owner = piece[order], owner[order]
    _, sizes = np.unique(piece, return_counts=True)
    if int((sizes.astype(np.float64) ** 2).sum()) > _MOST:
        return None
    pairs = [np.arange(len(sets), dtype=np.int64) * (len(sets) + 1)]
    for shift in range(1, int(sizes.max())):
        same = piece[shift:] == piece[:-shift]
        one, two = owner[:-shift][same], owner[shift:][same]
        pairs.append(np.unique(np.concatenate([one * len(sets) + two, two * len(sets) + one])))
    first, second = np.divmod(np.unique(np.concatenate(pairs)), len(sets))
    ends = np.searchsorted(first, np.arange(len(sets) + 1))
    return [second[a:b].tolist() for a, b in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]


def _pieces(sets: Sequence[ByteSet]) -> tuple[Ints, Ints]:
    """Return (piece, set) for every piece of every set; too many are cut off past the limit."""
    starts = np.concatenate([held.starts for held in sets])
    ends = np.concatenate([held.ends for held in sets])
    owners = np.repeat(np.arange(len(sets)), [len(held.starts) for held in sets])
    points = np.unique(np.concatenate([starts, ends]))
    first, last = np.searchsorted(points, starts), np.searchsorted(points, ends)
    counts = last - first
    if int(counts.sum()) > _MOST:
        return np.empty(_MOST + 1, np.int64), np.empty(0, np.int64)
    offsets = np.cumsum(counts) - counts
    piece = np.repeat(first - offsets, counts) + np.arange(int(counts.sum()))
    return piece, np.repeat(owners, counts)
