"""A race behind no wrong word: data leads a kernel out of its view, and the check must assume it does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planc.api import check
from planc.tracing_api import Feed, shuffle, trace
from tests.tracing.projects import codes

CUDA = """\
__global__ void gather(const float* x, const int* index, float* y) {
    y[threadIdx.x] = x[index[threadIdx.x]];
}
__global__ void bump(float* x) { x[threadIdx.x] += 1.0f; }
"""
GRAPH = """\
planc: 1
name: hidden
buffers: {x: "f32[16] inout", index: "i32[32] input", y: "f32[32] output"}
kernels:
  gather: {source: k.cu, entry: "gather(in f32* x, in i32* index, out f32* y)", block: 32, grid: 1}
  bump: {source: k.cu, entry: "bump(inout f32* x)", block: 4, grid: 1}
nodes:
  - {id: g, run: "gather(x[0:4], index, y)"}
  - {id: b, run: "bump(x[4:8])"}
"""


@pytest.fixture
def graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("k.cu").write_text(CUDA)
    Path("graph.yaml").write_text(GRAPH)
    return "graph.yaml"


def fed(most: int) -> Feed:
    return Feed({"index": np.arange(32, dtype=np.int32) % most})


def test_the_check_alone_lets_it_pass(graph: str) -> None:
    assert check(graph).ok


def test_the_trace_finds_access_and_race_where_the_data_shows_them(graph: str) -> None:
    assert trace(graph, feed=fed(4)).ok
    report = trace(graph, feed=fed(5))
    found = {d.code: d for d in report.diagnostics}
    assert {"PLC510", "PLC513"} <= set(found)
    assert found["PLC510"].facts["elements"] == "x[4]" and found["PLC510"].facts["thread"] == [4, 0, 0]
    assert [r.span.file for r in found["PLC510"].related] == ["k.cu"]
    assert found["PLC513"].facts["nodes"] == ["g", "b"] and found["PLC513"].facts["bytes"] == [16, 20]
    with pytest.raises(Exception, match="PLC510"):
        report.raise_errors()


def test_an_other_order_shows_it(graph: str) -> None:
    assert "PLC516" not in codes(shuffle(graph, 3, feed=fed(4)))
    report = shuffle(graph, 3, feed=fed(5))
    (found,) = [d for d in report.diagnostics if d.code == "PLC516"]
    assert found.facts["nodes"] == ["g", "b"] and found.facts["element"] == [4]
