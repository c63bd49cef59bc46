"""How many effects of a program are exactly what a trace touched."""

from __future__ import annotations

from collections.abc import Sequence

from planc.hazards.tracing.claims import Claims
from planc.plan.program import Program
from planc.runtime.tracing import EMPTY, NodeTrace


def count_exact(program: Program, nodes: Sequence[NodeTrace]) -> tuple[int, int]:
    """Return (how many effects have may boxes that are exactly the bytes touched, how many there are).

    Effects of one node on one buffer are judged together: a trace does not know which pointer was used. Nodes
    that may touch anything count as not exact.
    """
    claims = Claims(program)
    equal = total = 0
    for trace in nodes:
        done = {area.area: area.read | area.write | area.reduced for area in trace.areas}
        for buffer, effects in claims.of(trace.node).items():
            total += len(effects)
            if trace.node not in claims.wild and claims.may(effects) == done.get(buffer, EMPTY):
                equal += len(effects)
    return equal, total
