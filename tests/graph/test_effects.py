"""What a program says of its kernels' effects: proved, declared, assumed or unknown; and what contradicts."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import planc
from planc.api import check
from planc.diagnostics import PlancError
from planc.graph.uses import tidy
from planc.plan import decode, encode
from planc.plan.boxes import Box
from tests.graph.checked import codes, effects, report, touched

COPY = """extern "C" __global__ void k(const float* src, float* dst, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i];
}
"""
IO = ["u: f32[8] inout", "v: f32[8] inout"]
RUN = ["{id: a, run: 'k(src=u, dst=v, n=8)'}"]
LAUNCH = "block: 32\ncover: 8"
READ = ("u", "read", "proved", "proved")
WRITE = ("v", "write", "proved", "proved")


def copying(folder, entry, run=RUN, **more):
    return report(folder, buffers=IO, kernel=entry, nodes=run, cuda=COPY, more=LAUNCH, **more)


def test_nothing_is_declared_and_all_is_proved(tmp_path):
    found = copying(tmp_path, "k(f32* src, f32* dst, i32 n)")
    assert codes(found) == []
    assert effects(found) == [READ, WRITE]
    assert found.verdict == "race-free: proved (2 effects of 1 node)"
    assert touched(found, 1) == touched(found, 1, "must") == set(range(32))
    assert touched(found, 0, "must") == set()


def test_the_entry_alone_is_enough(tmp_path):
    assert effects(copying(tmp_path, "k")) == [READ, WRITE]


def test_ranges_follow_scalars_and_views(tmp_path):
    found = copying(tmp_path, "k", ["{id: a, run: 'k(src=u[2:8], dst=v[3:], n=4)'}"])
    assert touched(found, 0) == set(range(8, 24))
    assert touched(found, 1) == touched(found, 1, "must") == set(range(12, 28))


@pytest.mark.parametrize(("high", "range_known"), [(8, "proved"), (9, "assumed")])
def test_a_slot_counts_with_its_whole_range(tmp_path, high, range_known):
    top = f"scalars:\n  n: i32 slot = 1 in [0, {high}]\n"
    found = report(
        tmp_path,
        buffers=IO,
        kernel="k",
        nodes=["{id: a, run: 'k(src=u, dst=v)'}"],
        cuda=COPY,
        more=LAUNCH,
        top=top,
    )
    assert effects(found) == [(*READ[:3], range_known), (*WRITE[:3], range_known)]
    # A guard that lets through what the view lacks is no definite mistake: the slot may stay below.
    assert codes(found) == ([] if high == 8 else ["PLC486", "PLC486"])
    assert touched(found, 1) == set(range(32))
    assert touched(found, 1, "must") == set()


def test_premises_are_counted_and_kept_in_the_plan(tmp_path):
    top = "scalars:\n  n: i32 slot = 1\n"
    nodes = ["{id: a, run: 'k(src=u, dst=v)'}", "{id: b, run: 'k(src=u, dst=v)', after: a}"]
    found = report(tmp_path, buffers=IO, kernel="k", nodes=nodes, cuda=COPY, more=LAUNCH, top=top)
    assert found.verdict == "race-free if: 4 ranges are as assumed: k(src), k(dst)"
    plan = planc.compile(tmp_path / "graph.yaml")
    assert plan.facts == ("4 ranges are as assumed: k(src), k(dst)",)
    assert decode(encode(plan)).facts == plan.facts


# Declarations


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("in", "out"), []),
        (("in", "inout"), ["PLC481"]),
        (("inout", "out"), ["PLC481"]),
        (("in", "in"), ["PLC480"]),
        (("out", "out"), ["PLC480"]),
        (("in", "reduce"), ["PLC480"]),
        (("reduce", "out"), ["PLC480"]),
    ],
)
def test_a_declaration_is_compared_with_the_kernel(tmp_path, words, expected):
    text = COPY.replace("const ", "")
    entry = f"k({words[0]} f32* src, {words[1]} f32* dst, i32 n)"
    found = report(tmp_path, buffers=IO, kernel=entry, nodes=RUN, cuda=text, more=LAUNCH)
    assert codes(found) == expected


def test_a_contradiction_shows_both_places(tmp_path):
    (error,) = copying(tmp_path, "k(in f32* src, in f32* dst, i32 n)").diagnostics
    assert (error.span.line, error.span.column) == (10, 27)
    (place,) = error.related
    assert place.span.file.endswith("k.cu") and place.span.line == 3
    assert error.facts["found"] == "out"


def test_a_declaration_is_wide_only_if_all_runs_do_less(tmp_path):
    cuda = """extern "C" __global__ void k(float* v, int add) {
      if (add) v[threadIdx.x] += 1; else v[threadIdx.x] = 0;
    }"""
    nodes = ["{id: a, run: 'k(v=v, add=0)'}", "{id: b, run: 'k(v=v, add=1)', after: a}"]
    for count, expected in ((1, ["PLC481"]), (2, [])):
        found = report(
            tmp_path,
            buffers=IO[1:],
            kernel="k(inout f32* v, i32 add)",
            nodes=nodes[:count],
            cuda=cuda,
            more="block: 8\ngrid: 1",
        )
        assert codes(found) == expected
        assert effects(found)[0][1] == "write"


TABLE = """extern "C" __global__ void k(const unsigned long long* table, float* dst) {
  dst[threadIdx.x] = *(const float*)table[threadIdx.x];
}
"""
POINTERS = ["t: u64[8] input", "v: f32[8] output", "w: f32[8] output"]


def pointers(folder, entry, nodes):
    return report(folder, buffers=POINTERS, kernel=entry, nodes=nodes, cuda=TABLE, more="block: 8\ngrid: 1")


def test_what_cannot_be_followed_may_touch_anything(tmp_path):
    nodes = ["{id: a, run: 'k(table=t, dst=v)'}", "{id: b, fill: w = 0}"]
    found = pointers(tmp_path, "k(u64* table, f32* dst)", nodes)
    assert sorted(codes(found)) == ["PLC482", "PLC502"]
    ordered = [nodes[0], "{id: b, fill: w = 0, after: a}"]
    found = pointers(tmp_path, "k(u64* table, f32* dst)", ordered)
    assert codes(found) == ["PLC482"]
    assert {row[3] for row in effects(found)} == {"unknown"}
    assert found.verdict.startswith("race-free if: 2 effects that may be anything are harmless: ")
    decode(encode(planc.compile(tmp_path / "graph.yaml")))


def test_a_declaration_stands_in_for_what_cannot_be_followed(tmp_path):
    nodes = ["{id: a, run: 'k(table=t, dst=v)'}", "{id: b, fill: w = 0}"]
    found = pointers(tmp_path, "k(in u64* table, out f32* dst)", nodes)
    assert codes(found) == []
    assert effects(found) == [("t", "read", "declared", "assumed"), ("v", "write", "declared", "assumed")]
    assert "2 effects are as declared: k(table), k(dst)" in found.verdict


def test_a_target_with_other_accesses_widens_the_effects(tmp_path):
    cuda = """extern "C" __global__ void k(float* u, float* v) {
    #if __CUDA_ARCH__ >= 900
      v[threadIdx.x + 4] = u[threadIdx.x];
    #else
      v[threadIdx.x] = 1;
    #endif
    }"""
    nodes, launch = ["{id: a, run: 'k(u=u, v=v)'}"], "block: 4\ngrid: 1"
    both = report(tmp_path, buffers=IO, kernel="k", nodes=nodes, cuda=cuda, more=launch)
    assert effects(both) == [READ, WRITE]
    assert touched(both, 1) == set(range(32))
    assert touched(both, 1, "must") == set()
    one = report(tmp_path, buffers=IO, kernel="k", nodes=nodes, cuda=cuda, more=launch, targets="sm_80")
    assert effects(one) == [WRITE]
    assert touched(one, 0) == touched(one, 0, "must") == set(range(16))


# Globals and effects beyond memory

COUNTER = """__device__ int count[2];
__constant__ float weight[2];
extern "C" __global__ void k(float* v) { v[threadIdx.x] = weight[1]; atomicAdd(&count[1], 1); }
"""


def test_a_variable_that_nobody_declares_and_the_kernel_changes(tmp_path):
    nodes = ["{id: a, run: k(v=v)}", "{id: b, run: 'k(v=u)'}"]
    found = report(tmp_path, buffers=IO, kernel="k", nodes=nodes, cuda=COUNTER, more="block: 8\ngrid: 1")
    assert sorted(codes(found)) == ["PLC482", "PLC502"]


def test_declared_globals_are_proved(tmp_path):
    top = (
        "globals:\n"
        "  count: {kernel: k, dtype: i32, shape: [2], data: [0, 0]}\n"
        "  weight: {kernel: k, dtype: f32, shape: [2], data: [1, 2]}\n"
    )
    nodes = ["{id: a, run: k(v=v)}"]
    found = report(
        tmp_path, buffers=IO[1:], kernel="k", nodes=nodes, cuda=COUNTER, more="block: 8\ngrid: 1", top=top
    )
    assert codes(found) == []
    assert effects(found) == [
        WRITE,
        ("count", "reduce", "proved", "proved"),
        ("weight", "read", "proved", "proved"),
    ]
    assert touched(found, 1) == set(range(4, 8))


def test_printing_is_an_effect(tmp_path):
    cuda = '#include <stdio.h>\nextern "C" __global__ void k(float* v) { v[0] = 1; printf("x"); }'
    nodes = ["{id: a, run: k(v=v)}"]
    found = report(tmp_path, buffers=IO[1:], kernel="k", nodes=nodes, cuda=cuda, more="block: 1\ngrid: 1")
    assert effects(found) == [WRITE, (None, "external", "proved", "proved")]


# Accesses outside their view


@pytest.mark.parametrize(
    ("guard", "expected"), [("if (i < n) ", []), ("", ["PLC483"]), ("if (i <= n) ", ["PLC483"])]
)
def test_a_missing_guard_is_found_at_its_line_and_the_cpu_stops_there(tmp_path, guard, expected):
    cuda = COPY.replace("if (i < n) dst[i] = src[i];", f"{guard}dst[i] = 1.0f;")
    nodes = ["{id: a, run: 'k(src=u, dst=v, n=8)'}"]
    entry = "k(f32* src, f32* dst, i32 n)"
    found = report(tmp_path, buffers=IO, kernel=entry, nodes=nodes, cuda=cuda, more=LAUNCH)
    assert codes(found) == expected
    if not expected:
        assert touched(found, 0) == set(range(32))
        return
    (error,) = found.diagnostics
    assert error.span.file.endswith("k.cu") and error.span.line == 3
    assert error.facts["thread"] == [8, 0, 0] and error.facts["offset"] == 32
    assert error.message.endswith("of a view of 32 bytes: element 8, and the view has 8")
    assert "threadIdx.x < 8" in error.help
    stop = stopped_at(tmp_path, entry, cuda)
    assert stop["cuda_line"] == 3
    assert [stop[f] for f in ("thread", "block", "offset")] == [
        error.facts[f] for f in ("thread", "block", "offset")
    ]


def stopped_at(folder, entry, cuda):
    """What the CPU device says as it stops a plan of the same kernel, checked with enough room."""
    wide = [line.replace("[8]", "[32]") for line in IO]
    report(
        folder,
        buffers=wide,
        kernel=entry,
        nodes=["{id: a, run: 'k(src=u, dst=v, n=8)'}"],
        cuda=cuda,
        more=LAUNCH,
    )
    plan = planc.compile(folder / "graph.yaml")
    narrow = shrunk(plan)
    planc.write(folder / "narrow.plan", narrow)
    with (
        planc.load(folder / "narrow.plan").instantiate("cpu") as executable,
        pytest.raises(PlancError) as caught,
    ):
        for name in ("u", "v"):
            executable.write(name, np.zeros(8, np.float32))
        executable.replay().wait()
    (fault,) = caught.value.diagnostics
    return fault.facts


def shrunk(plan):
    """The plan with its buffers cut to 8 elements, as an author would run it without a check."""
    program = plan.programs[0]
    buffers = tuple(replace(b, shape=(8,), nbytes=32) for b in program.buffers)
    boxes = program.boxes.copy()
    axes = program.axes.copy()
    axes["count"] = 8
    return replace(plan, programs=(replace(program, buffers=buffers, boxes=boxes, axes=axes),))


def test_a_kernel_in_ptx_is_found_at_its_own_line(tmp_path):
    ptx = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 v)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [v];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r1;
  ret;
}
"""
    for block, expected in ((8, []), (9, ["PLC483"])):
        found = report(
            tmp_path,
            buffers=["v: f32[8] output"],
            kernel="k(f32* v)",
            nodes=["{id: a, run: k(v=v)}"],
            ptx=ptx,
            more=f"block: {block}\ngrid: 1",
        )
        assert codes(found) == expected
    assert found.diagnostics[0].span.file.endswith("k.ptx")
    assert found.diagnostics[0].span.line == 13


