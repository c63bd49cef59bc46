"""Traces of random graphs of fills and copies, and their races, against an oracle that marks single bytes."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planc.hazards.tracing.findings import find_all
from planc.hazards.tracing.races import find_traced_races
from planc.passes import written
from planc.plan.program import Plan
from planc.runtime.tracing import Recorder, feed, open_session
from planc.tracing_api import trace
from tests.graph.flat_builder import Flat
from tests.hazards import oracle
from tests.hazards.random_graphs import random_buffers, random_view, shuffled
from tests.tracing.projects import declare, errors, project, without_edge
from tests.tracing.test_bytesets import members


def random_graph(rng: random.Random) -> Flat:
    """A graph of fills and copies that can be replayed."""
    flat = Flat()
    random_buffers(rng, flat)
    density = rng.choice([0.1, 0.3, 0.6])
    for row in range(rng.randint(2, 9)):
        add_node(rng, flat, [b for b in range(row) if rng.random() < density / (1 + 0.2 * (row - b))])
    return flat


def add_node(rng: random.Random, flat: Flat, after: list[int]) -> None:
    target = rng.choice(flat.buffers)
    text, shape = random_view(rng, target)
    for _ in range(6):
        source = rng.choice(flat.buffers)
        other, other_shape = random_view(rng, source)
        long = [tuple(n for n in s if n != 1) for s in (shape, other_shape)]
        if source.dtype == target.dtype and source is not target and long[0] == long[1]:
            flat.copy(f"{text} <- {other}", after=after)
            return
    flat.fill(f"{text} = 0", after=after)


def traced(program):
    session = open_session(program, [written(program)])
    feed(session.executable, program, {}, 0)
    recorder = Recorder()
    session.replay({}, watch=recorder)
    return recorder


@pytest.mark.parametrize("seed", range(3))
def test_bytes_races_and_unwritten_reads(seed: int) -> None:
    rng = random.Random(seed)
    kinds: Counter[object] = Counter()
    for number in range(140):
        flat = random_graph(rng)
        if number % 4 == 0:
            shuffled(rng, flat)
        graph, program = flat.graph(), flat.program()
        recorder = traced(program)
        names = [b.name for b in program.buffers]
        for node in recorder.nodes:
            _same_bytes(graph, node, names)
        races = find_traced_races(program, recorder.areas, recorder.nodes)
        got = {}
        for race in races:
            pair = (min(race.first, race.second), max(race.first, race.second))
            assert pair not in got
            got[pair] = race
        want = oracle.races(graph)
        assert set(got) == set(want), graph
        for pair, (both, spans) in want.items():
            race = got[pair]
            low, high = spans[names[race.area]]
            assert (race.deeds == ("write", "write")) == both
            assert low <= race.held.first and race.held.last < high
        order = [node.node for node in recorder.nodes]
        unwritten, _ = oracle.unwritten_reads(graph, order, ("scratch", "output"))
        found = {(n.node, names[a.area]) for n in recorder.nodes for a in n.areas if a.unwritten}
        assert found == set(unwritten)
        assert {f.what for f in find_all(program, recorder.areas, recorder.nodes)} <= {"race", "unwritten"}
        kinds[bool(want)] += 1
        kinds["unwritten"] += bool(found)
    assert min(kinds[True], kinds[False]) > 20 and kinds["unwritten"] > 3, kinds


def _same_bytes(graph, node, names) -> None:
    got = {names[a.area]: a for a in node.areas}
    want: dict[str, list[set[int]]] = {}
    for buffer, reads, writes, marks in oracle.accesses(graph, graph.nodes[node.node]):
        sets = want.setdefault(buffer, [set(), set()])
        here = set(np.flatnonzero(marks).tolist())
        sets[0] |= here if reads else set()
        sets[1] |= here if writes else set()
    assert set(got) == set(want)
    for buffer, (read, write) in want.items():
        assert members(got[buffer].read) == read and members(got[buffer].write) == write


def test_buffers_that_may_share_memory_race_whatever_their_bytes() -> None:
    flat = Flat().buffer("a: f32[4] inout").buffer("b: f32[4] inout").buffer("c: f32[4] output")
    flat.fill("a[0:2] = 0").copy("c <- b")
    assert find_traced_races(flat.program(), *_areas_and_nodes(flat.program())) == []
    flat.alias("a", "b")
    (race,) = find_traced_races(flat.program(), *_areas_and_nodes(flat.program()))
    assert (race.first, race.second, race.area, race.other_area, race.deeds) == (
        0,
        1,
        0,
        1,
        ("write", "read"),
    )


def _areas_and_nodes(program):
    recorder = traced(program)
    return recorder.areas, recorder.nodes


def test_many_disjoint_tiles_and_one_overlap() -> None:
    flat = Flat().buffer("u: f32[64, 64] inout")
    for i in range(16):
        for j in range(16):
            flat.fill(f"u[{4 * i}:{4 * i + 4}, {j}::16] = 0", id=f"t{i}_{j}")
    flat.fill("u[63, 15:32:16] = 0", id="odd")
    program = flat.program()
    races = find_traced_races(program, *_areas_and_nodes(program))
    assert [(program.node_names[r.first], program.node_names[r.second]) for r in races] == [("t15_15", "odd")]
    assert races[0].held.nbytes == 8


CUDA = """\
__device__ int seen;
__global__ void bump(float* x) { x[threadIdx.x] += 1.0f; }
__global__ void show(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
__global__ void sum(const float* x, float* total) { atomicAdd(total, x[threadIdx.x]); }
__global__ void most(const float* x, int* total) { atomicMax(total, (int)x[threadIdx.x]); }
__global__ void add(const float* x, int* total) { atomicAdd(total, (int)x[threadIdx.x]); }
__global__ void count(float* x) { if (threadIdx.x == 0) seen = seen + 1; x[threadIdx.x] = 0.0f; }
"""
GRAPH = """\
buffers: {x: "f32[32] inout", y: "f32[32] output"}
kernels:
  bump: {source: k.cu, entry: "bump(inout f32* x)", block: 32, grid: 1}
  show: {source: k.cu, entry: "show(in f32* x, out f32* y)", block: 32, grid: 1}
nodes:
  - {id: b, run: "bump(x)"}
  - {id: s, run: "show(x, y)", after: b}
"""
SUMS = """\
buffers: {x: "f32[64] input", total: "f32[1] inout", whole: "i32[1] inout"}
kernels:
  sum: {source: k.cu, entry: "sum(in f32* x, reduce f32* total)", block: 32, grid: 1}
  add: {source: k.cu, entry: "add(in f32* x, reduce i32* total)", block: 32, grid: 1}
  most: {source: k.cu, entry: "most(in f32* x, reduce i32* total)", block: 32, grid: 1}
nodes:
  - {id: a, run: "sum(x[0:32], total)"}
  - {id: b, run: "sum(x[32:64], total)"}
  - {id: c, run: "add(x[0:32], whole)"}
  - {id: d, run: "most(x[0:32], whole)", after: c}
"""
COUNTS = """\
buffers: {x: "f32[32] output", y: "f32[32] output"}
kernels:
  count: {source: k.cu, entry: "count(out f32* x)", block: 32, grid: 1}
nodes:
  - {id: a, run: "count(x)"}
  - {id: b, run: "count(y)", after: a}
"""


def test_a_race_that_a_declaration_hides(tmp_path: Path) -> None:
    plan = project(tmp_path, CUDA, GRAPH)
    assert errors(trace(plan)) == []
    hidden = without_edge(declare(plan, "b", "x", "in"), "b", "s")
    found = {d.code: d for d in trace(hidden).diagnostics}
    assert set(found) == {"PLC511", "PLC513"}
    race = found["PLC513"]
    assert race.message == (
        "`b` and `s` race in this trace: the first writes and the second reads bytes 0 to 127 of `x`, `x`"
    )
    assert race.span.line == 10 and [r.span.line for r in race.related[:1]] == [9]
    assert {r.span.line for r in race.related[1:]} == {2, 3}
    assert race.facts["nodes"] == ["b", "s"] and race.facts["bytes"] == [0, 128]


def test_equal_reductions_commute_and_unlike_ones_race(tmp_path: Path) -> None:
    plan = project(tmp_path, CUDA, SUMS)
    assert errors(trace(plan)) == []
    (found,) = trace(without_edge(plan, "c", "d")).diagnostics
    assert found.code == "PLC513" and found.facts["nodes"] == ["c", "d"]
    assert found.facts["deeds"] == ["reduce", "reduce"] and found.facts["buffer"] == "whole"


def test_a_variable_of_the_module_races(tmp_path: Path) -> None:
    plan = project(tmp_path, CUDA, COUNTS)
    assert errors(trace(plan)) == []
    (found,) = trace(without_edge(plan, "a", "b")).diagnostics
    assert found.code == "PLC513"
    assert found.facts["buffer"] == "seen" and found.facts["elements"] is None


def test_races_of_one_text_are_one_report() -> None:
    flat = Flat().buffer("u: f32[4] inout")
    for _ in range(30):
        flat.fill("u = 0")
    program = replace(flat.program(), places=tuple(flat.program().places[:1]) * 30)
    report = trace(Plan((program,), ((written(program),),)))
    (found,) = report.diagnostics
    assert found.facts["count"] == 30 * 29 // 2
    assert f"{30 * 29 // 2 - 1} more pairs of nodes in this trace do the same" in found.notes


def test_reports_are_capped_and_counted() -> None:
    flat = Flat().buffer("u: f32[4] inout")
    for _ in range(10):
        flat.fill("u = 0")
    program = flat.program()
    found = trace(Plan((program,), ((written(program),),))).diagnostics
    assert len(found) == 20
    assert sum(f"{45 - 20} more findings are not shown" in d.notes for d in found) == 1
