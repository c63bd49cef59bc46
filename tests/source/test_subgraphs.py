"""Sub-graphs: parameters, instances, edges through them."""

from __future__ import annotations

import pytest

from planc.source import Limits
from planc.source.flat import CopyOp, FillOp, FlatGraph, Literal, RunOp, SliceIndex, ViewRef
from tests.source.helpers import edges, good, load, places

HEAD = (
    "planc: 1\nsymbols: {k: 3}\nscalars: {alpha: f32 slot = 0.5}\n"
    "buffers: {u: 'f32[8, 8] inout', v: 'f32[8, 8]', w: 'f32[k]'}\n"
    "kernels: {step: {source: k.cu, entry: 'step(in f32* src, f32 alpha, i32 n, i32 t)'}}\n"
)


def graph(body: str, nodes: str, parameters: str = "") -> str:
    given = f"    parameters: {{{parameters}}}\n" if parameters else ""
    return HEAD + f"graphs:\n  g:\n{given}    nodes:\n{body}nodes:\n{nodes}"


CHAIN = (
    "      - id: first\n        fill: v = 0\n      - id: last\n        copy: u <- v\n        after: first\n"
)


def ops(found: FlatGraph) -> list[object]:
    return [node.op for node in found.nodes]


def test_names_and_inner_edges() -> None:
    text = graph(CHAIN, "  - id: r1\n    use: g()\n  - id: r2\n    use: g()\n    after: r1\n")
    assert edges(good(text)) == {
        "r1.first": [],
        "r1.last": ["r1.first"],
        "r2.first": ["r1.last"],
        "r2.last": ["r2.first"],
    }


def test_one_inner_node_from_outside() -> None:
    text = graph(CHAIN, "  - id: r1\n    use: g()\n  - join: true\n    after: r1.first\n")
    assert edges(good(text))["join#2"] == ["r1.first"]


def test_all_ends_of_an_instance() -> None:
    body = (
        "      - id: a\n        fill: v[0] = 0\n      - id: b\n        fill: v[1] = 0\n"
        "      - id: c\n        fill: v[0] = 1\n        after: a\n"
    )
    nodes = "  - id: s\n    join: true\n  - id: r\n    use: g()\n    after: s\n"
    nodes += "  - id: e\n    join: true\n    after: r\n"
    found = edges(good(graph(body, nodes)))
    assert found == {"s": [], "r.a": ["s"], "r.b": ["s"], "r.c": ["r.a"], "e": ["r.b", "r.c"]}


def test_an_empty_instance_passes_its_after_on() -> None:
    body = "      - for: i in range(n)\n        nodes:\n          - id: a[i]\n            fill: v = i\n"
    nodes = (
        "  - id: s\n    join: true\n  - id: r\n    use: g(n=0)\n    after: s\n"
        "  - id: q\n    use: g(n=0)\n    after: r\n  - id: e\n    join: true\n    after: q\n"
    )
    assert edges(good(graph(body, nodes, "n: int"))) == {"s": [], "e": ["s"]}
    nodes = nodes.replace("after: s", "after: q")
    assert edges(good(graph(body, nodes, "n: int"))) == {"s": [], "e": []}


def test_instances_in_loops() -> None:
    nodes = "  - for: t in range(3)\n    nodes:\n      - id: r[t]\n        use: g()\n        after: r[t-1]\n"
    nodes += "  - id: e\n    join: true\n    after: 'r[:].first, r[-1]'\n"
    found = edges(good(graph(CHAIN, nodes)))
    assert found["r[1].first"] == ["r[0].last"] and found["r[0].first"] == []
    assert found["e"] == ["r[0].first", "r[1].first", "r[2].first", "r[2].last"]


