"""lanes, reduce and order against their definitions on random graphs."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest

from planc.checker import check_schedule
from planc.passes import Verify, run_pipeline
from planc.plan.program import NodeKind
from tests.passes.shapes import chain, layered, program_of, scattered

VERIFY = Verify(check_schedule)


def graph_of(schedule):
    graph = nx.DiGraph()
    graph.add_nodes_from(schedule.order.tolist())
    graph.add_edges_from((a, b) for a, b, _ in schedule.edges.tolist())
    return graph


def random_pairs(rng, count):
    order = rng.sample(range(count), count)
    chance = rng.choice([0.05, 0.2, 0.5])
    return [(order[i], order[j]) for j in range(count) for i in range(j) if rng.random() < chance]


def test_reduce_is_the_transitive_reduction():
    rng = random.Random(1)
    for _ in range(60):
        count = rng.randint(2, 20)
        program = program_of(random_pairs(rng, count), count)
        before = graph_of(run_pipeline(program, ""))
        after = graph_of(run_pipeline(program, "reduce", VERIFY))
        assert set(after.edges) == set(nx.transitive_reduction(before).edges)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_lanes_bound_the_width_and_keep_every_path(width):
    rng = random.Random(width)
    for _ in range(40):
        count = rng.randint(1, 24)
        program = program_of(random_pairs(rng, count), count)
        schedule = run_pipeline(program, f"lanes{{width={width}}}", VERIFY)
        assert len(set(schedule.lanes.tolist())) <= width
        closed = nx.transitive_closure_dag(graph_of(schedule))
        assert set(map(tuple, program.edges[["before", "after"]].tolist())) <= set(closed.edges)
        complement = nx.Graph((a, b) for a in closed for b in closed if a < b)
        complement.remove_edges_from(list(closed.edges))
        assert max((len(c) for c in nx.find_cliques(complement)), default=1) <= width


def test_a_graph_that_is_no_wider_than_its_lanes_gets_no_edge():
    pairs = [(i, i + 1) for i in range(0, 30, 3)] + [(i, i + 2) for i in range(0, 30, 3)]
    program = program_of(pairs, 33)
    for width in (33, 64):
        schedule = run_pipeline(program, f"lanes{{width={width}}}", VERIFY)
        assert len(schedule.edges) == len(program.edges)


def test_lanes_never_order_joins():
    rng = random.Random(3)
    for _ in range(30):
        count = rng.randint(4, 16)
        program = program_of(random_pairs(rng, count), count)
        joins = rng.sample(range(count), count // 3)
        program.nodes["kind"][joins] = NodeKind.JOIN
        schedule = run_pipeline(program, "lanes{width=2}", VERIFY)
        own = set(map(tuple, program.edges[["before", "after"]].tolist()))
        added = {(a, b) for a, b, _ in schedule.edges.tolist()} - own
        assert not {node for edge in added for node in edge} & set(joins)


def test_joins_between_layers_do_not_use_up_lanes():
    pairs, node, join = [], 0, None
    kinds = []
    for _ in range(5):
        layer = list(range(node, node + 4))
        pairs += [(join, n) for n in layer] if join is not None else []
        join = node + 4
        pairs += [(n, join) for n in layer]
        kinds += [NodeKind.COPY] * 4 + [NodeKind.JOIN]
        node += 5
    program = program_of(pairs, node)
    program.nodes["kind"] = kinds
    schedule = run_pipeline(program, "lanes{width=16}", VERIFY)
    assert len(schedule.edges) == len(program.edges) and schedule.lanes.max() < 4


def test_the_model_bounds_wide_graphs_and_leaves_chains():
    wide = run_pipeline(program_of([], 2048, scratch=0), "lanes", VERIFY)
    assert 8 <= wide.lanes.max() + 1 <= 64
    line = run_pipeline(program_of(chain(100), 100), "lanes", VERIFY)
    assert not line.lanes.any() and len(line.edges) == 99


@pytest.mark.parametrize("by", ["start", "critical", "text"])
def test_order_is_legal_and_by_its_key(by):
    rng = random.Random(4)
    for _ in range(30):
        count = rng.randint(1, 20)
        program = program_of(random_pairs(rng, count), count)
        first = run_pipeline(program, "lanes{width=3}", VERIFY)
        schedule = run_pipeline(program, f"lanes{{width=3}},order{{by={by}}}", VERIFY)
        lane = dict(zip(first.order.tolist(), first.lanes.tolist(), strict=True))
        assert [lane[node] for node in schedule.order.tolist()] == schedule.lanes.tolist()
        if by == "text":
            ready = nx.lexicographical_topological_sort(graph_of(schedule))
            assert schedule.order.tolist() == list(ready)


def test_the_same_program_gives_the_same_schedule():
    program = program_of(scattered(300, reach=20), 300)
    one, two = run_pipeline(program), run_pipeline(program)
    for field in ("order", "lanes", "edges", "placements"):
        assert np.array_equal(getattr(one, field), getattr(two, field))


@pytest.mark.parametrize("pairs", [chain(5_000, 7), layered(5_000, 64), scattered(5_000)])
def test_large_graphs_pass_the_checker(pairs):
    program = program_of(pairs, 5_000)
    schedule = run_pipeline(program, "O2", VERIFY)
    assert schedule.arena_bytes < sum(b.nbytes for b in program.buffers)
