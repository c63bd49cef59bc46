"""What a run does through each pointer and to each global: the analysis, the declaration, or neither."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from planc.effects import (
    DECLARED_ACCESSES,
    GLOBAL_ACCESSES,
    READS,
    WRITES,
    AccessRange,
    Effect,
    KernelEffects,
)
from planc.graph.binding import Bound
from planc.graph.names import KnownBuffer
from planc.graph.views import View
from planc.plan.boxes import Box
from planc.plan.program import EffectKind, Provenance

KINDS: Mapping[str, EffectKind] = MappingProxyType(
    {
        "read": EffectKind.READ,
        "write": EffectKind.WRITE,
        "read-write": EffectKind.READ_WRITE,
        "reduce": EffectKind.REDUCE,
    }
)
"""The analysis' kinds that touch memory."""
WORDS: Mapping[EffectKind, str] = MappingProxyType(
    {
        EffectKind.READ: "in",
        EffectKind.WRITE: "out",
        EffectKind.READ_WRITE: "inout",
        EffectKind.REDUCE: "reduce",
    }
)
"""The words of the language."""
_MOST = 24


@dataclass(frozen=True, slots=True)
class Use:
    """One effect on one buffer; boxes count from the buffer's start. ``operator``: of a proved reduction."""

    kind: EffectKind
    kind_known: Provenance
    range_known: Provenance
    may: tuple[Box, ...]
    must: tuple[Box, ...] = ()
    operator: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a run does through one pointer.

    ``kind`` is None where it does nothing, and where nobody knows (``unknown`` then says why). ``accesses``
    are the analysis' where every one of them is bounded, else empty.
    """

    bound: Bound
    view: View
    uses: tuple[Use, ...]
    kind: EffectKind | None
    unknown: str = ""
    accesses: tuple[AccessRange, ...] = ()

    @property
    def word(self) -> str:
        """The effect in the language's words."""
        return self.bound.parameter.effect or "" if self.kind is None else WORDS[self.kind]

    @property
    def writes(self) -> bool:
        """Whether it may change bytes."""
        return any(use.kind in WRITES for use in self.uses)

    @property
    def is_proved(self) -> bool:
        """Whether kind and range of everything are proved."""
        return all(Provenance.PROVED is k for use in self.uses for k in (use.kind_known, use.range_known))

    def boxes(self, kinds: Iterable[EffectKind]) -> tuple[Box, ...]:
        """Return the may boxes of the uses of these kinds."""
        return tuple(box for use in self.uses if use.kind in kinds for box in use.may)


def pointer_use(bound: Bound, view: View, results: Sequence[KernelEffects], wild: str) -> Pointer:
    """Return what a run does through a pointer; ``results`` are the analyses for each target.

    ``wild``: why the kernel may touch anything; then only a declaration says what it does.
    """
    effects = [r.parameters.get(bound.parameter.offset, Effect("unknown")) for r in results]
    lost = next((e.reason or "it is not followed" for e in effects if e.kind == "unknown"), wild)
    if not effects or lost:
        return _told(bound, view, lost or "there is no PTX to analyse")
    kind = joined_kind(effects)
    if kind is None:
        return Pointer(bound, view, (), None)
    if not all(_bounded(a, view) for e in effects for a in e.accesses):
        operator = _operator(kind, effects)
        use = Use(kind, Provenance.PROVED, Provenance.ASSUMED, (view.footprint,), (), operator)
        return Pointer(bound, view, (use,), kind)
    accesses = tuple(dict.fromkeys(a for e in effects for a in e.accesses))
    return Pointer(bound, view, _proved(kind, effects, accesses, view.box.offset), kind, "", accesses)