@pytest.mark.parametrize(("view", "expected"), [("u[::2]", ["PLC486"]), ("u", [])])
def test_bytes_between_the_elements_of_a_view(tmp_path, view, expected):
    cuda = 'extern "C" __global__ void k(float* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = 1; }'
    nodes = [f"{{id: a, run: 'k(p={view}, n=4)'}}"]
    found = report(tmp_path, buffers=IO[:1], kernel="k", nodes=nodes, cuda=cuda, more="block: 8\ngrid: 1")
    assert codes(found) == expected
    assert touched(found, 0) == set(range(16))


def test_a_view_that_runs_backwards(tmp_path):
    cuda = 'extern "C" __global__ void k(float* p, int ahead) { *(p + ahead - (int)threadIdx.x) = 1; }'
    for block, ahead, expected in ((8, 0, []), (9, 0, ["PLC483"]), (8, 1, ["PLC483"]), (7, 0, [])):
        found = report(
            tmp_path,
            buffers=IO[:1],
            kernel="k",
            nodes=[f"{{id: a, run: 'k(p=u[::-1], ahead={ahead})'}}"],
            cuda=cuda,
            more=f"block: {block}\ngrid: 1",
        )
        assert codes(found) == expected
        if not expected:
            assert effects(found) == [("u", "write", "proved", "proved")]
            assert touched(found, 0) == touched(found, 0, "must") == set(range(32 - 4 * block, 32))


