"""Results, reads, memory and kinds of instructions."""

from __future__ import annotations

import pytest

from planc.ptx import (
    KINDS,
    Kind,
    is_barrier,
    is_control_flow,
    is_warp_wide,
    memory_accesses,
    parse,
    read_registers,
    result_operands,
    written_registers,
)
from planc.ptx.syntax import Discard, Instruction, Register
from tests.ptx.helpers import DATA, SAMPLES, kernel

BEFORE = ".shared .b8 t[8]; .func g; .func (.reg .b32 r) f (.reg .b32 a);"


def only(text: str) -> Instruction:
    (instruction,) = kernel(text, BEFORE).body
    return instruction


# A statement, what it writes, what it reads.
ROWS = [
    ("add.s32 %r1, %r2, %r3;", ["%r1"], ["%r2", "%r3"]),
    ("add.s32 %r1, %r1, %r1;", ["%r1"], ["%r1"]),
    ("@!%p1 mov.u32 %r1, %tid.x;", ["%r1"], ["%p1", "%tid.x"]),
    ("setp.eq.and.s32 %p1|%p2, %r1, 3, !%p3;", ["%p1", "%p2"], ["%r1", "%p3"]),
    ("ld.global.v2.u32 {%r1, _}, [%rd1+8];", ["%r1"], ["%rd1"]),
    ("st.global.v2.u32 [%rd1], {%r1, %r2};", [], ["%rd1", "%r1", "%r2"]),
    ("mov.b64 {%r1, %r2}, %rd1;", ["%r1", "%r2"], ["%rd1"]),
    ("mov.b64 %rd1, {%r1, %r2};", ["%rd1"], ["%r1", "%r2"]),
    ("atom.global.add.u32 %r1, [%rd1], %r2;", ["%r1"], ["%rd1", "%r2"]),
    ("atom.global.add.u32 _, [%rd1], %r2;", [], ["%rd1", "%r2"]),
    ("red.global.add.u32 [%rd1], %r2;", [], ["%rd1", "%r2"]),
    ("bar.sync %r1, %r2;", [], ["%r1", "%r2"]),
    ("bar.red.popc.u32 %r1, 0, %p1;", ["%r1"], ["%p1"]),
    ("barrier.arrive %r1, %r2;", [], ["%r1", "%r2"]),
    ("shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1;", ["%r1", "%p1"], ["%r2"]),
    ("call (%r1), f, (%r2);", ["%r1"], ["%r2"]),
    ("call g;", [], []),
    ("call %rd1, (%r2, %r3);", [], ["%rd1", "%r2", "%r3"]),
    ("nanosleep.u32 %r1;", [], ["%r1"]),
    ("stackrestore.u64 %rd1;", [], ["%rd1"]),
    (
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];",
        ["%f1", "%f2", "%f3", "%f4"],
        ["%rd1", "%f5", "%f6"],
    ),
    ("sust.b.1d.b32.trap [%rd1, {%r1}], {%r2};", [], ["%rd1", "%r1", "%r2"]),
    ("mbarrier.init.shared.b64 [%rd1], %r1;", [], ["%rd1", "%r1"]),
    ("mbarrier.arrive.shared.b64 %rd2, [%rd1];", ["%rd2"], ["%rd1"]),
    ("cp.async.ca.shared.global [%r1], [%rd1], 16;", [], ["%r1", "%rd1"]),
    (
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2}, %rd1, %rd2, %p1, 1;",
        ["%f1", "%f2"],
        ["%f1", "%f2", "%rd1", "%rd2", "%p1"],
    ),
    ("wgmma.wait_group.sync.aligned 0;", [], []),
    ("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;", [], ["%r1"]),
    ("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];", ["%r1"], ["%r2"]),
    (
        "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%rd1], {%f1, %f2}, %r1;",
        [],
        ["%rd1", "%f1", "%f2", "%r1"],
    ),
    ("newop.b32 %r1, %r2;", ["%r1"], ["%r2"]),
]


