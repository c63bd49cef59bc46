"""What a traced kernel does beyond its declaration, each beside the legal neighbour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planc.diagnostics import InternalFault
from planc.plan.boxes import Box
from planc.plan.example import example_plan, with_row
from planc.plan.program import Plan, Provenance
from planc.tracing_api import Feed, trace
from tests.tracing.projects import codes, declare, errors, known, project, with_box, without_effect

CUDA = """\
__global__ void bump(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        x[i] = x[i] + 1.0f;
}
__global__ void put(float* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 1.0f;
        __threadfence();
        x[i] = ((volatile float*)x)[i] + 1.0f;
    }
}
__global__ void sum(const float* x, float* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(total, x[i]);
}
__global__ void ticket(int* counter, int* out) {
    out[threadIdx.x] = atomicAdd(counter, 1);
}
__global__ void gather(const float* x, const int* index, float* y) {
    y[threadIdx.x] = x[index[threadIdx.x]];
}
"""
BUMP = """\
buffers: {x: "f32[16] inout"}
kernels:
  bump: {source: k.cu, entry: "bump(inout f32* x, i32 n)", block: 4, cover: 8}
nodes:
  - {id: b, run: "bump(x[4:12], 8)"}
"""
PUT = """\
buffers: {x: "f32[16] inout"}
kernels:
  put: {source: k.cu, entry: "put(inout f32* x, i32 n)", block: 16, grid: 1}
nodes:
  - {id: p, run: "put(x, 16)"}
"""
SUM = """\
buffers: {x: "f32[64] input", total: "f32[1] inout"}
kernels:
  sum: {source: k.cu, entry: "sum(in f32* x, reduce f32* total, i32 n)", block: 32, cover: 64}
nodes:
  - {id: s, run: "sum(x, total, 64)"}
"""
TICKET = """\
buffers: {counter: "i32[1] inout", out: "i32[32] output"}
kernels:
  ticket: {source: k.cu, entry: "ticket(inout i32* counter, out i32* out)", block: 32, grid: 1}
nodes:
  - {id: t, run: "ticket(counter, out)"}
"""
GATHER = """\
buffers: {x: "f32[32] input", index: "i32[32] input", y: "f32[32] output"}
kernels:
  gather: {source: k.cu, entry: "gather(in f32* x, in i32* index, out f32* y)", block: 32, grid: 1}
nodes:
  - {id: g, run: "gather(x, index, y)"}
