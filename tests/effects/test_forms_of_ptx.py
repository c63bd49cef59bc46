"""Forms of PTX that CUDA C++ seldom gives: what other compilers write, copies, textures, branch tables."""

from __future__ import annotations

import pytest

from planc.effects import LaunchFacts, PointerFact, analyse, integer
from planc.plan.boxes import Box
from planc.ptx import parse

_KERNEL = """.version 8.6
.target sm_90
.address_size 64
{outside}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)
{{
.reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<40>; .reg .f32 %f<9>;
.shared .align 128 .b8 buffer[4096];
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r1, [n];
mov.u32 %r2, %tid.x; mul.wide.u32 %rd3, %r2, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
{body}
ret;
}}
"""


def _effects(body: str, outside: str = "", n: int = 16, grid: int = 1, block: int = 32):
    module = parse(_KERNEL.format(body=body, outside=outside), "k.ptx")
    facts = {0: PointerFact(4096), 8: PointerFact(4096), 16: integer(n)}
    return analyse(module, "k", LaunchFacts((grid, 1, 1), (block, 1, 1), 0, facts))


DENSE = Box(0, ((32, 4),), 4)


@pytest.mark.parametrize(
    ("body", "kinds", "may"),
    [
        ("st.global.u32 [%rd4], 1;", ("write", "none"), (DENSE,)),
        ("st.global.u32 [%rd4+-4], 1;", ("write", "none"), (Box(0, (), 124),)),
        ("ld.global.nc.u32 %r3, [%rd4];", ("read", "none"), (DENSE,)),
        ("ldu.global.u32 %r3, [%rd4];", ("read", "none"), (DENSE,)),
        ("ld.u32 %r3, [%rd4];", ("read", "none"), (DENSE,)),
        (
            "setp.lt.s32 %p1, %r2, %r1; @%p1 st.global.u32 [%rd4], 1;",
            ("write", "none"),
            (Box(0, ((16, 4),), 4),),
        ),
        (
            "setp.lt.s32 %p1, %r2, %r1; @!%p1 st.global.u32 [%rd4], 1;",
            ("write", "none"),
            (Box(64, ((16, 4),), 4),),
        ),
        (
            "setp.lt.s32 %p1, %r2, %r1; mov.u32 %r3, 0; @%p1 ld.global.u32 {%r3}, [%rd4];"
            " st.global.u32 [%rd5], %r3;",
            ("read", "write"),
            (Box(0, ((16, 4),), 4),),
        ),
        ("setp.lt.s32 %p1, %r2, 0; @%p1 st.global.u32 [%rd4], 1;", ("none", "none"), ()),
        ("setp.ge.s32 %p1, %r2, 0; @%p1 st.global.u32 [%rd4], 1;", ("write", "none"), (DENSE,)),
        (
            "shl.b32 %r3, %r2, 2; and.b32 %r4, %r3, 124; mov.u32 %r5, %ctaid.x; shl.b32 %r6, %r5, 7;"
            "or.b32 %r7, %r6, %r4; mul.wide.s32 %rd6, %r7, 4; add.s64 %rd7, %rd1, %rd6;"
            "st.global.v4.b32 [%rd7], {%r2, %r2, %r2, %r2};",
            ("write", "none"),
            (Box(0, ((32, 16),), 16),),
        ),
        (
            "bfe.u32 %r3, %r2, 2, 3; mul.wide.u32 %rd6, %r3, 4; add.s64 %rd7, %rd1, %rd6;"
            " st.global.u32 [%rd7], 1;",
            ("write", "none"),
            (Box(0, ((8, 4),), 4),),
        ),
        (
            "mov.b64 {%r3, %r4}, %rd4; mov.b64 %rd6, {%r3, %r4}; st.global.u32 [%rd6], 1;",
            ("unknown", "none"),
            None,
        ),
        ("red.global.add.u32 [%rd1], 1;", ("reduce", "none"), (Box(0, (), 4),)),
        ("red.global.gpu.relaxed.add.u32 [%rd1], 1;", ("reduce", "none"), (Box(0, (), 4),)),
        ("red.global.cta.add.u32 [%rd1], 1;", ("read-write", "none"), (Box(0, (), 4),)),
        ("atom.global.add.u32 %r3, [%rd1], 1;", ("reduce", "none"), (Box(0, (), 4),)),
        (
            "atom.global.add.u32 %r3, [%rd1], 1; st.global.u32 [%rd5], %r3;",
            ("read-write", "write"),
            (Box(0, (), 4),),
        ),
        ("atom.global.exch.b32 %r3, [%rd1], 1;", ("read-write", "none"), (Box(0, (), 4),)),
        ("atom.global.cas.b32 %r3, [%rd1], 1, 2;", ("read-write", "none"), (Box(0, (), 4),)),
        ("atom.global.inc.u32 %r3, [%rd1], 9;", ("read-write", "none"), (Box(0, (), 4),)),
        (
            "mov.u32 %r3, buffer; cp.async.cg.shared.global [%r3], [%rd1], 16;",
            ("read", "none"),
            (Box(0, (), 16),),
        ),
        (
            "mov.u32 %r3, buffer; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
            " [%r3], [%rd1], 256, [%r3];",
            ("read", "none"),
            (Box(0, (), 256),),
        ),
        (
            "mov.u32 %r3, buffer; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], 256;",
            ("write", "none"),
            (Box(0, (), 256),),
        ),
        (
            "mov.u32 %r3, buffer; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], %r1;",
            ("write", "none"),
            (Box(0, (), 4096),),
        ),
        (
            "mov.u32 %r3, buffer;"
            " cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r3], 64;",
            ("reduce", "none"),
            (Box(0, (), 64),),
        ),
        ("prefetch.global.L2 [%rd1];", ("none", "none"), ()),
        ("discard.global.L2 [%rd1], 128;", ("write", "none"), (Box(0, (), 128),)),
        ("mov.u32 %r3, buffer; st.shared.u32 [%r3], 1; ld.shared.u32 %r4, [%r3];", ("none", "none"), ()),
        (
            "mov.u64 %rd6, buffer; cvta.shared.u64 %rd7, %rd6; add.s64 %rd8, %rd7, %rd3; st.u32 [%rd8], 1;",
            ("none", "none"),
            (),
        ),
        ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r2}];", ("read", "none"), (Box(0, (), 4096),)),
        ("mov.u64 %rd6, a; ld.param.u64 %rd7, [%rd6+8]; st.global.u32 [%rd7], 1;", ("none", "write"), ()),
        ("max.s32 %r3, %r2, 20; min.s32 %r3, %r3, 24; mul.wide.s32 %rd6, %r3, 4; add.s64 %rd7, %rd1, %rd6;"
         "st.global.u32 [%rd7], 1;", ("write", "none"), (Box(80, ((5, 4),), 4),)),
    ],
)  # fmt: skip
def test_forms(body: str, kinds: tuple[str, str], may: tuple[Box, ...] | None) -> None:
    found = _effects(body)
    assert (found.parameters[0].kind, found.parameters[8].kind) == kinds
    assert found.parameters[0].may == may


