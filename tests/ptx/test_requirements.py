"""Versions and targets against what ptxas 13.0 says of 2,500 statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from planc.diagnostics import GraphError
from planc.ptx import Requirement, lowest_version, parse, requirement, with_version
from planc.ptx.syntax import Instruction
from tests.ptx.helpers import DATA, kernel, wrap

HEAD = """.version 9.0
.target sm_90
.address_size 64
.func f;
.visible .entry k(.param .u32 p) {
.reg .pred %p<10>; .reg .b16 %h<10>; .reg .b32 %r<10>, v<128>; .reg .b64 %d<10>; .reg .b128 %q<5>;
T: .branchtargets L;
"""
ABSENT = Requirement((3, 2), 20)


def measured() -> Iterator[tuple[str, Requirement]]:
    for line in (DATA / "forms.tsv").read_text().split("\n")[1:]:
        if line:
            statement, version, target = line.split("\t")
            major, minor = version.split(".")
            match = re.fullmatch(r"sm_(\d+)([af]?)", target)
            assert match is not None
            yield statement, Requirement((int(major), int(minor)), int(match[1]), match[2])


def parsed(statements: list[str]) -> tuple[Instruction, ...]:
    return parse(HEAD + "\n".join(statements) + "\nL: ret;\n}").functions["k"].body[: len(statements)]


def test_never_below_what_ptxas_asks_for() -> None:
    rows = list(measured())
    assert len(rows) > 2400
    too_high = 0
    for (statement, truth), instruction in zip(rows, parsed([s for s, _ in rows]), strict=True):
        found = requirement(instruction)
        assert found is not None, statement
        assert found.version >= truth.version, statement
        assert found.narrowness >= truth.narrowness, statement
        too_high += max(found.version, (7, 2)) > max(truth.version, (7, 2))
    assert too_high <= 10, "rare forms may ask for more than they need"


@pytest.mark.parametrize(
    "statement",
    [
        "frobnicate.s32 %r1, %r2;",
        "add.s32.soon %r1, %r2, %r3;",
        "ld.global.v16.b8 %r1, [%rd1];",
        "min.f32x2 %rd1, %rd2, %rd3;",
    ],
)
def test_what_the_tables_lack_is_unknown(statement: str) -> None:
    module = parse(wrap(statement))
    (instruction,) = module.functions["k"].body
    assert requirement(instruction) is None
    assert lowest_version(module) == (9, 0)


def version_of(
    body: str, before: str = "", target: str = "sm_80", parameters: str = ".param .u64 p"
) -> object:
    return lowest_version(parse(wrap(body, before, parameters).replace("sm_90", target)))


def test_versions_of_modules() -> None:
    assert version_of("add.s32 %r1, %r2, %r3;") == (7, 2)
    assert version_of("add.s32 %r1, %r2, %r3;", target="sm_90") == (7, 8)
    assert version_of("add.s32 %r1, %r2, %r3;", target="sm_90a") == (8, 0)
    assert version_of("add.s32 %r1, %r2, %r3;", target="sm_75, debug") == (7, 2)
    assert version_of("add.s32 %r1, %r2, %r3;", target="sm_999") == (9, 0)
    assert version_of("ld.global.L2::cache_hint.u32 %r1, [%rd1], %rd2;") == (7, 4)
    assert version_of("mov.u32 %r1, %cluster_ctarank;") == (7, 8)
    assert version_of("min.f32 %f1, %f2, %f3;") == (7, 2)
    assert version_of("min.f32 %f1, %f2, %f3, %f4;") == (8, 8)
    assert version_of("ld.global.v2.b64 {%rd1, %rd2}, [%rd3];") == (7, 2)
    assert version_of("ld.global.v4.b64 {%rd1, %rd2, %rd3, %rd4}, [%rd5];") == (8, 8)
    assert version_of(".reg .b128 q;") == (8, 3)
    assert version_of("ret;", parameters=".param .b8 p[4352]") == (7, 2)
    assert version_of("ret;", parameters=".param .b8 p[4353]") == (8, 1)
    assert version_of('.pragma "nounroll";') == (7, 2)
    assert version_of('.pragma "used_bytes_mask 0xff";') == (8, 3)
    assert version_of('.pragma "of the future";') == (9, 0)
    assert version_of("ret;", ".global .attribute(.managed) .b32 x;") == (7, 2)
    assert version_of("ret;", ".global .attribute(.unified(1, 2)) .b32 x;") == (9, 0)
    assert version_of("ret;", ".entry c() .explicitcluster {}") == (7, 8)
    assert version_of("ret;", ".func c() .abi_preserve 4 {}") == (9, 0)


def test_never_above_the_version_it_came_with() -> None:
    assert lowest_version(parse(".version 6.0\n.target sm_70\n.entry k { ret; }")) == (6, 0)


def test_triton_of_tomorrow_is_stored_for_the_drivers_of_today() -> None:
    text = (DATA / "triton_gemm_90.ptx").read_text()
    module = parse(text)
    assert module.version == (9, 4)
    assert lowest_version(module) == (8, 0)


def test_with_version_changes_nothing_else() -> None:
    text = "// .version 1.0\n/* .version 2.0 */ .version  9.0 // .version 3.0\n.target sm_90\n"
    changed = with_version(text, (7, 8))
    assert changed == text.replace("  9.0", "  7.8")
    assert parse(changed).version == (7, 8)
    for path in DATA.glob("*.ptx"):
        whole = path.read_text()
        assert with_version(with_version(whole, (1, 2)), parse(whole).version) == whole


def test_with_version_needs_a_header() -> None:
    with pytest.raises(GraphError) as caught:
        with_version(".target sm_90\n", (8, 0))
    assert caught.value.code == "PLC495"


def test_the_sample_kernel_needs_little() -> None:
    needs = {requirement(i) for i in kernel("fma.rn.f32 %f1, %f2, %f3, %f4; bar.sync 0; ret;").body}
    assert needs == {ABSENT}
