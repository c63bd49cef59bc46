"""Every mistake has its code and its place, and a legal neighbour."""

from __future__ import annotations

import re

import pytest

from planc.diagnostics import CATALOGUE, GraphError, PlancError
from planc.ptx import parse
from planc.ptx.parser import LARGEST_TEXT
from tests.ptx.helpers import DATA, codes, kernel, wrap

HEAD = ".version 9.0\n.target sm_90\n"

# A wrong statement in a body (line 7), its code and column; a right one beside it.
STATEMENTS = [
    ("add.s32 %r1, %r2 %r3;", "PLC490", 18, "add.s32 %r1, %r2, %r3;"),
    ("add.s32 %r1, , %r3;", "PLC490", 14, "add.s32 %r1, 1, %r3;"),
    ("ld.u32 %r1, [%rd1;", "PLC490", 18, "ld.u32 %r1, [%rd1];"),
    ("ld.u32 %r1, [{%r1}];", "PLC490", 14, "ld.u32 %r1, [%rd1, {%r1}];"),
    ("mov.b64 %rd1, {%r1, %r2;", "PLC490", 24, "mov.b64 %rd1, {%r1, %r2};"),
    ("mov.u32 %r1, !5+;", "PLC490", 17, "mov.u32 %r1, !5+1;"),
    ("add.s32 %r1, %r2+1, 2;", "PLC490", 17, "add.s32 %r1, %r2, 2;"),
    ("@%p1 { ret; }", "PLC490", 6, "@%p1 ret;"),
    ("setp.eq.s32 %p1|%p2|%p3, %r1, %r2;", "PLC490", 20, "setp.eq.s32 %p1|%p2, %r1, %r2;"),
    (".entry x;", "PLC490", 1, ".reg .b32 x;"),
    (".reg .b32 %r<;", "PLC490", 14, ".reg .b32 %x<3>;"),
    (".reg x;", "PLC490", 6, ".reg .u16 x;"),
    (".reg .b32 .b32 x;", "PLC490", 11, ".reg .v2 .b32 x;"),
    (".reg .v8 .b32 x;", "PLC490", 15, ".reg .v4 .b32 x;"),
    (".shared .b8 x<4>;", "PLC490", 13, ".shared .b8 x[4];"),
    ("mov.u32 %r1, t[1];", "PLC490", 15, "mov.u32 %r1, t+4;"),
    (".loc 1;", "PLC490", 7, ".loc 1 2"),
    ("mov.u32 %r1, %r9;", "PLC491", 14, "mov.u32 %r1, %r7;"),
    ("mov.u32 %r1, %tid.q;", "PLC491", 14, "mov.u32 %r1, %tid.x;"),
    ("mov.u32 %r1, %envreg32;", "PLC491", 14, "mov.u32 %r1, %envreg31;"),
    ("@q bra L; L:", "PLC491", 2, "@%p0 bra L; L:"),
    ("bra M;", "PLC491", 5, "bra M; M:"),
    ("{ L: } bra L;", "PLC491", 12, "{ L: bra L; }"),
    ("{ .reg .b32 x; } mov.b32 x, 1;", "PLC491", 26, "{ .reg .b32 x; mov.b32 x, 1; }"),
    ("call g;", "PLC491", 6, "call f;"),
    ("mov.u64 %rd1, q+4;", "PLC491", 15, "mov.u64 %rd1, t+4;"),
    ("T: .branchtargets L, N; L:", "PLC491", 22, "T: .branchtargets L, L; L:"),
    ("L: L: ret;", "PLC492", 4, "L: M: ret;"),
    (".reg .b32 %r1;", "PLC492", 11, "{ .reg .b32 %r1; }"),
    (".reg .b32 x, x;", "PLC492", 14, ".reg .b32 x, y;"),
    (".shared .b8 x; .local .b8 x;", "PLC492", 27, ".shared .b8 x; { .local .b8 x; }"),
    (".reg .b32 p;", "PLC492", 11, "{ .reg .b32 p; }"),
    (".reg .b32 x<1048577>;", "PLC493", 11, ".reg .b32 x<100000>;"),
    ("mov.u64 %rd1, " + "(" * 65 + "1" + ")" * 65 + ";", "PLC493", 80, "mov.u64 %rd1, ((((1))));"),
    ("{" * 64 + "}" * 64, "PLC493", 64, "{" * 63 + "}" * 63),
    (".shared .b8 x[1099511627776][1099511627776];", "PLC493", 13, ".shared .b8 x[1024];"),
    ("mov.u64 %rd1, 18446744073709551616;", "PLC494", 15, "mov.u64 %rd1, 18446744073709551615;"),
    ("mov.u64 %rd1, 7 / 0;", "PLC494", 17, "mov.u64 %rd1, 7 / 1;"),
    ("mov.u64 %rd1, 09;", "PLC494", 15, "mov.u64 %rd1, 07;"),
    ("ld.u32 %r1, [%rd1+1.5];", "PLC494", 19, "ld.u32 %r1, [%rd1+1];"),
    (".shared .align 3 .b8 x[4];", "PLC494", 16, ".shared .align 4 .b8 x[4];"),
    (".shared .b8 x[];", "PLC494", 13, ".shared .b8 x[1];"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "code", "column", "right"), STATEMENTS, ids=lambda value: str(value)[:40])