def test_tables_of_branches() -> None:
    body = """rem.u32 %r3, %r2, 3; brx.idx %r3, table;
table: .branchtargets one, two, three;
one: st.global.u32 [%rd4], 1; bra.uni done;
two: st.global.u32 [%rd4], 2; bra.uni done;
three: st.global.u32 [%rd5], 3;
done:"""
    found = _effects(body)
    assert (found.parameters[0].kind, found.parameters[8].kind) == ("write", "write")
    assert found.parameters[0].may == (DENSE,)
    assert not found.parameters[0].must


def test_a_loop_with_two_entries_is_unknown() -> None:
    body = """setp.lt.s32 %p1, %r2, %r1; @%p1 bra second;
first: add.s32 %r2, %r2, 1;
second: add.s32 %r2, %r2, 2; setp.lt.s32 %p2, %r2, 99; @%p2 bra first;
st.global.u32 [%rd4], 1;"""
    found = _effects(body)
    assert found.parameters[0].kind == "unknown"
    assert "two entries" in found.parameters[0].reason


def test_a_loop_without_end_and_a_kernel_without_instructions() -> None:
    found = _effects("again: st.global.u32 [%rd4], 1; bra.uni again;")
    assert found.parameters[0].may == (DENSE,)
    assert _effects("exit;").parameters[0].kind == "none"


def test_functions_without_a_body_take_pointers_away() -> None:
    outside = ".extern .func g(.param .b64 x);"
    body = "{ .param .b64 p; st.param.b64 [p], %rd1; call.uni g, (p); }"
    found = _effects(body, outside)
    assert found.parameters[0].kind == "unknown"
    assert "passed away" in found.parameters[0].reason
    assert found.parameters[8].kind == "none"
    assert any("not in the module" in reason for reason in found.unknown)


def test_after_a_thread_may_have_left_nothing_is_certain() -> None:
    guard = "setp.lt.s32 %p1, %r2, %r1;"
    found = _effects(f"{guard} @%p1 exit; st.global.u32 [%rd4], 1;")
    assert found.parameters[0].must == (Box(64, ((16, 4),), 4),)
    found = _effects(
        f"ld.global.u32 %r3, [%rd5]; {guard} setp.eq.u32 %p2, %r3, 0; @%p2 exit; st.global.u32 [%rd4], 1;"
    )
    assert found.parameters[0].may == (DENSE,)
    assert not found.parameters[0].must
