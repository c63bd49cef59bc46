"""Mutants of compiled schedules: refused exactly where an oracle of closures says that they are wrong."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from planc.checker import check_schedule
from planc.diagnostics import InternalFault
from planc.passes import run_pipeline
from planc.plan.program import EMITTED_EDGE, EffectKind, Provenance, Role
from tests.passes.replays import random_work
from tests.passes.shapes import layered, program_of

PIPELINES = (
    "O0",
    "O2",
    "reduce",
    "lanes{width=2},arena",
    "arena{memory=tight},reduce",
    "lanes{width=1},arena",
)


def refused(program, schedule):
    try:
        check_schedule(program, schedule)
    except InternalFault as fault:
        return {d.code for d in fault.diagnostics}
    return set()


def users(program, row):
    effects = program.effects
    wild = effects["range_provenance"] == Provenance.UNKNOWN
    mine = ((effects["buffer"] == row) | wild) & (effects["kind"] != EffectKind.EXTERNAL)
    return set(effects["node"][mine].tolist())


def wrong(program, schedule):
    """What is wrong, by names of its own: each judged on the closure of all edges, pair by pair."""
    order = schedule.order.tolist()
    if sorted(order) != list(range(len(program.nodes))):
        return {"nodes"}
    graph = nx.DiGraph((a, b) for a, b, _ in schedule.edges.tolist())
    graph.add_nodes_from(order)
    place = {node: position for position, node in enumerate(order)}
    pairs = [(a, b) for a, b, _ in program.edges.tolist()]
    if any(place[a] >= place[b] for a, b in [*pairs, *graph.edges]):
        return {"order"}
    return memory_faults(program, schedule, nx.transitive_closure_dag(graph), pairs)


def memory_faults(program, schedule, paths, pairs):
    found = set()
    if not all(paths.has_edge(a, b) for a, b in pairs):
        found.add("path")
    spans = {}
    for row, _, at in schedule.placements.tolist():
        buffer = program.buffers[row]
        spans[row] = (at, at + buffer.nbytes)
        if at + buffer.nbytes > schedule.arena_bytes or at % buffer.align:
            found.add("place")
    for a in spans:
        for b in spans:
            meet = spans[a][0] < spans[b][1] and spans[b][0] < spans[a][1]
            if a < b and meet and not (before(program, paths, a, b) or before(program, paths, b, a)):
                found.add("shared")
    return found | lane_faults(schedule, paths)


def before(program, paths, a, b):
    return all(paths.has_edge(x, y) for x in users(program, a) for y in users(program, b))


def lane_faults(schedule, paths):
    pairs = list(zip(schedule.order.tolist(), schedule.lanes.tolist(), strict=True))
    if not schedule.lanes.any():
        return set()
    broken = any(
        lane == other and not paths.has_edge(a, b)
        for i, (a, lane) in enumerate(pairs)
        for b, other in pairs[i + 1 :]
    )
    return {"lane"} if broken else set()


def drop_edge(rng, program, schedule):
    return replace(schedule, edges=np.delete(schedule.edges, rng.randrange(len(schedule.edges))))


def turn_edge(rng, program, schedule):
    edges = schedule.edges.copy()
    row = rng.randrange(len(edges))
    edges[row]["before"], edges[row]["after"] = edges[row]["after"], edges[row]["before"]
    return replace(schedule, edges=edges)


def bend_edge(rng, program, schedule):
    edges = schedule.edges.copy()
    edges[rng.randrange(len(edges))][rng.choice(["before", "after"])] = rng.randrange(len(program.nodes))
    return replace(schedule, edges=edges)


def swap_order(rng, program, schedule):
    order = schedule.order.copy()
    at = rng.randrange(len(order) - 1)
    order[[at, at + 1]] = order[[at + 1, at]]
    return replace(schedule, order=order)


def repeat_node(rng, program, schedule):
    order = schedule.order.copy()
    order[rng.randrange(len(order))] = rng.randrange(len(order))
    return replace(schedule, order=order)


def move_place(rng, program, schedule):
    places = schedule.placements.copy()
    top = max(schedule.arena_bytes // 256, 1)
    places[rng.randrange(len(places))]["offset"] = 256 * rng.randrange(top)
    return replace(schedule, placements=places)


def swap_places(rng, program, schedule):
    places = schedule.placements.copy()
    one, two = rng.randrange(len(places)), rng.randrange(len(places))
    places["offset"][[one, two]] = places["offset"][[two, one]]
    return replace(schedule, placements=places)


def shift_place(rng, program, schedule):
    places = schedule.placements.copy()
    places[rng.randrange(len(places))]["offset"] += rng.choice([8, 256, 100])
    return replace(schedule, placements=places)


def cut_arena(rng, program, schedule):
    return replace(schedule, arena_bytes=schedule.arena_bytes - rng.randint(1, 600))


def change_lane(rng, program, schedule):
    lanes = schedule.lanes.copy()
    lanes[rng.randrange(len(lanes))] = rng.randrange(3)
    return replace(schedule, lanes=lanes)


MUTATIONS = (
    drop_edge,
    turn_edge,
    bend_edge,
    swap_order,
    repeat_node,
    move_place,
    swap_places,
    shift_place,
    cut_arena,
    change_lane,
)
CODES = {
    "nodes": {"PLC950"},
    "order": {"PLC951"},
    "path": {"PLC952"},
    "shared": {"PLC954"},
    "place": {"PLC955", "PLC956"},
    "lane": {"PLC911"},
}


def programs(rng):
    if rng.random() < 0.5:
        return random_work(rng, rng.randint(6, 14))
    count = rng.randint(6, 14)
    program = program_of(layered(count, rng.randint(2, 3), rng.randrange(1000), 2), count)
    if rng.random() < 0.15:
        program.effects["range_provenance"][rng.randrange(count)] = Provenance.UNKNOWN
    return program


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_mutants_are_refused_exactly_where_they_are_wrong(mutation):
    rng = random.Random(mutation.__name__)
    seen = Counter()
    for _ in range(60):
        program = programs(rng)
        schedule = run_pipeline(program, rng.choice(PIPELINES))
        assert not wrong(program, schedule) and not refused(program, schedule)
        if not len(schedule.edges) or not len(schedule.placements):
            continue
        for _ in range(4):
            mutant = mutation(rng, program, schedule)
            faults, codes = wrong(program, mutant), refused(program, mutant)
            assert bool(faults) == bool(codes), (faults, codes)
            if len(faults) == 1:
                assert codes <= CODES[next(iter(faults))]
            seen[bool(faults)] += 1
    assert seen[True] > 15


def test_unused_scratch_may_lie_anywhere_and_a_use_more_ends_that():
    program = program_of([(0, 1), (1, 2)], 3)
    schedule = run_pipeline(program, "arena")
    crushed = replace(schedule, placements=schedule.placements.copy())
    crushed.placements["offset"] = 0
    assert refused(program, crushed) == {"PLC954"}
    idle = replace(program, effects=program.effects[program.effects["buffer"] != 1])
    assert refused(idle, crushed) == set()
    assert program.buffers[0].role is Role.SCRATCH


def test_programmatic_edges_let_nothing_share():
    program = program_of([(0, 1), (1, 2)], 3)
    schedule = run_pipeline(program, "arena")
    edges = np.concatenate([schedule.edges[:1], np.array([(1, 2, 1)], EMITTED_EDGE)])
    assert refused(replace(program, edges=program.edges[:1]), replace(schedule, edges=edges)) == {"PLC954"}
