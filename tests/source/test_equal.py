"""One graph as YAML, JSON and Python: the same flat graph, places aside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from planc.source import Graph, load_graph, load_text
from planc.source.syntax.scalars import resolve
from tests.source.helpers import good, meaning

YAML = """\
planc: 1
name: all_of_it
order: inferred
targets: [sm_80, sm_90]
symbols: {nx: 16, ny: 8, pairs: 3, scale: 0.5}
scalars:
  alpha: f32 slot = 0.1 in [0, 1]
  beta: f64 = 2 * scale
buffers:
  u: f32[ny, nx] inout
  v: f32[ny, nx]
  w: f32[2, 2] constant = [[1, 2], [3, 4.5]]
  x: {dtype: f32, shape: [nx], role: constant, data: weights.npz:w1, embed: false, align: 512}
  y: u16[]
kernels:
  step:
    source: heat.cu
    entry: heat_step<float, 2>(in f32* src, out f32* dst, f32 alpha, i32 nx)
    block: 32, 8
    cover: nx, ny
    shared: 128
    defines: {TILE: 16, FAST: true, WORD: int}
    include_dirs: [inc]
    options: [--use_fast_math]
    exact: true
  plain: {ptx: k.ptx, entry: k, grid: 4}
globals:
  lut: f32[4] of step = 0.25
may_alias: [u, v]
nodes:
  - id: seed
    copy: v <- u
  - fill: "y = 0xFFFF as u16"
  - for: t in range(pairs)
    nodes:
      - id: fwd[t]
        run: step(src=u[1:-1, ::2], dst=v[..., 0], alpha=alpha)
        grid: nx, 2
        after: seed, back[t-1]
      - id: back[t]
        run: step(v[t], u, 0.5 * t, n)
        block: {x: 64}
        shared: 256
        after: [fwd[t]]
  - for: i in range(2)
    nodes:
      - for: j in range(2)
        nodes:
          - id: cell[i, j]
            fill: v[i, 2 * j] = i + j
            after: cell[i, j-1], back[:]
  - id: end
    join: true
    after: cell[:, :]
