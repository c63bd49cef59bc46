"""Small projects of one CUDA file and one graph, compiled, and plans that declare something else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from planc.api import compile
from planc.plan.boxes import Box
from planc.plan.example import with_cells, with_program, with_schedule
from planc.plan.program import AXIS, BOX, EffectKind, NodeKind, Plan, Provenance

WORDS = {
    "in": EffectKind.READ,
    "out": EffectKind.WRITE,
    "inout": EffectKind.READ_WRITE,
    "reduce": EffectKind.REDUCE,
}
_HEAD = "planc: 1\nname: traced\ntargets: [sm_90]\n"


def project(folder: Path, cuda: str, graph: str) -> Plan:
    """Write both files to ``folder`` and compile; the author's words are all that is known of kernels."""
    (folder / "k.cu").write_text(cuda)
    (folder / "graph.yaml").write_text(_HEAD + graph)
    return as_declared(compile(folder / "graph.yaml"))


def as_declared(plan: Plan) -> Plan:
    """Let every effect of a kernel be the author's word, with nothing written for sure."""
    program = plan.programs[0]
    effects = program.effects.copy()
    kernels = program.nodes["kind"][effects["node"]] == NodeKind.KERNEL
    effects["kind_provenance"][kernels] = Provenance.DECLARED
    effects["range_provenance"][kernels] = Provenance.ASSUMED
    effects["must_count"][kernels] = 0
    return with_program(plan, effects=effects)


def row_of(plan: Plan, node: str, buffer: str) -> int:
    """Return the effect of a node on a buffer."""
    program = plan.programs[0]
    names = [b.name for b in program.buffers]
    here = (program.effects["node"] == program.node_names.index(node)) & (
        program.effects["buffer"] == names.index(buffer)
    )
    (row,) = np.flatnonzero(here).tolist()
    return row


def declare(plan: Plan, node: str, buffer: str, word: str) -> Plan:
    """Let a node have a buffer as ``word``."""
    row = row_of(plan, node, buffer)
    return with_program(plan, effects=with_cells(plan.programs[0].effects, row, kind=WORDS[word]))


def known(plan: Plan, node: str, buffer: str, **cells: Provenance) -> Plan:
    """Let planc itself answer for an effect."""
    row = row_of(plan, node, buffer)
    return with_program(plan, effects=with_cells(plan.programs[0].effects, row, **cells))


def with_box(plan: Plan, node: str, buffer: str, box: Box, which: str = "may") -> Plan:
    """Let an effect have one box."""
    program = plan.programs[0]
    axes = np.append(program.axes, np.array(list(box.axes), AXIS))
    new = np.array([(box.offset, box.item, len(program.axes), len(box.axes), 0)], BOX)
    cells = {which: len(program.boxes), f"{which}_count": 1}
    effects = with_cells(program.effects, row_of(plan, node, buffer), **cells)
    return with_program(plan, boxes=np.append(program.boxes, new), axes=axes, effects=effects)


def without_effect(plan: Plan, node: str, buffer: str) -> Plan:
    """Let a node say nothing of a buffer."""
    effects = np.delete(plan.programs[0].effects, row_of(plan, node, buffer))
    return with_program(plan, effects=effects)


def without_edge(plan: Plan, before: str, after: str) -> Plan:
    """Take an edge out of program and schedule, as a declaration that hides its conflict would."""
    names = plan.programs[0].node_names
    pair = (names.index(before), names.index(after))

    def others(edges):
        keep = [(int(e["before"]), int(e["after"])) != pair for e in edges]
        assert not all(keep)
        return edges[np.array(keep)]

    schedule = plan.schedules[0][0]
    plan = replace(plan, schedules=((schedule,),))
    plan = with_schedule(plan, edges=others(schedule.edges))
    return with_program(plan, edges=others(plan.programs[0].edges))


def codes(report) -> list[str]:
    """Return the codes of a report."""
    return [d.code for d in report.diagnostics]


def errors(report) -> list[str]:
    """Return the codes of a report without its hints about wide declarations."""
    return [code for code in codes(report) if code != "PLC515"]
