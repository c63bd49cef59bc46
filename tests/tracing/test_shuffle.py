"""Other orders: a hidden race is found and brought down to two nodes, and what has none is not reported."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from planc.hazards.tracing import find_difference, random_orders
from planc.passes import written
from planc.plan.program import EMITTED_EDGE, Plan
from planc.source.flat import FlatKind
from planc.tracing_api import Feed, shuffle
from tests.hazards import oracle
from tests.tracing.projects import codes, declare, project, without_edge
from tests.tracing.test_races import CUDA, GRAPH, SUMS, random_graph

CHAIN = """\
symbols: {n: 12}
buffers: {x: "f32[32] inout", y: "f32[n, 32] output", z: "f32[32] output"}
kernels:
  bump: {source: k.cu, entry: "bump(inout f32* x)", block: 32, grid: 1}
  show: {source: k.cu, entry: "show(in f32* x, out f32* y)", block: 32, grid: 1}
nodes:
  - for: t in range(n)
    nodes:
      - {id: "f[t]", fill: "y[t] = 0"}
  - {id: b, run: "bump(x)"}
  - {id: s, run: "show(x, z)", after: b}
"""


def table(edges) -> np.ndarray:
    return np.array([(a, b, 0) for a, b in edges], EMITTED_EDGE)


@pytest.mark.parametrize("seed", range(3))
def test_orders_are_legal_different_and_reach_many(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        count = rng.randint(1, 7)
        edges = [(a, b) for a, b in itertools.combinations(range(count), 2) if rng.random() < 0.3]
        known = tuple(range(count))
        found = list(random_orders(table(edges), count, seed, 60, known))
        assert len(set(found)) == len(found) and known not in found
        for order in found:
            place = {row: i for i, row in enumerate(order)}
            assert sorted(order) == list(range(count)) and all(place[a] < place[b] for a, b in edges)
        graph = nx.DiGraph(edges)
        graph.add_nodes_from(range(count))
        legal = sum(1 for _ in itertools.islice(nx.all_topological_sorts(graph), 9))
        assert len(found) >= min(legal, 9) - 1 if legal < 5 else len(found) > 2
        assert found == list(random_orders(table(edges), count, seed, 60, known))


class Hidden:
    """Pairs whose exchange would show, and how often somebody looked."""

    def __init__(self, count, edges, hidden):
        self.count, self.edges, self.hidden, self.tries = count, edges, hidden, 0

    def is_turned(self, order):
        place = {row: i for i, row in enumerate(order)}
        return any(place[a] > place[b] for a, b in self.hidden)

    def same(self, order):
        self.tries += 1
        place = {row: i for i, row in enumerate(order)}
        assert sorted(order) == list(range(self.count))
        assert all(place[a] < place[b] for a, b in self.edges)
        return not self.is_turned(order)


@pytest.mark.parametrize("seed", range(3))
def test_a_difference_is_brought_down_to_two_neighbours(seed: int) -> None:
    rng = random.Random(seed)
    found_some = 0
    for _ in range(60):
        count = rng.randint(2, 40)
        edges = [(a, b) for a, b in itertools.combinations(range(count), 2) if rng.random() < 0.05]
        reach = oracle.paths(edges, count)
        free = [(a, b) for a, b in itertools.combinations(range(count), 2) if b not in reach[a]]
        known = tuple(range(count))
        for order in random_orders(table(edges), count, seed, 5, known):
            world = Hidden(count, edges, set(rng.sample(free, min(3, len(free)))))
            if not world.is_turned(order):
                continue
            found = find_difference(known, order, world.same)
            assert (found.first, found.second) in world.hidden
            assert world.tries <= 2 * count.bit_length() + 2
            at = found.order.index(found.first)
            assert found.order[at + 1] == found.second
            found_some += 1
    assert found_some > 30


def test_a_hidden_race_behind_a_wrong_in(tmp_path: Path) -> None:
    plan = project(tmp_path, CUDA, CHAIN)
    assert codes(shuffle(plan, 10)) == []
    hidden = without_edge(declare(plan, "b", "x", "in"), "b", "s")
    report = shuffle(hidden, 10)
    (found,) = report.diagnostics
    assert found.code == "PLC516" and not report.ok
    assert found.message == "`b` and `s` have no order, and exchanging them changes `z[0]`"
    assert found.facts["nodes"] == ["b", "s"] and found.facts["buffers"] == ["z"]
    assert found.facts["element"] == [0]
    assert found.span.line == 14 and found.related[0].span.line == 13


def test_one_order_only_and_equal_memory_are_said(tmp_path: Path) -> None:
    plan = project(tmp_path, CUDA, GRAPH)
    assert shuffle(plan, 5).verdict.endswith("its edges allow one order only, so there is none to compare")
    hidden = without_edge(plan, "b", "s")
    assert not shuffle(hidden, 5).ok
    zero = Feed({"x": np.full(32, np.inf, np.float32)})  # inf + 1 is inf
    report = shuffle(hidden, 5, feed=zero)
    assert report.ok and report.verdict.endswith(
        "1 other order gave equal memory, which proves nothing about the rest"
    )


def test_float_sums_are_a_note_and_integer_ones_equal(tmp_path: Path) -> None:
    three = SUMS.replace(
        '  - {id: c, run: "add', '  - {id: e, run: "sum(x[16:48], total)"}\n  - {id: c, run: "add'
    )
    plan = project(tmp_path, CUDA, three)
    (found,) = shuffle(plan, 10).diagnostics
    assert found.code == "PLC517" and found.facts["buffers"] == ["total"]
    whole = Feed({"x": np.arange(64, dtype=np.float32), "total": np.zeros(1, np.float32)})
    report = shuffle(plan, 10, feed=whole)
    assert codes(report) == [] and "equal memory" in report.verdict


def test_what_a_float_sum_feeds_is_no_race(tmp_path: Path) -> None:
    graph = """\
