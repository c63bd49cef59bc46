"""Which nodes of a program use which scratch buffers."""

from __future__ import annotations

import numpy as np

from planc.plan.program import NONE, EffectKind, Program, Provenance, Role


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
    known = known[np.argsort(known["buffer"], kind="stable")]
    uses = {}
    for row in scratch_rows(program):
        low, high = np.searchsorted(known["buffer"], [row, row + 1])
        uses[row] = np.union1d(known["node"][low:high], wild).tolist()
    return uses
