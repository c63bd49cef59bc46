"""``planc new --from``: what a CUDA file has, and a graph for it."""

from __future__ import annotations

import pytest

from planc.api import check
from planc.diagnostics import GraphError
from planc.kernels import describe_source, new_graph_text
from tests.kernels.helpers import Builder

SOURCE = """\
#include <stdint.h>
__global__ void scale(const float* src, float* dst, float by, int n, int stride);
__global__ void __launch_bounds__(128) scale(const float* src, float* dst, float by, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i * stride] = src[i] * by;
}
namespace ns { __global__ void set(uint8_t* lambda, uint8_t value, bool on) { if (on) *lambda = value; } }
template <class T> __global__ void any(T* x) {}
struct P { int a; };
__global__ void packed(P p, int* x) {}
"""


def test_describe(builder: Builder) -> None:
    builder.write("k.cu", SOURCE)
    found = describe_source(builder.folder / "k.cu")
    assert [(e.name, len(e.parameters), e.line) for e in found] == [
        ("scale", 5, 3), ("ns::set", 3, 7), ("any", 1, 8), ("packed", 2, 10)
    ]  # fmt: skip


def test_text(builder: Builder) -> None:
    path = builder.write("2 kernels.cu", SOURCE)
    text = new_graph_text(path)
    assert "name: g_2_kernels\n" in text
    assert "entry: scale(in f32* src, inout f32* dst, f32 by, i32 n, i32 stride)\n    block: 128\n" in text
    assert "run: scale(scale_src, scale_dst, scale_by, n, 1)\n" in text
    assert "entry: ns::set(inout u8* lambda, u8 value, bool on)\n    block: 256\n" in text
    assert "run: ns_set(ns_set_lambda, 1, ns_set_on)\n" in text
    assert "ns_set_on: bool = true\n" in text and "scale_by: f32 slot = 1.0\n" in text
    assert "# any (line 8): a template" in text and "# packed (line 10): `P p`" in text


def test_names_that_expressions_cannot_use(builder: Builder) -> None:
    path = builder.write("k.cu", "__global__ void f(const int* in, int* lambda, float n) {}\n")
    text = new_graph_text(path)
    assert "  in_: i32[n] input\n" in text and "run: f(in_, lambda_, n_)\n" in text


def test_the_graph_checks(builder: Builder) -> None:
    path = builder.write(
        "k.cu", SOURCE + "__global__ void keyword(const int* in, int* out, float n) { *out = *in; }\n"
    )
    builder.write("graph.yaml", new_graph_text(path))
    report = check(builder.folder / "graph.yaml", cache=builder.cache)
    assert {d.code for d in report.diagnostics} <= {"PLC481"}  # a guess of `inout` where `out` would do
    assert report.program is not None
    assert report.program.node_names == ("run_scale", "run_ns_set", "run_keyword")


def test_nothing_to_write(builder: Builder) -> None:
    path = builder.write("k.cu", "__device__ void f() {}\n")
    with pytest.raises(GraphError) as caught:
        new_graph_text(path)
    assert caught.value.code == "PLC408"
    with pytest.raises(GraphError) as caught:
        new_graph_text(builder.folder / "gone.cu")
    assert caught.value.code == "PLC401"
