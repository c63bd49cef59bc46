"""The arena: who may share bytes, the modes, the search against brute force."""

from __future__ import annotations

import csv
import random
from itertools import pairwise, permutations
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from planc.checker import check_schedule
from planc.passes import Verify, arena_report, interval_problem, pack, run_pipeline, written
from planc.passes.fit import by_size, first_fit
from planc.passes.problem import problem_of
from planc.passes.search import search
from planc.plan.program import Provenance
from tests.passes.shapes import chain, layered, program_of

VERIFY = Verify(check_schedule)
INSTANCES = Path(__file__).parents[1] / "data" / "minimalloc"


def offsets(schedule):
    return {row: at for row, _, at in schedule.placements.tolist()}


def test_a_chain_needs_the_two_largest_neighbours():
    program = program_of(chain(40), 40)
    schedule = run_pipeline(program, "arena", VERIFY)
    sizes = [b.nbytes for b in program.buffers]
    assert schedule.arena_bytes == max(a + b for a, b in pairwise(sizes))
    assert len(schedule.edges) == 39


def test_buffers_of_unordered_nodes_share_nothing_until_lanes_order_them():
    program = program_of([], 6)
    apart = run_pipeline(program, "arena", VERIFY)
    assert apart.arena_bytes == sum(b.nbytes for b in program.buffers)
    laned = run_pipeline(program, "lanes{width=1},arena", VERIFY)
    assert laned.arena_bytes == max(b.nbytes for b in program.buffers)


def test_a_node_that_may_touch_anything_bars_all_sharing():
    program = program_of(chain(6), 6)
    program.effects["range_provenance"][3] = Provenance.UNKNOWN
    schedule = run_pipeline(program, "lanes{width=1},arena{memory=tight}", VERIFY)
    assert schedule.arena_bytes == sum(b.nbytes for b in program.buffers)


def test_separate_is_as_written():
    program = program_of(chain(6), 6)
    schedule = run_pipeline(program, "arena{memory=separate}", VERIFY)
    assert np.array_equal(schedule.placements, written(program).placements)


def critical_path(program, schedule):
    graph = nx.DiGraph()
    graph.add_nodes_from(schedule.order.tolist())
    graph.add_edges_from((a, b) for a, b, _ in schedule.edges.tolist())
    return nx.dag_longest_path_length(graph, default_weight=1)


def test_tight_saves_bytes_and_strict_adds_no_edge():
    saved = 0
    for seed in range(12):
        program = program_of(layered(24, 6, seed), 24)
        strict = run_pipeline(program, "arena", VERIFY)
        tight = run_pipeline(program, "arena{memory=tight}", VERIFY)
        assert np.array_equal(np.sort(strict.edges), np.sort(written(program).edges))
        assert tight.arena_bytes <= strict.arena_bytes
        assert critical_path(program, tight) == critical_path(program, strict)
        saved += tight.arena_bytes < strict.arena_bytes
    assert saved > 2


def test_tight_without_effort_still_adds_what_it_needs():
    for seed in range(20):
        program = program_of(layered(30, 5, seed, parents=2), 30)
        run_pipeline(program, "lanes{width=3},arena{memory=tight,effort=0},reduce", VERIFY)


def test_the_report_bounds_the_peak():
    for seed in range(10):
        program = program_of(layered(40, 8, seed), 40)
        report = arena_report(program, run_pipeline(program, "O2", VERIFY))
        assert report.bound <= report.peak <= report.separate
        assert report.bound >= max(b.nbytes for b in program.buffers)


def test_so_many_buffers_that_one_sweep_places_them():
    program = program_of(chain(3000, 2), 3000)
    schedule = run_pipeline(program, "arena", VERIFY)
    assert schedule.arena_bytes <= 6 * max(b.nbytes for b in program.buffers)


def test_larger_alignments_are_kept():
    from dataclasses import replace

    program = program_of(chain(12), 12)
    buffers = tuple(replace(b, align=4096 if i % 3 else 256) for i, b in enumerate(program.buffers))
    schedule = run_pipeline(replace(program, buffers=buffers), "O2", VERIFY)
    assert all(at % 4096 == 0 for row, at in offsets(schedule).items() if row % 3)


def random_intervals(rng, count):
    lower = [rng.randrange(6) for _ in range(count)]
    upper = [low + rng.randint(1, 4) for low in lower]
    return interval_problem([rng.randint(1, 6) for _ in range(count)], lower, upper)


def random_conflicts(rng, count):
    """Pairs at random, of which the cliques that are known cover every block but not every pair."""
    chance = rng.choice([0.3, 0.5, 0.7])
    pairs = [(a, b) for b in range(count) for a in range(b) if rng.random() < chance]
    known = [list(pair) for pair in pairs if rng.random() < 0.5]
    sizes = [rng.randint(1, 3) for _ in range(count)]
    return problem_of(sizes, [1] * count, pairs, known + [[block] for block in range(count)])


def overlaps(problem, placed):
    ends = [o + s for o, s in zip(placed.offsets, problem.sizes, strict=True)]
    return [
        (a, b)
        for a, near in enumerate(problem.neighbours)
        for b in near
        if placed.offsets[a] < ends[b] and placed.offsets[b] < ends[a]
    ]


def test_search_finds_a_placement_exactly_where_there_is_one():
    rng = random.Random(1)
    hard = 0
    for _ in range(60):
        problem = random_conflicts(rng, rng.randint(1, 6))
        least = min(first_fit(problem, order).height for order in permutations(range(len(problem.sizes))))
        found = search(problem, least, 10_000)
        assert found and found.height == least and not overlaps(problem, found)
        assert search(problem, least - 1, 10_000) is None
        hard += least > problem.bound
    assert hard > 5


def test_pack_is_legal_never_worse_than_first_fit_and_repeats_itself():
    rng = random.Random(2)
    for _ in range(10):
        problem = random_intervals(rng, 30)
        placed = pack(problem, 1_000)
        assert not overlaps(problem, placed)
        assert problem.bound <= placed.height <= by_size(problem).height
        assert pack(problem, 1_000) == placed


@pytest.mark.parametrize("name", ["B", "C"])
def test_a_hard_instance_fits_its_capacity(name):
    (path,) = INSTANCES.glob(f"{name}.*.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    sizes, lower, upper = ([int(row[key]) for row in rows] for key in ("size", "lower", "upper"))
    problem = interval_problem([size // 1024 for size in sizes], lower, upper)
    assert by_size(problem).height > 1.2 * 1024
    found = search(problem, 1024, 20_000)
    assert found and found.height <= 1024 and not overlaps(problem, found)
