"""Pasts against networkx."""

import random

import networkx as nx
import pytest

from planc.graph.reach import NOTHING, holds, including, join, missing, past_of, settled


def members(past, size=64):
    return {p for p in range(size) if holds(past, p)}


def random_past(rng):
    return settled(rng.randrange(20), rng.getrandbits(rng.randrange(1, 30)))


def test_pasts_are_sets():
    rng = random.Random(1)
    for _ in range(2000):
        one, two = random_past(rng), random_past(rng)
        assert members(join(one, two)) == members(one) | members(two)
        position = one[0] + rng.randrange(20)
        assert members(including(one, position)) == members(one) | {position}
        positions = rng.getrandbits(60)
        lacking = {p for p in range(60) if positions >> p & 1} - members(one)
        found = missing(one, positions)
        assert {one[0] + p for p in range(64) if found >> p & 1} == lacking
    assert members(NOTHING) == set()


@pytest.mark.parametrize("seed", range(3))
def test_pasts_of_random_graphs_are_the_ancestors(seed):
    rng = random.Random(seed)
    for _ in range(60):
        count = rng.randint(1, 60)
        before = [[a for a in range(b) if rng.random() < rng.choice([0.02, 0.1, 0.5])] for b in range(count)]
        graph = nx.DiGraph()
        graph.add_nodes_from(range(count))
        graph.add_edges_from((a, b) for b, many in enumerate(before) for a in many)
        pasts = []
        for position, many in enumerate(before):
            past = past_of(many, pasts)
            assert members(past) == nx.ancestors(graph, position)
            pasts.append(past)


def test_the_past_of_a_chain_is_one_number():
    past = NOTHING
    for position in range(100_000):
        past = including(past, position)
    assert past == (100_000, 0)


def test_lanes_that_never_meet_keep_a_bit_for_each_node_of_the_others():
    pasts = []
    for position in range(2000):
        pasts.append(past_of([position - 2] if position > 1 else [], pasts))
    assert members(pasts[20], 40) == set(range(0, 20, 2))
