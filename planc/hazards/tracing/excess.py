"""Declarations wider than what a trace touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from planc.hazards.tracing.claims import Claims
from planc.plan.program import EffectKind, Provenance
from planc.runtime.tracing import EMPTY, Area, AreaTrace, ByteSet, NodeTrace

_OPEN = frozenset({Provenance.DECLARED, Provenance.ASSUMED})


@dataclass(frozen=True, slots=True)
class Excess:
    """What ``effect`` declares and ``node`` did not do.

    ``wide-range``: it left ``held``; ``wide-kind``: it used ``held`` in one way only of the two. ``count``
    nodes run the same kernel with the same result.
    """

    what: str
    node: int
    area: int
    effect: int
    held: ByteSet
    count: int = 1


def find_excess(claims: Claims, areas: Sequence[Area], nodes: Sequence[NodeTrace]) -> list[Excess]:
    """Return one finding for each kernel parameter whose declaration no node of the trace used in full."""
    groups: dict[tuple[int, int], list[list[Excess]]] = {}
    for trace in nodes:
        if not trace.complete or trace.node in claims.wild or claims.operates(trace.node):
            continue
        done = {area.area: area for area in trace.areas}
        for buffer, effects in claims.of(trace.node).items():
            if len(effects) == 1:
                parameter = int(claims.program.effects["parameter"][effects[0]])
                key = (claims.function(trace.node), parameter)
                found = list(_excess(claims, trace.node, effects[0], done.get(buffer, AreaTrace(buffer))))
                groups.setdefault(key, []).append(found)
    return [one for members in groups.values() for one in _common(members)]


def _common(members: list[list[Excess]]) -> Iterator[Excess]:
    """Yield the first of each kind of excess that all nodes show."""
    kinds = set.intersection(*({each.what for each in found} for found in members))
    for each in members[0]:
        if each.what in kinds:
            yield replace(each, count=len(members))


def _excess(claims: Claims, node: int, effect: int, done: AreaTrace) -> Iterator[Excess]:
    row = claims.program.effects[effect]
    may, changed = claims.may([effect]), done.write | done.reduced
    untouched = may - (done.read | changed)
    ranges, kinds = (Provenance(int(row[f"{each}_provenance"])) for each in ("range", "kind"))
    if untouched and ranges in _OPEN and (kinds in _OPEN or ranges is Provenance.DECLARED):
        yield Excess("wide-range", node, done.area, effect, untouched)
    both = row["kind"] == EffectKind.READ_WRITE
    one_sided = not changed or not (done.read | done.reduced)
    if both and one_sided and untouched != may and kinds in _OPEN:
        yield Excess("wide-kind", node, done.area, effect, changed if changed else done.read or EMPTY)
