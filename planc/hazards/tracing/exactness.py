"""How many effects of a program are exactly what a trace touched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from planc.hazards.tracing.claims import WORDS, Claims
from planc.plan.program import EffectKind, Program
from planc.runtime.tracing import EMPTY, AreaTrace, NodeTrace


def count_exact(program: Program, nodes: Sequence[NodeTrace]) -> tuple[int, int]:
    """Return (how many effects have may boxes that are exactly the bytes touched, how many there are).

    Effects of one node, buffer and kind are judged together: a trace does not know which pointer was used.
    Nodes that may touch anything count as not exact.
    """
    claims = Claims(program)
    equal = 0
    for trace in nodes:
        done = {area.area: area for area in trace.areas}
        for buffer, effects in claims.of(trace.node).items():
            if trace.node not in claims.wild:
                equal += _count(claims, effects, done.get(buffer, AreaTrace(buffer)))
    traced = np.isin(program.effects["node"], [trace.node for trace in nodes])
    return equal, int(np.count_nonzero(traced & (program.effects["kind"] != EffectKind.EXTERNAL)))


def _count(claims: Claims, effects: list[int], area: AreaTrace) -> int:
    """Return how many of a node's effects on one buffer are exact."""
    rows = {kind: claims.of_kind(effects, kind) for kind in WORDS}
    # What reduces is read and written where no effect calls it a reduction.
    both = EMPTY if rows[EffectKind.REDUCE] else area.reduced
    done = {
        EffectKind.READ: area.read | both,
        EffectKind.WRITE: area.write | both,
        EffectKind.READ_WRITE: area.read | area.write | both,
        EffectKind.REDUCE: area.reduced,
    }
    return sum(len(rows[kind]) for kind in WORDS if rows[kind] and claims.may(rows[kind]) == done[kind])
