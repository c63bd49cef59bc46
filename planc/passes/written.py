"""The schedule ``written``: the graph as its author wrote it, one lane, every edge full, no sharing."""

from __future__ import annotations

import numpy as np

from planc.graph import topological_order
from planc.plan.program import EMITTED_EDGE, PLACEMENT, EdgeType, Program, Role, Schedule, Table

PLACE_ALIGN = 256
"""Scratch buffers start at multiples of this many bytes, or of their own alignment if that is larger."""


def written(program: Program) -> Schedule:
    """Return the schedule that runs ``program`` as it stands, on any architecture.

    Nodes keep the order of the text as far as the edges allow; each scratch buffer has bytes of its own.
    The program's edges must have no cycle.
    """
    count = len(program.nodes)
    order = np.array(topological_order(program.edges, count), dtype=np.uint32)
    placements, arena = _placements(program)
    return Schedule(
        name="written",
        targets=(),
        order=order,
        lanes=np.zeros(count, dtype=np.uint32),
        edges=_edges(program),
        placements=placements,
        arena_bytes=arena,
    )


def _edges(program: Program) -> Table:
    edges = np.zeros(len(program.edges), dtype=EMITTED_EDGE)
    edges["before"], edges["after"] = program.edges["before"], program.edges["after"]
    edges["type"] = EdgeType.FULL
    return edges


def _placements(program: Program) -> tuple[Table, int]:
    rows = []
    end = 0
    for row, buffer in enumerate(program.buffers):
        if buffer.role is not Role.SCRATCH:
            continue
        align = max(PLACE_ALIGN, buffer.align)
        offset = -(-end // align) * align
        rows.append((row, 0, offset))
        end = offset + buffer.nbytes
    return np.array(rows, dtype=PLACEMENT), -(-end // PLACE_ALIGN) * PLACE_ALIGN
