"""What ``after:`` names: in loops, out of them, in instances."""

from __future__ import annotations

import random

import pytest

from tests.source.helpers import HEAD, edges, good, load, places

NODES = HEAD + "nodes:\n"


def loop(variable: str, values: str, *nodes: str, indent: int = 2) -> str:
    pad = " " * indent
    body = "".join(nodes)
    return f"{pad}- for: {variable} in {values}\n{pad}  nodes:\n{body}"


def node(id: str, after: str = "", indent: int = 6) -> str:
    pad = " " * indent
    return f"{pad}- id: {id}\n{pad}  fill: u = 0\n" + (f"{pad}  after: {after}\n" if after else "")


def test_a_chain() -> None:
    text = NODES + node("seed", indent=2) + loop("t", "range(3)", node("a[t]", "seed, a[t-1]"))
    assert edges(good(text)) == {
        "seed": [],
        "a[0]": ["seed"],
        "a[1]": ["seed", "a[0]"],
        "a[2]": ["seed", "a[1]"],
    }


@pytest.mark.parametrize(
    ("after", "names"),
    [
        ("a[0]", ["a[0]"]),
        ("a[3]", ["a[3]"]),
        ("a[-1]", ["a[3]"]),
        ("a[-4]", ["a[0]"]),
        ("a[:]", ["a[0]", "a[1]", "a[2]", "a[3]"]),
        ("a[1:3]", ["a[1]", "a[2]"]),
        ("a[2:]", ["a[2]", "a[3]"]),
        ("a[:2]", ["a[0]", "a[1]"]),
        ("a[::2]", ["a[0]", "a[2]"]),
        ("a[1::2]", ["a[1]", "a[3]"]),
        ("a[2:2]", []),
        ("a[k]", ["a[1]"]),
        ("a[k + 1], a[0]", ["a[0]", "a[2]"]),
        ("a[0], a[0]", ["a[0]"]),
        ("[a[0], 'a[1], a[2]']", None),
    ],
)
def test_from_outside(after: str, names: list[str] | None) -> None:
    if names is None:
        after, names = "['a[0]', 'a[1], a[2]']", ["a[0]", "a[1]", "a[2]"]
    text = "symbols: {k: 1, j: k}\n" + NODES + loop("t", "range(4)", node("a[t]")) + node("z", after, 2)
    text += node("y", "a[j]", 2)
    assert edges(good(text))["z"] == names


@pytest.mark.parametrize(
    "after", ["a[4]", "a[-5]", "a[0:5]", "a[-1:]", "a[5:]", "a[::0]", "a[::-1]", "a[t]", "a[0.5]"]
)
def test_out_of_range_from_outside(after: str) -> None:
    _, found = load(NODES + loop("t", "range(4)", node("a[t]")) + node("z", after, 2))
    wanted = {"a[t]": "PLC202", "a[0.5]": "PLC137"}.get(after, "PLC211")
    assert [d.code for d in found] == [wanted]


@pytest.mark.parametrize(
    ("values", "after", "first"),
    [
        ("range(4)", "a[t-1]", []),
        ("range(4)", "a[t-4]", []),
        ("range(2, 6)", "a[t-1]", []),
        ("range(2, 10, 2)", "a[t-2]", []),
        ("range(2, 10, 2)", "a[t-4]", []),
        ("range(10, 2, -2)", "a[t+2]", []),
        ("range(-3, 3)", "a[t-1]", []),
        ("range(4)", "a[t-lag]", []),
    ],
)
def test_before_the_first_iteration(values: str, after: str, first: list[str]) -> None:
    text = (
        "symbols: {lag: 2, two: lag}\nscalars: {s: i32 = two}\n"
        + NODES
        + loop("t", values, node("a[t]", after))
    )
    graph = good(text)
    assert edges(graph)[graph.nodes[0].name] == first
    assert all(a.node < row for row, n in enumerate(graph.nodes) for a in n.after)


@pytest.mark.parametrize(
    ("values", "after"),
    [
        ("range(4)", "a[t+1]"),
        ("range(0, 8, 2)", "a[t-1]"),
        ("range(4)", "a[t-5+4-1+1+2]"),
        ("range(4)", "a[2*t+1]"),
        ("range(4)", "a[t-t-1]"),
        ("range(4)", "a[-1-t]"),
        ("range(4, 0, -1)", "a[t-1]"),
    ],
)
def test_any_other_index_must_exist(values: str, after: str) -> None:
    _, found = load(NODES + loop("t", values, node("a[t]", after)))
    assert [d.code for d in found] == ["PLC211"]
    assert len(found) == 1, "one report for one text"
    assert found[0].notes and "t = " in found[0].notes[0]


def test_a_negative_index_that_is_an_iteration_is_that_iteration() -> None:
    text = NODES + loop("t", "range(-2, 2)", node("a[t]")) + node("z", "a[-1]", 2)
    assert edges(good(text))["z"] == ["a[-1]"]


def test_another_loop_over_the_same_variable_owns_nothing() -> None:
    first, second = node("a[t]"), node("b[t]", "a[t-1]")
    _, found = load(NODES + loop("t", "range(3)", first) + loop("t", "range(3)", second))
    assert [d.code for d in found] == ["PLC211"]
    good(NODES + loop("t", "range(3)", first) + loop("t", "range(1, 3)", second))
    good(NODES + loop("t", "range(3)", first) + loop("t", "range(3)", node("b[t]", "a[t]")))


def test_forward_references_are_edges_too() -> None:
    text = NODES + node("a", "b", 2) + node("b", indent=2)
    assert edges(good(text)) == {"a": ["b"], "b": []}


