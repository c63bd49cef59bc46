"""Races against an oracle that marks single bytes."""

import random
from collections import Counter

import networkx as nx
import numpy as np
import pytest

from planc.diagnostics import Collector
from planc.graph import build_program
from planc.hazards import check_graph, find_races, infer_order
from planc.hazards.races import MANY
from tests.graph.flat_builder import Flat
from tests.hazards import oracle
from tests.hazards.random_graphs import random_graph, random_view, shuffled


def found_races(program):
    races = find_races(program)
    listed = {}
    for first, second in races.pairs():
        race = races.explain(first, second)
        spans = {}
        for c in race.conflicts:
            name = program.buffers[c.buffer].name
            low, high = spans.get(name, (1 << 60, 0))
            spans[name] = (min(low, c.low), max(high, c.high))
        pair = (min(first, second), max(first, second))
        assert pair not in listed
        listed[pair] = (race.write_write, spans)
    assert races.count == len(listed)
    return listed


@pytest.mark.parametrize("seed", range(4))
def test_every_race_and_only_races_are_found(seed):
    rng = random.Random(seed)
    kinds = Counter()
    for number in range(400):
        flat = random_graph(rng)
        if number % 4 == 0:
            shuffled(rng, flat)
        graph, program = flat.graph(), flat.program()
        want = oracle.races(graph)
        assert found_races(program) == want, graph
        kinds[bool(want)] += 1
        kinds.update("ww" if both else "rw" for both, _ in want.values())
    assert 0.3 < kinds[True] / 400 < 0.9, kinds
    assert min(kinds["ww"], kinds["rw"]) > 100, kinds


@pytest.mark.parametrize("seed", range(2))
def test_the_least_edges_mend_every_race_and_none_is_spare(seed):
    rng = random.Random(100 + seed)
    mended = 0
    for number in range(250):
        flat = random_graph(rng, density=0.15)
        if number % 4 == 0:
            shuffled(rng, flat)
        graph, program = flat.graph(), flat.program()
        races = find_races(program)
        if not races.count:
            continue
        mended += 1
        edges = list(races.mend().edges)
        author = oracle.author_edges(graph)
        assert nx.is_directed_acyclic_graph(nx.DiGraph([*author, *edges]))
        assert not oracle.races(graph, [*author, *edges])
        for spare in edges:
            assert oracle.races(graph, [*author, *(e for e in edges if e != spare)]), spare
    assert mended > 100


@pytest.mark.parametrize("seed", range(2))
def test_an_inferred_order_has_no_race_and_keeps_the_order_of_the_text(seed):
    rng = random.Random(200 + seed)
    for _ in range(250):
        flat = random_graph(rng, density=rng.choice([0, 0.2]), order="inferred")
        graph = flat.graph()
        program = infer_order(flat.program())
        edges = [(int(e["before"]), int(e["after"])) for e in program.edges]
        reach = oracle.paths(edges, len(graph.nodes))
        needed = oracle.needed_order(graph)
        assert all(b in reach[a] for a, b in needed)
        # Nothing is ordered that neither an author's edge nor a conflict asks for.
        least = oracle.paths([*needed, *oracle.author_edges(graph)], len(graph.nodes))
        assert reach == least
        assert set(oracle.author_edges(graph)) <= set(edges)
        assert find_races(program).count == 0


def test_an_inferred_edge_that_a_path_implies_is_left_out():
    flat = Flat(order="inferred").buffer("x: f32[4] inout")
    for _ in range(5):
        flat.fill("x = 1")
    edges = infer_order(flat.program()).edges
    assert [(int(e["before"]), int(e["after"])) for e in edges] == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert set(edges["origin"].tolist()) == {2}


def test_an_author_edge_against_the_text_turns_the_inferred_order():
    flat = Flat(order="inferred").buffer("x: f32[4] inout")
    flat.fill("x = 1", after=[1]).fill("x = 2")
    edges = infer_order(flat.program()).edges
    assert [(int(e["before"]), int(e["after"]), int(e["origin"])) for e in edges] == [(1, 0, 1)]