def test_loops_in_instances_in_loops() -> None:
    body = "      - for: i in range(n)\n        nodes:\n          - id: a[i]\n            fill: v = i + n\n"
    body += "            after: a[i-1]\n"
    nodes = "  - for: t in range(1, 3)\n    nodes:\n      - id: r[t]\n        use: g(n=t)\n"
    nodes += "        after: r[t-1].a[-1]\n"
    found = good(graph(body, nodes, "n: int"))
    assert edges(found) == {"r[1].a[0]": [], "r[2].a[0]": ["r[1].a[0]"], "r[2].a[1]": ["r[2].a[0]"]}
    values = [op.value.value for op in ops(found) if isinstance(op, FillOp)]
    assert values == [1, 2, 3]


def test_nested_sub_graphs() -> None:
    text = HEAD + (
        "graphs:\n"
        "  inner: {parameters: {x: buffer, n: int}, nodes: [{id: a, fill: 'x[0:n] = n'}]}\n"
        "  outer:\n    parameters: {y: buffer}\n    nodes:\n"
        "      - {id: p, use: 'inner(y, 2)'}\n      - {id: q, use: 'inner(x=y[1], n=k)', after: p}\n"
        "nodes:\n  - {id: o, use: outer(u)}\n  - {join: true, after: o.q.a}\n  - {join: true, after: o.p}\n"
    )
    found = good(text)
    assert edges(found) == {"o.p.a": [], "o.q.a": ["o.p.a"], "join#2": ["o.q.a"], "join#3": ["o.p.a"]}
    first, second = (op.target for op in ops(found)[:2] if isinstance(op, FillOp))
    assert first.indices == (SliceIndex(0, 2, None),)
    assert second.indices == (1, SliceIndex(0, 3, 1)), "a view of a view is one of the buffer"


def test_unnamed_instances_are_numbered() -> None:
    text = graph(CHAIN, "  - use: g()\n  - use: g()\n")
    assert list(edges(good(text))) == ["g#0.first", "g#0.last", "g#2.first", "g#2.last"]


def arguments(call: str, parameters: str, body: str) -> RunOp:
    (op,) = ops(good(graph(f"      - {{run: '{body}'}}\n", f"  - use: {call}\n", parameters)))
    assert isinstance(op, RunOp)
    return op


def test_parameters_of_each_kind_in_arguments() -> None:
    op = arguments(
        "g(u[1:3], alpha, k)", "x: buffer, a: scalar, m: int", "step(src=x, alpha=a, n=m + 1, t=0)"
    )
    src, alpha, n, _ = (argument.value for argument in op.arguments)
    assert isinstance(src, ViewRef) and (src.buffer, src.indices) == ("u", (SliceIndex(1, 3, None),))
    assert isinstance(alpha, ViewRef) and (alpha.buffer, alpha.indices) == ("alpha", None)
    assert isinstance(n, Literal) and n.value == 4


@pytest.mark.parametrize(("given", "value"), [("a=0.25", 0.25), ("a=1", 1), ("a=true", True), ("a=k", 3)])
def test_a_scalar_parameter_takes_numbers_too(given: str, value: object) -> None:
    op = arguments(f"g({given})", "a: scalar", "step(src=u, alpha=a)")
    found = op.arguments[1].value
    assert isinstance(found, Literal) and found.value == value and type(found.value) is type(value)


def test_parameters_bind_to_kernels_by_name_before_the_names_of_the_file() -> None:
    op = arguments("g(v, 7, alpha)", "src: buffer, n: int, alpha: scalar", "step(t=0)")
    found = {argument.name: argument.value for argument in op.arguments}
    src, n, alpha = found["src"], found["n"], found["alpha"]
    assert isinstance(src, ViewRef) and src.buffer == "v"
    assert isinstance(n, Literal) and n.value == 7
    assert isinstance(alpha, ViewRef) and alpha.buffer == "alpha"


def test_loop_variables_bind_to_kernels_by_name() -> None:
    text = HEAD + "nodes:\n  - for: t in range(2)\n    nodes:\n      - run: step(u, 0.5, k)\n"
    values = [[a.value for a in op.arguments][-1] for op in ops(good(text)) if isinstance(op, RunOp)]
    assert [v.value for v in values if isinstance(v, Literal)] == [0, 1]


