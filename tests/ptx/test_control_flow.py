"""Blocks, dominators, post-dominators and loops, against definitions that need no algorithm."""

from __future__ import annotations

import random

import networkx
import pytest

from planc.ptx import EXIT, ControlFlow, control_flow, targets_of
from planc.ptx.syntax import Function
from tests.ptx.helpers import SAMPLES, kernel


def flow_of(body: str) -> ControlFlow:
    return control_flow(kernel(body))


def test_straight_line() -> None:
    flow = flow_of("mov.u32 %r1, 1; add.s32 %r1, %r1, 1; ret;")
    assert [(b.start, b.stop, b.successors) for b in flow.blocks] == [(0, 3, (EXIT,))]
    assert flow.post_dominators == (EXIT,)
    assert flow.dominators == (None,)
    assert not flow.loops


def test_no_instruction_at_all() -> None:
    flow = flow_of("")
    assert [(b.start, b.stop, b.successors) for b in flow.blocks] == [(0, 0, (EXIT,))]
    assert flow.block_of(0) == EXIT


def test_if_and_else_meet() -> None:
    flow = flow_of("@%p1 bra A; mov.u32 %r1, 1; bra B; A: mov.u32 %r1, 2; B: ret;")
    assert [b.successors for b in flow.blocks] == [(2, 1), (3,), (3,), (EXIT,)]
    assert flow.post_dominators == (3, 3, 3, EXIT)
    assert flow.dominators == (None, 0, 0, 0)
    assert flow.reconvergence(0) == 4
    assert flow.reconvergence(4) == 5


def test_a_guarded_return_leaves_or_goes_on() -> None:
    for leave in ("ret", "exit", "trap"):
        flow = flow_of(f"@%p1 {leave}; mov.u32 %r1, 1; ret;")
        assert [b.successors for b in flow.blocks] == [(EXIT, 1), (EXIT,)]
        assert flow.post_dominators == (EXIT, EXIT)


def test_a_guarded_call_and_barrier_end_no_block() -> None:
    assert len(flow_of("@%p1 bar.sync 0; @%p1 st.u32 [%rd1], %r1; ret;").blocks) == 1


def test_falling_off_the_end_and_jumping_there() -> None:
    flow = flow_of("@%p1 bra END; mov.u32 %r1, 1; END:")
    assert [b.successors for b in flow.blocks] == [(EXIT, 1), (EXIT,)]


def test_a_table_of_targets() -> None:
    function = kernel("T: .branchtargets A, B, A; brx.idx %r1, T; A: ret; B: ret;")
    flow = control_flow(function)
    assert [b.successors for b in flow.blocks] == [(1, 2), (EXIT,), (EXIT,)]
    assert targets_of(function, function.body[0]) == (1, 2, 1)


def test_loops_and_nested_loops() -> None:
    flow = flow_of("A: mov.u32 %r1, 1; B: add.s32 %r1, %r1, 1; @%p1 bra B; @%p2 bra A; ret;")
    assert flow.loops == {0: frozenset({0, 1, 2}), 1: frozenset({1})}
    assert flow.is_reducible
    assert flow.post_dominators == (1, 2, 3, EXIT)


def test_two_entries_into_a_loop() -> None:
    flow = flow_of("@%p1 bra B; A: mov.u32 %r1, 1; B: @%p2 bra A; ret;")
    assert not flow.is_reducible
    assert not flow.loops


def test_an_endless_loop_still_meets_in_itself() -> None:
    flow = flow_of("A: @%p1 bra B; mov.u32 %r1, 1; bra C; B: mov.u32 %r1, 2; C: bra A;")
    assert flow.post_dominators == (3, 3, 3, EXIT)
    assert flow_of("A: bra A;").post_dominators == (EXIT,)


def test_an_endless_loop_beside_an_exit() -> None:
    flow = flow_of("@%p1 bra OUT; A: mov.u32 %r1, 1; bra A; OUT: ret;")
    assert flow.post_dominators == (EXIT, EXIT, EXIT)


def test_unreachable_code() -> None:
    flow = flow_of("bra B; A: mov.u32 %r1, 1; bra B; B: ret;")
    assert flow.order == (0, 2)
    assert flow.dominators == (None, None, 0)
    assert flow.post_dominators == (2, 2, EXIT)


def random_body(chance: random.Random, count: int) -> str:
    """Blocks of one instruction and a way on of any kind."""
    lines = []
    for block in range(count):
        targets = [f"L{chance.randrange(count)}" for _ in range(3)]
        ways = [
            "",
            "",
            f"bra {targets[0]};",
            f"@%p1 bra {targets[0]};",
            f"@%p1 bra {targets[0]};",
            f"@!%p1 bra {targets[0]}; bra {targets[1]};",
            f"T{block}: .branchtargets {', '.join(targets)}; brx.idx %r1, T{block};",
            f"T{block}: .branchtargets {', '.join(targets)}; @%p1 brx.idx %r1, T{block};",
            "ret;",
            "@%p1 ret;",
        ]
        lines.append(f"L{block}: add.s32 %r1, %r1, 1; {chance.choice(ways)}")
    return "\n".join(lines)


