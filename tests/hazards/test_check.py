"""The whole check: everything that can be said is said, and a program comes out only of a graph without
errors."""

from dataclasses import replace

from planc.diagnostics import Collector
from planc.hazards import check_graph
from planc.source.flat import FlatKind
from tests.graph.flat_builder import Flat


def check(flat, graph=None, artifacts=None):
    collector = Collector()
    artifacts = flat.artifacts if artifacts is None else artifacts
    program = check_graph(graph or flat.graph(), artifacts, collector)
    return program, [d.code for d in collector.diagnostics]


def base():
    return Flat().buffer("u: f32[4] inout").buffer("v: f32[4] inout").kernel("k(inout f32* x)")


def test_a_wrong_node_does_not_hide_a_race_of_others():
    flat = base().run("k(w)").fill("u = 0").fill("u = 1").run("k(v)")
    program, codes = check(flat)
    assert program is None and sorted(codes) == ["PLC230", "PLC503"]


def test_a_wrong_node_keeps_quiet_what_it_might_have_written():
    flat = Flat().buffer("s: f32[4]").buffer("o: f32[4] output").kernel("k(inout f32* x)")
    flat.run("k(s, 1)").copy("o <- s", after=[0])
    assert check(flat)[1] == ["PLC450"]


def test_a_kernel_that_is_not_there_leaves_its_nodes_out():
    flat = base().run("k(u)").run("k(u)").fill("v = 0").fill("v = 1")
    program, codes = check(flat, artifacts={})
    assert program is None and codes == ["PLC503"]


def test_a_cycle_ends_the_check_of_order():
    flat = base().fill("u = 0", after=[1]).fill("u = 1", after=[0])
    assert check(flat) == (None, ["PLC501"])


def test_what_could_not_be_read_bars_the_checks_of_the_whole():
    flat = base().fill("u = 0").fill("u = 1")
    assert check(flat, replace(flat.graph(), broken=frozenset({"x"}))) == (None, [])
    node = replace(flat.nodes[0], op=None, kind=FlatKind.COPY)
    graph = replace(flat.graph(), nodes=(node, *flat.nodes[1:]), broken=frozenset({node.name}))
    assert check(flat, graph) == (None, [])


def test_an_empty_graph_is_a_program():
    program, codes = check(Flat())
    assert program is not None and codes == [] and len(program.nodes) == 0


def test_errors_of_earlier_stages_count():
    from planc.diagnostics import Diagnostic

    flat = Flat().join()
    collector = Collector()
    collector.add(Diagnostic("PLC230", "earlier"))
    assert check_graph(flat.graph(), {}, collector) is None
