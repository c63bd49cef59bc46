"""One mistake for each code, with the place where it is reported, and a legal neighbour.

``§`` stands right before the reported place. ``mend`` is what to replace to make the text legal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from planc.source import Limits
from tests.source.helpers import HEAD

NODES = HEAD + "nodes:\n"


@dataclass(frozen=True)
class Case:
    code: str
    text: str
    mend: tuple[str, str]
    name: str = "graph.yaml"
    options: dict[str, Any] = field(default_factory=dict)
    why: str = ""

    def __str__(self) -> str:
        return f"{self.code} {self.why}".strip()


def limited(**caps: int) -> dict[str, Any]:
    return {"limits": Limits(**caps)}


def json_case(code: str, text: str, mend: tuple[str, str], why: str = "") -> Case:
    return Case(code, text, mend, "graph.json", {}, why)


JSON = '{"planc": 1, "buffers": {"u": "f32[8] inout"}, "nodes": [{"fill": "u = 0"}%s]}'
KERNEL = HEAD + "kernels:\n  k:\n    source: k.cu\n    entry: k(in f32* a, i32 n)\n    block: 32\n"
LOOP = NODES + "  - for: t in range(4)\n    nodes:\n      - id: a[t]\n        fill: u = 0\n"
GRAPH = (
    HEAD
    + "graphs:\n  g:\n    parameters: {x: buffer, n: int = 2}\n"
    + "    nodes:\n      - id: a\n        fill: x[0:n] = 0\nnodes:\n"
)

CASES = (
    Case(
        "PLC101",
        NODES.replace("buffers", "include: §gone.yaml\nbuffers") + "  - fill: u = 0\n",
        ("include: gone.yaml\n", ""),
    ),
    Case(
        "PLC104",
        NODES + "  - fill: u = 0  # a\u200b\u202e§".replace("\u202e§", "§\u202e") + "b\n",
        ("\u202e", ""),
    ),
    Case("PLC104", NODES + '  - fill: "u = §\\x07 0"\n', ("\\x07", ""), why="escaped"),
    Case("PLC105", "§", ("", NODES + "  - fill: u = 0\n")),
    Case(
        "PLC105",
        "§# nothing but a comment\n",
        ("# nothing but a comment\n", NODES + "  - fill: u = 0\n"),
        why="comment",
    ),
    Case(
        "PLC106",
        NODES.replace("buffers", "include: §common.toml\nbuffers") + "  - fill: u = 0\n",
        ("include: common.toml\n", ""),
    ),
    Case("PLC107", NODES + "  - fill: u[0§: 4] = 0\n", ("0: 4", "0:4")),
    Case("PLC107", NODES + "  - fill: §@u = 0\n", ("@", ""), why="reserved character"),
    Case("PLC108", NODES + "  - id: a\n§\tfill: u = 0\n", ("\t", "    ")),
    Case("PLC109", NODES + "  - fill: u = 0\n§---\nplanc: 1\n", ("---\nplanc: 1\n", "")),
    Case("PLC110", NODES + "  - fill: §!!str u = 0\n", ("!!str ", "")),
    Case("PLC111", NODES + "  - {§<<: 1, fill: u = 0}\n", ("<<: 1, ", "")),
    Case("PLC112", NODES + "  - fill: §*u\n", ("*u", "u = 0")),
    Case("PLC112", NODES + "  - fill: u = 0\n    after: &a [§*a]\n", ("&a [*a]", "[]"), why="inside itself"),
    Case(
        "PLC113",
        NODES + "  - fill: &t u = 0\n  - fill: *t\n  - fill: §*t\n",
        ("  - fill: *t\n  - fill: *t\n", "  - fill: *t\n"),
        options=limited(aliased=1),
    ),
    Case(
        "PLC113",
        NODES + "  - fill: §u = 0\n",
        ("  - fill: u = 0\n", "  []\n"),
        options=limited(values=13),
        why="values",
    ),
    Case(
        "PLC114",
        "planc: 1\nmay_alias: [[u, §[v]]]\nbuffers: {u: 'f32[8] inout', v: 'f32[8] inout'}\nnodes: []\n",
        ("[v]", "v"),
        options=limited(depth=3),
    ),
    Case("PLC115", NODES + "  - {fill: §u[0:4] = 0}\n", ("u[0:4] = 0", "'u[0:4] = 0'")),
    Case(
        "PLC115",
        NODES + "  - {run: §k(a=u, n=1)}\n",
        ("{run: k(a=u, n=1)}", "{run: 'k(a=u, n=1)'}"),
        why="call",
    ),
    Case("PLC115", LOOP + "  - {fill: u = 1, after: [§a[0]]}\n", ("[a[0]]", "['a[0]']"), why="list"),
    Case("PLC115", KERNEL + "nodes:\n  - {run: 'k(u)', grid: 32, §8}\n", ("32, 8", "'32, 8'"), why="numbers"),
    Case("PLC115", LOOP + "  - {fill: u = 1, after: 'a[0]', §b}\n", (", b", ""), why="names"),
    json_case("PLC116", JSON % ", §", (", ]", "]"), "trailing comma"),
    json_case("PLC116", JSON % ', {"fill": §NaN}', (', {"fill": NaN}', ""), "NaN"),
    Case("PLC117", NODES + "  - fill: u = 0\n    §fill: u = 1\n", ("    fill: u = 1\n", "")),
    json_case("PLC117", JSON % ', {"id": "a", §"id": "b", "fill": "u = 0"}', ('"id": "b", ', ""), "JSON"),
    Case("PLC118", NODES + "  - {§1: 2, fill: u = 0}\n", ("1: 2, ", "")),
    Case(
        "PLC118", NODES + "  - ? §[a]\n    : 1\n    fill: u = 0\n", ("? [a]\n    : 1\n    ", ""), why="a list"
    ),
    Case("PLC119", "§- planc: 1\n", ("- planc: 1\n", NODES + "  - fill: u = 0\n")),
    Case("PLC120", "§nodes: []\n", ("nodes", "planc: 1\nnodes")),
    Case("PLC121", "planc: §2\nnodes: []\n", ("2", "1")),
    Case("PLC121", "planc: §'1'\nnodes: []\n", ("'1'", "1"), why="a text"),
    Case("PLC122", NODES + "  - fill: u = 0\n    §afetr: []\n", ("afetr", "after")),
    Case("PLC122", "planc: 1\n§node: []\nnodes: []\n", ("node: []\n", ""), why="top"),
    Case("PLC123", "§planc: 1\n", ("planc: 1\n", "planc: 1\nnodes: []\n")),
    Case("PLC123", NODES + "  - fill: §{target: u}\n", ("target: u", "target: u, value: 0"), why="fill"),
    Case(
        "PLC123",
        NODES + "  - copy:\n      §source: u\n",
        ("source: u\n", "source: u\n      target: v\n"),
        why="nested",
    ),
    Case(
        "PLC123",
        KERNEL.replace("  k:", "  §k:").replace("    source: k.cu\n", "") + "nodes: []\n",
        ("    entry", "    source: k.cu\n    entry"),
        why="kernel",
    ),
    Case("PLC124", NODES + "  - fill: u = 0\n    after: §3\n", ("after: 3", "after: []")),
    Case("PLC124", NODES + "  - fill: u = 0\n    after:§\n", ("    after:\n", ""), why="empty"),
    Case("PLC124", "planc: 1\nnodes: §{}\n", ("{}", "[]"), why="nodes"),
    Case("PLC124", "planc: 1\nbuffers: §[]\nnodes: []\n", ("[]\nnodes", "{}\nnodes"), why="section"),
    Case("PLC125", "planc: 1\norder: §implicit\nnodes: []\n", ("implicit", "inferred")),
    Case(
        "PLC125",
        "planc: 1\nbuffers: {u: f32 §}\nnodes: []\n".replace("f32 §", "'f32[8] §inpt'"),
        ("inpt", "input"),
        why="role",
    ),
    Case("PLC126", NODES + "  - §id: a\n", ("id: a", "fill: u = 0")),
    Case("PLC127", NODES + "  - fill: u = 0\n    §copy: v <- u\n", ("    copy: v <- u\n", "")),
    Case(
        "PLC128",
        "planc: 1\nscalars: {a: {dtype: f32, value: 1, range: §[0]}}\nnodes: []\n",
        ("[0]", "[0, 2]"),
    ),
    Case(
        "PLC128",
        KERNEL.replace("block: 32", "block: §1, 2, 3, 4") + "nodes: []\n",
        (", 4", ""),
        why="extents",
    ),
    Case("PLC129", "planc: 1\nbuffers: {§2u: 'f32[8] inout'}\nnodes: []\n", ("2u", "u2")),
    Case(
        "PLC129", "planc: 1\nbuffers: {§min: 'f32[8] inout'}\nnodes: []\n", ("min", "least"), why="reserved"
    ),
    Case("PLC129", NODES + "  - id: §a-b\n    fill: u = 0\n", ("a-b", "a_b"), why="id"),
    Case("PLC130", "planc: 1\nbuffers: {u: §f32}\nnodes: []\n", ("f32", "'f32[1]'")),
    Case("PLC130", "planc: 1\nscalars: {a: §f32}\nnodes: []\n", ("f32", "f32 = 1"), why="scalar"),
    Case("PLC131", NODES + "  - fill: u = 0 §$ 1\n", (" $ 1", "")),
    Case("PLC131", NODES + "  - fill: u = §012\n", ("012", "12"), why="leading zero"),
    Case("PLC132", NODES + "  - fill: u = §[0]\n", ("[0]", "0")),
    Case(
        "PLC133",
        NODES + "  - fill: u = §1 + 1 + 1\n",
        ("1 + 1 + 1", "1"),
        options=limited(expression_length=8),
    ),
    Case("PLC134", NODES + "  - fill: u = ((§(1)))\n", ("((1))", "1"), options=limited(expression_depth=2)),
    Case("PLC135", NODES + "  - fill: u = §1 // 0\n", ("// 0", "// 1")),
    Case("PLC136", NODES + "  - fill: u = §2 ** 64\n", ("64", "6")),
    Case(
        "PLC136",
        "planc: 1\nsymbols: {n: §18446744073709551616}\nbuffers: {u: 'f32[n % 7] inout'}\nnodes: []\n",
        ("616}", "615}"),
        why="YAML",
    ),
    Case("PLC137", NODES + "  - fill: u[§1.5] = 0\n", ("1.5", "1")),
    Case("PLC137", NODES + "  - fill: u = §1 + true\n", ("true", "1"), why="bool"),
    Case("PLC138", NODES + "  - fill: u = §sqrt(4)\n", ("sqrt(4)", "abs(4)")),
    Case(
        "PLC139",
        KERNEL.replace("in f32* a,", "§in f32*,").replace("(§", "§(").replace("§(", "(§") + "nodes: []\n",
        ("f32*,", "f32* a,"),
    ),
    Case("PLC140", "planc: 1\nbuffers: {u: '§float[8] inout'}\nnodes: []\n", ("float", "f32")),
    Case("PLC141", NODES + "  - copy: §v = u\n", ("v = u", "v <- u")),
    Case("PLC141", NODES + "  - fill: u = 0 as §i8\n", ("i8", "u8"), why="pattern type"),
    Case(
        "PLC142", NODES + "  - id: a\n    fill: u = 0\n  - copy: v <- u\n    after: §a + 1\n", ("a + 1", "a")
    ),
    Case("PLC143", NODES + "  - copy: v <- §u + 1\n", ("u + 1", "u[1:]")),
    Case("PLC144", NODES + "  - for: t in §[1, 2]\n    nodes: []\n", ("[1, 2]", "range(2)")),
    Case("PLC144", NODES + "  - for: t in range(0, 4, §0)\n    nodes: []\n", (", 0)", ", 2)"), why="step"),
    Case("PLC145", NODES + "  - fill: {target: u, value: 0, §item: 1}\n", (", item: 1", "")),
    Case(
        "PLC145",
        KERNEL.replace("    entry", "    §ptx: k.ptx\n    entry") + "nodes: []\n",
        ("    ptx: k.ptx\n", ""),
        why="kernel",
    ),
    Case("PLC146", NODES + "  - fill: u = §256 as u8\n", ("256", "255")),
    Case(
        "PLC163",
        NODES.replace("buffers", "include: §../common.yaml\nbuffers") + "  - fill: u = 0\n",
        ("include: ../common.yaml\n", ""),
    ),
    Case(
        "PLC164",
        NODES + "  - fill: u = 0\n  - fill: §u = 0\n",
        ("  - fill: u = 0\n  - fill: u = 0\n", "  - fill: u = 0\n"),
        options=limited(nodes=1),
    ),
    Case(
        "PLC164",
        NODES + "  - for: §t in range(5)\n    nodes: []\n",
        ("5", "4"),
        options=limited(steps=4),
        why="steps",
    ),
    Case(
        "PLC164",
        LOOP + "  - fill: u = 1\n    after: §a[:]\n",
        ("a[:]", "a[1:]"),
        options=limited(edges=3),
        why="edges",
    ),
    Case("PLC202", NODES + "  - fill: u = §n\n", ("n", "0")[0:0] or ("= n", "= 0")),
    Case(
        "PLC205",
        "planc: 1\nsymbols:\n  a: b + 1\n  b: §a + 1\nbuffers: {u: 'f32[a] inout'}\nnodes: []\n",
        ("b: a + 1", "b: 1"),
    ),
    Case(
        "PLC206",
        NODES + "  - id: a\n    fill: u = 0\n  - id: §a\n    fill: u = 1\n",
        ("id: a\n    fill: u = 1", "id: b\n    fill: u = 1"),
    ),
    Case("PLC207", LOOP.replace("id: a[t]", "id: §a"), ("id: a", "id: a[t]")),
    Case("PLC208", LOOP.replace("id: a[t]", "id: a[§s]"), ("[s]", "[t]")),
    Case(
        "PLC209",
        NODES + "  - id: seed\n    fill: u = 0\n  - fill: u = 1\n    after: §sead\n",
        ("sead", "seed"),
    ),
    Case("PLC210", NODES + "  - id: a\n    fill: u = 0\n    after: §a\n", ("    after: a\n", "")),
    Case("PLC211", LOOP + "  - fill: u = 1\n    after: a[§4]\n", ("[4]", "[3]")),
    Case("PLC211", LOOP + "        after: a[§t+1]\n", ("t+1", "t-1"), why="t+1"),
    Case("PLC211", LOOP + "  - fill: u = 1\n    after: a[§-5]\n", ("[-5]", "[-4]"), why="from the end"),
    Case("PLC211", LOOP + "  - fill: u = 1\n    after: a[0:§5]\n", ("5]", "4]"), why="slice"),
    Case("PLC212", LOOP + "  - fill: u = 1\n    after: §a\n", ("after: a", "after: a[:]")),
    Case(
        "PLC212",
        NODES + "  - id: a\n    fill: u = 0\n  - fill: u = 1\n    after: §a[0]\n",
        ("a[0]", "a"),
        why="no loop",
    ),
    Case("PLC213", LOOP + "        after: a[§-1]\n", ("[-1]", "[t-1]")),
    Case("PLC214", NODES + "  - for: §u in range(2)\n    nodes: []\n", ("for: u", "for: t")),
    Case(
        "PLC214",
        NODES + "  - for: t in range(2)\n    nodes:\n      - for: §t in range(2)\n        nodes: []\n",
        ("      - for: t", "      - for: s"),
        why="loop",
    ),
    Case("PLC215", GRAPH + "  - use: g(x=u)\n  - use: §h(x=u)\n", ("h(", "g(")),
    Case(
        "PLC216",
        GRAPH.replace("      - id: a\n", "      - use: §g(x=x)\n      - id: a\n") + "  - use: g(x=u)\n",
        ("      - use: g(x=x)\n", ""),
    ),
    Case("PLC217", GRAPH + "  - use: §g()\n", ("g()", "g(x=u)")),
    Case("PLC217", GRAPH + "  - use: g(x=u, §m=1)\n", ("m=1", "n=1"), why="unknown"),
    Case("PLC217", GRAPH + "  - use: g(u, §x=u)\n", (", x=u", ""), why="twice"),
    Case("PLC217", GRAPH + "  - use: g(u, 1, §2)\n", (", 2", ""), why="too many"),
    Case("PLC218", GRAPH + "  - use: g(x=§1)\n", ("x=1", "x=u")),
    Case("PLC218", GRAPH + "  - use: g(x=u, n=§2.5)\n", ("2.5", "2"), why="float"),
    Case("PLC218", GRAPH + "  - use: g(x=u, n=§u)\n", ("n=u", "n=2"), why="buffer"),
    Case("PLC219", GRAPH.replace("x[0:n]", "§x[0:n]") + "  - use: g(x=u[0:4], n=5)\n", ("n=5", "n=4")),
    Case("PLC220", "planc: 1\nsymbols: {§n: 4}\nnodes: []\n", ("symbols: {n: 4}\n", "")),
    Case(
        "PLC221",
        GRAPH.replace("  g:", "  §g:") + "  - fill: u = 0\n",
        ("  - fill: u = 0\n", "  - use: g(x=u)\n"),
    ),
)