def test_statement(wrong: str, code: str, column: int, right: str) -> None:
    before = ".func f; .shared .b8 t[8];"
    assert codes(wrap(wrong, before))[0] == (code, 7, column)
    kernel(right, before)


# A wrong module, its code, line and column; a right one beside it.
MODULES = [
    ("", "PLC495", 1, 1, HEAD),
    (".target sm_90\n", "PLC495", 1, 1, HEAD),
    (".version 9.0\n", "PLC495", 2, 1, HEAD),
    (".version 9\n.target sm_90", "PLC495", 1, 10, HEAD),
    (HEAD + ".address_size 16\n", "PLC495", 3, 15, HEAD + ".address_size 64\n"),
    (HEAD + "/* open", "PLC490", 3, 1, HEAD + "/* shut */"),
    (HEAD + '.pragma "open\n;', "PLC490", 3, 9, HEAD + '.pragma "shut";'),
    (HEAD + "ü", "PLC490", 3, 1, HEAD + "// ü"),
    (HEAD + ".entry k(.param .u32 a .param .u32 b);", "PLC490", 3, 24, HEAD + ".entry k(.param .u32 a);"),
    (HEAD + ".entry k(.param .u33 a);", "PLC490", 3, 17, HEAD + ".entry k(.param .u16 a);"),
    (HEAD + ".entry k() {", "PLC490", 3, 13, HEAD + ".entry k() { }"),
    (HEAD + ".section .x { .b8 1", "PLC490", 3, 1, HEAD + ".section .x { .b8 1 }"),
    (HEAD + ".entry k { } ret;", "PLC490", 3, 14, HEAD + ".entry k { ret; }"),
    (HEAD + ".global .b8 x; .global .b8 x;", "PLC492", 3, 28, HEAD + ".extern .global .b8 x; .global .b8 x;"),
    (HEAD + ".entry k {} .entry k {}", "PLC492", 3, 20, HEAD + ".func k; .func k {}"),
    (HEAD + ".global .b8 k; .entry k {}", "PLC492", 3, 23, HEAD + ".global .b8 k; .entry j {}"),
    (HEAD + ".entry k(.param .b8 a, .param .b8 a);", "PLC492", 3, 35, HEAD + ".entry k(.param .b8 a);"),
    (HEAD + ".global .b32 x[2] = {1, 2, 3};", "PLC494", 3, 28, HEAD + ".global .b32 x[2] = {1, 2};"),
    (HEAD + ".const .u8 x[2][1] = {{1}, {2}, {3}};", "PLC494", 3, 33, HEAD + ".const .u8 x[2] = {1, 2};"),
    (HEAD + ".global .b32 x[1] = {{1}};", "PLC490", 3, 22, HEAD + ".global .b32 x[1] = {1};"),
    (HEAD + ".global .b32 x = {1};", "PLC490", 3, 18, HEAD + ".global .b32 x = 1;"),
    (HEAD + ".global .b16 x = 0f3F800000;", "PLC494", 3, 18, HEAD + ".global .b32 x = 0f3F800000;"),
    (HEAD + ".global .u64 x = y;", "PLC491", 3, 18, HEAD + ".global .u8 y; .global .u64 x = y;"),
    (HEAD + ".global .u8 y, x[2] = {0xFF(y), 1};", "PLC494", 3, 29, HEAD + ".global .u8 y, x[2] = {1, 2};"),
    (HEAD + ".global .u8 y, x[1] = {0xF0(y)};", "PLC494", 3, 24, HEAD + ".global .u8 y, x[1] = {0xF0};"),
    (HEAD + ".global .u16 y, x = y;", "PLC494", 3, 21, HEAD + ".global .u16 y; .global .u64 x = y;"),
    (HEAD + ".global .b8 x[67108865] = {1};", "PLC493", 3, 27, HEAD + ".global .b8 x[6710886] = {1};"),
    (HEAD + ".global .b8 x" + "[1]" * 17 + ";", "PLC493", 3, 65, HEAD + ".global .b8 x" + "[1]" * 16 + ";"),
    (HEAD + ".alias a, b;", "PLC491", 3, 11, HEAD + ".func b; .alias a, b;"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "code", "line", "column", "right"), MODULES, ids=lambda v: str(v)[26:60])