# Overlap inside one node


@pytest.mark.parametrize(
    ("body", "views", "expected"),
    [
        ("dst[i] = src[i] + 1;", "src=u, dst=u", []),
        ("dst[i] = src[n - 1 - i];", "src=u, dst=u", ["PLC321"]),
        ("dst[i] = src[0];", "src=u, dst=u", ["PLC321"]),
        ("dst[i] = src[i];", "src=u[1:], dst=u[:7]", ["PLC321"]),
        ("dst[2 * i] = src[2 * i + 1];", "src=u, dst=u", []),
    ],
)
def test_overlap_of_a_read_and_a_write_in_one_node(tmp_path, body, views, expected):
    cuda = COPY.replace("dst[i] = src[i];", body)
    found = report(
        tmp_path,
        buffers=IO[:1],
        kernel="k",
        nodes=[f"{{id: a, run: 'k({views}, n=4)'}}"],
        cuda=cuda,
        more=LAUNCH,
    )
    assert codes(found) == expected
    trusted = report(
        tmp_path,
        buffers=IO[:1],
        kernel="k",
        nodes=[f"{{id: a, run: 'k({views}, n=4)'}}"],
        cuda=cuda,
        more=LAUNCH + "\ninplace: true",
    )
    assert codes(trusted) == []


