"""What effects say together: declarations, reductions that commute, threads that keep apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from planc.effects.result import AccessRange, Effect


class Agreement(StrEnum):
    """How a declared word fits what the PTX shows."""

    EXACT = "exact"
    WIDER = "wider"
    """The kernel does less than declared: true, but it orders more than it must."""
    CONTRADICTED = "contradicted"
    """The kernel does what the word denies."""
    OPEN = "open"
    """The effect is unknown: the word stands on its own."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The agreement of a declaration, and the access that contradicts it."""

    agreement: Agreement
    access: AccessRange | None = None


_ALLOWED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "in": frozenset({"read"}),
        "out": frozenset({"write"}),
        "inout": frozenset({"read", "write", "read-write", "reduce"}),
        "reduce": frozenset({"reduce"}),
    }
)
"""Kinds of accesses that each declared word admits."""
_EXACT: Mapping[str, str] = MappingProxyType(
    {"in": "read", "out": "write", "inout": "read-write", "reduce": "reduce"}
)


def judge_declaration(word: str, effect: Effect) -> Verdict:
    """Compare a declared word (``in``, ``out``, ``inout``, ``reduce``) with a proved effect.

    Accesses that were followed contradict a word even where others are unknown. A ``reduce`` with two
    operators is a contradiction: the two do not commute.
    """
    for access in effect.accesses:
        if access.kind not in _ALLOWED[word]:
            return Verdict(Agreement.CONTRADICTED, access)
    if effect.kind == "unknown":
        return Verdict(Agreement.OPEN)
    if effect.kind == _EXACT[word]:
        return Verdict(Agreement.EXACT)
    if word == "reduce" and effect.kind == "read-write":
        return Verdict(Agreement.CONTRADICTED, effect.accesses[-1])
    return Verdict(Agreement.WIDER)


def commute(first: Effect, second: Effect) -> bool:
    """Whether two reductions through pointers at equal addresses may run in either order.

    They do with one operator and type, on elements at the same places: else one changes parts of what the
    other adds up. Sums of floats then still vary in their last bits with the order.
    """
    if first.kind != "reduce" or second.kind != "reduce" or first.operator != second.operator:
        return False
    grids = {_grid(access) for effect in (first, second) for access in effect.accesses}
    return len(grids) == 1 and None not in grids


def _grid(access: AccessRange) -> tuple[int, int] | None:
    """Return (width, remainder) of the elements of an access; None where they lie at no fixed places."""
    width = access.width
    if not width or access.may is None or any(stride % width for _, stride in access.may.axes):
        return None
    return width, access.may.offset % width


def touch_own_bytes(effects: Sequence[Effect]) -> bool:
    """Whether through pointers at one address no two threads touch a byte in common.

    True where all accesses have one formula that gives each thread, in each turn of its loops, bytes of its
    own: then a kernel may read and write one buffer through two parameters.
    """
    accesses = [access for effect in effects for access in effect.accesses]
    if any(effect.kind == "unknown" for effect in effects):
        return False
    formulas = {(access.address, access.width) for access in accesses}
    return len(formulas) <= 1 and all(access.is_own for access in accesses)
