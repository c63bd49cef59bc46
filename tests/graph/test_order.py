"""Edges, cycles and the order near the text."""

import random

import networkx as nx
import numpy as np

from planc.graph import edge_table, topological_order
from planc.plan.program import EdgeOrigin
from tests.graph.flat_builder import FILE, Flat


def graph(*after):
    flat = Flat()
    for many in after:
        flat.join(after=many)
    return flat


def edges(pairs):
    return edge_table(pairs, EdgeOrigin.AUTHOR)


def test_a_cycle_is_named_once_with_its_edges():
    (bad,) = graph([2], [0], [1]).found()
    assert bad.code == "PLC501"
    assert bad.message == "nodes form a cycle: `n0` → `n1` → `n2` → `n0`"
    assert (bad.span.file, bad.span.line) == (FILE, 1)
    assert [(r.message, r.span.line) for r in bad.related] == [
        ("`n1` comes after `n0`", 2),
        ("`n2` comes after `n1`", 3),
    ]
    assert graph([], [0], [1]).codes() == []


def test_a_node_after_itself():
    (bad,) = graph([], [1, 0]).found()
    assert bad.message == "node `n1` comes after itself"


def test_each_knot_is_reported_and_its_shortest_cycle_shown():
    flat = graph([1], [0], [4, 3], [2], [3], [2])
    found = flat.found()
    assert [d.facts["nodes"] for d in found] == [["n0", "n1"], ["n2", "n3"]]


def test_nodes_behind_a_cycle_are_not_blamed():
    assert len(graph([1], [0], [1], [2]).found()) == 1


def test_references_forward_are_legal():
    program = graph([2], [], [1]).program()
    assert [(int(e["before"]), int(e["after"])) for e in program.edges] == [(1, 2), (2, 0)]


def test_equal_edges_count_once_and_rows_are_sorted():
    program = graph([], [0, 0], [1, 0]).program()
    assert [(int(e["before"]), int(e["after"])) for e in program.edges] == [(0, 1), (0, 2), (1, 2)]


def test_the_order_is_the_texts_where_that_is_legal():
    rng = random.Random(2)
    for _ in range(100):
        count = rng.randint(1, 15)
        pairs = {(a, b) for a in range(count) for b in range(count) if a != b and rng.random() < 0.12}
        digraph = nx.DiGraph(pairs)
        digraph.add_nodes_from(range(count))
        order = topological_order(edges(pairs), count)
        if not nx.is_directed_acyclic_graph(digraph):
            assert len(order) < count
            continue
        assert order == list(nx.lexicographical_topological_sort(digraph))
    assert topological_order(edges([(0, 3), (1, 2)]), 4) == [0, 1, 2, 3]


def test_no_edges():
    assert len(edges([])) == 0 and topological_order(edges([]), 3) == [0, 1, 2]
    assert edges([]).dtype.names == ("before", "after", "origin")
    assert np.all(edges([(0, 1)])["origin"] == EdgeOrigin.AUTHOR)