buffers: {x: "f32[96] input", total: "f32[1] inout", y: "f32[1] output"}
kernels:
  sum: {source: k.cu, entry: "sum(in f32* x, reduce f32* total)", block: 32, grid: 1}
nodes:
  - {id: a, run: "sum(x[0:32], total)"}
  - {id: b, run: "sum(x[32:64], total)"}
  - {id: c, run: "sum(x[64:96], total)"}
  - {id: d, copy: "y <- total", after: "a, b, c"}
"""
    plan = project(tmp_path, CUDA, graph)
    (found,) = shuffle(plan, 10).diagnostics
    assert found.code == "PLC517" and set(found.facts["buffers"]) == {"total", "y"}
    assert len(found.facts["nodes"]) == 2
    assert "PLC516" in codes(shuffle(without_edge(plan, "c", "d"), 10))


def test_far_apart_sums_are_a_race(tmp_path: Path) -> None:
    graph = """\
buffers: {x: "f32[64] input", total: "f32[1] inout"}
kernels:
  sum: {source: k.cu, entry: "sum(in f32* x, reduce f32* total)", block: 32, grid: 1}
nodes:
  - {id: a, run: "sum(x[0:32], total)"}
  - {id: z, fill: "total = 0", after: a}
"""
    plan = project(tmp_path, CUDA, graph)
    found = shuffle(without_edge(plan, "a", "z"), 3).diagnostics
    assert [d.code for d in found] == ["PLC516"]


def give_values(flat) -> None:
    """Let every fill write its own value, so that orders show."""
    dtypes = {b.name: b.dtype for b in flat.buffers}
    for number, node in enumerate(flat.nodes):
        if node.kind is FlatKind.FILL and dtypes[node.op.target.buffer] != "f64":
            value = replace(node.op.value, value=number + 1)
            flat.nodes[number] = replace(node, op=replace(node.op, value=value))


@pytest.mark.parametrize("seed", range(2))
def test_random_graphs_without_races_never_differ_and_some_with_do(seed: int) -> None:
    rng = random.Random(seed)
    counts = {True: 0, False: 0}
    while min(counts.values()) < 15:
        flat = random_graph(rng)
        give_values(flat)
        graph, program = flat.graph(), flat.program()
        racing = bool(oracle.races(graph))
        report = shuffle(Plan((program,), ((written(program),),)), 6, feed=Feed(seed=seed))
        differs = "PLC516" in codes(report)
        assert racing or not differs
        if differs or not racing:
            counts[differs] += 1
        if differs:
            names = next(d.facts["nodes"] for d in report.diagnostics if d.code == "PLC516")
            pair = tuple(sorted(program.node_names.index(n) for n in names))
            assert pair in oracle.races(graph)
