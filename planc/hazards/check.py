"""Everything that is checked of a graph once its kernels are built: the one call of the author's side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from planc.diagnostics import Collector, Fix
from planc.graph import build
from planc.hazards.contents import check_contents
from planc.hazards.infer import infer_order
from planc.hazards.mend import mend
from planc.hazards.messages import race_diagnostics
from planc.hazards.races import Race, find_races
from planc.hazards.reductions import open_reductions
from planc.hazards.redundant import redundant_edges
from planc.hazards.sweep import Accesses, Operators
from planc.kernels.artifact import KernelArtifact
from planc.plan.program import Program
from planc.source.flat import FlatGraph
from planc.source.sites import edit_after


def check_graph(
    flat: FlatGraph, artifacts: Mapping[str, KernelArtifact], collector: Collector
) -> Program | None:
    """Return the program of a graph with all its edges, or None after errors; report everything found.

    Builds the program (codes 2xx to 5xx), infers its order where the file says so and else reports races,
    and reports reads of bytes that nobody wrote, redundant edges, and open reductions.
    ``artifacts`` are the built kernels by name; those that failed to build may be absent.
    """
    built = build(flat, artifacts, collector)
    if not built.acyclic:
        return None
    collector.extend(redundant_edges(flat, built.program))
    if flat.broken:
        return None
    inferred = flat.order == "inferred"
    program = infer_order(built.program, built.operators) if inferred else built.program
    races = [] if inferred else _report_races(flat, program, built.operators, collector)
    collector.extend(open_reductions(flat, program, built.operators))
    if not built.failed:
        collector.extend(check_contents(flat, program, Accesses(program), _racing(races)))
    complete = built.complete and not collector.has_errors
    return program if complete else None


def _report_races(
    flat: FlatGraph, program: Program, operators: Operators, collector: Collector
) -> list[Race]:
    races = find_races(program, operators)
    if not races.count:
        return []
    listed = races.nearest()
    mended = races.mend()
    mending = mend(flat, mended.edges, mended.path_test(), lambda row, texts: _edit(flat, row, texts))
    collector.extend(race_diagnostics(flat, program, listed, races.count, mending))
    return listed


def _racing(races: Sequence[Race]) -> set[tuple[int, int]]:
    """Return the (node, buffer) pairs of races."""
    found = set()
    for race in races:
        for conflict in race.conflicts:
            found |= {(race.first, conflict.buffer), (race.second, conflict.other)}
    return found


def _edit(flat: FlatGraph, row: int, references: Sequence[str]) -> Fix | None:
    site = flat.nodes[row].site
    edit = edit_after(site, references)
    if edit is None:
        return None
    return Fix(f"add `{', '.join(references)}` to `after:` of `{site.pattern}`", (edit,))
