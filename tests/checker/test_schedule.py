"""The checker accepts ``written`` and legal variants of it, and refuses every planted fault."""

import random
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from planc.checker import check_schedule
from planc.diagnostics import InternalFault
from planc.hazards import infer_order
from planc.passes import written
from planc.plan.program import EMITTED_EDGE
from tests.graph.flat_builder import Flat
from tests.hazards.random_graphs import random_graph, shuffled


def small():
    flat = Flat().buffer("a: f32[100]").buffer("io: f32[100] inout").buffer("b: f64[3]")
    flat.fill("a = 0").fill("b = 0", after=[0]).fill("io = 0", after=[1]).fill("a = 1", after=[2])
    program = flat.program()
    return program, written(program)


def codes(program, schedule):
    with pytest.raises(InternalFault) as caught:
        check_schedule(program, schedule)
    return {d.code for d in caught.value.diagnostics}


def edges(*pairs, kind=0):
    return np.array([(a, b, kind) for a, b in pairs], dtype=EMITTED_EDGE)


def test_written_has_one_lane_every_edge_and_a_place_for_each_scratch():
    program, schedule = small()
    assert schedule.name == "written" and schedule.targets == ()
    assert schedule.order.tolist() == [0, 1, 2, 3] and set(schedule.lanes.tolist()) == {0}
    assert [tuple(e) for e in schedule.edges.tolist()] == [(0, 1, 0), (1, 2, 0), (2, 3, 0)]
    assert [tuple(p) for p in schedule.placements.tolist()] == [(0, 0, 0), (2, 0, 512)]
    assert schedule.arena_bytes == 768
    check_schedule(program, schedule)


def test_a_larger_alignment_is_kept():
    flat = Flat().buffer("a: u8[1]").buffer("b: u8[1]", align=4096)
    program = flat.fill("a = 0").fill("b = 0").program()
    schedule = written(program)
    assert schedule.placements["offset"].tolist() == [0, 4096]
    check_schedule(program, schedule)


def test_written_of_random_graphs_is_accepted():
    rng = random.Random(1)
    for number in range(150):
        flat = random_graph(rng, order="inferred")
        if number % 3 == 0:
            shuffled(rng, flat)
        program = infer_order(flat.program())
        check_schedule(program, written(program))


def test_an_implied_edge_may_go_and_no_other():
    rng = random.Random(2)
    dropped = kept = 0
    for _ in range(150):
        program = infer_order(random_graph(rng, nodes=8, density=0.5).program())
        schedule = written(program)
        graph = nx.DiGraph([(int(e["before"]), int(e["after"])) for e in schedule.edges])
        for row in range(len(schedule.edges)):
            less = replace(schedule, edges=np.delete(schedule.edges, row))
            edge = (int(schedule.edges[row]["before"]), int(schedule.edges[row]["after"]))
            graph.remove_edge(*edge)
            if nx.has_path(graph, *edge):
                check_schedule(program, less)
                dropped += 1
            else:
                assert codes(program, less) == {"PLC952"}
                kept += 1
            graph.add_edge(*edge)
    assert min(dropped, kept) > 50


def test_another_legal_order_is_accepted_and_an_illegal_one_refused():
    program, schedule = small()
    chain = replace(schedule, edges=edges((0, 1), (1, 2), (2, 3)))
    assert codes(program, replace(chain, order=np.array([1, 0, 2, 3], np.uint32))) == {"PLC951"}
    flat = Flat().join().join()
    loose = flat.program()
    check_schedule(loose, replace(written(loose), order=np.array([1, 0], np.uint32)))


def test_each_node_runs_once():
    program, schedule = small()
    assert codes(program, replace(schedule, order=np.array([0, 1, 2, 2], np.uint32))) == {"PLC950"}
    short = replace(schedule, order=schedule.order[:3], lanes=schedule.lanes[:3])
    assert codes(program, short) == {"PLC950"}


def test_rows_that_are_not_there():
    program, schedule = small()
    assert codes(program, replace(schedule, order=np.array([0, 1, 2, 4], np.uint32))) == {"PLC957"}
    assert codes(program, replace(schedule, edges=edges((0, 9)))) == {"PLC957"}
    assert codes(program, replace(schedule, lanes=schedule.lanes[:1])) == {"PLC957"}
    assert codes(program, replace(schedule, edges=edges((0, 1), kind=7))) == {"PLC957"}


def test_a_programmatic_edge_is_no_path():
    program, schedule = small()
    mixed = np.concatenate([edges((0, 1), (1, 2)), edges((2, 3), kind=1)])
    assert codes(program, replace(schedule, edges=mixed)) == {"PLC952"}


def place(schedule, *offsets, arena=None):
    placements = schedule.placements.copy()
    placements["offset"] = offsets
    return replace(schedule, placements=placements, arena_bytes=arena or schedule.arena_bytes)


def test_places():
    program, schedule = small()
    check_schedule(program, place(schedule, 256, 0))
    assert codes(program, place(schedule, 0, 256)) == {"PLC954"}
    assert codes(program, place(schedule, 0, 0)) == {"PLC954"}
    assert codes(program, place(schedule, 0, 520)) == {"PLC956"}
    assert codes(program, place(schedule, 0, 768)) == {"PLC955"}
    check_schedule(program, place(schedule, 0, 512, arena=536))
    assert codes(program, place(schedule, 0, 512, arena=535)) == {"PLC955"}


def test_exactly_the_scratch_buffers_have_places():
    program, schedule = small()
    assert codes(program, replace(schedule, placements=schedule.placements[:1])) == {"PLC953"}
    twice = np.concatenate([schedule.placements, schedule.placements[:1]])
    assert codes(program, replace(schedule, placements=twice)) == {"PLC953"}
    other = schedule.placements.copy()
    other["buffer"][0] = 1
    assert codes(program, replace(schedule, placements=other)) == {"PLC953"}


def test_the_checker_imports_no_pass():
    import ast
    from pathlib import Path

    import planc.checker

    for file in Path(planc.checker.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith(("planc.passes", "planc.graph", "planc.hazards"))
