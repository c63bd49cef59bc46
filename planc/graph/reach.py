"""Which positions of a legal order come before a node: bit sets that stay short.

Nodes are numbered by their place in a legal order, so everything before a node has a lesser number. A
:data:`Past` is a set of them: *all* positions below ``base``, and ``base + i`` for each bit ``i`` of
``mask``. In a chain, or in a few lanes that meet now and then, ``base`` follows the node and the mask has
a few bits, so that 100,000 nodes cost little more a node than 100; in a wide graph a past is a plain
bit set, a bit for each position below the node's.
"""

from __future__ import annotations

from collections.abc import Sequence

Past = tuple[int, int]

NOTHING: Past = (0, 0)


def settled(base: int, mask: int) -> Past:
    """Return the past with its lowest run of bits moved into ``base``."""
    if mask & 1:
        ones = (~mask & (mask + 1)).bit_length() - 1
        return base + ones, mask >> ones
    return base, mask


def join(first: Past, second: Past) -> Past:
    """Return the union of two pasts."""
    if first[0] < second[0]:
        first, second = second, first
    base, mask = first
    return settled(base, mask | second[1] >> (base - second[0]))


def including(past: Past, position: int) -> Past:
    """Return the past with one more position, which is not below its base."""
    base, mask = past
    return settled(base, mask | 1 << (position - base))


def holds(past: Past, position: int) -> bool:
    """Return whether the past has a position."""
    base, mask = past
    return position < base or bool(mask >> (position - base) & 1)


def missing(past: Past, positions: int) -> int:
    """Return the bits of ``positions`` that the past lacks, counted from its base."""
    base, mask = past
    above = positions >> base
    return above ^ (above & mask)


def past_of(before: Sequence[int], pasts: Sequence[Past]) -> Past:
    """Return the past of a node from those of its direct predecessors, which are not in their own."""
    past = NOTHING
    for position in before:
        past = join(past, including(pasts[position], position))
    return past
