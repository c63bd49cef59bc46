"""The Python builder and Python graph files."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planc.diagnostics import Collector, Diagnostic, GraphError
from planc.source import Graph, load_graph, load_python
from planc.source.flat import CopyOp, FillOp, FlatGraph, RunOp, SliceIndex
from tests.source.helpers import edges, load_files, places


def build(make: Callable[[Graph], Any], **options: Any) -> tuple[FlatGraph | None, tuple[Diagnostic, ...]]:
    collector = Collector()
    graph = Graph("g", **options)
    make(graph)
    return graph.flatten(collector=collector), collector.diagnostics


def test_places_are_those_of_the_calls() -> None:
    g = Graph("g")
    u = g.buffer("u", "f32", 8, "inout")
    line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
    seed = [g.fill(u, 0, id="é"[:0] or "a"), g.fill(u[0], 1, id="b")]
    flat = g.flatten()
    assert flat is not None and len(seed) == 2
    first, second = (node.span for node in flat.nodes)
    assert first.line == second.line == line
    text = Path(__file__).read_text().splitlines()[line - 1]
    assert text[first.column - 1 : first.end_column - 1] == 'g.fill(u, 0, id="é"[:0] or "a")'
    assert text[second.column - 1 : second.end_column - 1] == 'g.fill(u[0], 1, id="b")'
    assert first.file == "tests/source/test_python.py"


def test_python_loops_and_handles() -> None:
    def make(g: Graph) -> None:
        u = g.buffer("u", "f32", (4, 8), "inout")
        last = None
        for t in range(3):
            last = g.fill(u[t, 1:-1], t, id=f"a[{t}]", after=[last])
        g.join(id="end", after=(last, [last, None]))

    flat, found = build(make)
    assert found == () and flat is not None
    assert edges(flat) == {"a[0]": [], "a[1]": ["a[0]"], "a[2]": ["a[1]"], "end": ["a[2]"]}
    op = flat.nodes[2].op
    assert isinstance(op, FillOp) and op.target.indices == (2, SliceIndex(1, -1, None))
    assert op.target.text == "u[2, 1:-1]"


def test_numbers_of_numpy_are_taken() -> None:
    def make(g: Graph) -> None:
        u = g.buffer("u", "f32", (np.int64(4), np.uint8(2)), "inout", align=np.int32(64))
        g.buffer("w", "f32", 2, "constant", data=np.array([1.5, 2.5], np.float32))
        k = g.kernel("k", source="k.cu", entry="k", block=np.array([32, 2]))
        g.fill(u[np.int64(1)], np.float32(0.5))
        g.run(k(u, np.int32(3), x=np.bool_(True)), grid=np.int16(4))

    flat, found = build(make)
    assert found == () and flat is not None
    assert flat.buffers[0].shape == (4, 2) and flat.buffers[0].align == 64
    assert flat.buffers[1].data is not None and flat.buffers[1].data.values == (1.5, 2.5)
    run = flat.nodes[1].op
    assert isinstance(run, RunOp) and run.grid is not None and run.grid.values == (4, 1, 1)
    assert [type(a.value).__name__ for a in run.arguments] == ["ViewRef", "Literal", "Literal"]
    assert flat.kernels[0].block is not None and flat.kernels[0].block.values == (32, 2, 1)


def test_views_of_views() -> None:
    def make(g: Graph) -> None:
        u = g.buffer("u", "f32", (8, 8), "inout")
        v = g.buffer("v", "f32", 3)
        g.copy(v, u[1:7][-1][2:5])

    flat, found = build(make)
    assert found == () and flat is not None
    op = flat.nodes[0].op
    assert isinstance(op, CopyOp) and op.source.indices == (6, SliceIndex(2, 5, 1))
    past = build(lambda g: g.fill(g.buffer("u", "f32", 8)[0:4][5], 0))[1]
    assert [d.code for d in past] == ["PLC219"]


def test_mistakes_are_collected_and_the_rest_is_kept() -> None:
    def make(g: Graph) -> None:
        g.buffer("2u", "f32", 8)
        u = g.buffer("u", "f33", 8)
        v = g.buffer("v", "f32", 8, "output")
        g.fill(v, "zero", id="a")  # type: ignore[arg-type]
        g.copy(v, u, id="a b")
        g.fill(v, 0, id="c", after="a")  # type: ignore[arg-type]

    flat, found = build(make)
    assert sorted(d.code for d in found) == ["PLC129", "PLC129", "PLC140", "PLC172", "PLC172"]
    assert flat is not None and flat.broken == {"2u", "u", "a"}
    assert [n.name for n in flat.nodes] == ["a", "a b", "c"] and [b.name for b in flat.buffers] == ["v"]


def bad_scalar(g: Graph) -> None:
    g.scalar("a", "f32", [1])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda g: g.buffer("u", "f32", "8"), "PLC172"),
        (lambda g: g.buffer("u", "f32", 8.0), "PLC172"),
        (lambda g: g.buffer("u", "f32", True), "PLC172"),
        (lambda g: g.buffer("u", 32, 8), "PLC172"),
        (lambda g: g.buffer(3, "f32", 8), "PLC172"),
        (lambda g: g.buffer("min", "f32", 8), "PLC129"),
        (lambda g: g.buffer("u", "float", 8), "PLC140"),
        (lambda g: g.buffer("u", "f32", 8, "inpt"), "PLC125"),
        (lambda g: g.buffer("u", "f32", 8, "constant", data="w.txt"), "PLC130"),
        (lambda g: g.buffer("u", "f32", 8, "constant", data="/w.npy"), "PLC163"),
        (lambda g: g.buffer("u", "f32", 8, "constant", data=["x"]), "PLC172"),
        (lambda g: [g.buffer("u", "f32", 8), g.buffer("u", "f32", 8)], "PLC201"),
        (lambda g: [g.symbol("n", 8), g.symbol("n", 8)], "PLC201"),
        (lambda g: g.symbol("n", "8"), "PLC172"),
        (lambda g: g.symbol("n", 2**64), "PLC136"),
        (bad_scalar, "PLC172"),
        (lambda g: g.scalar("a", "f32", 1, range=3), "PLC172"),
        (lambda g: g.kernel("k", entry="k"), "PLC123"),
        (lambda g: g.kernel("k", entry="k", source="k.cu", ptx="k.ptx"), "PLC145"),
        (lambda g: g.kernel("k", entry="k(", source="k.cu"), "PLC139"),
        (lambda g: g.kernel("k", entry=3, source="k.cu"), "PLC172"),
        (lambda g: g.kernel("k", entry="k", source="k\0.cu"), "PLC104"),
        (lambda g: g.kernel("k", entry="k", source="/k.cu"), "PLC163"),
        (lambda g: g.kernel("k", entry="k", source="k.cu", block=(1, 2, 3, 4)), "PLC128"),
        (lambda g: g.kernel("k", entry="k", source="k.cu", defines={"A B": 1}), "PLC129"),
        (lambda g: g.fill(g.buffer("u", "f32", 8), 256, item=1), "PLC146"),
        (lambda g: g.fill(g.buffer("u", "f32", 8), 1, item=3), "PLC172"),
        (lambda g: g.fill(g.buffer("u", "f32", 8), 1.5, item=4), "PLC172"),
        (lambda g: g.fill(g.buffer("u", "f32", 8)[1.5], 0), "PLC172"),
        (lambda g: g.fill("u", 0), "PLC172"),
        (lambda g: g.fill(Graph("h").buffer("u", "f32", 8), 0), "PLC172"),
        (lambda g: g.run(g.kernel("k", entry="k", source="k.cu")), "PLC172"),
        (lambda g: g.run(Graph("h").kernel("k", entry="k", source="k.cu")()), "PLC172"),
        (lambda g: g.run(g.kernel("k", entry="k", source="k.cu")("u")), "PLC172"),
        (lambda g: g.join(after=Graph("h").join(after=None)), "PLC172"),
        (lambda g: g.join(after=None, id="a[t]"), "PLC129"),
        (lambda g: g.join(after=None, id="if"), "PLC129"),
        (lambda g: [g.join(after=None, id="a"), g.join(after=None, id="a")], "PLC206"),
    ],
    ids=range(38),
)
def test_mistake(make: Callable[[Graph], Any], code: str) -> None:
    _, found = build(make)
    assert [d.code for d in found] == [code]
    assert found[0].span is not None and found[0].span.file == "tests/source/test_python.py"


def test_wrong_names_of_graphs_orders_and_groups() -> None:
    def name(graph: Graph) -> list[str]:
        collector = Collector()
        graph.flatten(collector=collector)
        return [d.code for d in collector.diagnostics]

    assert name(Graph("a-b")) == ["PLC129"]
    assert name(Graph("a", order="implicit")) == ["PLC125"]
    assert name(Graph("a", may_alias=[["u"]])) == ["PLC128"]
    assert name(Graph("a", settings={"n": 1})) == ["PLC203"]


def test_flatten_raises_without_a_collector() -> None:
    g = Graph("g")
    g.buffer("u", "f33", 8)
    with pytest.raises(GraphError) as caught:
        g.flatten()
    assert caught.value.code == "PLC140"


def test_names_with_indices_are_written_as_in_a_file() -> None:
    flat, found = build(lambda g: g.join(after=None, id="r[0].cell[1,2]"))
    assert found == () and flat is not None and flat.nodes[0].name == "r[0].cell[1, 2]"


def test_settings() -> None:
    g = Graph("g", settings={"n": 4, "x": 2})
    assert (g.symbol("n", 8), g.symbol("x", 0.5), g.symbol("m", 3)) == (4, 2.0, 3)
    flat = g.flatten()
    assert flat is not None and flat.symbols == {"n": 4, "x": 2.0, "m": 3}
    collector = Collector()
    g.flatten(settings={"n": 5, "x": 2}, collector=collector)
    assert [d.code for d in collector.diagnostics] == ["PLC172"]
    collector = Collector()
    Graph("g", settings={"n": 4}).flatten(collector=collector)
    assert [d.code for d in collector.diagnostics] == ["PLC203"]


# -- files --------------------------------------------------------------------------------------

FILE = """\
import planc

