"""``may_alias``: pairs of slots that the service may bind to shared memory."""

from __future__ import annotations

from collections.abc import Mapping

from planc.graph.footprints import Aliases
from planc.graph.names import KnownBuffer
from planc.graph.report import Reporter, name_cure
from planc.plan.program import Role
from planc.source.flat import FlatGraph

SLOT_ROLES = frozenset({Role.INPUT, Role.OUTPUT, Role.INOUT})
"""Roles of buffers whose memory the service supplies."""


def resolve_aliases(flat: FlatGraph, buffers: Mapping[str, KnownBuffer], reporter: Reporter) -> Aliases:
    """Return the pairs of rows (lesser first) that ``may_alias`` names; report PLC239."""
    pairs: set[tuple[int, int]] = set()
    slots = [name for name, known in buffers.items() if known.buffer.role in SLOT_ROLES]
    for first, second, span in flat.may_alias:
        wrong = [name for name in (first, second) if name not in slots]
        if not wrong and first != second:
            rows = sorted((buffers[first].row, buffers[second].row))
            pairs.add((rows[0], rows[1]))
            continue
        message = (
            f"`{wrong[0]}` is no input, output or inout" if wrong else f"`{first}` is paired with itself"
        )
        reporter.add(
            "PLC239",
            f"`may_alias` names what it cannot: {message}",
            span,
            help=name_cure("slot", wrong[0] if wrong else "", slots),
            names=[first, second],
        )
    return frozenset(pairs)
