"""Read-modify-write for many threads at once, as if they came one after the other.

The order is that of the arrays: ascending thread index. Each strategy below gives exactly the result of
that order; which one runs depends on how often places repeat and on the operation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.simt.registers import SIGNED, Bits

Index = NDArray[np.int64]

_SUMMED: dict[str, str] = {"f32": "f4", "f64": "f8"}
_LOGIC: dict[str, np.ufunc] = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_LIMITS: dict[str, np.ufunc] = {"min": np.minimum, "max": np.maximum}


@dataclass(frozen=True, slots=True)
class Update:
    """What happens to a place: ``function(old, *operands)`` on bits.

    ``wants_old`` says that somebody reads the old values; ``flushes`` that subnormal numbers count as
    zero.
    """

    operation: str
    type: str
    function: Callable[..., Bits]
    wants_old: bool = True
    flushes: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether operands are integers or plain bits."""
        return self.type[0] in "bus" and self.type[1:].isdigit()


def serve(view: Bits, index: Index, values: list[Bits], update: Update) -> tuple[Bits, bool]:
    """Update ``view[index[i]]`` by ``values[k][i]``, one ``i`` after the other.

    Returns the old value that each saw (arbitrary bits where it is not wanted), and whether any place
    changed.
    """
    if len(index) == 1 or bool((index[1:] > index[:-1]).all()):
        return _apart(view, index, values, update)
    order = np.argsort(index, kind="stable")
    groups = _Groups(index[order])
    if groups.largest == 1:
        return _apart(view, index, values, update)
    before = view[groups.places]
    old = _together(view, index, values, update, order, groups)
    return old, bool((view[groups.places] != before).any())


def _apart(view: Bits, index: Index, values: list[Bits], update: Update) -> tuple[Bits, bool]:
    old = view[index]
    new = update.function(old, *values)
    view[index] = new
    return old, bool((new != old).any())


class _Groups:
    """Equal places, sorted: where each group starts, how large it is, which place it is."""

    __slots__ = ("largest", "places", "sizes", "starts")

    def __init__(self, ordered: Index) -> None:
        self.starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
        self.sizes = np.diff(np.append(self.starts, len(ordered)))
        self.places = ordered[self.starts]
        self.largest = int(self.sizes.max())

    def spread(self, per_group: Bits) -> Bits:
        """Repeat a value of each group for all its members."""
        return np.repeat(per_group, self.sizes)


def _together(
    view: Bits, index: Index, values: list[Bits], update: Update, order: Index, groups: _Groups
) -> Bits:
    strategy = _strategy(update)
    old = strategy(view, index, values, update, order, groups) if strategy else None
    return _rounds(view, index, values, update, order, groups) if old is None else old


Strategy = Callable[[Bits, Index, list[Bits], Update, Index, _Groups], "Bits | None"]
"""A faster way than :func:`_rounds`; None where it does not fit, and then nothing was changed."""


def _strategy(update: Update) -> Strategy | None:
    operation = update.operation
    if operation == "add" and update.is_integer:
        return _integer_sums
    if operation in _CHAINS:
        return _CHAINS[operation]
    if update.wants_old:
        return None
    if update.is_integer and operation in _LIMITS | _LOGIC:
        return _reduced
    return _float_sums if operation == "add" and update.type in _SUMMED else None


def _integer_sums(
    view: Bits, index: Index, values: list[Bits], update: Update, order: Index, groups: _Groups
) -> Bits:
    """Running sums within each group, modulo the width."""
    terms = values[0][order]
    total = np.cumsum(terms, dtype=terms.dtype)
    before = total - terms
    seen = before - groups.spread(before[groups.starts]) + groups.spread(view[groups.places])
    last = groups.starts + groups.sizes - 1
    view[groups.places] = seen[last] + terms[last]
    return _unsorted(seen, order)