def test_touching_views_do_not_race_and_overlapping_ones_do():
    def count(first, second):
        flat = Flat().buffer("u: f32[8, 8] inout").fill(f"u[{first}] = 0").fill(f"u[{second}] = 0")
        return find_races(flat.program()).count

    assert count("0:4, :", "4:8, :") == 0
    assert count("0:4, :", "3:8, :") == 1
    assert count(":, ::2", ":, 1::2") == 0
    assert count(":, ::2", ":, ::3") == 1
    assert count("0, 0", "0, 1") == 0


def test_two_reads_do_not_race_and_a_join_orders():
    flat = Flat().buffer("u: f32[4] input").buffer("v: f32[2, 4] output").buffer("w: f32[4] output")
    flat.copy("v[0] <- u").copy("v[1] <- u").join(after=[0, 1]).copy("w <- v[0]", after=[2])
    assert find_races(flat.program()).count == 0


def reduction(words, kernels=("sum", "sum")):
    flat = Flat().buffer("u: f32[4] input").buffer("s: f32[4] inout")
    for name in dict.fromkeys(kernels):
        flat.kernel(f"{name}(in f32* x, {words} f32* total)")
    for name in kernels:
        flat.run(f"{name}(u, s)")
    return flat


def test_reductions_through_one_parameter_commute_and_others_race():
    assert find_races(reduction("reduce").program()).count == 0
    assert find_races(reduction("inout").program()).count == 1
    assert find_races(reduction("reduce", ("sum", "other")).program()).count == 1
    flat = reduction("reduce").copy("s <- u")
    assert find_races(flat.program()).count == 2


def check(flat):
    collector = Collector()
    program = check_graph(flat.graph(), flat.artifacts, collector)
    return program, collector.diagnostics


def test_open_order_of_float_reductions_is_a_warning():
    program, found = check(reduction("reduce"))
    assert program is not None
    assert [d.code for d in found] == ["PLC505"]
    ordered = reduction("reduce")
    ordered.nodes.pop()
    ordered.run("sum(u, s)", after=[0])
    assert check(ordered)[1] == ()


def test_a_reduction_races_with_a_read():
    flat = reduction("reduce")
    flat.buffer("v: f32[4] output").copy("v <- s", after=[0])
    (race,) = [d for d in check(flat)[1] if d.code == "PLC502"]
    assert race.facts["kinds"] == ["reduce", "read"]


def test_slots_that_may_alias_race_whatever_their_views():
    flat = Flat().buffer("a: f32[4] inout").buffer("b: f32[4] inout").buffer("c: f32[4] inout")
    flat.fill("a[0:2] = 0").fill("b[2:4] = 0").fill("c = 0")
    assert find_races(flat.program()).count == 0
    flat.alias("a", "b")
    races = find_races(flat.program())
    assert list(races.pairs()) == [(0, 1)]
    (conflict,) = races.explain(0, 1).conflicts
    assert conflict.buffer != conflict.other


def test_a_node_that_may_touch_anything_races_with_all_that_touch_something():
    flat = Flat().buffer("a: f32[4] inout").kernel("k(inout f32* x)").kernel("other()")
    flat.run("k(a)").run("other()").join().fill("a = 0", after=[0])
    program = flat.program()
    assert find_races(program).count == 0
    effects = program.effects.copy()
    effects["range_provenance"][effects["node"] == 0] = 5
    from dataclasses import replace

    wild = replace(program, effects=effects)
    assert find_races(wild).count == 0  # the fill is after it, the others touch nothing
    loose = replace(wild, edges=wild.edges[:0])
    assert list(find_races(loose).pairs()) == [(0, 3)]


def test_the_message_names_nodes_bytes_elements_and_the_edge():
    flat = Flat().buffer("u: f32[8, 4] inout")
    flat.fill("u[0:4] = 0", id="seed").kernel("step(inout f32* x)").run("step(u[2:6])", id="walk")
    program, (race,) = check(flat)
    assert program is None
    assert race.code == "PLC503"
    assert race.message.startswith("`seed` and `walk` race on `u`")
    assert "bytes 32 to 63" in race.message and "`u[2:4, :]`" in race.message
    assert race.span.line == 4 and race.related[0].span.line == 2
    assert race.help == "add `seed` to `after:` of `walk`"
    assert race.facts == {
        "nodes": ["seed", "walk"],
        "pairs": 1,
        "buffer": "u",
        "bytes": [32, 64],
        "elements": "u[2:4, :]",
        "kinds": ["write", "read_write"],
    }
    assert any("declared" in note and "`x`" in note for note in race.notes)


