"""Fixes: spliced into the text, they mend the races, and nothing else changes."""

import json
import random
import re

import pytest

from planc.diagnostics import Collector, Edit, Span
from planc.hazards import apply_fixes, check_graph
from planc.source import load_text

RACES = {"PLC502", "PLC503"}
QUOTE = chr(34)


def check(text, name="graph.yaml"):
    """(diagnostics that count, whether there is a program)."""
    collector = Collector()
    flat = load_text(text, name, collector=collector)
    program = None if flat is None else check_graph(flat, {}, collector)
    quiet = ("PLC236", "PLC316", "PLC318", "PLC320", "PLC334", "PLC504", "PLC220")
    return [d for d in collector.diagnostics if d.code not in quiet], program is not None


def mend(text, name="graph.yaml"):
    found, _ = check(text, name)
    return apply_fixes(text, [e for d in found if d.fix for e in d.fix.edits])


HEAD = """planc: 1
name: g
symbols: {n: 4}
buffers:
  u: f32[8, 8] inout
  v: f32[8, 8] inout
nodes:
"""


def added(body, name="graph.yaml"):
    """The values of ``after:`` that a fix leaves in the text, which is then free of races."""
    fixed = mend(HEAD + body, name)
    assert check(fixed, name) == ([], True), fixed
    return re.findall(r"after: *(.*)", fixed)


def test_a_missing_after_is_a_new_line():
    assert added("  - id: a\n    fill: u = 0\n  - id: b\n    fill: u = 1\n") == ["a"]


def test_the_last_line_need_not_end():
    assert added("  - id: a\n    fill: u = 0\n  - id: b\n    fill: u = 1") == ["a"]


def test_comments_and_other_nodes_stay():
    body = "  - id: a   # one\n    fill: u = 0\n  - id: b\n    fill: u = 1   # two\n  # three\n"
    fixed = mend(HEAD + body)
    assert fixed == HEAD + body.replace("# two\n", "# two\n    after: a\n")


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("a", "a, b"),
        ("'a'", "'a, b'"),
        ('"a"', '"a, b"'),
        ("[a]", '[a, "b"]'),
        ("[a,]", '[a,"b"]'),
        ("a   # why", "a, b   # why"),
    ],
)
def test_a_present_after_grows(written, fixed):
    body = (
        "  - id: a\n    fill: u = 0\n  - id: b\n    fill: v = 0\n"
        f"  - id: c\n    copy: v <- u\n    after: {written}\n"
    )
    assert added(body) == [fixed]


def test_a_block_list_grows_by_an_item():
    body = (
        "  - id: a\n    fill: u = 0\n  - id: b\n    fill: v = 0\n"
        "  - id: c\n    after:\n      - a\n    copy: v <- u\n"
    )
    fixed = mend(HEAD + body)
    assert "      - a\n      - b\n    copy" in fixed and check(fixed) == ([], True)


def test_a_flow_mapping_gets_a_key():
    assert added("  - {id: a, fill: u = 0}\n  - {id: b, fill: u = 1}\n") == ['"a"}']


def test_json():
    graph = {
        "planc": 1,
        "name": "g",
        "buffers": {"u": "f32[4] inout"},
        "nodes": [
            {"id": "a", "fill": "u = 0"},
            {"for": "t in range(3)", "nodes": [{"id": "b[t]", "fill": "u = 1"}]},
        ],
    }
    for indent in (None, 2):
        fixed = mend(json.dumps(graph, indent=indent), "graph.json")
        assert check(fixed, "graph.json") == ([], True)
        assert json.loads(fixed)["nodes"][1]["nodes"][0]["after"] == "a, b[t-1]"


def loop(inner, before="", behind=""):
    return f"{before}  - for: t in range(n)\n    nodes:\n{inner}{behind}"


def node(id, op, deep=6, after=None):
    pad = " " * deep
    line = f"{pad}- id: {id}\n{pad}  {op}\n"
    return line if after is None else f"{line}{pad}  after: {after}\n"


def test_a_loop_is_mended_by_the_iteration_before():
    assert added(loop(node("a[t]", "fill: u = 0"))) == ["a[t-1]"]


def test_two_texts_of_a_loop():
    inner = node("fwd[t]", "copy: v <- u") + node("back[t]", "copy: u <- v")
    assert added(loop(inner)) == ["back[t-1]", "fwd[t]"]


def test_before_and_behind_a_loop():
    before = "  - id: seed\n    copy: v <- u\n"
    behind = "  - id: end\n    copy: v <- u\n"
    body = loop(node("a[t]", "copy: u <- v", after="a[t-1]"), before, behind)
    assert added(body) == ["a[t-1], seed", "a[-1]"]


def test_all_iterations_before_what_follows():
    body = loop(node("a[t]", "fill: u[t, :] = 0"), behind="  - id: end\n    copy: v <- u\n")
    assert added(body) == ["a[:]"]


def test_one_iteration_before_what_follows():
    body = loop(node("a[t]", "fill: u[t, :] = 0"), behind="  - id: end\n    copy: v[0, :] <- u[1, :]\n")
    assert added(body) == ["a[1]"]


def test_equal_iterations_of_two_loops():
    first = loop(node("a[t]", "fill: u[t, :] = 0"))
    second = loop(node("b[t]", "copy: v[t, :] <- u[t, :]"))
    assert added(first + second) == ["a[t]"]


def test_nested_loops():
    inner = "      - for: s in range(3)\n        nodes:\n" + node("a[t, s]", "fill: u[s, :] = 0", 10)
    assert added(loop(inner)) == ["a[t-1, s]"]