def graph_of(function: Function) -> networkx.DiGraph:
    """One node an instruction, and the end."""
    graph = networkx.DiGraph()
    end = len(function.body)
    graph.add_nodes_from(range(end + 1))
    for index, instruction in enumerate(function.body):
        if instruction.opcode in ("bra", "brx"):
            graph.add_edges_from((index, each) for each in targets_of(function, instruction))
        elif instruction.opcode in ("ret", "exit", "trap"):
            graph.add_edge(index, end)
        if instruction.guard or instruction.opcode not in ("bra", "brx", "ret", "exit", "trap"):
            graph.add_edge(index, index + 1)
    return graph


def open_endless(graph: networkx.DiGraph, flow: ControlFlow, end: int) -> None:
    """Let the last block of each loop without a way out reach the end, as the class promises."""
    rank = {block: place for place, block in enumerate(flow.order)}
    for component in list(networkx.strongly_connected_components(graph)):
        if end in component or any(n not in component for node in component for n in graph[node]):
            continue
        blocks = {flow.block_of(node) for node in component}
        last = max(blocks, key=lambda block: (rank.get(block, -1), block))
        graph.add_edge(flow.blocks[last].stop - 1, end)


def always_passes(graph: networkx.DiGraph, start: int, end: int) -> set[int]:
    """The nodes without which ``end`` is out of reach from ``start``."""
    found = set()
    for node in networkx.descendants(graph, start) | {start}:
        rest = graph.subgraph(set(graph) - {node})
        if node in (start, end) or not networkx.has_path(rest, start, end):
            found.add(node)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_against_the_definition(seed: int) -> None:
    chance = random.Random(seed)
    function = kernel(random_body(chance, chance.randint(1, 9)))
    flow = control_flow(function)
    graph = graph_of(function)
    end = len(function.body)
    reached = networkx.descendants(graph, 0) | {0}
    for number, block in enumerate(flow.blocks):
        assert (number in flow.order) == (block.start in reached)
        if number in flow.order:
            _check_dominator(flow, graph, number)
    open_endless(graph, flow, end)
    for number, block in enumerate(flow.blocks):
        after = flow.post_dominators[number]
        passed = always_passes(graph, block.stop - 1, end) - {block.stop - 1}
        following = {end if after == EXIT else flow.blocks[after].start}
        assert following <= passed
        nearest = max(passed, key=lambda node: len(always_passes(graph, node, end)))
        assert following == {nearest}


def _check_dominator(flow: ControlFlow, graph: networkx.DiGraph, number: int) -> None:
    start = flow.blocks[number].start
    firsts = {flow.blocks[n].start: n for n in flow.order}
    above = {firsts[n] for n in always_passes(graph, 0, start) if n in firsts} - {number}
    if number == 0:
        assert flow.dominators[0] is None
        return
    nearest = max(above, key=lambda n: len(always_passes(graph, 0, flow.blocks[n].start)))
    assert flow.dominators[number] == nearest


@pytest.mark.parametrize("seed", range(40))
def test_order_and_loops_of_random_graphs(seed: int) -> None:
    chance = random.Random(1000 + seed)
    flow = control_flow(kernel(random_body(chance, chance.randint(2, 14))))
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(flow.blocks)))
    graph.add_edges_from((n, s) for n, b in enumerate(flow.blocks) for s in b.successors if s != EXIT)
    rank = {block: place for place, block in enumerate(flow.order)}
    dominated = {n: always_passes(graph, 0, n) for n in flow.order}
    back = {(n, s) for n in flow.order for s in graph[n] if s in dominated[n]}
    assert set(flow.loops) == {header for _, header in back}
    for header, body in flow.loops.items():
        expected = {header}
        for tail in (n for n, h in back if h == header):
            rest = graph.subgraph(set(flow.order) - {header}) if tail != header else graph.subgraph(())
            if tail != header:
                expected |= networkx.ancestors(rest, tail) | {tail}
        assert body == expected
    for node in flow.order:
        for following in graph[node]:
            assert rank[node] < rank[following] or _on_a_cycle(graph, node, following)
    reachable = graph.subgraph(flow.order).copy()
    reachable.remove_edges_from(back)
    assert flow.is_reducible == networkx.is_directed_acyclic_graph(reachable)


def _on_a_cycle(graph: networkx.DiGraph, node: int, following: int) -> bool:
    return networkx.has_path(graph, following, node)


def test_the_samples() -> None:
    from planc.ptx import parse

    for path in SAMPLES:
        for function in parse(path.read_text(), path.name).functions.values():
            if function.is_declaration:
                continue
            flow = control_flow(function)
            assert [b.start for b in flow.blocks[1:]] == [b.stop for b in flow.blocks[:-1]]
            assert flow.blocks[-1].stop == len(function.body)


def test_a_long_chain_of_diamonds_needs_no_recursion() -> None:
    count = 3000
    body = "\n".join(f"@%p1 bra A{k}; add.s32 %r1, %r1, 1; A{k}:" for k in range(count))
    flow = flow_of(body + "\nret;")
    assert flow.post_dominators[0] == 2
    assert len(flow.order) == 2 * count + 1
