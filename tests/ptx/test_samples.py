"""PTX of real compilers, and one file with all that the ISA allows."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from planc.ptx import format_instruction, format_module, parse
from planc.ptx.syntax import Address, Negated, Register, SourceLine, Symbol
from tests.ptx.helpers import DATA, SAMPLES, kernel, without_lines, wrap


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_parse_print_parse_is_the_same_module(path: Path) -> None:
    module = parse(path.read_text(), path.name)
    assert module.entries
    again = parse(format_module(module), path.name)
    assert without_lines(again) == without_lines(module)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_no_instruction_is_lost(path: Path) -> None:
    """Cut the text at its semicolons instead, and compare the words that begin the pieces."""
    text = path.read_text()
    module = parse(text, path.name)
    functions = [f for name, f in module.functions.items() if name != "cube"]
    forms = [instruction.form for function in functions for instruction in function.body]
    if path.stem == "tricky":
        forms[forms.index("add.cc.u32")] = "add"
    assert sorted(forms) == sorted(_opcodes(text))


_BEFORE_A_STATEMENT = re.compile(
    r"\s+|\.loc[^\n]*\n|\.file[^\n]*\n|\.section[^{]*\{[^}]*\}|[{}]|[\w$]+\s*:(?!:)|@!?[%\w]+\s"
    r"|\.(version|target|address_size)[^\n]*\n|(\.\w+\s+)*\.(entry|func)\b[^{;]*"
)


def _opcodes(text: str) -> list[str]:
    text = re.sub(r"/\*.*?\*/", "", re.sub(r"//[^\n]*", "", text), flags=re.DOTALL)
    text = text.replace('.pragma "nounroll";\n{', "{")
    found = []
    for piece in text.split(";"):
        while match := _BEFORE_A_STATEMENT.match(piece):
            piece = piece[match.end() :]
        if piece and not piece.startswith("."):
            found.append(piece.split()[0])
    return found


def test_tricky_scopes_give_unique_names() -> None:
    function = parse((DATA / "tricky.ptx").read_text()).functions["tricky"]
    assert function.labels == {
        "again": 4, "again$1": 10, "one": 38, "two": 39, "end": 40
    }  # fmt: skip
    assert function.registers["a"] == "b32"
    assert function.registers["a$1"] == "b32"
    assert function.registers["a$2"] == "b32"
    assert function.registers["a$3"] == "f32"
    inner = [i for i in function.body if i.form == "bra"]
    assert [i.operands for i in inner] == [(Symbol("again"),), (Symbol("again$1"),)]
    parameters = [v.name for v in function.variables if v.space == "param"]
    assert parameters == ["param0", "retval0", "param0$1"]
    stores = [i for i in function.body if i.form == "st.param.b64"]
    assert [i.operands[0] for i in stores] == [Address(Symbol("param0")), Address(Symbol("param0$1"))]


def test_tricky_tables() -> None:
    function = parse((DATA / "tricky.ptx").read_text()).functions["tricky"]
    assert function.branch_targets == {"targets": ("one", "two", "one")}
    assert function.call_targets == {"choices": ("vprintf", "square")}
    assert [p.type for p in function.prototypes["shape"].parameters] == ["b64"]
    assert function.directives == {
        "maxntid": (16, 16), "minnctapersm": (2,), "maxnreg": (64,),
        "reqnctapercluster": (2, 1, 1), "explicitcluster": (),
    }  # fmt: skip


def test_places_of_the_source() -> None:
    function = parse((DATA / "tricky.ptx").read_text()).functions["tricky"]
    assert function.body[0].source == SourceLine("tricky.cu", 10, 2)
    assert function.body[2].source == SourceLine("tricky.cu", 11, 2)
    by_form = {i.form: i for i in function.body}
    assert by_form["exit"].source is None, "line 0 is no line"


def test_video_operands_keep_their_parts() -> None:
    function = parse((DATA / "tricky.ptx").read_text()).functions["tricky"]
    video = next(i for i in function.body if i.opcode == "vadd")
    assert video.operands[1:] == (
        Register("%r1.b0"),
        Negated(Register("%r2.h1"), "-"),
        Register("%r3"),
    )


def test_aliases_are_functions() -> None:
    module = parse((DATA / "tricky.ptx").read_text())
    assert module.functions["cube"].body == module.functions["square"].body


def test_instructions_print_back() -> None:
    lines = [
        "@!%p1 bra L;",
        "ld.global.nc.v2.f32 {%f1, _}, [%rd1+-8];",
        "mov.b64 %rd1, {%r1, %r2};",
        "shfl.sync.down.b32 %r1|%p2, %r2, 1, 31, -1;",
        "mov.f32 %f1, 0f3F800000;",
        "fma.rn.f64 %fd1, %fd2, 0d3FF0000000000000, %fd3;",
        "call.uni (%r1), g, (%r2, %r3);",
        "st.shared.u32 [table+4], %r1;",
        "ld.local.u32 %r1, [16];",
        "setp.eq.s32.or %p1|%p2, %r1, %r2, !%p3;",
        "ret;",
    ]
    before = ".shared .b8 table[16]; .func (.reg .b32 r) g (.reg .b32 a, .reg .b32 b);"
    function = kernel("\n".join(lines) + "\nL:", before)
    assert [format_instruction(i) for i in function.body] == lines


def test_a_long_kernel_is_fast() -> None:
    lines = [f"@%p1 fma.rn.f32 %f{k % 8}, %f{(k + 1) % 8}, 0f3F800000, %f2;" for k in range(2500)]
    lines += [f"ld.global.v2.u32 {{%r1, %r{k % 8}}}, [%rd1+{4 * k}];" for k in range(2500)]
    text = wrap("\n".join(lines))
    parse(text)
    start = time.process_time()
    assert len(parse(text).functions["k"].body) == 5000
    assert time.process_time() - start < 1.0