def test_from_the_end_is_refused_only_inside_the_loop() -> None:
    inner = loop("t", "range(3)", node("a[t]"), node("b[t]", "a[-1]"))
    assert [d.code for d in load(NODES + inner)[1]] == ["PLC213"]
    other = loop("s", "range(3)", node("b[s]", "a[-1]"))
    assert edges(good(NODES + loop("t", "range(3)", node("a[t]")) + other))["b[0]"] == ["a[2]"]


def test_a_slice_inside_the_loop() -> None:
    text = NODES + loop("t", "range(3)", node("a[t]"), node("b[t]", "a[0:t]"))
    assert edges(good(text))["b[2]"] == ["a[0]", "a[1]"]
    text = NODES + loop("t", "range(3)", node("a[t]", "a[:]"))
    assert [d.code for d in load(text)[1]] == ["PLC210"]


def grid(after: str, id: str = "c[i, j]", inner: str = "range(3)") -> str:
    body = loop("j", inner, node(id, after, 10), indent=6)
    return NODES + loop("i", "range(3)", body)


@pytest.mark.parametrize(
    ("after", "at", "names"),
    [
        ("c[i-1, j]", "c[1, 2]", ["c[0, 2]"]),
        ("c[i-1, j]", "c[0, 2]", []),
        ("c[i, j-1]", "c[1, 0]", []),
        ("c[i, j-1], c[i-1, j]", "c[1, 1]", ["c[0, 1]", "c[1, 0]"]),
        ("c[i-1, :]", "c[2, 0]", ["c[1, 0]", "c[1, 1]", "c[1, 2]"]),
        ("c[i-1, :]", "c[0, 0]", []),
        ("c[i-1, j-1]", "c[0, 1]", []),
        ("c[i-1, j-1]", "c[1, 0]", []),
        ("c[i-1, 0:2]", "c[1, 1]", ["c[0, 0]", "c[0, 1]"]),
        ("c[0:i, 2]", "c[2, 1]", ["c[0, 2]", "c[1, 2]"]),
    ],
)
def test_two_levels(after: str, at: str, names: list[str]) -> None:
    assert edges(good(grid(after)))[at] == names


def test_two_levels_from_outside() -> None:
    text = grid("").replace(
        "nodes:\n  - for", "nodes:\n" + node("z", "'c[-1, -1], c[:, 0], c[1, :]'", 2) + "  - for"
    )
    assert edges(good(text))["z"] == ["c[0, 0]", "c[1, 0]", "c[1, 1]", "c[1, 2]", "c[2, 0]", "c[2, 2]"]


def test_indices_in_another_order_than_the_loops() -> None:
    found = edges(good(grid("c[j, i-1]", "c[j, i]")))
    assert found["c[2, 1]"] == ["c[2, 0]"] and found["c[0, 0]"] == []


def test_triangles() -> None:
    found = edges(good(grid("c[i, j-1]", inner="range(i + 1)")))
    assert list(found) == ["c[0, 0]", "c[1, 0]", "c[1, 1]", "c[2, 0]", "c[2, 1]", "c[2, 2]"]
    assert found["c[2, 2]"] == ["c[2, 1]"] and found["c[2, 0]"] == []
    assert [d.code for d in load(grid("c[i-1, j]", inner="range(i + 1)"))[1]] == ["PLC211"]


def test_loops_that_run_not_once() -> None:
    text = NODES + loop("t", "range(0)", node("a[t]")) + node("z", "a[:]", 2)
    assert edges(good(text)) == {"z": []}
    text = NODES + loop("t", "range(0)", node("a[t]")) + node("z", "a[-1]", 2)
    assert places(load(text)[1])[0][0] == "PLC211"


def test_unnamed_nodes_are_numbered() -> None:
    text = NODES + "  - fill: u = 0\n  - copy: v <- u\n" + loop("t", "range(2)", "      - join: true\n")
    assert list(edges(good(text))) == ["fill#0", "copy#1", "join#2", "join#3"]


def test_long_heads_of_loops() -> None:
    short = loop("t", "range(2, 8, 3)", node("a[t]"))
    long = short.replace("for: t in range(2, 8, 3)", "for: {variable: t, start: 2, stop: 4 * 2, step: 3}")
    assert edges(good(NODES + long)) == edges(good(NODES + short)) == {"a[2]": [], "a[5]": []}


@pytest.mark.parametrize("id", ["a[t, t]", "a[s]", "a[]", "a[t+1]", "a[0]", "a[t,]"])
def test_ids_take_loop_variables_only(id: str) -> None:
    assert [d.code for d in load(NODES + loop("t", "range(2)", node(f"'{id}'")))[1]] == ["PLC208"]


@pytest.mark.parametrize("seed", range(20))
def test_random_loops_against_a_plain_reading(seed: int) -> None:
    """Two nodes in one loop with random ranges and lags, resolved by hand."""
    pick = random.Random(seed)
    start, step = pick.randint(-3, 3), pick.choice([1, 2, 3, -1, -2])
    values = range(start, start + step * pick.randint(1, 6), step)
    lag = step * pick.randint(0, 4)
    text = NODES + loop(
        "t", f"range({values.start}, {values.stop}, {values.step})", node("a[t]"), node("b[t]", f"a[t-{lag}]")
    )
    found = edges(good(text.replace("--", "- -")))
    for value in values:
        assert found[f"b[{value}]"] == ([f"a[{value - lag}]"] if value - lag in values else [])
