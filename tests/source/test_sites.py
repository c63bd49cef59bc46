"""Edits that add an edge to a node's text: the file stays valid and has the new edge, and only that."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planc.diagnostics import Edit
from planc.source import edit_after
from tests.source.helpers import HEAD, edges, good, load, meaning

NODES = HEAD + "nodes:\n"
FIRST = "  - id: x\n    fill: u = 0\n  - id: y\n    fill: v = 0\n"


def spliced(text: str, edit: Edit) -> str:
    """Return ``text`` with the edit made: lines and columns as an editor counts them."""
    ends = [0]
    for line in text.split("\n"):
        ends.append(ends[-1] + len(line) + 1)
    start = ends[edit.span.line - 1] + edit.span.column - 1
    end = ends[edit.span.end_line - 1] + edit.span.end_column - 1
    return text[:start] + edit.text + text[end:]


def add(text: str, node: str, references: list[str], name: str = "graph.yaml") -> str:
    graph = good(text, name)
    site = next(n.site for n in graph.nodes if n.name == node)
    edit = edit_after(site, references)
    assert edit is not None
    return spliced(text, edit)


BLOCKS = {
    "last key is a text": "  - id: z\n    copy: v <- u\n",
    "no line end at the end": "  - id: z\n    copy: v <- u",
    "remark and spaces": "  - id: z   # name\n    copy: v <- u   # why\n\n  # after it\n",
    "id last": "  - copy: v <- u\n    id: z\n",
    "one key more": "  - id: z\n    copy: v <- u\n  - fill: u = 1\n",
    "quoted": "  - id: z\n    copy: 'v <- u'\n",
    "over two lines": "  - id: z\n    copy: v <-\n      u\n  - fill: u = 1\n",
    "folded": "  - id: z\n    copy: >-\n      v <-\n      u\n\n\n  - fill: u = 1\n",
    "literal at the end": "  - id: z\n    copy: |\n      v <- u\n",
    "long form": "  - id: z\n    copy:\n      target: v\n      source: u\n\n  - fill: u = 1\n",
    "long form in braces": "  - id: z\n    copy: {target: v,\n      source: u}\n",
    "deeper": "  -     id: z\n        copy: v <- u\n",
    "anchored": "  - &n\n   id: z\n   copy: v <- u\n",
    "anchored on the line": "  - &n id: z\n    copy: v <- u\n",
    "anchored, then deeper": "  - &n\n       id: z\n       copy: v <- u\n",
    "on a line of its own": "  -\n    id: z\n    copy: v <- u\n",
    "braces": "  - {id: z, copy: v <- u}\n",
    "braces with a comma at the end": "  - {id: z, copy: v <- u, }\n",
    "braces over lines": "  - {id: z,\n     copy: v <- u  # why\n    }\n",
    "braces and quotes": '  - {"id": "z", "copy": "v[0:2] <- u[0:2]"}\n',
    "braces and a long form": "  - {id: z, copy: {target: v, source: u}}\n",
}
EXISTING = {
    "text": "  - id: z\n    copy: v <- u\n    after: x\n",
    "text with a remark": "  - id: z\n    after: x  # why\n    copy: v <- u\n",
    "single quotes": "  - id: z\n    copy: v <- u\n    after: 'x'\n",
    "double quotes": '  - id: z\n    copy: v <- u\n    after: "x"\n',
    "over lines": "  - id: z\n    copy: v <- u\n    after: x,\n      x\n",
    "folded": "  - id: z\n    after: >\n      x,\n      x\n\n    copy: v <- u\n",
    "literal": "  - id: z\n    after: |\n      x\n    copy: v <- u\n",
    "comma at the end": "  - id: z\n    copy: v <- u\n    after: x\n",
    "list": "  - id: z\n    copy: v <- u\n    after: [x]\n",
    "list with a comma at the end": "  - id: z\n    copy: v <- u\n    after: [x, ]\n",
    "list over lines": "  - id: z\n    copy: v <- u\n    after: [\n      x,  # why\n      x\n    ]\n",
    "list over lines with a comma": "  - id: z\n    copy: v <- u\n    after: [\n      x,\n    ]\n",
    "block list": "  - id: z\n    copy: v <- u\n    after:\n      - x\n",
    "block list at the key's column": "  - id: z\n    after:\n    - x   # why\n    - x\n    copy: v <- u\n",
    "braces": "  - {id: z, copy: v <- u, after: x}\n",
    "braces and quotes": "  - {id: z, after: 'x', copy: v <- u}\n",
    "braces and a list": "  - {id: z, after: [x], copy: v <- u}\n",
    "anchored": "  - id: z\n    copy: v <- u\n    after: &a x\n",
    "anchored list": "  - id: z\n    copy: v <- u\n    after: &a [x]\n",
}


@pytest.mark.parametrize("node", BLOCKS.values(), ids=BLOCKS)
@pytest.mark.parametrize("references", [["x"], ["x", "y"]])
def test_a_new_after(node: str, references: list[str]) -> None:
    before = good(NODES + FIRST + node)
    text = add(NODES + FIRST + node, "z", references)
    after = good(text)
    assert edges(after)["z"] == references
    assert [n.op and meaning(n.op) for n in after.nodes] == [n.op and meaning(n.op) for n in before.nodes]
    assert {n: e for n, e in edges(after).items() if n != "z"} == {
        n: e for n, e in edges(before).items() if n != "z"
    }


@pytest.mark.parametrize("node", EXISTING.values(), ids=EXISTING)
def test_more_of_an_after(node: str) -> None:
    before = good(NODES + FIRST + node)
    assert edges(before)["z"] == ["x"]
    once = add(NODES + FIRST + node, "z", ["y"])
    assert edges(good(once))["z"] == ["x", "y"], once
    assert good(once).nodes[-1].op is not None


def test_an_empty_list() -> None:
    for node in ("  - id: z\n    fill: v = 1\n    after: []\n", "  - {id: z, fill: v = 1, after: [ ]}\n"):
        assert edges(good(add(NODES + FIRST + node, "z", ["x", "y"])))["z"] == ["x", "y"]


def test_twice_in_a_row() -> None:
    for node in (*BLOCKS.values(), *EXISTING.values()):
        text = add(add(NODES + FIRST + node, "z", ["x"]), "z", ["y"])
        assert edges(good(text))["z"] == ["x", "y"], text


@pytest.mark.parametrize(
    "node",
    [
        "      - id: z[t]\n        copy: v <- u\n",
        "      - {id: 'z[t]', copy: v <- u}\n",
        "      - id: z[t]\n        copy: v <- u\n        after: y\n",
        "      - id: z[t]\n        copy: v <- u\n        after: [y]\n",
    ],
)
def test_inside_a_loop(node: str) -> None:
    text = NODES + FIRST + "  - for: t in range(3)\n    nodes:\n" + node
    graph = good(text)
    sites = [n.site for n in graph.nodes if n.name.startswith("z")]
    assert len({s.key for s in sites}) == 1 and {s.pattern for s in sites} == {"z[t]"}
    assert [s.loops for s in sites] == [(("t", 0),), (("t", 1),), (("t", 2),)]
    found = edges(good(add(text, "z[1]", ["z[t-1]"])))
    assert [found[f"z[{t}]"][-1:] for t in (1, 2)] == [["z[0]"], ["z[1]"]]


def test_inside_a_sub_graph() -> None:
    text = HEAD + (
        "graphs:\n  g:\n    nodes:\n      - id: a\n        fill: v = 0\n      - id: b\n        fill: v = 1\n"
        "nodes:\n  - id: r\n    use: g()\n  - id: s\n    use: g()\n"
    )
    graph = good(text)
    assert [(n.site.scope, n.site.pattern, n.site.loops) for n in graph.nodes] == [
        ("r.", "a", ()),
        ("r.", "b", ()),
        ("s.", "a", ()),
        ("s.", "b", ()),
    ]
    assert edges(good(add(text, "s.b", ["a"]))) == {"r.a": [], "r.b": ["r.a"], "s.a": [], "s.b": ["s.a"]}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("after", [None, "x", ["x"], []])
def test_json(indent: int | None, after: object) -> None:
    node = {"id": "z", "copy": "v <- u"} | ({} if after is None else {"after": after})
    body = {
        "planc": 1,
        "buffers": {"u": "f32[8] inout", "v": "f32[8]"},
        "nodes": [{"id": "x", "fill": "u = 0"}, {"id": "y", "fill": "v = 0"}, node],
    }
    text = add(json.dumps(body, indent=indent), "z", ["y"], "graph.json")
    assert edges(good(text, "graph.json"))["z"] == (["x", "y"] if after in ("x", ["x"]) else ["y"])


def test_no_place_where_one_text_stands_for_several() -> None:
    text = NODES + "  - &n {copy: v <- u}\n  - *n\n"
    text += "  - {id: a, fill: u = 1, after: &e []}\n  - {fill: u = 2, after: *e}\n"
    graph = good(text)
    assert [n.site.insert for n in graph.nodes] == [None] * 4
    assert edit_after(graph.nodes[0].site, ["a"]) is None


def test_no_place_without_references() -> None:
    assert edit_after(good(NODES + "  - fill: u = 0\n").nodes[0].site, []) is None


def test_windows_line_ends(tmp_path: Path) -> None:
    text = (NODES + FIRST + "  - id: z\n    copy: v <- u\n").replace("\n", "\r\n")
    graph, found = load(text)
    assert graph is not None and found == ()
    edit = edit_after(graph.nodes[-1].site, ["x"])
    assert edit is not None
    assert edges(good(spliced(text, edit).replace("\r\r", "\r")))["z"] == ["x"]