def _exchanges(
    view: Bits, index: Index, values: list[Bits], update: Update, order: Index, groups: _Groups
) -> Bits:
    """Each thread sees what the one before it brought."""
    brought = values[0][order]
    seen = np.empty_like(brought)
    seen[1:] = brought[:-1]
    seen[groups.starts] = view[groups.places]
    view[groups.places] = brought[groups.starts + groups.sizes - 1]
    return _unsorted(seen, order)


def _swaps(
    view: Bits, index: Index, values: list[Bits], update: Update, order: Index, groups: _Groups
) -> Bits | None:
    """Search from one success to the next; only worth it where a few places are crowded."""
    if groups.largest < 16 or len(groups.places) > 64:
        return None
    compare, new = (value[order] for value in values)
    seen = np.empty_like(compare)
    for place, start, size in zip(groups.places, groups.starts, groups.sizes, strict=True):
        seen[start : start + size] = _swap_one(view, int(place), compare[start : start + size], new[start:])
    return _unsorted(seen, order)


def _swap_one(view: Bits, place: int, compare: Bits, new: Bits) -> Bits:
    seen = np.empty_like(compare)
    at = 0
    while at < len(compare):
        current = view[place]
        hits = compare[at:] == current
        next_hit = int(np.argmax(hits)) if hits.any() else len(hits) - 1
        seen[at : at + next_hit + 1] = current
        at += next_hit + 1
        if hits.any():
            view[place] = new[at - 1]
    return seen


def _reduced(
    view: Bits, index: Index, values: list[Bits], update: Update, order: Index, groups: _Groups
) -> Bits:
    """One reduction per group; the order does not matter."""
    ufunc = (_LIMITS | _LOGIC)[update.operation]
    terms = values[0][order]
    held = view[groups.places]
    if update.type[0] == "s" and update.operation in _LIMITS:
        dtype = SIGNED[terms.dtype.itemsize * 8]
        terms, held = terms.view(dtype), held.view(dtype)
    view[groups.places] = ufunc(held, ufunc.reduceat(terms, groups.starts)).view(view.dtype)
    return values[0]


def _float_sums(
    view: Bits, index: Index, values: list[Bits], update: Update, order: Index, groups: _Groups
) -> Bits | None:
    """``numpy.add.at`` adds in the order of the arrays; not used near NaN and flushed subnormals."""
    dtype = np.dtype(_SUMMED[update.type])
    terms = values[0].view(dtype)
    held = view[groups.places].view(dtype).copy()
    typed = view.view(dtype)
    if update.flushes and (_has_tiny(terms) or _has_tiny(held)):
        return None
    with np.errstate(all="ignore"):
        np.add.at(typed, index, terms)
    if np.isfinite(typed[groups.places]).all():
        return values[0]
    typed[groups.places] = held
    return None


def _has_tiny(values: NDArray[Any]) -> bool:
    # Sums are multiples of the last place of the smallest term: none is subnormal if no term is below this.
    size = np.abs(values)
    return bool(((size < np.finfo(values.dtype).tiny * 2**26) & (size != 0)).any())


_CHAINS: dict[str, Strategy] = {"exch": _exchanges, "cas": _swaps}


def _rounds(
    view: Bits, index: Index, values: list[Bits], update: Update, order: Index, groups: _Groups
) -> Bits:
    """Serve the first of every group, then the second of every group, and so on."""
    turn = np.arange(len(order)) - groups.spread(groups.starts)
    by_turn = order[np.argsort(turn, kind="stable")]
    ends = np.cumsum(np.bincount(turn))
    old = np.empty(len(index), view.dtype)
    start = 0
    for end in ends:
        now = by_turn[start:end]
        place = index[now]
        held = view[place]
        old[now] = held
        view[place] = update.function(held, *(value[now] for value in values))
        start = end
    return old


def _unsorted(ordered: Bits, order: Index) -> Bits:
    result = np.empty_like(ordered)
    result[order] = ordered
    return result
