"""One graph in three forms is one program; one file in two folders is one plan."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml

import planc
from planc.plan import program_digest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = sorted(p.parent.name for p in (ROOT / "plans").glob("*/graph.yaml"))


def heat2d_in_python(folder: Path) -> planc.Graph:
    nx, ny, pairs = 64, 48, 8
    graph = planc.Graph("heat2d", order="explicit", targets=["sm_80", "sm_90"], folder=folder)
    for name, value in {"nx": nx, "ny": ny, "pairs": pairs}.items():
        graph.symbol(name, value)
    graph.scalar("alpha", "f32", 0.1, slot=True, range=(0, 0.25))
    u = graph.buffer("u", "f32", (ny, nx), role="inout")
    v = graph.buffer("v", "f32", (ny, nx))
    step = graph.kernel(
        "step",
        source="heat.cu",
        entry="heat_step(in f32* src, out f32* dst, f32 alpha, i32 nx, i32 ny)",
        block=(32, 8),
        cover=(nx, ny),
        exact=True,
    )
    last: list[object] = []
    for t in range(pairs):
        forth = graph.run(step(src=u, dst=v), id=f"fwd[{t}]", after=last)
        last = [graph.run(step(src=v, dst=u), id=f"back[{t}]", after=[forth])]
    return graph


def test_yaml_json_and_python_give_one_program(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "plans" / "heat2d", tmp_path / "heat2d")
    as_json = tmp_path / "heat2d" / "graph.json"
    as_json.write_text(json.dumps(yaml.safe_load((tmp_path / "heat2d" / "graph.yaml").read_text())))
    graphs = (tmp_path / "heat2d" / "graph.yaml", as_json, heat2d_in_python(tmp_path / "heat2d"))
    digests = {program_digest(planc.compile(graph).programs[0]) for graph in graphs}
    assert len(digests) == 1


@pytest.mark.parametrize("sample", SAMPLES)
def test_two_folders_give_the_same_bytes_and_no_path(sample: str, tmp_path: Path) -> None:
    plans = []
    for folder in (tmp_path / "here", tmp_path / "a much longer name" / "there"):
        shutil.copytree(ROOT / "plans" / sample, folder)
        planc.write(folder / "out.plan", planc.compile(folder / "graph.yaml"))
        plans.append((folder / "out.plan").read_bytes())
    assert plans[0] == plans[1]
    for secret in (str(tmp_path), str(Path.home()), "site-packages", str(ROOT)):
        assert secret.encode() not in plans[0]


def test_another_setting_is_another_program() -> None:
    graph = ROOT / "plans" / "fill_chain" / "graph.yaml"
    plans = [planc.compile(graph, settings={"n": n}) for n in (4, 5)]
    assert program_digest(plans[0].programs[0]) != program_digest(plans[1].programs[0])
    with planc.load(plans[1]).instantiate("cpu") as executable:
        executable.replay().wait()
        np.testing.assert_array_equal(executable.read("x")[:, 3], [1, 2, 3, 4, 5])