def test_a_step_of_more_than_one():
    inner = node("a[t]", "fill: u[t, :] = 0") + node("b[t]", "copy: v[t, :] <- u[n-1-t, :]")
    fixed = mend(HEAD + loop(inner))
    found, _ = check(fixed)
    assert not [d for d in found if d.code not in RACES]  # no one text orders a[t] and b[n-1-t]


def test_what_no_text_mends_gets_no_fix_but_help():
    inner = node("a[t]", "fill: u[n-1-t, :] = 0")
    other = loop(node("b[t]", "copy: v[t, :] <- u[t, :]"))
    found, _ = check(HEAD + loop(inner) + other)
    assert [(d.code, d.fix) for d in found] == [("PLC502", None)]
    assert found[0].help == "let `b[0]` come after `a[3]`, and so in each iteration"
    assert "3 more pairs" in " ".join(found[0].notes)


def test_sub_graphs_are_mended_inside_and_from_outside():
    text = """planc: 1
name: g
buffers:
  u: f32[4] inout
  v: f32[4] inout
graphs:
  twice:
    parameters: {x: buffer}
    nodes:
      - id: one
        fill: x = 0
      - id: two
        fill: x = 1
nodes:
  - id: r1
    use: twice(x=u)
  - id: r2
    use: twice(x=v)
  - id: end
    copy: u <- v
"""
    fixed = mend(text)
    assert check(fixed) == ([], True), fixed
    assert re.findall(r"after: *(.*)", fixed) == ["one", "r2.two, r1.two"]


def test_an_inferred_graph_needs_no_fix():
    text = HEAD.replace("name: g", "name: g\norder: inferred") + loop(node("a[t]", "fill: u = 0"))
    assert check(text) == ([], True)


def random_text(rng, loops):
    """A graph of fills and copies; loops are as deep as ``loops`` allows."""
    buffers = "".join(f"  b{i}: f32[4, 4] inout\n" for i in range(2))
    lines, names = [], []

    def view(variables):
        name = f"b{rng.randrange(2)}"
        choice = rng.random()
        if choice < 0.3:
            return name
        index = rng.choice([*variables, "0", "1", "2", "3"])
        return f"{name}[{index}, :]" if choice < 0.8 else f"{name}[:, {index}]"

    def nodes(pad, variables, depth):
        for _ in range(rng.randint(1, 3)):
            if depth and rng.random() < 0.4:
                variable = f"t{depth}"
                lines.append(f"{pad}- for: {variable} in range({rng.randint(1, 4)})\n{pad}  nodes:\n")
                nodes(pad + "    ", [*variables, variable], depth - 1)
                continue
            name = f"n{len(names)}"
            names.append(name)
            target, source = view(variables), view(variables)
            id = f"{name}[{', '.join(variables)}]" if variables else name
            whole = ("[" in source) == ("[" in target)
            copies = whole and source[:2] != target[:2]
            op = f"copy: {target} <- {source}" if copies else f'fill: "{target} = 0"'
            if rng.random() < 0.3:
                word, _, rest = op.partition(": ")
                lines.append(f'{pad}- {{id: "{id}", {word}: "{rest.strip(QUOTE)}"}}\n')
            else:
                lines.append(f"{pad}- id: {id}\n{pad}  {op}\n")

    for _ in range(rng.randint(2, 3)):
        nodes("  ", [], loops)
    return f"planc: 1\nname: g\nbuffers:\n{buffers}nodes:\n{''.join(lines)}"


@pytest.mark.parametrize("seed", range(2))
def test_straight_graphs_are_always_mended(seed):
    rng = random.Random(seed)
    raced = 0
    for _ in range(70):
        text = random_text(rng, 0)
        found, _ = check(text)
        assert {d.code for d in found} <= RACES, text
        raced += bool(found)
        fixed = mend(text)
        assert check(fixed) == ([], True), fixed
    assert raced > 35


@pytest.mark.parametrize("seed", range(2))
def test_graphs_with_loops_are_mended_or_keep_only_races_without_a_fix(seed):
    rng = random.Random(50 + seed)
    counts = {"clean": 0, "left": 0}
    for _ in range(45):
        text = random_text(rng, 2)
        found, _ = check(text)
        assert {d.code for d in found} <= RACES, text
        if not found:
            continue
        for _ in range(20):
            fixed = mend(text)
            left, program = check(fixed)
            assert {d.code for d in left} <= RACES, fixed
            if fixed == text:
                break
            text = fixed
        assert program is not bool(left)
        assert not any(d.fix for d in left)
        counts["left" if left else "clean"] += 1
    assert counts["clean"] > counts["left"], counts


def edit(text, *places):
    return apply_fixes(text, [Edit(Span("f", *where), new) for *where, new in places])


def test_edits_by_line_and_column():
    text = "ab\ncd\n"
    assert edit(text, (1, 2, 1, 2, "X"), (2, 1, 2, 3, "Y")) == "aXb\nY\n"
    assert edit(text, (1, 3, 1, 3, "!")) == "ab!\ncd\n"
    assert edit(text, (3, 1, 3, 1, "end")) == "ab\ncd\nend"
    assert edit("é𝄞x", (1, 3, 1, 4, "y")) == "é𝄞y"
    assert edit(text) == text


def test_equal_edits_count_once_and_clashing_ones_do_not_mix():
    assert edit("ab", (1, 2, 1, 2, "X"), (1, 2, 1, 2, "X")) == "aXb"
    assert edit("abcd", (1, 1, 1, 4, "X"), (1, 2, 1, 3, "Y")) == "Xd"
    assert edit("ab", (1, 2, 1, 2, "X"), (1, 2, 1, 2, "Y")) == "aXb"
