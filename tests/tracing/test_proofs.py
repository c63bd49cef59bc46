"""What planc proves of random kernels, against what they do: no may box too narrow, no must box too wide."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planc.hazards.tracing.exactness import count_exact
from planc.plan.boxes import Box
from planc.plan.example import example_plan
from planc.plan.program import NodeKind, Provenance
from planc.runtime.tracing import Recorder
from planc.tracing_api import Feed, trace
from tests.tracing.projects import with_box
from tests.tracing.test_recorder import ptx, random_ops, session_of

GRAPH = """\
planc: 1
name: random
targets: [sm_80]
buffers: {a: "f32[32] inout", b: "f32[32] inout", c: "f32[32] inout"}
kernels:
  k: {ptx: k.ptx, entry: "scale(f32* a, f32* b, f32* c, f32 s)", block: 8, grid: 1}
nodes:
  - {id: n, run: "k(a, b, c, 1.0)"}
"""


@pytest.mark.parametrize("seed", range(3))
def test_random_kernels(tmp_path: Path, seed: int) -> None:
    rng = random.Random(1000 + seed)
    (tmp_path / "graph.yaml").write_text(GRAPH)
    known: Counter[Provenance] = Counter()
    for number in range(25):
        (tmp_path / "k.ptx").write_text(ptx(random_ops(rng)))
        report = trace(tmp_path / "graph.yaml", feed=Feed(seed=number))  # a wrong proof raises
        assert report.ok, report.diagnostics
        assert report.program is not None
        effects = report.program.effects
        known.update(map(Provenance, effects["kind_provenance"].tolist()))
        assert (report.program.nodes["kind"] == NodeKind.KERNEL).all()
    assert known[Provenance.PROVED] > 40, known


def test_exact_boxes_are_counted() -> None:
    plan = example_plan()
    recorder = Recorder()
    session_of(plan).replay({}, watch=recorder)
    assert count_exact(plan.programs[0], recorder.nodes) == (6, 6)
    wide = with_box(plan, "load", "t", Box(0, ((7, 4),), 4))
    assert count_exact(wide.programs[0], recorder.nodes) == (5, 6)
    effects = plan.programs[0].effects.copy()
    effects["range_provenance"][effects["node"] == 2] = Provenance.UNKNOWN
    assert count_exact(replace(plan.programs[0], effects=np.array(effects)), recorder.nodes) == (3, 6)
