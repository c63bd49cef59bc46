"""``ptx:`` and ``cubin:`` kernels."""

from __future__ import annotations

import pytest

from planc.kernels import Toolkit
from tests.kernels.helpers import Builder, Outcome, image, kernel

PTX = """\
.version 7.0
.target sm_80
.address_size 64
.visible .entry step(.param .u64 dst, .param .u32 n)
.maxntid 64, 1, 1
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<2>;
  .reg .f32 %f<4>;
  .shared .align 4 .b8 tile[12];
  ld.param.u64 %rd1, [dst];
  ld.param.u32 %r1, [n];
  cvta.to.global.u64 %rd2, %rd1;
  ld.global.f32 %f1, [%rd2];
  mul.f32 %f2, %f1, %f1;
  add.f32 %f3, %f2, %f1;
  st.shared.f32 [tile], %f3;
  st.global.f32 [%rd2], %f3;
  ret;
}
.visible .entry _Z4fillPfjKb(.param .u64 a, .param .u32 b, .param .u8 c) { ret; }
"""


def build_ptx(builder: Builder, text: str = PTX, entry: str = "step", **more: object) -> Outcome:
    builder.write("k.ptx", text)
    targets = more.pop("targets", ("sm_80", "sm_90"))
    toolkit = more.pop("toolkit", None)
    return builder.build(
        kernel(builder.folder, "k.ptx", entry, form="ptx", **more),
        targets=targets,
        toolkit=toolkit,  # type: ignore[arg-type]
    )


def test_ptx_is_kept_as_it_is(builder: Builder) -> None:
    artifact = build_ptx(builder).only()
    for target in ("sm_80", "sm_90"):
        assert image(artifact, "ptx", target).decode() == PTX
        assert image(artifact, "cubin", target)
    assert artifact.source_parameters is None
    assert [(p.offset, p.size) for p in artifact.parameters] == [(0, 8), (8, 4)]
    for resources in artifact.resources.values():
        assert (resources.static_shared, resources.max_threads, resources.parameter_bytes) == (12, 64, 12)


def test_paths_of_files_are_the_one_change(builder: Builder) -> None:
    text = PTX + '.file 1 "/home/me/secret/k.cu"\n.file 2 "k.h", 7, 8\n'
    artifact = build_ptx(builder, text).only()
    assert image(artifact, "ptx").decode() == PTX + '.file 1 "k.cu", 1, 1\n.file 2 "k.h", 1, 1\n'
    assert all(b"secret" not in i.data for i in artifact.module.images)


def test_mangled_names_give_types(builder: Builder) -> None:
    artifact = build_ptx(builder, entry="fill").only()
    assert artifact.symbol == "_Z4fillPfjKb" and artifact.source_parameters is not None
    assert [(p.name, p.dtype, p.pointer, p.line) for p in artifact.source_parameters] == [
        ("arg0", "f32", True, 0), ("arg1", "u32", False, 0), ("arg2", "bool", False, 0)
    ]  # fmt: skip


def test_exact_is_the_one_change(builder: Builder) -> None:
    artifact = build_ptx(builder, exact=True).only()
    text = image(artifact, "ptx").decode()
    assert (
        text == PTX.replace("mul.f32", "mul.rn.f32").replace("add.f32", "add.rn.f32")
        and artifact.module.exact
    )


def test_without_a_linker_there_is_no_cubin(builder: Builder) -> None:
    artifact = build_ptx(builder, toolkit=Toolkit(None, None)).only()
    assert [i.form for i in artifact.module.images] == ["ptx", "ptx"]
    resources = artifact.resources["sm_80"]
    assert (resources.registers, resources.static_shared, resources.max_threads) == (None, 12, 64)


def test_ptx_for_a_newer_target(builder: Builder) -> None:
    newer = PTX.replace("sm_80", "sm_86").replace("7.0", "7.1")
    report = build_ptx(builder, newer, targets=("sm_80", "sm_90")).one("PLC415")
    assert report.facts["targets"] == ["sm_80"] and report.span is not None and report.span.line == 4
    assert build_ptx(builder, newer, targets=("sm_86", "sm_90")).only()


