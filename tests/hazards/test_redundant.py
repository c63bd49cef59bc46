"""Hints about edges that others imply."""

import random

import networkx as nx

from planc.diagnostics import Collector
from planc.hazards import check_graph
from planc.hazards.redundant import redundant_edges
from tests.graph.flat_builder import Flat


def hints(flat):
    collector = Collector()
    check_graph(flat.graph(), flat.artifacts, collector)
    return [d for d in collector.diagnostics if d.code == "PLC504"]


def chain(*after):
    flat = Flat()
    for many in after:
        flat.join(after=many)
    return flat


def test_an_implied_edge_is_a_hint_and_names_the_path():
    (hint,) = hints(chain([], [0], [0, 1]))
    assert hint.facts == {"before": "n0", "after": "n2"}
    assert "through `n1`" in hint.message
    assert hints(chain([], [], [0, 1])) == []


def test_the_same_name_twice_is_a_hint():
    (hint,) = hints(chain([], [0, 0]))
    assert "twice" in hint.message


def test_a_text_of_a_loop_is_redundant_only_if_it_is_in_every_iteration():
    flat = chain([], [0], [1, 0])
    graph = flat.graph()
    span = graph.nodes[1].after[0].span
    from dataclasses import replace

    third = graph.nodes[2]
    edges = (third.after[0], replace(third.after[1], span=span))
    nodes = (*graph.nodes[:2], replace(third, after=edges))
    program = flat.program()
    assert len(redundant_edges(graph, program)) == 1
    assert redundant_edges(replace(graph, nodes=nodes), program) == []


def test_redundant_edges_are_those_outside_the_transitive_reduction():
    rng = random.Random(3)
    for _ in range(60):
        count = rng.randint(3, 12)
        pairs = [(a, b) for b in range(count) for a in range(b) if rng.random() < 0.3]
        flat = chain(*([a for a, b in pairs if b == row] for row in range(count)))
        graph = nx.DiGraph(pairs)
        graph.add_nodes_from(range(count))
        kept = set(nx.transitive_reduction(graph).edges)
        found = {(int(h.facts["before"][1:]), int(h.facts["after"][1:])) for h in hints(flat)}
        assert found == set(pairs) - kept