def test_reports_are_nearest_first_capped_and_counted():
    flat = Flat().buffer("u: f32[4] inout")
    for _ in range(40):
        flat.fill("u = 0")
    _, found = check(flat)
    races = [d for d in found if d.code == "PLC503"]
    assert len(races) == 20
    assert {abs(int(d.facts["nodes"][0][1:]) - int(d.facts["nodes"][1][1:])) for d in races} == {1}
    (note,) = [n for d in races for n in d.notes if "not shown" in n]
    assert note == f"{40 * 39 // 2 - 20} more races are not shown"


def test_thousands_of_tiles_are_swept_and_one_overlap_is_found():
    side = 40
    flat = Flat().buffer(f"u: f32[{4 * side}, {4 * side}] inout")
    for i in range(side):
        for j in range(side):
            flat.fill(f"u[{4 * i}:{4 * i + 4}, {4 * j}:{4 * j + 4}] = 0", id=f"t{i}_{j}")
    flat.fill(f"u[{4 * side - 1}, {4 * side - 5}:] = 0", id="odd")
    races = find_races(flat.program())
    names = flat.program().node_names
    assert {(names[a], names[b]) for a, b in races.pairs()} == {
        (f"t{side - 1}_{side - 2}", "odd"),
        (f"t{side - 1}_{side - 1}", "odd"),
    }


@pytest.mark.parametrize("axis", [0, 1])
def test_thousands_of_interleaved_lines_do_not_race(axis):
    count = 1500
    shape = f"{count}, 3" if axis == 0 else f"3, {count}"
    flat = Flat().buffer(f"u: f32[{shape}] inout")
    for line in range(count):
        flat.fill(f"u[{line}, :] = 0" if axis == 0 else f"u[:, {line}] = 0", id=f"n{line}")
    assert find_races(flat.program()).count == 0
    flat.fill("u[1, 1] = 0", id="odd")
    assert find_races(flat.program()).count == 1


def test_nested_windows_all_overlap():
    flat = Flat().buffer("u: f32[64] inout")
    for width in range(1, 65):
        flat.fill(f"u[:{width}] = 0", id=f"n{width}")
    assert find_races(flat.program()).count == 64 * 63 // 2


def test_bit_sets_agree_with_networkx_on_larger_graphs():
    rng = np.random.default_rng(5)
    count = 200
    flat = Flat().buffer(f"u: f32[{count}] inout")
    pairs = {(int(a), int(b)) for a, b in rng.integers(0, count, (350, 2)) if a < b}
    for row in range(count):
        flat.fill("u[0] = 0", id=f"n{row}", after=[a for a, b in pairs if b == row])
    program = build_program(flat.graph(), {}, Collector())
    reach = oracle.paths(pairs, count)
    want = {(a, b) for b in range(count) for a in range(b) if b not in reach[a]}
    assert set(find_races(program).pairs()) == want


@pytest.mark.parametrize("seed", range(3))
def test_many_random_views_of_one_buffer_agree_with_the_oracle(seed):
    rng = random.Random(300 + seed)
    flat = Flat().buffer("b0: f32[9, 7] inout")
    for _ in range(70):
        text, _ = random_view(rng, flat.buffers[0])
        flat.fill(f"{text} = 0", after=[r for r in range(len(flat.nodes)) if rng.random() < 0.02])
    assert found_races(flat.program()) == oracle.races(flat.graph())


def test_a_great_many_races_are_counted_and_the_nearest_listed():
    count = 400
    flat = Flat().buffer("u: f32[4] inout")
    for row in range(count):
        flat.fill("u = 0", id=f"n{row}")
    races = find_races(flat.program())
    assert races.count == count * (count - 1) // 2 > MANY
    assert MANY <= len(races.pairs()) < races.count
    nearest = [(race.first, race.second) for race in races.nearest()[: count - 1]]
    assert nearest == [(row, row + 1) for row in range(count - 1)]
    assert races.mend().edges == tuple((row, row + 1) for row in range(count - 1))
