"""Edges of the author that other edges imply: a hint, judged over all nodes that one text made."""

from __future__ import annotations

from collections.abc import Iterator

from planc.diagnostics import Diagnostic, Related, Span
from planc.graph import predecessors, topological_order
from planc.graph.reach import NOTHING, Past, holds, past_of
from planc.plan.program import Program
from planc.source.flat import FlatGraph


def redundant_edges(flat: FlatGraph, program: Program) -> list[Diagnostic]:
    """Return PLC504 for each reference in an ``after:`` all of whose edges are implied by others.

    ``program`` has the author's edges, without a cycle.
    """
    implied = {(before, after): by for before, after, by in _implied(program)}
    useful: set[Span] = set()
    spare: dict[Span, tuple[int, int, int | None]] = {}
    for row, node in enumerate(flat.nodes):
        seen: set[int] = set()
        for after in node.after:
            if after.node in seen:
                spare.setdefault(after.span, (after.node, row, None))
            elif (after.node, row) in implied:
                spare.setdefault(after.span, (after.node, row, implied[after.node, row]))
            else:
                useful.add(after.span)
            seen.add(after.node)
    return [_hint(flat, span, *edge) for span, edge in spare.items() if span not in useful]


def _implied(program: Program) -> Iterator[tuple[int, int, int]]:
    """Yield (before, after, a direct predecessor of after that comes after before)."""
    count = len(program.nodes)
    before = predecessors(program.edges, count)
    order = topological_order(program.edges, count)
    position = {row: place for place, row in enumerate(order)}
    waiting = [0] * count
    for many in before:
        for row in many:
            waiting[position[row]] += 1
    pasts: list[Past] = [NOTHING] * count
    for place, row in enumerate(order):
        direct = [position[p] for p in before[row]]
        past = past_of(direct, pasts)
        for previous in direct if len(direct) > 1 else ():
            by = next((p for p in direct if p > previous and holds(pasts[p], previous)), None)
            if by is not None:
                yield order[previous], row, order[by]
        for previous in direct:
            waiting[previous] -= 1
            if not waiting[previous]:
                pasts[previous] = NOTHING
        if waiting[place]:
            pasts[place] = past


def _hint(flat: FlatGraph, span: Span, before: int, after: int, by: int | None) -> Diagnostic:
    earlier, node = flat.nodes[before], flat.nodes[after]
    if by is None:
        why = f"`{node.name}` names `{earlier.name}` twice"
    else:
        why = f"`{node.name}` comes after `{earlier.name}` through `{flat.nodes[by].name}` already"
    related = () if by is None else (Related(f"`{flat.nodes[by].name}`", flat.nodes[by].span),)
    return Diagnostic(
        "PLC504",
        why,
        span,
        help="this reference may go, unless it is there for the reader",
        related=related,
        facts={"before": earlier.name, "after": node.name},
    )
