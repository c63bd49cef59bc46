"""Which nodes of a program use which scratch buffers."""

from __future__ import annotations

from typing import Literal

import numpy as np

from planc.plan.program import NONE, EffectKind, Program, Provenance, Role, Table

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")


def scratch_rows(program: Program) -> list[int]:
    """Return the rows of the scratch buffers."""
    return [row for row, buffer in enumerate(program.buffers) if buffer.role is Role.SCRATCH]


def scratch_uses(program: Program) -> dict[int, list[int]]:
    """Return, for each scratch buffer, the nodes that use any byte of it, rising; every effect is a use.

    A node with an effect of unknown range may touch anything, hence uses every one of them: whatever else
    stands at its bytes would be touched as well.
    """
    effects = program.effects
    inner = effects["kind"] != EffectKind.EXTERNAL
    unknown = inner & ((effects["range_provenance"] == Provenance.UNKNOWN) | (effects["buffer"] == NONE))
    wild = np.unique(effects["node"][unknown])
    known = effects[inner & ~unknown]
    by_buffer = np.lexsort([known["node"], known["buffer"]])
    buffers, nodes = known["buffer"][by_buffer], known["node"][by_buffer]
    rows = scratch_rows(program)
    starts, ends = (np.searchsorted(buffers, rows, side=side).tolist() for side in _SIDES)
    return {
        row: _distinct(nodes[start:end], wild) for row, start, end in zip(rows, starts, ends, strict=True)
    }


def _distinct(nodes: Table, more: Table) -> list[int]:
    return sorted({*nodes.tolist(), *more.tolist()})
