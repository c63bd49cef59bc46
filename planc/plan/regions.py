"""Regions: boxes of a buffer in the indices of its own shape, one progression per axis.

The region of a view is a product of arithmetic progressions, so that the intersection of two
regions is again a region, found axis by axis. :func:`region_of` finds it for every box that is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod

from planc.plan.boxes import Axis, Box, canonical


@dataclass(frozen=True, slots=True)
class Progression:
    """The indices ``start, start + step, ...`` (``count`` of them); ``step`` is at least 1."""

    start: int
    count: int
    step: int

    @property
    def last(self) -> int:
        """Return the greatest index."""
        return self.start + (self.count - 1) * self.step


Region = tuple[Progression, ...]


def strides_of(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    """Return the strides in bytes of a C-ordered array of ``shape`` with ``item`` bytes an element."""
    strides = [item] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return tuple(strides)


def region_of(box: Box, shape: tuple[int, ...], item: int) -> Region | None:
    """Return the indices of the elements (``item`` bytes each) that ``box`` covers.

    None when the bytes of the box are no product of progressions over ``shape``, or not whole elements.
    """
    flat = canonical(_whole_items(box, item))
    nbytes = prod(shape) * item
    low, high = flat.interval
    if flat.item != item or flat.offset % item or low < 0 or high > nbytes:
        return None
    rest = flat.offset
    region: list[Progression] = []
    for stride in strides_of(shape, item):
        region.append(Progression(rest // stride, 1, 1))
        rest %= stride
    return _spread(region, flat.axes, shape, item)


def _whole_items(box: Box, item: int) -> Box:
    """Return the box with items of ``item`` bytes where it has larger items or runs of smaller ones."""
    if box.item > item and box.item % item == 0:
        return Box(box.offset, (*box.axes, (box.item // item, item)), item)
    if box.item < item:
        flat = canonical(box)
        if flat.axes and flat.axes[-1][1] == flat.item and flat.axes[-1][0] * flat.item % item == 0:
            run = flat.axes[-1][0] * flat.item // item
            return Box(flat.offset, (*flat.axes[:-1], (run, item)), item)
    return box


def _spread(
    region: list[Progression], axes: tuple[Axis, ...], shape: tuple[int, ...], item: int
) -> Region | None:
    """Give each axis of the box, innermost first, to the axes of the shape that it runs along."""
    strides = strides_of(shape, item)
    dimension = len(shape) - 1
    for count, stride in reversed(axes):
        while count > 1:
            while dimension >= 0 and (
                shape[dimension] == 1 or stride >= strides[dimension] * shape[dimension]
            ):
                dimension -= 1
            if dimension < 0 or stride % strides[dimension]:
                return None
            step = stride // strides[dimension]
            start = region[dimension].start
            room = (shape[dimension] - 1 - start) // step + 1
            taken = min(count, room)
            wraps = count > room
            if wraps and (start >= step or shape[dimension] % step or count % room):
                return None
            region[dimension] = Progression(start, taken, step)
            count //= taken
            stride = strides[dimension] * shape[dimension]
            dimension -= 1
    return tuple(region)


def meet_regions(first: Region, second: Region) -> Region | None:
    """Return the common elements of two regions of one shape, or None when there is none. Exact."""
    common: list[Progression] = []
    for one, other in zip(first, second, strict=True):
        both = meet_progressions(one, other)
        if both is None:
            return None
        common.append(both)
    return tuple(common)


def meet_progressions(first: Progression, second: Progression) -> Progression | None:
    """Return the common indices of two progressions, or None when there is none. Exact."""
    common = gcd(first.step, second.step)
    gap = second.start - first.start
    if gap % common:
        return None
    step = first.step // common * second.step
    modulus = second.step // common
    turns = gap // common * pow(first.step // common, -1, modulus) % modulus
    start = first.start + turns * first.step
    floor = max(first.start, second.start)
    start += -((start - floor) // step) * step
    ceiling = min(first.last, second.last)
    if start > ceiling:
        return None
    count = (ceiling - start) // step + 1
    return Progression(start, count, step if count > 1 else 1)


def region_bytes(region: Region, shape: tuple[int, ...], item: int) -> tuple[int, int]:
    """Return the half-open interval from the first to the last byte of a region."""
    low = high = 0
    for axis, stride in zip(region, strides_of(shape, item), strict=True):
        low += axis.start * stride
        high += axis.last * stride
    return low, high + item


def region_text(name: str, region: Region, shape: tuple[int, ...]) -> str:
    """Return the region as a person writes it: ``u[0:4, :, 3]``."""
    if not region or all(axis.count == extent for axis, extent in zip(region, shape, strict=True)):
        return name
    return f"{name}[{', '.join(_axis_text(a, n) for a, n in zip(region, shape, strict=True))}]"


def _axis_text(axis: Progression, extent: int) -> str:
    if axis.count == extent and extent > 1:
        return ":"
    if axis.count == 1:
        return str(axis.start)
    if axis.step == 1:
        return f"{axis.start}:{axis.last + 1}"
    return f"{axis.start}:{axis.last + 1}:{axis.step}"