def _told(bound: Bound, view: View, reason: str) -> Pointer:
    """Return what the author says, or that nobody knows."""
    word = bound.parameter.effect
    if word is not None:
        access = DECLARED_ACCESSES[word]
        use = Use(access.kind, access.kind_provenance, access.range_provenance, (view.footprint,))
        return Pointer(bound, view, (use,), access.kind)
    kind = EffectKind.READ if view.known.read_only else EffectKind.READ_WRITE
    use = Use(kind, Provenance.UNKNOWN, Provenance.UNKNOWN, (view.footprint,))
    return Pointer(bound, view, (use,), None, reason)


def joined_kind(effects: Iterable[Effect]) -> EffectKind | None:
    """Return one kind that holds for all targets, None where none of them touches anything."""
    found = {(effect.kind, effect.operator) for effect in effects if effect.kind != "none"}
    if len(found) > 1:
        kinds = {kind for kind, _ in found}
        return KINDS[kinds.pop()] if kinds in ({"read"}, {"write"}) else EffectKind.READ_WRITE
    return KINDS[found.pop()[0]] if found else None


def _operator(kind: EffectKind, effects: Iterable[Effect]) -> str:
    """Return the operator that all targets reduce with."""
    return next((e.operator for e in effects if e.operator), "") if kind is EffectKind.REDUCE else ""


def _bounded(access: AccessRange, view: View) -> bool:
    """Return whether an access is shown to stay between the first and the last byte of the view."""
    if access.may is None:
        return False
    low, high = view.footprint.interval
    first, end = access.may.interval
    return low <= view.box.offset + first and view.box.offset + end <= high


def _proved(
    kind: EffectKind, effects: Sequence[Effect], accesses: Sequence[AccessRange], start: int
) -> tuple[Use, ...]:
    must = _must(effects, start)
    if all(effect.is_inside and effect.may is not None for effect in effects):
        whole = [box for effect in effects for box in effect.may or ()]
    else:  # a view that runs backwards, whose first bytes the analysis does not know to be in it
        whole = [access.may for access in accesses if access.may is not None]
    if kind is not EffectKind.READ_WRITE:
        return (_use(kind, tidy(whole, start), must if kind in WRITES else (), _operator(kind, effects)),)
    reads = tidy([a.may for a in accesses if a.kind != "write" and a.may is not None], start)
    writes = tidy([a.may for a in accesses if a.kind != "read" and a.may is not None], start)
    if reads == writes:
        return (_use(kind, writes, must),)
    return (_use(EffectKind.READ, reads, ()), _use(EffectKind.WRITE, writes, must))


def _use(kind: EffectKind, may: tuple[Box, ...], must: tuple[Box, ...], operator: str = "") -> Use:
    return Use(kind, Provenance.PROVED, Provenance.PROVED, may, must, operator)


def _must(effects: Sequence[Effect], start: int) -> tuple[Box, ...]:
    """Return the bytes that every target's code writes for sure; none where they differ."""
    if any(effect.must != effects[0].must for effect in effects):
        return ()
    return tidy(effects[0].must[:_MOST], start)  # never so many that tidy takes their hull


def tidy(boxes: Iterable[Box], start: int) -> tuple[Box, ...]:
    """Return the same bytes ``start`` bytes further, sorted, without boxes that lie inside a gapless one.

    More than a few become the interval that holds them all: only for may boxes can there be so many.
    """
    moved = dict.fromkeys(Box(box.offset + start, box.axes, box.item) for box in boxes)
    solid = [box.interval for box in moved if _gapless(box)]
    kept: dict[tuple[int, int] | Box, Box] = {}
    for box in moved:
        low, high = box.interval
        holders = [(a, b) for a, b in solid if a <= low and high <= b and (a, b) != (low, high)]
        if not holders:
            kept.setdefault((low, high) if _gapless(box) or (low, high) in solid else box, box)
    found = sorted(kept.values(), key=lambda box: (box.offset, box.axes, box.item))
    if len(found) <= _MOST:
        return tuple(found)
    low, high = min(b.interval[0] for b in found), max(b.interval[1] for b in found)
    return (Box(low, (), high - low),)


