"""Strided boxes as the fewest rectangular pieces that the driver's memset and memcpy take.

All lengths and distances are in bytes from the start of a buffer. A box is a run of ``item`` bytes,
repeated along axes of (count, stride). A piece has a width (one run), and for a memset one axis more
(2-D), for a memcpy two more (3-D); what is left over becomes several pieces.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planc.plan.program import Program

MAX_PIECES = 65_536


class TooManyPieces(Exception):
    """The box needs more than MAX_PIECES pieces; ``count`` says how many."""

    def __init__(self, count: int) -> None:
        """Keep the count."""
        super().__init__(f"{count} pieces")
        self.count = count


class Unlike(Exception):
    """Two boxes of a copy do not hold the same number of bytes, or cannot be walked in step by axes."""


@dataclass(frozen=True, slots=True)
class Box:
    """A strided box: ``axes`` of (count, stride), outermost first."""

    offset: int
    item: int
    axes: tuple[tuple[int, int], ...]

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return self.item * math.prod(count for count, _ in self.axes)


@dataclass(frozen=True, slots=True)
class FillPiece:
    """``height`` rows of ``width`` bytes, ``pitch`` apart."""

    offset: int
    width: int
    height: int
    pitch: int


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a copy: where it starts, how far apart rows are, and how many rows a plane spans."""

    offset: int
    pitch: int
    rows: int


@dataclass(frozen=True, slots=True)
class CopyPiece:
    """``depth`` planes of ``height`` rows of ``width`` bytes."""

    width: int
    height: int
    depth: int
    target: Side
    source: Side


def box_of(program: Program, row: int) -> Box:
    """Return a row of the box table."""
    box = program.boxes[row]
    first, count = int(box["axis"]), int(box["axes"])
    rows = program.axes[first : first + count]
    return Box(int(box["offset"]), int(box["item"]), tuple((int(a["count"]), int(a["stride"])) for a in rows))


def fill_pieces(box: Box, max_pitch: int) -> list[FillPiece]:
    """Cut the box of a fill into 2-D pieces. Raises :class:`TooManyPieces`."""
    if not box.nbytes:
        return []
    walk = _Walk.of((box.offset,), box.item, [(count, (stride,)) for count, stride in box.axes if stride])
    rows = max((a for a in walk.axes if walk.is_row(a, max_pitch)), key=lambda a: a.count, default=_ONE)
    pitch = rows.strides[0] if rows is not _ONE else walk.run
    return [FillPiece(at[0], walk.run, rows.count, pitch) for at in walk.starts(rows)]


def copy_pieces(target: Box, source: Box, max_pitch: int) -> list[CopyPiece]:
    """Cut a copy into 3-D pieces; boxes whose axes do not match go run by run.

    Raises :class:`TooManyPieces`, and :class:`Unlike` where the boxes have different sizes.
    """
    if target.nbytes != source.nbytes:
        raise Unlike(f"it copies {source.nbytes} bytes to {target.nbytes}")
    if not target.nbytes:
        return []
    try:
        run, axes = _in_step(target, source)
    except Unlike:
        return _run_by_run(target, source)
    walk = _Walk.of((target.offset, source.offset), run, axes)
    rows, planes = walk.best_pair(max_pitch)
    sides = [_side_shape(walk.run, rows, planes, i) for i in (0, 1)]
    return [
        CopyPiece(walk.run, rows.count, planes.count, *(Side(o, *s) for o, s in zip(at, sides, strict=True)))
        for at in walk.starts(rows, planes)
    ]


@dataclass(frozen=True, slots=True)
class _Axis:
    count: int
    strides: tuple[int, ...]


_ONE = _Axis(1, (0, 0))


@dataclass(frozen=True, slots=True)
class _Walk:
    """Axes that one or two boxes share, simplified: no axis of one, no two that could be one."""

    offsets: tuple[int, ...]
    run: int
    axes: tuple[_Axis, ...]

    @classmethod
    def of(cls, offsets: Sequence[int], run: int, axes: Sequence[tuple[int, tuple[int, ...]]]) -> _Walk:
        starts = list(offsets)
        kept = []
        for count, strides in axes:
            if count == 1:
                continue
            if all(s <= 0 for s in strides) and any(strides):
                starts = [o + (count - 1) * s for o, s in zip(starts, strides, strict=True)]
                strides = tuple(-s for s in strides)
            kept.append(_Axis(count, strides))
        return cls(tuple(starts), *_merge(run, kept))

    def is_row(self, axis: _Axis, max_pitch: int) -> bool:
        """Whether rows along this axis do not overlap, and their distance is a pitch."""
        return all(self.run <= s <= max_pitch for s in axis.strides)

    def best_pair(self, max_pitch: int) -> tuple[_Axis, _Axis]:
        """Return the axes of rows and planes that cover most."""
        candidates = [a for a in self.axes if self.is_row(a, max_pitch)]
        best = (max(candidates, key=lambda a: a.count, default=_ONE), _ONE)
        for rows, planes in itertools.permutations(candidates, 2):
            if _stacks(rows, planes) and rows.count * planes.count > best[0].count * best[1].count:
                best = (rows, planes)
        return best

    def starts(self, *covered: _Axis) -> Iterator[tuple[int, ...]]:
        """Yield the offsets at which a piece starts, outermost axis slowest."""
        left = [a for a in self.axes if not any(a is c for c in covered)]
        count = math.prod(a.count for a in left)
        if count > MAX_PIECES:
            raise TooManyPieces(count)
        for index in itertools.product(*(range(a.count) for a in left)):
            yield tuple(
                offset + sum(n * a.strides[side] for n, a in zip(index, left, strict=True))
                for side, offset in enumerate(self.offsets)
            )


