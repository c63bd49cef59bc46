"""From two orders with different results to two neighbours whose exchange makes the difference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from planc.hazards.tracing.orders import Order

Same = Callable[[Order], bool]
"""Whether replaying an order gives the memory of the first order."""


@dataclass(frozen=True, slots=True)
class Difference:
    """``first`` and ``second`` (rows) are neighbours in ``order``; exchanging them changes memory."""

    first: int
    second: int
    order: Order


def find_difference(known: Order, other: Order, same: Same) -> Difference:
    """Return two unordered nodes whose exchange changes the result, by about 2 log2(n) replays.

    ``known`` and ``other`` are legal orders of one graph, and ``same(other)`` is false. Every order tried is
    legal: a beginning of ``other``, then the rest as in ``known``.
    """
    prefix = _last_same(0, len(known), lambda length: same(_mixed(known, other, length)))
    base = _mixed(known, other, prefix)
    node = other[prefix]
    start = base.index(node)
    shift = _last_same(0, start - prefix, lambda steps: same(_ahead(base, start, steps)))
    before = _ahead(base, start, shift)
    return Difference(before[start - shift - 1], node, before)


def _last_same(low: int, high: int, same: Callable[[int], bool]) -> int:
    """Return a number with ``same`` whose successor lacks it; ``low`` has it, ``high`` lacks it."""
    while high - low > 1:
        middle = (low + high) // 2
        if same(middle):
            low = middle
        else:
            high = middle
    return low


def _mixed(known: Order, other: Order, length: int) -> Order:
    begun = other[:length]
    taken = set(begun)
    return (*begun, *(row for row in known if row not in taken))


def _ahead(order: Order, place: int, steps: int) -> Order:
    """Return the order with the node at ``place`` moved ahead by ``steps``."""
    row = order[place]
    rest = (*order[:place], *order[place + 1 :])
    return (*rest[: place - steps], row, *rest[place - steps :])
