"""Strided boxes: the footprints of views, and an exact test of whether two of them share a byte.

A box is the byte set ``{offset + i1*s1 + ... + ik*sk + b : 0 <= ij < nj, 0 <= b < item}``.
Intervals only filter: :func:`boxes_meet` answers exactly for any two boxes. Two boxes share a byte
iff one bounded linear equation has a solution. Sorted by stride, its terms are split into a high and a
low group wherever the fewest sums of the high group can reach the target at all; each such sum gives two
smaller equations, and one or two terms are solved in closed form. Every split keeps all solutions
(the high group only makes multiples of its greatest common divisor, the low group is bounded), so
the answer is exact. Two views of one buffer need a handful of steps; boxes with many large and almost
equal strides can need as many steps as the counts of their axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

Axis = tuple[int, int]
_Term = tuple[int, int]  # (stride, greatest coefficient); the least is 0


@dataclass(frozen=True, slots=True)
class Box:
    """Bytes of a buffer: ``axes`` are (count, stride in bytes), outermost first; ``item`` in bytes.

    Counts and ``item`` are at least 1. Strides may be negative; ``offset`` is the first byte of the item
    at index 0 of every axis, in bytes from the buffer's start.
    """

    offset: int
    axes: tuple[Axis, ...]
    item: int

    @property
    def interval(self) -> tuple[int, int]:
        """Return the half-open byte interval from the first to the last byte."""
        low = high = self.offset
        for count, stride in self.axes:
            reach = (count - 1) * stride
            if reach < 0:
                low += reach
            else:
                high += reach
        return low, high + self.item

    @property
    def items(self) -> int:
        """Return how many items the axes count."""
        product = 1
        for count, _ in self.axes:
            product *= count
        return product


def canonical(box: Box) -> Box:
    """Return the same byte set with positive strides, sorted and merged axes.

    Axes of one element and broadcast axes (stride 0) go, negative ones are turned round, axes are
    sorted by falling stride, and an axis that continues the next one without a gap is merged into it. Box
    and result have equal bytes; two views of equal bytes mostly, not always, give equal boxes.
    """
    offset = box.offset
    axes: list[Axis] = []
    for count, stride in box.axes:
        if count == 1 or stride == 0:
            continue
        if stride < 0:
            offset += (count - 1) * stride
            stride = -stride
        axes.append((count, stride))
    axes.sort(key=lambda axis: (-axis[1], axis[0]))
    return Box(offset, tuple(_merged(axes)), box.item)


def _merged(axes: list[Axis]) -> list[Axis]:
    merged: list[Axis] = []
    for count, stride in axes:
        if merged and merged[-1][1] == count * stride:
            merged[-1] = (merged[-1][0] * count, stride)
        else:
            merged.append((count, stride))
    return merged


def boxes_meet(first: Box, second: Box) -> bool:
    """Return whether two boxes of one buffer share a byte. Exact."""
    low, high = first.interval
    other_low, other_high = second.interval
    if high <= other_low or other_high <= low:
        return False
    terms: dict[int, int] = {}
    target = second.offset - first.offset
    for count, stride in first.axes:
        target = _add_term(terms, stride, count - 1, target)
    for count, stride in second.axes:
        target = _add_term(terms, -stride, count - 1, target)
    target = _add_term(terms, 1, first.item - 1, target)
    target = _add_term(terms, -1, second.item - 1, target)
    return _solvable(_condensed(sorted(terms.items())), target)


def _add_term(terms: dict[int, int], stride: int, most: int, target: int) -> int:
    """Add ``stride * x`` with 0 <= x <= most to the left side; return the new right side.

    A negative stride is replaced by ``x -> most - x``, so that all terms are positive; terms of equal
    stride add up to one, since their sums are exactly the multiples up to the sum of both.
    """
    if stride == 0 or most == 0:
        return target
    if stride < 0:
        stride = -stride
        target += stride * most
    terms[stride] = terms.get(stride, 0) + most
    return target


def _condensed(rising: list[_Term]) -> list[_Term]:
    """Fold terms whose sums are one arithmetic progression; ``rising`` strides. Falling strides return.

    ``{0, s, .., m*s} + {0, k*s, .., n*k*s}`` has no gap iff ``k*s <= (m + 1) * s``.
    """
    folded: list[_Term] = []
    for stride, most in rising:
        if folded:
            step, reach = folded[-1]
            if stride % step == 0 and stride <= (reach + 1) * step:
                folded[-1] = (step, reach + most * (stride // step))
                continue
        folded.append((stride, most))
    folded.reverse()
    return folded


def _solvable(terms: list[_Term], target: int) -> bool:
    """Return whether ``sum(stride * x) == target`` has a solution with 0 <= x <= most for each term.

    ``terms`` have positive, falling strides.
    """
    if target < 0 or target > _sum(terms):
        return False
    if len(terms) <= 2:
        return _CLOSED[len(terms)](terms, target)
    if target % gcd(*(stride for stride, _ in terms)):
        return False
    high, low = _split(terms)
    step, high_sum, low_sum = gcd(*(stride for stride, _ in high)), _sum(high), _sum(low)
    least = -(-max(0, target - low_sum) // step) * step
    return any(
        _solvable(low, target - part) and _solvable(high, part)
        for part in range(least, min(target, high_sum) + 1, step)
    )


def _sum(terms: list[_Term]) -> int:
    return sum(stride * most for stride, most in terms)


def _split(terms: list[_Term]) -> tuple[list[_Term], list[_Term]]:
    """Cut falling terms where the low group covers the fewest multiples of the high group's divisor."""
    best, cut = -1, 1
    divisor, low_sum = 0, _sum(terms)
    for place in range(1, len(terms)):
        stride, most = terms[place - 1]
        divisor = gcd(divisor, stride)
        low_sum -= stride * most
        tries = low_sum // divisor + 1
        if best < 0 or tries < best:
            best, cut = tries, place
    return terms[:cut], terms[cut:]


def _none(terms: list[_Term], target: int) -> bool:
    return target == 0


def _one(terms: list[_Term], target: int) -> bool:
    ((stride, most),) = terms
    return target % stride == 0 and target // stride <= most


def _two(terms: list[_Term], target: int) -> bool:
    (first, first_most), (second, second_most) = terms
    common = gcd(first, second)
    if target % common:
        return False
    first, second, target = first // common, second // common, target // common
    low = max(0, -(-(target - second * second_most) // first))
    high = min(first_most, target // first)
    residue = target * pow(first, -1, second) % second
    return low + (residue - low) % second <= high


_CLOSED = (_none, _one, _two)