def test_ptx_for_one_capability_alone(builder: Builder) -> None:
    special = PTX.replace("sm_80", "sm_90a").replace("7.0", "8.0")
    build_ptx(builder, special, targets=("sm_90",)).one("PLC415")
    assert build_ptx(builder, special, targets=("sm_90a",)).only()


def test_ptx_that_does_not_parse_or_assemble(builder: Builder) -> None:
    found = build_ptx(builder, PTX.replace("[dst]", "[dst"))
    assert found.errors and found.errors[0].code.startswith("PLC49")
    assert found.errors[0].span is not None and found.errors[0].span.file == "k.ptx"
    report = build_ptx(builder, PTX.replace("ret;", "rett;", 1)).one("PLC416")
    assert report.span is not None and (report.span.file, report.span.line) == ("k.ptx", 19)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"defines": {"A": ""}}, "defines"),
        ({"options": ("-w",)}, "options"),
        ({"include_dirs": (("a", None),)}, "include_dirs"),
    ],
)
def test_fields_without_meaning(builder: Builder, settings: dict[str, object], field: str) -> None:
    assert build_ptx(builder, **settings).one("PLC420").facts["field"] == field


def test_entries_of_ptx(builder: Builder) -> None:
    report = build_ptx(builder, entry="stop").one("PLC408")
    assert report.help == "write `step`"
    report = build_ptx(builder, entry="step<float>").one("PLC408")


def cubin_of(builder: Builder, target: str = "sm_80") -> bytes:
    return image(build_ptx(builder, targets=(target,)).only(), "cubin", target)


def build_cubin(builder: Builder, data: bytes, *targets: str, **more: object) -> Outcome:
    builder.write("k.cubin", data)
    return builder.build(kernel(builder.folder, "k.cubin", "step", form="cubin", **more), targets=targets)


def test_cubin(builder: Builder) -> None:
    data = cubin_of(builder)
    artifact = build_cubin(builder, data, "sm_80", "sm_86").only()
    assert [(i.target, i.form, i.data == data) for i in artifact.module.images] == [
        ("sm_80", "cubin", True), ("sm_86", "cubin", True)
    ]  # fmt: skip
    assert [(p.offset, p.size, p.align) for p in artifact.parameters] == [(0, 8, 8), (8, 4, 4)]
    assert artifact.source_parameters is None
    resources = artifact.resources["sm_80"]
    assert (resources.static_shared, resources.max_threads) == (12, 64) and resources.registers


@pytest.mark.parametrize("target", ["sm_75", "sm_90", "sm_120"])
def test_cubin_for_another_target(builder: Builder, target: str) -> None:
    report = build_cubin(builder, cubin_of(builder), "sm_80", target).one("PLC419")
    assert report.facts["targets"] == [target]


def test_cubin_does_not_run_on_a_lower_minor(builder: Builder) -> None:
    data = cubin_of(builder, "sm_86")
    build_cubin(builder, data, "sm_80").one("PLC419")
    assert build_cubin(builder, data, "sm_89").only()


def test_damaged_cubin(builder: Builder) -> None:
    data = cubin_of(builder)
    build_cubin(builder, data[:-10], "sm_80").one("PLC418")
    build_cubin(builder, b"", "sm_80").one("PLC418")
    report = build_cubin(builder, b"\x50\xed\x55\xba" + data, "sm_80").one("PLC418")
    assert "cuobjdump" in report.message
    assert build_cubin(builder, data, "sm_80").only()


def test_exact_has_no_meaning_for_a_cubin(builder: Builder) -> None:
    assert (
        build_cubin(builder, cubin_of(builder), "sm_80", exact=True).one("PLC420").facts["field"] == "exact"
    )


def test_missing_files(builder: Builder) -> None:
    for form in ("ptx", "cubin"):
        report = builder.build(kernel(builder.folder, "gone", "f", form=form)).one("PLC401")
        assert report.span is not None and report.span.line == 4