"""
YAML = YAML.replace("after: [fwd[t]]", "after: ['fwd[t]']").replace("0.5 * t, n)", "0.5 * t, nx)")


def python_graph(folder: Path) -> Graph:
    g = Graph(
        "all_of_it", order="inferred", targets=["sm_80", "sm_90"], may_alias=[["u", "v"]], folder=folder
    )
    nx, ny, pairs = g.symbol("nx", 16), g.symbol("ny", 8), g.symbol("pairs", 3)
    scale = g.symbol("scale", 0.5)
    alpha = g.scalar("alpha", "f32", 0.1, slot=True, range=(0, 1))
    g.scalar("beta", "f64", 2 * scale)
    u = g.buffer("u", "f32", (ny, nx), "inout")
    v = g.buffer("v", "f32", (ny, nx))
    g.buffer("w", "f32", (2, 2), "constant", data=[[1, 2], [3, 4.5]])
    g.buffer("x", "f32", nx, "constant", data="weights.npz:w1", embed=False, align=512)
    y = g.buffer("y", "u16", ())
    step = g.kernel(
        "step",
        source="heat.cu",
        entry="heat_step<float, 2>(in f32* src, out f32* dst, f32 alpha, i32 nx)",
        block=(32, 8),
        cover=(nx, ny),
        shared=128,
        defines={"TILE": 16, "FAST": True, "WORD": "int"},
        include_dirs=["inc"],
        options=["--use_fast_math"],
        exact=True,
    )
    g.kernel("plain", ptx=Path("k.ptx"), entry="k", grid=4)
    g.global_("lut", step, "f32", (4,), data=0.25)
    seed = g.copy(v, u, id="seed")
    g.fill(y, 0xFFFF, item=2)
    back = None
    backs = []
    for t in range(pairs):
        fwd = g.run(
            step(src=u[1:-1, ::2], dst=v[..., 0], alpha=alpha),
            id=f"fwd[{t}]",
            grid=(nx, 2),
            after=[seed, back],
        )
        back = g.run(step(v[t], u, 0.5 * t, nx), id=f"back[{t}]", block=64, shared=256, after=fwd)
        backs.append(back)
    cells = []
    for i in range(2):
        last = None
        for j in range(2):
            last = g.fill(v[i, 2 * j], i + j, id=f"cell[{i},{j}]", after=(last, backs))
            cells.append(last)
    g.join(id="end", after=cells)
    return g


def as_json(text: str) -> str:
    """Turn YAML to JSON, scalars by the core schema."""

    class Loader(yaml.SafeLoader):
        pass

    def scalar(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
        return node.value if node.style else resolve(node.value)

    Loader.yaml_implicit_resolvers = {}
    Loader.add_constructor("tag:yaml.org,2002:str", scalar)
    return json.dumps(yaml.load(text, Loader), indent=1)


def test_yaml_json_and_python(tmp_path: Path) -> None:
    written = good(YAML, folder=tmp_path)
    other = good(as_json(YAML), "graph.json", folder=tmp_path)
    built = python_graph(tmp_path).flatten()
    assert meaning(other) == meaning(written)
    assert built is not None
    for name, value in meaning(written).items():
        if name != "nodes":
            assert meaning(built)[name] == value, name
    for left, right in zip(meaning(built)["nodes"], meaning(written)["nodes"], strict=True):
        assert left == right


SAMPLES = sorted(Path("plans").glob("*/graph.yaml"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.parent.name)
def test_samples_as_json(path: Path) -> None:
    text = path.read_text()
    written = load_graph(path)
    other = load_text(as_json(text), "graph.json", folder=path.parent)
    assert written is not None and other is not None
    assert meaning(written) == meaning(other)


LONG = {
    "alpha: f32 slot = 0.1 in [0, 1]": "alpha: {dtype: f32, slot: true, value: 0.1, range: [0, 1]}",
    "u: f32[ny, nx] inout": "u: {dtype: f32, shape: [ny, nx], role: inout}",
    "v: f32[ny, nx]": "v: {dtype: f32, shape: 'ny, nx'}",
    "w: f32[2, 2] constant = [[1, 2], [3, 4.5]]": (
        "w: {dtype: f32, shape: [2, 2], role: constant, data: [[1, 2], [3, 4.5]]}"
    ),
    "data: weights.npz:w1": "data: {file: weights.npz, member: w1}",
    "y: u16[]": "y: {dtype: u16, shape: []}",
    "block: 32, 8": "block: [32, 8]",
    "cover: nx, ny": "cover: {x: nx, y: ny}",
    "TILE: 16": "TILE: = nx",
    "FAST: true": "FAST: {expression: 1}",
    "lut: f32[4] of step = 0.25": "lut: {kernel: step, dtype: f32, shape: 4, data: 0.25}",
    "may_alias: [u, v]": "may_alias: [[u, v]]",
    "targets: [sm_80, sm_90]": "targets: sm_80, sm_90",
    "copy: v <- u": "copy: {target: v, source: u}",
    'fill: "y = 0xFFFF as u16"': "fill: {target: y, pattern: 0xFFFF, item: 2}",
    "for: t in range(pairs)": "for: {variable: t, stop: pairs}",
    "for: i in range(2)": "for: {variable: i, start: 0, stop: 2, step: 1}",
    "run: step(src=u[1:-1, ::2], dst=v[..., 0], alpha=alpha)": (
        "run: {kernel: step, arguments: {src: 'u[1:-1, ::2]', dst: 'v[..., 0]', alpha: alpha}}"
    ),
    "grid: nx, 2": "grid: [nx, 2]",
    "block: {x: 64}": "block: 64",
    "fill: v[i, 2 * j] = i + j": "fill: {target: 'v[i, 2 * j]', value: i + j}",
    "after: seed, back[t-1]": "after: [seed, 'back[t-1]']",
    "after: cell[i, j-1], back[:]": "after: ['cell[i, j-1], back[:]']",
    "entry: heat_step<float, 2>(in f32* src, out f32* dst, f32 alpha, i32 nx)": (
        "entry: {name: 'heat_step<float, 2>', parameters: [in f32* src, {name: dst, type: f32*, effect: out},"
        " {name: alpha, type: f32}, i32 nx]}"
    ),
    "entry: k, grid: 4": "entry: {name: k}, grid: '4'",
}


@pytest.mark.parametrize("short", LONG)
def test_every_long_form_means_its_short_one(short: str, tmp_path: Path) -> None:
    assert short in YAML
    changed = good(YAML.replace(short, LONG[short]), folder=tmp_path)
    assert meaning(changed) == meaning(good(YAML, folder=tmp_path))
