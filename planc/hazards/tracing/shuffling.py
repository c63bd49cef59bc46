"""What other orders of a schedule change, as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Diagnostic, Related
from planc.hazards.tracing.minimise import Difference
from planc.hazards.tracing.races import accesses_of, clash
from planc.hazards.tracing.words import element_index, element_text, span_of
from planc.plan.dtypes import DTYPES
from planc.plan.program import Program
from planc.runtime.tracing import Area, NodeTrace

Octets = NDArray[np.uint8]
_FLOATING = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f64")
_SLACK: Mapping[str, float] = MappingProxyType(
    {"f16": 2.0**-6, "bf16": 2.0**-3, "f32": 2.0**-13, "f64": 2.0**-42}
)
"""How far sums in another order may differ, as a part of the greatest element of the buffer."""


@dataclass(frozen=True, slots=True)
class Change:
    """An area that two orders leave different, from ``byte`` on; ``close``: no more than float sums may."""

    area: Area
    byte: int
    close: bool


def float_reduced(nodes: Sequence[NodeTrace]) -> frozenset[int]:
    """Return the areas into which some node reduces floating numbers."""
    return frozenset(
        area.area
        for trace in nodes
        for area in trace.areas
        if any(operator.rpartition(".")[2] in _FLOATING for operator in area.reduce)
    )


def changes(
    program: Program,
    areas: Iterable[Area],
    one: Mapping[int, Octets],
    two: Mapping[int, Octets],
    reduced: frozenset[int],
) -> list[Change]:
    """Return the areas of ``one`` and ``two`` that differ; ``reduced`` hold sums of floating numbers."""
    found = []
    for area in areas:
        if area.index in one and not np.array_equal(one[area.index], two[area.index]):
            byte = int(np.flatnonzero(one[area.index] != two[area.index])[0])
            close = area.index in reduced and _close(program, area, one[area.index], two[area.index])
            found.append(Change(area, byte, close))
    return found


def _close(program: Program, area: Area, one: Octets, two: Octets) -> bool:
    if area.buffer is None:
        return False
    dtype = DTYPES[program.buffers[area.buffer].dtype]
    if dtype.kind != "f":
        return False
    first, second = (_numbers(each, dtype.numpy) for each in (one, two))
    if not np.array_equal(np.isfinite(first), np.isfinite(second)):
        return False
    finite = np.isfinite(first)
    if not np.array_equal(first[~finite], second[~finite], equal_nan=True):
        return False
    scale = np.abs(first[finite]).max(initial=0)
    return bool((np.abs(first[finite] - second[finite]) <= _SLACK[dtype.name] * scale).all())


def _numbers(octets: Octets, dtype: np.dtype[Any]) -> NDArray[np.float64]:
    with np.errstate(invalid="ignore"):
        return octets.view(dtype).astype(np.float64)


def commutes_only(nodes: Mapping[int, NodeTrace], difference: Difference) -> bool:
    """Return whether all that the two nodes share are reductions with one operator, of floating numbers."""
    first, second = (accesses_of(nodes[row]) for row in (difference.first, difference.second))
    shared = [(a, b) for a in first for b in second if a.area == b.area and a.held.meets(b.held)]
    return not any(clash(a.deed, b.deed) for a, b in shared) and any(
        a.deed == b.deed and a.deed.rpartition(".")[2] in _FLOATING for a, b in shared
    )


def shuffle_diagnostics(
    program: Program,
    changed: Sequence[Change],
    difference: Difference | None,
    floating: bool,
    folder: str,
) -> Diagnostic:
    """Return PLC516 for a hidden race, or PLC517 where only the order of floating sums makes the difference.

    ``floating`` says which. ``difference`` is the pair of nodes whose exchange shows it, where it was sought.
    """
    if floating:
        return _sums(program, changed, difference, folder)
    assert difference is not None
    first, second = (program.node_names[row] for row in (difference.first, difference.second))
    main = next((c for c in changed if not c.close), changed[0])
    related = Related(
        f"`{first}` is here, and no path joins the two", span_of(program, difference.first, folder)
    )
    return Diagnostic(
        "PLC516",
        f"`{first}` and `{second}` have no order, and exchanging them changes {_element(program, main)}",
        span_of(program, difference.second, folder),
        help=f"let `{second}` come after `{first}`, or the other way round",
        related=(related,),
        notes=tuple(f"it changes {_element(program, c)} too" for c in changed if c is not main)[:4],
        facts={
            "nodes": [first, second],
            "buffer": main.area.name,
            "byte": main.byte,
            "element": _index(program, main),
            "buffers": [c.area.name for c in changed],
        },
    )


def _sums(
    program: Program, changed: Sequence[Change], difference: Difference | None, folder: str
) -> Diagnostic:
    names = [f"`{c.area.name}`" for c in changed]
    rows = [] if difference is None else [difference.first, difference.second]
    return Diagnostic(
        "PLC517",
        f"{', '.join(names)} differ{'s' if len(names) == 1 else ''} from order to order, as floating sums do",
        span_of(program, rows[-1], folder) if rows else None,
        help="order the nodes that reduce, if replays must agree bit for bit",
        facts={"buffers": [c.area.name for c in changed], "nodes": [program.node_names[row] for row in rows]},
    )


def _index(program: Program, change: Change) -> list[Any] | None:
    if change.area.buffer is None:
        return None
    return [*element_index(program.buffers[change.area.buffer], change.byte)]


def _element(program: Program, change: Change) -> str:
    if change.area.buffer is None:
        return f"byte {change.byte} of `{change.area.name}`"
    return f"`{element_text(program.buffers[change.area.buffer], change.byte)}`"