def _gapless(box: Box) -> bool:
    low, high = box.interval
    return box.items * box.item == high - low and len(box.axes) <= 1


def global_uses(known: KnownBuffer, results: Sequence[KernelEffects], wild: str) -> tuple[Use, ...]:
    """Return what a run does to a declared global of its module."""
    item = known.dtype.itemsize
    count = known.buffer.nbytes // item
    whole = Box(0, ((count, item),) if count > 1 else (), item)
    assert known.buffer.symbol is not None
    effects = [r.globals.get(known.buffer.symbol[1], Effect("none")) for r in results]
    if not effects or wild or any(e.kind == "unknown" for e in effects):
        access = GLOBAL_ACCESSES[known.space]
        return (Use(access.kind, access.kind_provenance, access.range_provenance, (whole,)),)
    kind = joined_kind(effects)
    if kind is None:
        return ()
    if not all(e.is_inside and e.may is not None for e in effects):
        operator = _operator(kind, effects)
        return (Use(kind, Provenance.PROVED, Provenance.ASSUMED, (whole,), (), operator),)
    return _proved(kind, effects, [a for e in effects for a in e.accesses], 0)


@dataclass(frozen=True, slots=True)
class Deeds:
    """What a run does to memory.

    ``wild`` says why it may touch anything; ``is_lost``: no effect of an argument says so.
    """

    pointers: tuple[Pointer, ...]
    globals: tuple[tuple[KnownBuffer, tuple[Use, ...]], ...]
    external: bool
    wild: str
    is_lost: bool


def deeds(
    bound: Sequence[Bound],
    known: Sequence[KnownBuffer],
    results: Sequence[KernelEffects],
    variables: Collection[str],
) -> Deeds:
    """Return what a run does to its arguments and to the declared globals ``known`` of its module.

    ``variables`` are the module's; one that is written and not declared has no buffer, so that the run may
    touch anything as far as the program can tell.
    """
    wild = next((reason for r in results for reason in r.unknown), "")
    pointers = tuple(pointer_use(b, b.view, results, wild) for b in bound if b.view is not None)
    is_told = bool(pointers) and all(p.bound.parameter.effect is not None for p in pointers)
    hidden = _hidden_write(known, results, variables)
    globals_ = tuple((k, global_uses(k, results, wild)) for k in known)
    external = any(r.external for r in results)
    is_lost = bool(hidden or (wild and not is_told)) and not any(p.unknown for p in pointers)
    return Deeds(pointers, globals_, external, wild or hidden, is_lost)


def _hidden_write(
    known: Sequence[KnownBuffer], results: Sequence[KernelEffects], variables: Collection[str]
) -> str:
    declared = {k.buffer.symbol[1] for k in known if k.buffer.symbol is not None}
    for result in results:
        for name, effect in result.globals.items():
            if name not in declared and name in variables and effect.kind not in ("none", "read"):
                return f"it changes the variable `{name}` of its module, which `globals:` does not declare"
    return ""


def kinds_of(word: str) -> frozenset[str]:
    """Return what a declared word allows the PTX to do: any of ``read``, ``write``, ``reduce``."""
    access = DECLARED_ACCESSES[word].kind
    if access is EffectKind.REDUCE:
        return frozenset({"reduce"})
    deeds = {"read"} if access in READS else set()
    if access in WRITES:
        deeds.add("write")
    return frozenset(deeds | {"reduce"} if access is EffectKind.READ_WRITE else deeds)


DEEDS: Mapping[EffectKind, frozenset[str]] = MappingProxyType(
    {
        EffectKind.READ: frozenset({"read"}),
        EffectKind.WRITE: frozenset({"write"}),
        EffectKind.READ_WRITE: frozenset({"read", "write"}),
        EffectKind.REDUCE: frozenset({"reduce"}),
    }
)
"""What a kernel of each kind does."""