@pytest.mark.parametrize(("cols", "expected"), [(60, []), (64, [])])
def test_in_place_over_a_plane_that_the_blocks_do_not_divide(tmp_path, cols, expected):
    cuda = """extern "C" __global__ void k(const float* src, float* dst, int nx, int ny) {
      int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
      if (x < nx && y < ny) dst[y * nx + x] = src[y * nx + x] * 2;
    }"""
    found = report(
        tmp_path,
        buffers=[f"u: f32[20, {cols}] inout"],
        kernel="k",
        nodes=[f"{{id: a, run: 'k(src=u, dst=u, nx={cols}, ny=20)'}}"],
        cuda=cuda,
        more=f"block: 32, 8\ncover: {cols}, 20",
    )
    assert codes(found) == expected


def test_a_cached_load_of_what_another_pointer_writes(tmp_path):
    cuda = """extern "C" __global__ void k(const float* __restrict__ src, float* __restrict__ dst) {
      dst[threadIdx.x] = src[threadIdx.x];
    }"""
    for source, expected in (("u", ["PLC485"]), ("v", [])):
        found = report(
            tmp_path,
            buffers=IO if source == "v" else IO[:1],
            kernel="k",
            nodes=[f"{{id: a, run: 'k(src={source}, dst=u)'}}"],
            cuda=cuda,
            more="block: 8\ngrid: 1\ninplace: true",
        )
        assert codes(found) == expected