def _stacks(rows: _Axis, planes: _Axis) -> bool:
    """Whether planes lie a whole number of rows apart, and do not overlap, on every side."""
    return all(p % r == 0 and p // r >= rows.count for r, p in zip(rows.strides, planes.strides, strict=True))


def _side_shape(run: int, rows: _Axis, planes: _Axis, side: int) -> tuple[int, int]:
    pitch = rows.strides[side] if rows is not _ONE else run
    height = planes.strides[side] // pitch if planes is not _ONE else rows.count
    return pitch, height


def _merge(run: int, axes: list[_Axis]) -> tuple[int, tuple[_Axis, ...]]:
    """Join axes that continue each other, and the run with the axis that continues it."""
    left = list(axes)
    changed = True
    while changed:
        changed = False
        for axis in left:
            if all(s == run for s in axis.strides):
                run *= axis.count
                left.remove(axis)
                changed = True
                break
        changed = changed or _merge_one(left)
    return run, tuple(left)


def _merge_one(axes: list[_Axis]) -> bool:
    for outer, inner in itertools.permutations(range(len(axes)), 2):
        a, b = axes[outer], axes[inner]
        if all(s == b.count * t and s for s, t in zip(a.strides, b.strides, strict=True)):
            axes[inner] = _Axis(a.count * b.count, b.strides)
            del axes[outer]
            return True
    return False


def _in_step(target: Box, source: Box) -> tuple[int, list[tuple[int, tuple[int, int]]]]:
    """Return one run and axes of (count, (target stride, source stride)) that walk both boxes in C order.

    The boxes may group their axes differently (one merged, the other not), as long as one grouping
    refines the other; else :class:`Unlike`.
    """
    left = [*(_Axis(c, (s,)) for c, s in target.axes if c != 1), _Axis(target.item, (1,))]
    right = [*(_Axis(c, (s,)) for c, s in source.axes if c != 1), _Axis(source.item, (1,))]
    shared: list[tuple[int, tuple[int, int]]] = []
    while left and right:
        count = min(left[-1].count, right[-1].count)
        shared.insert(0, (count, (_take(left, count), _take(right, count))))
    run = shared.pop()[0] if shared and shared[-1][1] == (1, 1) else 1
    return run, shared


def _take(axes: list[_Axis], count: int) -> int:
    """Take the innermost ``count`` of the last axis and return its stride."""
    axis = axes.pop()
    if axis.count % count:
        raise Unlike(f"axes of {axis.count} and {count}")
    stride = axis.strides[0]
    if axis.count > count:
        axes.append(_Axis(axis.count // count, (stride * count,)))
    return stride


def _run_by_run(target: Box, source: Box) -> list[CopyPiece]:
    """Copy whole items one by one, neighbours on both sides together."""
    item = math.gcd(target.item, source.item)
    count = target.nbytes // item
    if count > MAX_PIECES:
        raise TooManyPieces(count)
    to, start = _offsets(target, item), _offsets(source, item)
    breaks = np.flatnonzero((np.diff(to) != item) | (np.diff(start) != item)) + 1
    firsts = np.concatenate([np.zeros(1, np.int64), breaks])
    widths = np.diff(np.append(firsts, count)) * item
    return [
        CopyPiece(w, 1, 1, Side(t, w, 1), Side(s, w, 1))
        for w, t, s in zip(widths.tolist(), to[firsts].tolist(), start[firsts].tolist(), strict=True)
    ]


def _offsets(box: Box, item: int) -> NDArray[np.int64]:
    """Return the offset of every ``item`` bytes of a box, in C order."""
    offsets = np.array([box.offset], np.int64)
    for count, stride in (*box.axes, (box.item // item, item)):
        offsets = np.add.outer(offsets, np.arange(count) * stride).reshape(-1)
    return offsets