"""


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Plan]:
    graphs = {"bump": BUMP, "put": PUT, "sum": SUM, "ticket": TICKET, "gather": GATHER}
    return {name: project(tmp_path_factory.mktemp(name), CUDA, graph) for name, graph in graphs.items()}


def one(report):
    (found,) = [d for d in report.diagnostics if d.code != "PLC515"]
    return found


@pytest.mark.parametrize("name", ["bump", "put", "sum", "ticket", "gather"])
def test_right_declarations_are_clean(plans, name: str) -> None:
    report = trace(plans[name])
    assert errors(report) == [] and report.ok
    assert "touched nothing outside the effects" in report.verdict


def test_a_write_of_what_is_in(plans) -> None:
    found = one(trace(declare(plans["bump"], "b", "x", "in")))
    assert found.code == "PLC511"
    assert found.message == "`b` writes bytes 16 to 47 of `x`, `x[4:12]`, which it has as `in`"
    assert found.help == "declare `x` `inout`, or mend the kernel"
    assert (found.span.file, found.span.line) == ("graph.yaml", 8)
    assert found.facts["bytes"] == [16, 48] and found.facts["elements"] == "x[4:12]"
    assert found.facts["thread"] == [0, 0, 0] and found.facts["block"] == [0, 0, 0]
    assert found.facts["cuda_line"] == 4
    (line,) = found.related
    assert line.span.line == 4 and line.span.file.endswith("k.cu")
    assert any("`x` is `in` on `x[4:12]`, as declared" in note for note in found.notes)


def test_old_bytes_of_what_is_out(plans) -> None:
    found = one(trace(declare(plans["bump"], "b", "x", "out")))
    assert found.code == "PLC511" and found.facts["deeds"] == ["read"]
    assert found.help.startswith("declare `x` `inout`")


def test_reading_back_what_the_node_wrote_is_out(plans) -> None:
    assert errors(trace(declare(plans["put"], "p", "x", "out"))) == []
    assert codes(trace(plans["put"])) == []
    found = one(trace(declare(plans["put"], "p", "x", "in")))
    assert found.code == "PLC511" and found.facts["deeds"] == ["write"]
    assert found.help == "declare `x` `inout`, or mend the kernel"


@pytest.mark.parametrize("word", ["reduce", "inout"])
def test_a_reduction_is_reduce_or_inout(plans, word: str) -> None:
    assert errors(trace(declare(plans["sum"], "s", "total", word))) == []


@pytest.mark.parametrize("word", ["in", "out"])
def test_a_reduction_is_neither_in_nor_out(plans, word: str) -> None:
    found = one(trace(declare(plans["sum"], "s", "total", word)))
    assert found.code == "PLC511" and found.facts["deeds"] == ["reduce"]


def test_a_ticket_is_no_reduction(plans) -> None:
    found = trace(declare(plans["ticket"], "t", "counter", "reduce")).diagnostics
    assert [d.code for d in found] == ["PLC511", "PLC511"]
    assert {d.facts["deeds"][0] for d in found} == {"read", "write"}


def test_a_plain_access_is_no_reduction(plans) -> None:
    assert errors(trace(declare(plans["bump"], "b", "x", "reduce"))) == ["PLC511", "PLC511"]


def test_an_access_outside_the_view_and_one_at_its_edge(plans) -> None:
    whole = with_box(plans["bump"], "b", "x", Box(16, ((8, 4),), 4))
    assert errors(trace(whole)) == []
    short = with_box(plans["bump"], "b", "x", Box(16, ((7, 4),), 4))
    found = trace(short).diagnostics
    assert [d.code for d in found] == ["PLC510", "PLC510"]
    assert {d.facts["deeds"][0] for d in found} == {"read", "write"}
    read = next(d for d in found if d.facts["deeds"] == ["read"])
    assert read.message == "`b` reads bytes 44 to 47 of `x`, `x[11]`, outside the view that it was given"
    assert read.facts["thread"] == [3, 0, 0] and read.facts["block"] == [1, 0, 0]
    assert read.facts["offset"] == 44


def test_one_byte_too_few(plans) -> None:
    short = with_box(plans["bump"], "b", "x", Box(16, (), 31))
    assert {tuple(d.facts["bytes"]) for d in trace(short).diagnostics} == {(47, 48)}


def test_a_buffer_that_was_not_given(plans) -> None:
    found = one(trace(without_effect(plans["gather"], "g", "x")))
    assert found.code == "PLC512" and found.facts["buffer"] == "x" and found.facts["cuda_line"] == 23


def test_a_buffer_that_a_proof_leaves_out(plans) -> None:
    plan = without_effect(plans["gather"], "g", "x")
    half = known(plan, "g", "y", kind_provenance=Provenance.PROVED)
    assert errors(trace(half)) == ["PLC512"]
    with pytest.raises(InternalFault) as caught:
        trace(known(half, "g", "index", kind_provenance=Provenance.PROVED))
    assert [d.code for d in caught.value.diagnostics] == ["PLC905"]


def test_a_narrow_range_depends_on_the_data(plans) -> None:
    first = with_box(plans["gather"], "g", "x", Box(0, ((4, 4),), 4))
    index = np.arange(32, dtype=np.int32) % 4
    assert errors(trace(first, feed=Feed({"index": index}))) == []
    index[7] = 4
    found = one(trace(first, feed=Feed({"index": index})))
    assert found.code == "PLC510" and found.facts["thread"] == [7, 0, 0]
    assert found.facts["elements"] == "x[4]"


def test_random_indices_stay_inside(plans) -> None:
    for seed in range(5):
        assert errors(trace(plans["gather"], feed=Feed(seed=seed))) == []


def test_what_a_node_raises_is_reported_beside_what_it_did(plans) -> None:
    index = np.full(32, 32, np.int32)
    report = trace(without_effect(plans["gather"], "g", "index"), feed=Feed({"index": index}))
    assert sorted(codes(report)) == ["PLC512", "PLC754"] and not report.ok


def test_a_budget_ends_a_replay(plans) -> None:
    assert errors(trace(plans["bump"], feed=Feed(budget=10))) == ["PLC752"]


def test_a_wrong_input_is_a_report_too(plans) -> None:
    assert errors(trace(plans["bump"], feed=Feed({"y": np.zeros(3)}))) == ["PLC701"]
    assert errors(trace(plans["bump"], feed=Feed(arguments={"a": 1}))) == ["PLC711"]


def test_what_planc_proved_is_its_own_fault(plans) -> None:
    plan = declare(plans["bump"], "b", "x", "in")
    proved = known(plan, "b", "x", kind_provenance=Provenance.PROVED)
    with pytest.raises(InternalFault) as caught:
        trace(proved)
    assert [d.code for d in caught.value.diagnostics] == ["PLC905"]
    short = with_box(plans["bump"], "b", "x", Box(16, ((7, 4),), 4))
    with pytest.raises(InternalFault) as caught:
        trace(known(short, "b", "x", range_provenance=Provenance.PROVED))
    assert {d.code for d in caught.value.diagnostics} == {"PLC905"}
    right = known(
        plans["bump"], "b", "x", kind_provenance=Provenance.PROVED, range_provenance=Provenance.PROVED
    )
    assert trace(right).ok


def test_a_must_box_that_is_too_wide(plans) -> None:
    sure = {"kind_provenance": Provenance.PROVED}
    exact = with_box(known(plans["bump"], "b", "x", **sure), "b", "x", Box(16, ((8, 4),), 4), "must")
    assert trace(exact).ok
    wide = with_box(known(plans["bump"], "b", "x", **sure), "b", "x", Box(16, ((9, 4),), 4), "must")
    with pytest.raises(InternalFault) as caught:
        trace(wide)
    (found,) = caught.value.diagnostics
    assert found.code == "PLC906" and found.facts["bytes"] == [48, 52]


def test_what_may_touch_anything_is_not_judged(plans) -> None:
    plan = declare(plans["bump"], "b", "x", "in")
    assert trace(known(plan, "b", "x", range_provenance=Provenance.UNKNOWN)).ok


def test_a_wide_declaration_is_a_hint() -> None:
    report = trace(with_row(example_plan(), "effects", 5, kind=3, must_count=0))
    assert codes(report) == ["PLC515"] and report.ok


def test_a_wide_view_is_a_hint(plans) -> None:
    report = trace(with_box(plans["bump"], "b", "x", Box(16, ((12, 4),), 4)))
    (found,) = report.diagnostics
    assert found.code == "PLC515" and found.facts["elements"] == "x[12:16]" and report.ok


def test_unwritten_bytes_by_element_and_thread(tmp_path: Path) -> None:
    graph = """\
