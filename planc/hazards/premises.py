"""What the absence of races rests on, where it is not proved: effects as assumed, as declared, or unknown."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from planc.plan.program import NONE, NodeKind, Program, Provenance

_PREMISES: Mapping[Provenance, tuple[str, str]] = MappingProxyType(
    {
        Provenance.ASSUMED: ("range is as assumed", "ranges are as assumed"),
        Provenance.DECLARED: ("effect is as declared", "effects are as declared"),
        Provenance.UNKNOWN: (
            "effect that may be anything is harmless",
            "effects that may be anything are harmless",
        ),
    }
)
"""One and several. An effect counts once: what is declared has an assumed range too."""
_NAMED = 6


def rests_on(program: Program) -> tuple[str, ...]:
    """Return one text for each kind of premise: how many effects, and through which parameters.

    ``2 ranges are as assumed: step(src), step(dst)``. Empty where every effect is proved, or its operation
    gives it.
    """
    effects = program.effects
    kinds, ranges = effects["kind_provenance"], effects["range_provenance"]
    unknown = (kinds == Provenance.UNKNOWN) | (ranges == Provenance.UNKNOWN)
    declared = ~unknown & (kinds == Provenance.DECLARED)
    assumed = ~unknown & ~declared & ((kinds == Provenance.ASSUMED) | (ranges == Provenance.ASSUMED))
    found = []
    for premise, rows in (
        (Provenance.ASSUMED, assumed),
        (Provenance.DECLARED, declared),
        (Provenance.UNKNOWN, unknown),
    ):
        count = int(np.count_nonzero(rows))
        if count:
            one, many = _PREMISES[premise]
            found.append(f"{count} {one if count == 1 else many}: {_names(program, np.flatnonzero(rows))}")
    return tuple(found)


def _names(program: Program, rows: np.ndarray) -> str:
    """Return the kernels and parameters of some effects, each once, a few of them."""
    columns = (program.effects[name][rows].tolist() for name in ("node", "parameter", "buffer"))
    names = dict.fromkeys(_name(program, *row) for row in zip(*columns, strict=True))
    shown = list(names)[:_NAMED]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(shown)}{more}"


def _name(program: Program, node: int, parameter: int, buffer: int) -> str:
    row = program.nodes[node]
    if int(row["kind"]) != NodeKind.KERNEL:
        return program.node_names[node]
    function = program.functions[int(program.kernel_ops[int(row["op"])]["function"])]
    if parameter != NONE:
        return f"{function.name}({function.parameters[parameter].name})"
    return function.name if buffer == NONE else f"{function.name}({program.buffers[buffer].name})"