def test_module(wrong: str, code: str, line: int, column: int, right: str) -> None:
    assert codes(wrong)[0] == (code, line, column)
    parse(right)


def test_all_mistakes_are_reported_at_once() -> None:
    body = "add.s32 %r1 %r2;\nmov.u32 %r1, %r99;\nadd.s32 %r1, %r2, {%r1;\nmov.u32 %r2, %r1;\nbra NOWHERE;"
    assert [(c, line) for c, line, _ in codes(wrap(body) + ".global .b8 x = ;\n.global .b8 y;")] == [
        ("PLC490", 7), ("PLC491", 8), ("PLC490", 9), ("PLC491", 11), ("PLC490", 13),
    ]  # fmt: skip


def test_reports_stop_at_a_bound() -> None:
    assert 20 <= len(codes(wrap("bad %r77;\n" * 1000))) <= 40
    assert 20 <= len(codes(HEAD + ".global ;\n" * 1000)) <= 40


def test_a_text_that_is_too_long() -> None:
    assert [c[0] for c in codes(HEAD + " " * LARGEST_TEXT)] == ["PLC493"]


def test_the_message_names_file_place_and_token() -> None:
    with pytest.raises(GraphError) as caught:
        parse(wrap("add.s32 %r1, %r2 %r3;"), "folder/k.ptx")
    (found,) = caught.value.diagnostics
    assert str(found.span) == "folder/k.ptx:7:18"
    assert found.message == "expected `,` or `;` in the operands of `add`, found `%r3`"
    assert found.facts["token"] == "%r3"
    assert found.span is not None
    assert (found.span.end_line, found.span.end_column) == (7, 21)


MANUAL = [code for code in CATALOGUE if "PLC490" <= code <= "PLC499"]


@pytest.mark.parametrize("code", MANUAL)
def test_the_manual_page_tells_the_truth(code: str) -> None:
    """The PTX of each page fails with its code at the marked line, and the mended one parses."""
    from planc import diagnostics

    page = (DATA.parents[2] / "planc/diagnostics/explain" / f"{code}.md").read_text()
    assert diagnostics.__file__ is not None
    fails, mended = page.split("## Mended")
    (wrong,) = re.findall(r"```ptx k\.ptx\n(.*?)```", fails, re.DOTALL)
    (right,) = re.findall(r"```ptx k\.ptx\n(.*?)```", mended, re.DOTALL)
    marked = [n for n, line in enumerate(wrong.split("\n"), 1) if f"// error: {code}" in line]
    assert [(c, line) for c, line, _ in codes(wrong)] == [(code, line) for line in marked]
    parse(right)


def test_every_error_is_a_planc_error() -> None:
    assert issubclass(GraphError, PlancError)
    assert [f"PLC49{k}" for k in range(6)] == MANUAL
