"""Which scratch buffers share bytes, and what must hold so that they may."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

from planc.checker.paths import Question
from planc.plan.program import NONE, EffectKind, Program, Provenance, Role, Schedule

Owners = tuple[int, int]
"""Two rows of buffers, the one whose bytes are used first in front."""


def users(program: Program) -> dict[int, list[int]]:
    """Return the nodes that use each scratch buffer.

    A use is any effect on it, whatever its kind and however it is known. An effect that may touch anything,
    because its range is unknown or it names no buffer, is a use of every scratch buffer.
    """
    found: dict[int, set[int]] = {
        row: set() for row, buffer in enumerate(program.buffers) if buffer.role is Role.SCRATCH
    }
    everywhere: set[int] = set()
    columns = (program.effects[name].tolist() for name in ("node", "buffer", "kind", "range_provenance"))
    for node, buffer, kind, provenance in zip(*columns, strict=True):
        if kind == EffectKind.EXTERNAL:
            continue
        if provenance == Provenance.UNKNOWN or buffer == NONE:
            everywhere.add(node)
        elif buffer in found:
            found[buffer].add(node)
    return {row: sorted(nodes | everywhere) for row, nodes in found.items()}


def handovers(
    program: Program, schedule: Schedule, uses: dict[int, list[int]], place: Sequence[int]
) -> Iterator[Owners]:
    """Yield pairs of buffers that share bytes, so that if all of them are in order, so are all others.

    Take the buffers that hold one byte by their first use in the order of the schedule. If each comes after
    the one in front of it, each comes after all in front, because every buffer here has a use. So a walk over
    the bytes keeps that row of buffers, and yields a pair whenever two become neighbours by one coming in;
    two that become neighbours because one between them leaves are in order already. A buffer that nobody
    uses is never live.
    """
    first = {row: min(place[node] for node in nodes) for row, nodes in uses.items() if nodes}
    events = []
    for row, _, offset in schedule.placements.tolist():
        size = program.buffers[row].nbytes
        if row in first and size:
            events.append((offset, 1, first[row], row))
            events.append((offset + size, 0, first[row], row))
    here: list[tuple[int, int]] = []
    for _, opens, begin, row in sorted(events):
        at = bisect.bisect_left(here, (begin, row))
        if not opens:
            del here[at]
            continue
        if at:
            yield here[at - 1][1], row
        if at < len(here):
            yield row, here[at][1]
        here.insert(at, (begin, row))


def ordered(pair: Owners, uses: dict[int, list[int]], place: Sequence[int]) -> Question:
    """Return the question whether all uses of the first buffer come before all uses of the second."""
    late = max(uses[pair[0]], key=place.__getitem__)
    early = min(uses[pair[1]], key=place.__getitem__)
    if place[late] < place[early]:
        return Question(uses[pair[0]], uses[pair[1]], pair)
    return Question((late,), (early,), pair)  # the order itself is against it