def test_defaults_are_those_of_the_file() -> None:
    nodes = "  - for: k2 in range(1, 2)\n    nodes:\n      - use: g()\n      - use: g(n=k2)\n"
    found = good(graph("      - fill: w[0:n] = x\n", nodes, "n: int = k - 1, x: float = 2"))
    assert [op.value.value for op in ops(found) if isinstance(op, FillOp)] == [2.0, 2.0]
    assert [op.target.indices for op in ops(found) if isinstance(op, FillOp)] == [
        (SliceIndex(0, 2, None),),
        (SliceIndex(0, 1, None),),
    ]


@pytest.mark.parametrize(
    ("outer", "inner", "indices"),
    [
        ("u", "x[1:3]", (SliceIndex(1, 3, None),)),
        ("u[2]", "x[1:3]", (2, SliceIndex(1, 3, 1))),
        ("u[:, 2]", "x[-1]", (7, 2)),
        ("u[1:5]", "x[-1, 0]", (4, 0)),
        ("u[1:7:2]", "x[1:]", (SliceIndex(3, 6, 2), SliceIndex(0, 8, 1))),
        ("u[::-1]", "x[0:2]", (SliceIndex(7, 5, -1), SliceIndex(0, 8, 1))),
        ("u[::-1]", "x[6:8]", (SliceIndex(1, None, -1), SliceIndex(0, 8, 1))),
        ("u[..., 3]", "x[2]", (2, 3)),
        ("u[1:3]", "x[..., 1]", (SliceIndex(1, 3, 1), 1)),
        ("u[2:6][0]", None, None),
    ],
)
def test_views_of_views(outer: str, inner: str | None, indices: object) -> None:
    if inner is None:
        assert [
            d.code for d in load(graph("      - fill: x = 0\n", f"  - use: g({outer})\n", "x: buffer"))[1]
        ] == ["PLC143"]
        return
    (op,) = ops(good(graph(f"      - fill: {inner} = 0\n", f"  - use: g({outer})\n", "x: buffer")))
    assert isinstance(op, FillOp) and op.target.indices == indices


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("u[1:5]", "x[4]"),
        ("u[1:5]", "x[-5]"),
        ("u[1:5]", "x[0:5]"),
        ("u[0, 0]", "x[0]"),
        ("u[0:9]", "x[0]"),
        ("u[1:5]", "x[::0]"),
    ],
)
def test_views_past_views(outer: str, inner: str) -> None:
    _, found = load(graph(f"      - fill: {inner} = 0\n", f"  - use: g({outer})\n", "x: buffer"))
    assert [d.code for d in found] == ["PLC219"]


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        ("int", "2", None),
        ("int", "2.0", "PLC218"),
        ("int", "true", "PLC218"),
        ("int", "alpha", "PLC218"),
        ("int", "u", "PLC218"),
        ("int", "u[0]", "PLC218"),
        ("int", "nn", "PLC202"),
        ("int", "nn + 1", "PLC202"),
        ("float", "2", None),
        ("float", "2.5", None),
        ("float", "true", "PLC218"),
        ("bool", "true", None),
        ("bool", "1", "PLC218"),
        ("buffer", "u", None),
        ("buffer", "alpha", "PLC218"),
        ("buffer", "k", "PLC218"),
        ("buffer", "1 + 1", "PLC218"),
        ("scalar", "alpha", None),
        ("scalar", "u", "PLC218"),
    ],
)
def test_kinds(kind: str, value: str, code: str | None) -> None:
    text = graph("      - fill: v = 0\n", f"  - use: g({value})\n", f"x: {kind}")
    assert [d.code for d in load(text)[1]] == ([code] if code else [])


