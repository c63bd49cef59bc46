"""Which names may stand on the same bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from planc.diagnostics import Diagnostic
from planc.plan.program import NONE, EffectKind, Program, Role

_WRITES = (EffectKind.WRITE, EffectKind.READ_WRITE, EffectKind.REDUCE)
_WRITTEN_ROLES = (Role.OUTPUT, Role.INOUT)


@dataclass(frozen=True, slots=True)
class Span:
    """The storage of one buffer: ``nbytes`` from ``address``."""

    buffer: int
    address: int
    nbytes: int


def written_buffers(program: Program) -> frozenset[int]:
    """Return the buffers that a node may write, and those whose role says so."""
    effects = program.effects
    hit = np.isin(effects["kind"], _WRITES) & (effects["buffer"] != NONE)
    by_role = (i for i, b in enumerate(program.buffers) if b.role in _WRITTEN_ROLES)
    by_effect = np.flatnonzero(np.bincount(effects["buffer"][hit]))
    return frozenset(by_effect.tolist()) | frozenset(by_role)


def overlaps(spans: Iterable[Span]) -> Iterable[tuple[Span, Span]]:
    """Yield every pair of spans that share a byte, by a sweep over addresses."""
    active: list[Span] = []
    for span in sorted((s for s in spans if s.nbytes), key=lambda s: (s.address, s.buffer)):
        active = [a for a in active if a.address + a.nbytes > span.address]
        for other in active:
            yield other, span
        active.append(span)


def alias_diagnostics(
    program: Program, written: frozenset[int], storage: Mapping[int, tuple[int, int]]
) -> list[Diagnostic]:
    """Return a PLC709 for each pair that overlaps although one is written and the plan takes them apart.

    ``storage`` maps a buffer to its (address, bytes).
    """
    allowed = {frozenset(pair) for pair in program.may_alias}
    spans = [Span(buffer, *region) for buffer, region in storage.items()]
    found = []
    for first, second in overlaps(spans):
        pair = frozenset((first.buffer, second.buffer))
        if pair & written and pair not in allowed:
            found.append(_overlap(program, written, first, second))
    return found


def _overlap(program: Program, written: frozenset[int], first: Span, second: Span) -> Diagnostic:
    a, b = program.buffers[first.buffer].name, program.buffers[second.buffer].name
    shared = min(first.address + first.nbytes, second.address + second.nbytes) - second.address
    which = a if first.buffer in written else b
    return Diagnostic(
        "PLC709",
        f"`{a}` and `{b}` stand on {shared} bytes of the same storage, and the plan writes `{which}`",
        help=f"bind tensors that do not overlap, or say `may_alias: [{a}, {b}]` in the graph",
        facts={"buffers": [a, b], "bytes": shared, "written": which},
    )


def covered(spans: Iterable[Span]) -> int:
    """Return how many distinct bytes the spans cover."""
    total, reached = 0, 0
    for span in sorted(spans, key=lambda s: s.address):
        end = span.address + span.nbytes
        total += max(0, end - max(span.address, reached))
        reached = max(reached, end)
    return total
