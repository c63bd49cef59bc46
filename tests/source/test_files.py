"""Files: encodings, caps, includes, and what lies outside of the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from planc.diagnostics import GraphError
from planc.source import Limits, load_graph, load_text
from tests.source.helpers import HEAD, good, load, load_files, meaning, places

GOOD = HEAD + "nodes:\n  - id: a\n    fill: u = 0\n"


def test_a_file_and_its_text_mean_the_same(tmp_path: Path) -> None:
    graph, found = load_files(tmp_path, {"graph.yaml": GOOD})
    assert found == () and meaning(graph) == meaning(good(GOOD))


def test_labels_are_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "graph.yaml").write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    graph = load_graph("sub/graph.yaml")
    assert graph is not None and graph.file == "sub/graph.yaml"
    assert graph.nodes[0].span.file == "sub/graph.yaml"
    monkeypatch.chdir(tmp_path / "sub")
    other = load_graph(tmp_path / "sub" / "graph.yaml")
    assert other is not None and other.file == "graph.yaml"
    monkeypatch.chdir("/")
    far = load_graph(tmp_path / "sub" / "graph.yaml")
    assert far is not None and far.file == (tmp_path / "sub" / "graph.yaml").relative_to("/").as_posix()


@pytest.mark.parametrize("name", ["gone.yaml", ".", "a/b.yaml", "\0.yaml"])
def test_unreadable(tmp_path: Path, name: str) -> None:
    path = tmp_path / name if name != "." else tmp_path / "folder.yaml"
    if name == ".":
        path.mkdir()
    with pytest.raises(GraphError) as caught:
        load_graph(path)
    assert caught.value.code == "PLC101"


def test_forbidden_by_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    (tmp_path / "graph.yaml").write_text(GOOD)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(GraphError) as caught:
        load_graph(tmp_path / "graph.yaml")
    assert caught.value.code == "PLC101" and "permission denied" in str(caught.value)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "graph.yaml")
    with pytest.raises(GraphError) as caught:
        load_graph(tmp_path / "graph.yaml")
    assert caught.value.code == "PLC101"


@pytest.mark.parametrize("name", ["graph.toml", "graph", "graph.YAML", "graph.plan"])
def test_other_suffixes(tmp_path: Path, name: str) -> None:
    assert load_files(tmp_path, {name: GOOD}, name)[1][0].code == "PLC106"


def test_too_large(tmp_path: Path) -> None:
    text = GOOD + "#" * (100 - len(GOOD) % 100)
    limit = Limits(file_bytes=len(text))
    assert load_files(tmp_path, {"graph.yaml": text}, limits=limit)[1] == ()
    _, found = load_files(tmp_path, {"graph.yaml": text + "#"}, limits=limit)
    assert places(found) == [("PLC102", 1, 1)]


def test_not_utf8(tmp_path: Path) -> None:
    _, found = load_files(tmp_path, {"graph.yaml": GOOD.encode() + b"# \xc3\xa9\xc3 x\n"})
    assert places(found) == [("PLC103", GOOD.count("\n") + 1, 4)]
    _, found = load_files(tmp_path, {"graph.yaml": GOOD.encode("utf-16")})
    assert places(found) == [("PLC103", 1, 1)]
    assert load_files(tmp_path, {"graph.yaml": GOOD + "# é\n"})[1] == ()


def test_byte_order_mark_and_line_ends(tmp_path: Path) -> None:
    bad = GOOD + "  - fill: w[\n"
    plain = load_files(tmp_path, {"graph.yaml": bad})[1]
    dos = load_files(tmp_path, {"graph.yaml": b"\xef\xbb\xbf" + bad.replace("\n", "\r\n").encode()})[1]
    assert places(plain) == places(dos) != []
    graph, found = load_files(tmp_path, {"graph.yaml": b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()})
    assert found == () and meaning(graph) == meaning(good(GOOD))


@pytest.mark.parametrize(
    "character", ["\0", "\x07", "\x1b", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff", "\r", "\ufffe", "\x9f"]
)
def test_hidden_characters(tmp_path: Path, character: str) -> None:
    _, found = load_files(tmp_path, {"graph.yaml": GOOD + f"# a{character}b\n"})
    assert places(found) == [("PLC104", GOOD.count("\n") + 1, 4)]


def test_lone_surrogates_in_a_text() -> None:
    assert places(load(GOOD + "# \ud800\n")[1]) == [("PLC104", GOOD.count("\n") + 1, 3)]


# -- includes -----------------------------------------------------------------------------------

COMMON = "planc: 1\nsymbols: {n: 8, spare: 1}\nbuffers: {u: 'f32[n] inout'}\n"


def test_include_merges_declarations(tmp_path: Path) -> None:
    main = "planc: 1\ninclude: [common.yaml]\nbuffers: {v: 'f32[n]'}\nnodes:\n  - copy: v <- u\n"
    graph, found = load_files(tmp_path, {"graph.yaml": main, "common.yaml": COMMON})
    assert found == () and graph is not None
    assert [b.name for b in graph.buffers] == ["u", "v"]
    assert graph.symbols == {"n": 8, "spare": 1}, "an unused symbol of an included file is no mistake"


def test_include_of_json_and_by_a_single_text(tmp_path: Path) -> None:
    main = "planc: 1\ninclude: common.json\nnodes:\n  - fill: u = 0\n"
    common = '{"planc": 1, "buffers": {"u": "f32[8] inout"}}'
    assert load_files(tmp_path, {"graph.yaml": main, "common.json": common})[1] == ()


def test_a_file_included_twice_counts_once(tmp_path: Path) -> None:
    files = {
        "graph.yaml": "planc: 1\ninclude: [a.yaml, b.yaml, ./common.yaml]\nnodes:\n  - fill: u = 0\n",
        "a.yaml": "planc: 1\ninclude: common.yaml\n",
        "b.yaml": "planc: 1\ninclude: common.yaml\n",
        "common.yaml": COMMON,
    }
    assert load_files(tmp_path, files)[1] == ()


def test_declared_twice(tmp_path: Path) -> None:
    files = {
        "graph.yaml": "planc: 1\ninclude: common.yaml\nbuffers: {u: 'f32[9] inout'}\nnodes: []\n",
        "common.yaml": COMMON,
    }
    graph, found = load_files(tmp_path, files)
    assert [(d.code, d.span.line, d.span.column) for d in found if d.span] == [("PLC201", 3, 11)]
    assert found[0].related[0].span is not None and found[0].related[0].span.line == 3
    assert graph is not None and [b.shape for b in graph.buffers] == [(8,)]


def test_circles_are_named(tmp_path: Path) -> None:
    files = {
        "graph.yaml": "planc: 1\ninclude: a.yaml\nnodes: []\n",
        "a.yaml": "planc: 1\ninclude: b.yaml\n",
        "b.yaml": "planc: 1\ninclude: [a.yaml, graph.yaml]\n",
    }
    _, found = load_files(tmp_path, files)
    assert [d.code for d in found] == ["PLC160", "PLC160"]
    assert "a.yaml" in found[0].message and "b.yaml" in found[0].message
    files["b.yaml"] = "planc: 1\n"
    assert load_files(tmp_path, files)[1] == ()


def test_depth_of_includes(tmp_path: Path) -> None:
    files = {f"f{i}.yaml": f"planc: 1\ninclude: f{i + 1}.yaml\n" for i in range(4)}
    files |= {"f4.yaml": "planc: 1\n", "graph.yaml": "planc: 1\ninclude: f0.yaml\nnodes: []\n"}
    assert load_files(tmp_path, files, limits=Limits(include_depth=5))[1] == ()
    _, found = load_files(tmp_path, files, limits=Limits(include_depth=4))
    assert places(found) == [("PLC161", 2, 10)]
    assert found[0].span is not None and found[0].span.file.endswith("f3.yaml")


def test_mistakes_in_included_files_are_theirs(tmp_path: Path) -> None:
    files = {
        "graph.yaml": "planc: 1\ninclude: common.yaml\nnodes: []\n",
        "common.yaml": "planc: 1\nnodes: []\nbuffers: {u: 'f33[8]'}\n",
    }
    _, found = load_files(tmp_path, files)
    assert places(found) == [("PLC122", 2, 1), ("PLC140", 3, 15)]
    assert all(d.span is not None and d.span.file.endswith("common.yaml") for d in found)


def test_paths_of_kernels_are_those_of_the_file_that_names_them(tmp_path: Path) -> None:
    files = {
        "graph.yaml": "planc: 1\ninclude: lib/kernels.yaml\nnodes: []\n",
        "lib/kernels.yaml": "planc: 1\nkernels:\n"
        "  k: {source: cu/k.cu, entry: k(), include_dirs: [inc, ..]}\n",
    }
    graph, found = load_files(tmp_path, files)
    assert found == () and graph is not None
    (kernel,) = graph.kernels
    assert kernel.path == (tmp_path / "lib/cu/k.cu").resolve() and kernel.path_label == "lib/cu/k.cu"
    assert kernel.include_dirs == (("lib/inc", (tmp_path / "lib/inc").resolve()), (".", tmp_path.resolve()))


# -- the project's border -----------------------------------------------------------------------

NAMED = [
    "include: [{0}.yaml]\nnodes: []\n",
    "kernels: {{k: {{source: {0}.cu, entry: k()}}}}\nnodes: []\n",
    "kernels: {{k: {{source: k.cu, entry: k(), include_dirs: [{0}]}}}}\nnodes: []\n",
    "buffers: {{w: 'f32[8] constant = {0}.npy'}}\nnodes: []\n",
    "buffers: {{w: {{dtype: f32, shape: 8, role: constant, data: {{file: {0}.npy}}}}}}\nnodes: []\n",
]


@pytest.mark.parametrize("text", NAMED)
def test_outside_of_the_project(tmp_path: Path, text: str) -> None:
    inner = tmp_path / "project" / "graphs"
    inner.mkdir(parents=True)
    (tmp_path / "x.yaml").write_text("planc: 1\n")
    (tmp_path / "project" / "x.yaml").write_text("planc: 1\n")
    for path, mark, code in (("../x", None, "PLC163"), ("../x", ".git", None), ("../../x", ".git", "PLC163")):
        if mark:
            (tmp_path / "project" / mark).mkdir(exist_ok=True)
        (inner / "graph.yaml").write_text("planc: 1\n" + text.format(path))
        _, found = load_files(inner, {})
        assert [d.code for d in found] == ([code] if code else [])
        if code:
            graph, found = load_files(inner, {}, allow_outside=True)
            assert found == () and graph is not None and graph.allow_outside
    (inner / "graph.yaml").write_text("planc: 1\n" + text.format(tmp_path / "x"))
    assert [d.code for d in load_files(inner, {})[1]] == ["PLC163"], "absolute paths too"


def test_planc_toml_marks_a_project(tmp_path: Path) -> None:
    (tmp_path / "planc.toml").write_text("")
    graph, _ = load_files(tmp_path / "a" / "b", {"graph.yaml": GOOD})
    assert graph is not None and graph.root == tmp_path.resolve()
    (tmp_path / "a" / "planc.toml").write_text("")
    graph, _ = load_files(tmp_path / "a" / "b", {"graph.yaml": GOOD})
    assert graph is not None and graph.root == (tmp_path / "a").resolve()


def test_links_count_by_where_they_lead(tmp_path: Path) -> None:
    inner = tmp_path / "project"
    inner.mkdir()
    (tmp_path / "outside.yaml").write_text("planc: 1\n")
    (inner / "link.yaml").symlink_to(tmp_path / "outside.yaml")
    (inner / "loop.yaml").symlink_to(inner / "loop.yaml")
    (inner / "real.yaml").write_text("planc: 1\n")
    (inner / "fine.yaml").symlink_to(inner / "real.yaml")
    for name, codes in (("link", ["PLC163"]), ("fine", []), ("loop", ["PLC101"])):
        _, found = load_files(inner, {"graph.yaml": f"planc: 1\ninclude: {name}.yaml\nnodes: []\n"})
        assert [d.code for d in found] == codes


def test_an_escaped_null_in_a_path_is_refused(tmp_path: Path) -> None:
    _, found = load_files(tmp_path, {"graph.yaml": 'planc: 1\ninclude: "a\\0.yaml"\nnodes: []\n'})
    assert places(found) == [("PLC104", 2, 12)]


def test_a_text_without_collector_raises_everything_at_once() -> None:
    with pytest.raises(GraphError) as caught:
        load_text(HEAD + "nodes:\n  - fill: u = $\n  - copy: u\n")
    assert [d.code for d in caught.value.diagnostics] == ["PLC131", "PLC141"]


def test_the_name_of_a_graph() -> None:
    assert good(GOOD).name == "graph"
    assert good(GOOD, "heat2d.yaml").name == "heat2d"
    assert good(GOOD, "2d-heat.yaml").name == "graph"
    assert good("name: heat\n" + GOOD).name == "heat"