def test_long_forms() -> None:
    short = graph(
        "      - fill: x[0:n] = 0\n", "  - id: r\n    use: g(x=u[1], n=2)\n", "x: buffer, n: int = k"
    )
    long = graph(
        "      - fill: {target: 'x[0:n]', value: 0}\n",
        "  - id: r\n    use: {graph: g, arguments: {x: 'u[1]', n: 2}}\n",
        "x: {kind: buffer}, n: {kind: int, default: k}",
    )
    one, other = (ops(good(text))[0] for text in (short, long))
    assert isinstance(one, FillOp) and isinstance(other, FillOp)
    assert one.target.indices == other.target.indices and one.value.value == other.value.value


def test_a_buffer_takes_no_default() -> None:
    text = graph("      - fill: v = 0\n", "  - use: g()\n", "x: buffer = 1")
    assert [d.code for d in load(text)[1]] == ["PLC145"]


def test_circles_through_others_are_named() -> None:
    text = HEAD + (
        "graphs:\n  a: {nodes: [{use: b()}]}\n  b: {nodes: [{use: c()}]}\n  c: {nodes: [{use: a()}]}\n"
        "  d: {nodes: [{use: a()}]}\nnodes:\n  - use: d()\n"
    )
    _, found = load(text)
    assert [d.code for d in found] == ["PLC216"] * 3
    assert "`a` uses itself through `b`" in found[0].message


def test_mistakes_of_an_unused_sub_graph_are_told() -> None:
    text = graph("      - fill: v = $\n", "  - fill: v = k\n")
    assert sorted(d.code for d in load(text)[1]) == ["PLC131", "PLC221"]


def test_a_broken_instance_is_not_unknown() -> None:
    text = graph(CHAIN, "  - id: r\n    use: g(z=1)\n  - join: true\n    after: r, r.last\n")
    flat, found = load(text)
    assert [d.code for d in found] == ["PLC217"]
    assert flat is not None and flat.broken == {"r"}


def test_names_inside_are_not_seen_outside_nor_the_other_way_round() -> None:
    outside = graph(CHAIN, "  - id: r\n    use: g()\n  - join: true\n    after: last\n")
    assert [d.code for d in load(outside)[1]] == ["PLC209"]
    inside = graph(CHAIN.replace("after: first", "after: s"), "  - id: s\n    join: true\n  - use: g()\n")
    assert [d.code for d in load(inside)[1]] == ["PLC209"]
    dotted = graph(CHAIN, "  - id: s\n    join: true\n  - join: true\n    after: s.last\n  - use: g()\n")
    assert [d.code for d in load(dotted)[1]] == ["PLC209"]


def test_depth_of_instances() -> None:
    graphs = "".join(f"  g{i}: {{nodes: [{{use: g{i + 1}()}}]}}\n" for i in range(4))
    text = HEAD + f"graphs:\n{graphs}  g4: {{nodes: [{{fill: v = 0}}]}}\nnodes:\n  - use: g0()\n"
    good(text.replace("v = 0", "v = k"), limits=Limits(nesting=5))
    assert [d.code for d in load(text, limits=Limits(nesting=4))[1]] == ["PLC114"]


def test_doubling_sub_graphs_end_at_the_cap() -> None:
    graphs = "".join(f"  g{i}: {{nodes: [{{use: g{i + 1}()}}, {{use: g{i + 1}()}}]}}\n" for i in range(40))
    text = HEAD + f"graphs:\n{graphs}  g40: {{nodes: []}}\nnodes:\n  - use: g0()\n"
    flat, found = load(text, limits=Limits(steps=10_000))
    assert flat is None and [d.code for d in found] == ["PLC164"]


def test_copies_through_parameters() -> None:
    (op,) = ops(
        good(
            graph("      - copy: y <- x\n", "  - use: g(u, y=v)\n", "x: buffer, y: buffer").replace(
                "f32[k]", "f32[k]"
            )
        )
    )
    assert isinstance(op, CopyOp) and (op.target.buffer, op.source.buffer) == ("v", "u")


def test_places_of_missing_arguments() -> None:
    assert places(load(graph(CHAIN, "  - use: g()\n", "q: int"))[1]) == [("PLC217", 16, 10)]