graph = planc.Graph("made")
n = graph.symbol("n", 8)
u = graph.buffer("u", "f32", (n,), "inout")
graph.fill(u, 0, id="a")
"""


def test_a_python_file(tmp_path: Path) -> None:
    (tmp_path / "graph.py").write_text(FILE)
    flat = load_graph(tmp_path / "graph.py")
    assert flat is not None and (flat.name, flat.buffers[0].shape) == ("made", (8,))
    assert flat.nodes[0].span.line == 6 and flat.root == tmp_path.resolve()
    other = load_graph(tmp_path / "graph.py", settings={"n": 16})
    assert other is not None and other.buffers[0].shape == (16,) and other.symbols == {"n": 16}
    again = load_python(tmp_path / "graph.py")
    assert again is not None and again.symbols == {"n": 8}


def test_a_setting_that_the_file_does_not_take(tmp_path: Path) -> None:
    assert [d.code for d in load_files(tmp_path, {"graph.py": FILE}, "graph.py", settings={"m": 1})[1]] == [
        "PLC203"
    ]
    assert [d.code for d in load_files(tmp_path, {"graph.py": FILE}, "graph.py", settings={"n": 1.5})[1]] == [
        "PLC204"
    ]


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "PLC170", 1),
        ("x = 1\n", "PLC170", 1),
        ("def f():\n    graph = 1\n", "PLC170", 1),
        ("print(graph)\n", "PLC170", 1),
        ("graph = 3\n", "PLC170", 1),
        ("graph = 1 +\n", "PLC171", 1),
        ("\n\ngraph = 1 // 0\n", "PLC171", 3),
        ("def f():\n    raise ValueError('no')\n\ngraph = f()\n", "PLC171", 2),
        ("import sys\ngraph = None\nsys.exit(3)\n", "PLC171", 3),
        ("import gone_module\ngraph = None\n", "PLC171", 1),
        (FILE.replace('"f32"', '"f33"'), "PLC140", 5),
        (FILE + "graph.flatten(settings={'n': 3})\n", "PLC172", 4),
    ],
)
def test_python_files_that_fail(tmp_path: Path, text: str, code: str, line: int) -> None:
    _, found = load_files(tmp_path, {"graph.py": text}, "graph.py")
    assert [(c, at) for c, at, _ in places(found)] == [(code, line)]


def test_a_file_without_a_graph_is_not_run(tmp_path: Path) -> None:
    text = f"open({str(tmp_path / 'ran')!r}, 'w').close()\n"
    load_files(tmp_path, {"graph.py": text}, "graph.py")
    assert not (tmp_path / "ran").exists()
    load_files(tmp_path, {"graph.py": text + "graph = 0\n"}, "graph.py")
    assert (tmp_path / "ran").exists()


def test_main_blocks_stay_out(tmp_path: Path) -> None:
    text = FILE + "if __name__ == '__main__':\n    raise SystemExit(1)\n"
    assert load_files(tmp_path, {"graph.py": text}, "graph.py")[1] == ()