buffers: {s: "f32[16]", y: "f32[16] output"}
kernels:
  bump: {source: k.cu, entry: "bump(inout f32* x, i32 n)", block: 16, grid: 1}
nodes:
  - {id: zero, fill: "s[0:%d] = 0"}
  - {id: b, run: "bump(s, 16)", after: zero}
  - {id: c, copy: "y <- s", after: b}
"""
    (tmp_path / "a").mkdir()
    whole = project(tmp_path / "a", CUDA, graph % 16)
    assert errors(trace(whole)) == []
    short = with_row(whole, "fill_ops", 0, box=_box(whole, 12))
    short = with_box(short, "zero", "s", Box(0, ((12, 4),), 4))
    short = with_box(short, "zero", "s", Box(0, ((12, 4),), 4), "must")
    found = one(trace(short))
    assert found.code == "PLC514"
    assert found.message == "`b` reads bytes 48 to 63 of `s`, `s[12:16]`, which no node before it has written"
    assert found.facts["thread"] == [12, 0, 0] and found.facts["cuda_line"] == 4


def _box(plan: Plan, elements: int) -> int:
    """Return the row of a box of so many floats: one that an effect of another plan would add."""
    program = plan.programs[0]
    longer = with_box(plan, "zero", "s", Box(0, ((elements, 4),), 4)).programs[0]
    assert len(longer.boxes) == len(program.boxes) + 1
    return len(program.boxes)


def test_a_wrong_word_in_a_graph_does_not_pass(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text(CUDA)
    text = "planc: 1\nname: g\n" + BUMP.replace("inout f32* x", "in f32* x")
    (tmp_path / "graph.yaml").write_text(text)
    report = trace(tmp_path / "graph.yaml")
    assert not report.ok and report.program is None
    (tmp_path / "graph.yaml").write_text("planc: 1\nname: g\n" + BUMP)
    assert trace(tmp_path / "graph.yaml").ok


def test_constants_with_equal_bytes_are_two_buffers(tmp_path: Path) -> None:
    cuda = """
__global__ void add(const float* a, const float* b, float* y) { y[threadIdx.x] = a[threadIdx.x] + b[0]; }
"""
    graph = """\
buffers: {a: "f32[4] constant = c.npy", b: "f32[4] constant = c.npy", y: "f32[4] output"}
kernels:
  add: {source: k.cu, entry: "add(in f32* a, in f32* b, out f32* y)", block: 4, grid: 1}
nodes:
  - {id: n, run: "add(a, b, y)"}
"""
    np.save(tmp_path / "c.npy", np.ones(4, np.float32))
    plan = project(tmp_path, cuda, graph)
    assert errors(trace(plan)) == []
    (found,) = trace(with_box(plan, "n", "a", Box(0, (), 4))).diagnostics[:1]
    assert found.code == "PLC510" and found.facts["buffer"] == "a"