@pytest.mark.parametrize(("text", "writes", "reads"), ROWS, ids=lambda value: str(value)[:30])
def test_registers(text: str, writes: list[str], reads: list[str]) -> None:
    instruction = only(text)
    assert list(written_registers(instruction)) == writes
    assert list(read_registers(instruction)) == reads


def test_results_as_they_stand() -> None:
    assert result_operands(only("atom.add.u32 _, [%rd1], %r2;")) == (Discard(),)
    assert result_operands(only("call (%r1), f, (%r2);")) == (Register("%r1"),)
    assert result_operands(only("ret;")) == ()


# A statement and (space, reads, writes) of each of its addresses.
ACCESSES = [
    ("ld.u32 %r1, [%rd1];", [("generic", True, False)]),
    ("ld.volatile.shared.u32 %r1, [t];", [("shared", True, False)]),
    ("ld.shared::cluster.u32 %r1, [%r2];", [("shared::cluster", True, False)]),
    ("st.local.u32 [%rd1], %r1;", [("local", False, True)]),
    ("atom.global.cas.b32 %r1, [%rd1], %r2, %r3;", [("global", True, True)]),
    ("red.shared.add.u32 [t], %r1;", [("shared", True, True)]),
    ("cp.async.ca.shared.global [%r1], [%rd1], 16;", [("shared", False, True), ("global", True, False)]),
    (
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], %r2, [%r3];",
        [("shared::cluster", False, True), ("global", True, False), ("shared", True, True)],
    ),
    (
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r1], %r2;",
        [("global", True, True), ("shared::cta", True, False)],
    ),
    ("prefetch.global.L2 [%rd1];", []),
    ("cp.async.bulk.prefetch.L2.global [%rd1], %r1;", []),
    ("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1}, [%rd1];", [("global", True, False)]),
    ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];", [("shared", True, False)]),
    ("newop.global.b32 %r1, [%rd1];", [("global", True, True)]),
    ("add.s32 %r1, %r2, %r3;", []),
    ("mov.u32 %r1, t;", []),
]


@pytest.mark.parametrize(("text", "expected"), ACCESSES, ids=lambda value: str(value)[:40])
def test_memory(text: str, expected: list[tuple[str, bool, bool]]) -> None:
    found = memory_accesses(only(text))
    assert [(access.space, access.reads, access.writes) for access in found] == expected


def test_traits() -> None:
    assert is_control_flow(only("call g;"))
    assert not is_control_flow(only("bar.sync 0;"))
    for waits in (
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "barrier.cluster.wait;",
        "bar.red.popc.u32 %r1, 0, %p1;",
    ):
        assert is_barrier(only(waits)), waits
    for passes in ("bar.arrive 0, 32;", "barrier.cluster.arrive;", "membar.cta;"):
        assert not is_barrier(only(passes)), passes
    assert is_barrier(only("mbarrier.try_wait.b64 %p1, [%rd1], %rd2;"))
    assert not is_barrier(only("mbarrier.init.b64 [%rd1], 1;"))
    assert is_warp_wide(only("vote.sync.ballot.b32 %r1, %p1, -1;"))
    assert is_warp_wide(only("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r2];"))
    assert not is_warp_wide(only("add.s32 %r1, %r2, %r3;"))


def test_every_opcode_of_the_census_and_the_samples_has_a_kind() -> None:
    census = [line.split("\t")[0] for line in (DATA / "ptx_census.tsv").read_text().split("\n")[1:] if line]
    assert {form.split(".")[0] for form in census} <= set(KINDS)
    for path in SAMPLES:
        for function in parse(path.read_text()).functions.values():
            assert {i.opcode for i in function.body} - set(KINDS) <= {"unknown"}


def test_kinds_are_sections_of_the_manual() -> None:
    assert KINDS["madc"] is Kind.CARRY
    assert str(KINDS["ldmatrix"]) == "Warp Level Matrix Multiply-Accumulate Instructions"
