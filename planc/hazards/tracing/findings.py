"""Findings: each thing that a traced replay did and the program does not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planc.hazards.tracing.claims import Claims
from planc.hazards.tracing.excess import find_excess
from planc.hazards.tracing.races import find_traced_races
from planc.plan.program import EffectKind, Program
from planc.runtime.tracing import EMPTY, Area, AreaTrace, ByteSet, NodeTrace


@dataclass(frozen=True, slots=True)
class Finding:
    """Bytes of an area with which something is wrong.

    ``what`` is ``range``, ``kind``, ``foreign``, ``must``, ``race``, ``unwritten``, ``wide-kind`` or
    ``wide-range``. ``deed`` is what ``node`` (a row) did: ``read``, ``write`` or ``reduce``; ``effects`` are
    the rows that say otherwise; ``fault``: planc answers for them. ``other``, ``other_area`` and
    ``other_deed`` are the later node of a race. ``count`` is how many nodes or pairs of this kind there are.
    """

    what: str
    node: int
    area: int
    deed: str
    held: ByteSet
    effects: tuple[int, ...] = ()
    fault: bool = False
    other: int = -1
    other_area: int = -1
    other_deed: str = ""
    count: int = 1


def find_all(program: Program, areas: Sequence[Area], nodes: Sequence[NodeTrace]) -> list[Finding]:
    """Return everything that is wrong with a program by one trace, in the order of the replay."""
    claims = Claims(program)
    found: list[Finding] = []
    for trace in nodes:
        found += _breaches(claims, areas, trace)
        found += _unwritten(trace)
        if trace.complete:
            found += _broken_musts(claims, trace)
    for race in find_traced_races(program, areas, nodes):
        first, second = race.deeds
        found.append(
            Finding(
                "race",
                race.first,
                race.area,
                first,
                race.held,
                tuple(claims.on(race.first, race.area)) if race.area < len(program.buffers) else (),
                other=race.second,
                other_area=race.other_area,
                other_deed=second,
            )
        )
    for excess in find_excess(claims, areas, nodes):
        found.append(
            Finding(
                excess.what, excess.node, excess.area, "", excess.held, (excess.effect,), count=excess.count
            )
        )
    return found


def _breaches(claims: Claims, areas: Sequence[Area], trace: NodeTrace) -> Iterator[Finding]:
    """Yield what a node did that its effects do not allow."""
    if trace.node in claims.wild:
        return
    for area in trace.areas:
        buffer = areas[area.area].buffer
        if buffer is None:
            continue
        effects = claims.on(trace.node, buffer)
        within = claims.may(effects)
        for deed, done in _deeds(area).items():
            yield from _breach(claims, trace.node, area, (deed, done), effects, within)


def _deeds(area: AreaTrace) -> Mapping[str, ByteSet]:
    """Return the bytes of each deed; values that the node itself had written before do not count as read."""
    return {"read": area.read & area.old, "write": area.write, "reduce": area.reduced}


def _breach(
    claims: Claims,
    node: int,
    area: AreaTrace,
    what: tuple[str, ByteSet],
    effects: list[int],
    within: ByteSet,
) -> Iterator[Finding]:
    deed, done = what
    left = done - claims.may(claims.suiting(effects, deed))
    if deed == "reduce" and left:
        # A pointer may have its read and its written bytes as two effects; their common bytes are both.
        left -= claims.may(claims.suiting(effects, "read")) & claims.may(claims.suiting(effects, "write"))
        left -= claims.may(claims.of_kind(effects, EffectKind.WRITE)) - area.old
    if not left:
        return
    outside, inside = left - within, left & within
    if outside:
        kind = "range" if effects else "foreign"
        fault = claims.operates(node) or _answers(claims, node, effects)
        yield Finding(kind, node, area.area, deed, outside, tuple(effects), fault)
    if inside:
        rows = [row for row in effects if claims.may([row]).meets(inside)]
        fault = claims.is_sure(rows, "kind_provenance")
        yield Finding("kind", node, area.area, deed, inside, tuple(rows), fault)


def _answers(claims: Claims, node: int, effects: list[int]) -> bool:
    """Return whether planc answers for bytes outside ``effects``, a node's on one buffer.

    Without any, whether it has proved all that the node does.
    """
    if effects:
        return claims.is_sure(effects, "range_provenance")
    every = [row for rows in claims.of(node).values() for row in rows]
    return bool(every) and claims.is_sure(every, "kind_provenance")


def _broken_musts(claims: Claims, trace: NodeTrace) -> Iterator[Finding]:
    """Yield bytes that planc says are written for sure, and were not; no declaration can say so."""
    done = {area.area: area.write | area.reduced for area in trace.areas}
    for buffer, effects in claims.of(trace.node).items():
        for row in effects:
            missing = claims.must([row]) - done.get(buffer, EMPTY)
            if missing and claims.is_sure([row], "kind_provenance"):
                yield Finding("must", trace.node, buffer, "write", missing, (row,), fault=True)


def _unwritten(trace: NodeTrace) -> Iterator[Finding]:
    for area in trace.areas:
        if area.unwritten:
            yield Finding("unwritten", trace.node, area.area, "read", area.unwritten)
