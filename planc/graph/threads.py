"""Whether two accesses of one launch touch the same bytes in different threads."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import product

from planc.effects import AccessRange
from planc.graph.launch import Launch
from planc.graph.uses import Pointer
from planc.plan.boxes import Box, boxes_meet

_TERM = re.compile(r"([+-]?)(?:(\d+)\*)?((?:tid|ctaid)\.[xyz])\Z|([+-]?\d+)\Z")

Terms = Mapping[str, int]
"""Factor of each index of a formula; the empty name is its constant."""


def share_between_threads(first: Pointer, second: Pointer, launch: Launch) -> bool:
    """Return whether a thread may touch bytes through one pointer that another writes through the other.

    Exact for accesses at sums of indices; everything else that meets is taken to be shared.
    """
    for one, two in product(first.accesses, second.accesses):
        if one.kind == two.kind == "read" or not _meet(first, one, second, two):
            continue
        if not _same_thread(first, one, second, two, launch):
            return True
    return False


def _meet(first: Pointer, one: AccessRange, second: Pointer, two: AccessRange) -> bool:
    if one.may is None or two.may is None:
        return True
    return boxes_meet(_moved(first, one), _moved(second, two))


def _moved(pointer: Pointer, access: AccessRange) -> Box:
    assert access.may is not None
    return Box(pointer.view.box.offset + access.may.offset, access.may.axes, access.may.item)


def _same_thread(first: Pointer, one: AccessRange, second: Pointer, two: AccessRange, launch: Launch) -> bool:
    """Return whether each thread touches the same bytes twice, and no other thread these bytes."""
    if one.width != two.width or not one.width:
        return False
    left, right = terms_of(one.address), terms_of(two.address)
    if left is None or right is None:
        return False
    start, other = first.view.box.offset + left.get("", 0), second.view.box.offset + right.get("", 0)
    left, right = ({k: v for k, v in side.items() if k and v} for side in (left, right))
    return start == other and left == right and _injective(left, (one, two), launch)


def terms_of(formula: str) -> Terms | None:
    """Return the factors of a formula that is a sum of indices of threads and blocks, else None."""
    found: dict[str, int] = {}
    for part in formula.replace(" - ", " + -").split(" + "):
        match = _TERM.match(part)
        if match is None:
            return None
        sign, factor, name, constant = match.groups()
        value = int(constant) if name is None else int(f"{sign}{factor or 1}")
        found[name or ""] = found.get(name or "", 0) + value
    return found


def _injective(terms: Terms, accesses: tuple[AccessRange, AccessRange], launch: Launch) -> bool:
    """Return whether distinct threads that do either access are its width apart at least.

    By rising step, each axis must step over all that the axes before it reach. ``blockIdx * blockDim +
    threadIdx`` is one axis, and a guard on it that both accesses have bounds it.
    """
    steps: list[tuple[int, int]] = []
    for axis, (threads, blocks) in enumerate(zip(launch.block, launch.grid, strict=True)):
        inner, outer = terms.get(f"tid.{'xyz'[axis]}", 0), terms.get(f"ctaid.{'xyz'[axis]}", 0)
        if threads > 1 and blocks > 1 and outer == inner * threads:
            guarded = max(_guarded(access.guard, axis, threads) for access in accesses)
            steps.append((abs(inner), min(threads * blocks, guarded)))
        else:
            steps += [(abs(inner), threads), (abs(outer), blocks)]
    return _apart(steps, accesses[0].width)


def _apart(steps: Sequence[tuple[int, int]], reach: int) -> bool:
    for step, count in sorted(steps):
        if count > 1 and step < reach:
            return False
        reach += step * (count - 1)
    return True


def _guarded(guard: str, axis: int, threads: int) -> int:
    """Return how many values a guard ``n - index >= 0`` leaves to the index of an axis."""
    names = {f"tid.{'xyz'[axis]}": -1, f"ctaid.{'xyz'[axis]}": -threads}
    most = 1 << 62
    for fact in guard.split(" and "):
        terms = terms_of(fact.removesuffix(" >= 0"))
        if terms is not None and {k: v for k, v in terms.items() if k} == names:
            most = min(most, terms.get("", 0) + 1)
    return most
