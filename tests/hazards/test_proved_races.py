"""Races on the bytes that kernels really touch: both are given the whole buffer."""

from __future__ import annotations

import pytest

from tests.graph.checked import codes, report

ROWS = """extern "C" __global__ void k(float* u, int first, int rows, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * width) u[first * width + i] += 1;
}
"""
COLUMNS = """extern "C" __global__ void k(float* u, int first, int step) {
  u[blockIdx.x * 16 + threadIdx.x * step + first] = 1;
}
"""


def pair(folder, first, second, **more):
    nodes = [f"{{id: a, run: 'k({first})'}}", f"{{id: b, run: 'k({second})'}}"]
    return report(folder, buffers=["u: f32[8, 16] inout"], kernel="k", nodes=nodes, **more)


@pytest.mark.parametrize(("first", "rows", "expected"), [(4, 4, []), (3, 4, ["PLC503"]), (3, 1, ["PLC503"])])
def test_halves_by_rows(tmp_path, first, rows, expected):
    found = pair(
        tmp_path,
        "u=u, first=0, rows=4, width=16",
        f"u=u, first={first}, rows={rows}, width=16",
        cuda=ROWS,
        more="block: 128\ngrid: 1",
    )
    assert codes(found) == expected
    if expected:
        (race,) = found.diagnostics
        assert race.facts["elements"] == "u[3, :]"
        assert all("`u`: proved" in note for note in race.notes[:2])
    else:
        assert found.verdict.startswith("race-free: proved")


@pytest.mark.parametrize(("first", "expected"), [(1, []), (2, ["PLC503"])])
def test_interleaved_columns(tmp_path, first, expected):
    found = pair(
        tmp_path,
        "u=u, first=0, step=2",
        f"u=u, first={first}, step=2",
        cuda=COLUMNS,
        more="block: 7\ngrid: 8",
    )
    assert codes(found) == expected


def test_a_read_of_what_another_node_does_not_write(tmp_path):
    """An `inout` pointer that reads all and writes a half races only where one of them writes."""
    cuda = """extern "C" __global__ void k(float* u, int first, int back) {
      u[first + threadIdx.x] = u[back + threadIdx.x];
    }"""
    launch = "block: 16\ngrid: 1"
    free = pair(tmp_path, "u=u, first=0, back=64", "u=u, first=32, back=64", cuda=cuda, more=launch)
    assert codes(free) == []
    raced = pair(tmp_path, "u=u, first=0, back=64", "u=u, first=32, back=15", cuda=cuda, more=launch)
    assert codes(raced) == ["PLC502"]
    assert raced.diagnostics[0].facts["bytes"] == [60, 64]


def test_a_race_says_what_is_assumed(tmp_path):
    cuda = """extern "C" __global__ void k(float* u, const int* at) { u[at[threadIdx.x]] = 1; }"""
    nodes = ["{id: a, run: 'k(u=u, at=at)'}", "{id: b, run: 'k(u=u, at=at)'}"]
    found = report(
        tmp_path,
        buffers=["u: f32[8] inout", "at: i32[8] input"],
        kernel="k",
        nodes=nodes,
        cuda=cuda,
        more="block: 8\ngrid: 1",
    )
    race = next(d for d in found.diagnostics if d.code == "PLC503")
    assert "`a` writes it through `u`: proved, its range assumed to stay inside its view" in race.notes


ADDS = """extern "C" __global__ void k(int* to, int* other, int which) {
  if (which == 0) atomicAdd(to, 1);
  if (which == 1) atomicAdd(other, 1);
  if (which == 2) atomicMax(to, 1);
  if (which == 3) other[0] = atomicAdd(to, 1);
  if (which == 4) atomicAdd(to + 1, 1);
}
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("to=u, other=v, which=0", "to=u, other=v, which=0", []),
        ("to=u, other=v, which=0", "to=v, other=u, which=1", []),
        ("to=u, other=v, which=0", "to=u, other=v, which=2", ["PLC503"]),
        ("to=u, other=v, which=0", "to=u, other=v, which=3", ["PLC503"]),
        ("to=u, other=v, which=4", "to=u[1:], other=v, which=0", []),
    ],
)
def test_reductions_commute_by_operator_and_elements(tmp_path, first, second, expected):
    nodes = [f"{{id: a, run: 'k({first})'}}", f"{{id: b, run: 'k({second})'}}"]
    found = report(
        tmp_path,
        buffers=["u: i32[8] inout", "v: i32[8] inout"],
        kernel="k",
        nodes=nodes,
        cuda=ADDS,
        more="block: 1\ngrid: 1",
    )
    assert codes(found, "PLC236") == expected


HALF = """extern "C" __global__ void k(const float* src, float* dst, int n) {
  if (threadIdx.x < n) dst[threadIdx.x] = src[threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (8, 8, []),
        (4, 4, ["PLC320"]),  # the output's second half is nobody's
        (4, 8, ["PLC318"]),  # half of the scratch is read and never written
        (8, 4, ["PLC320"]),
    ],
)
def test_what_a_kernel_leaves_out_of_a_view_is_noticed(tmp_path, first, second, expected):
    """Declared `out`, and written in part: the declaration hides nothing."""
    nodes = [
        f"{{id: a, run: 'k(src=u, dst=s, n={first})'}}",
        f"{{id: b, run: 'k(src=s, dst=v, n={second})', after: a}}",
    ]
    found = report(
        tmp_path,
        buffers=["u: f32[8] input", "s: f32[8]", "v: f32[8] output"],
        kernel="k(in f32* src, out f32* dst, i32 n)",
        nodes=nodes,
        cuda=HALF,
        more="block: 8\ngrid: 1",
    )
    assert codes(found) == expected


@pytest.mark.parametrize("order", ["explicit", "inferred"])
def test_inferred_edges_follow_the_bytes(tmp_path, order):
    nodes = [
        "{id: a, run: 'k(u=u, first=0, rows=4, width=16)'}",
        "{id: b, run: 'k(u=u, first=4, rows=4, width=16)'}",
        "{id: c, run: 'k(u=u, first=3, rows=1, width=16)'}",
    ]
    found = report(
        tmp_path,
        buffers=["u: f32[8, 16] inout"],
        kernel="k",
        nodes=nodes,
        cuda=ROWS,
        more="block: 128\ngrid: 1",
        top=f"order: {order}\n",
    )
    if order == "explicit":
        assert codes(found) == ["PLC503"]
        return
    assert [(int(e["before"]), int(e["after"])) for e in found.program.edges] == [(0, 2)]