def test_a_write_of_an_input_is_seen_in_the_ptx(tmp_path):
    found = report(
        tmp_path,
        buffers=["u: f32[8] input", "v: f32[8] input"],
        kernel="k",
        nodes=RUN,
        cuda=COPY,
        more=LAUNCH,
    )
    assert codes(found) == ["PLC314"]


SAMPLES = sorted((Path(__file__).parents[2] / "plans").glob("*/graph.yaml"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.parent.name)
def test_samples_declare_nothing_and_are_proved(path):
    entries = [line for line in path.read_text().splitlines() if "entry:" in line]
    assert not any(re.search(r"\b(in|out|inout|reduce) \w+\*", line) for line in entries)
    found = check(path)
    assert codes(found) == []
    assert found.verdict.startswith("race-free: proved (")


def test_a_cubin_alone_is_as_declared(tmp_path):
    copying(tmp_path, "k", targets="sm_80")
    images = planc.compile(tmp_path / "graph.yaml").programs[0].modules[0].images
    (tmp_path / "k.cubin").write_bytes(next(bytes(i.data) for i in images if i.form == "cubin"))
    text = (tmp_path / "graph.yaml").read_text()
    text = text.replace("source: k.cu", "cubin: k.cubin")
    for entry, expected in (("f32* src, f32* dst", ["PLC462"] * 2), ("in f32* src, out f32* dst", [])):
        changed = text.replace("entry: k", f"entry: k({entry}, i32 n)")
        (tmp_path / "graph.yaml").write_text(changed)
        found = check(tmp_path / "graph.yaml")
        assert codes(found) == expected
    assert found.verdict == "race-free if: 2 effects are as declared: k(src), k(dst)"


def bytes_of(boxes):
    held = set()
    for box in boxes:
        places = {box.offset}
        for count, stride in box.axes:
            places = {p + i * stride for p in places for i in range(count)}
        held |= {p + b for p in places for b in range(box.item)}
    return held


def test_tidy_boxes_hold_the_same_bytes():
    rng = random.Random(3)
    fewer = 0
    for _ in range(300):
        boxes = [
            Box(
                rng.randrange(20),
                tuple((rng.randint(1, 4), rng.choice((1, 2, 4, 9))) for _ in range(n)),
                width,
            )
            for n, width in ((rng.randint(0, 2), rng.choice((1, 2, 4))) for _ in range(rng.randint(1, 6)))
        ]
        found = tidy(boxes, 5)
        assert bytes_of(found) == {b + 5 for b in bytes_of(boxes)}
        fewer += len(found) < len(set(boxes))
    assert fewer > 30
    many = [Box(3 * i, (), 1) for i in range(40)]
    assert bytes_of(tidy(many, 0)) == set(range(118))
