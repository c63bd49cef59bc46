"""Compiler and linker messages at the author's lines; each with its legal neighbour."""

from __future__ import annotations

import pytest

from planc.diagnostics import Diagnostic
from planc.kernels import Cache
from tests.kernels.helpers import Builder, kernel


def at(report: Diagnostic) -> tuple[str, int, int]:
    assert report.span is not None
    return report.span.file, report.span.line, report.span.column


def test_errors_in_the_file_and_in_a_header(builder: Builder) -> None:
    builder.write("util/c.h", "\n__device__ int c() { return nope; }\n")
    text = '#include "util/c.h"\n__global__ void f(int* x) {\n\ty = 3; uint32_t z; int idle; }\n'
    found = builder.source(text, "f", targets=("sm_80", "sm_90"))
    assert [(d.code, *at(d)) for d in found.diagnostics] == [
        ("PLC406", "k.cu", 3, 2),
        ("PLC406", "k.cu", 3, 9),
        ("PLC407", "k.cu", 3, 25),
        ("PLC406", "util/c.h", 2, 29),
    ]
    first, second = found.diagnostics[:2]
    assert first.message == 'identifier "y" is undefined' and second.help == "`#include <stdint.h>`"
    assert first.facts["targets"] == ["sm_80", "sm_90"] and not first.notes
    assert second.span is not None and second.span.end_column == 17


def test_a_warning_does_not_stop_the_build_and_is_kept_in_the_cache(builder: Builder) -> None:
    text = "__global__ void f(int* x) { int idle; *x = 1; }\n"
    for _ in range(2):
        found = builder.source(text, "f")
        report = found.one("PLC407")
        assert report.message.startswith('variable "idle"') and "-diag-suppress=177" in report.help
        assert found.only().symbol == "_Z1fPi"
    assert builder.source(text, "f", options=("-diag-suppress=177",)).codes == []


def test_errors_of_one_target_say_which(builder: Builder) -> None:
    text = "__global__ void f(int* x) {\n#if __CUDA_ARCH__ >= 900\n#warning newer\n#endif\n *x = 1; }\n"
    report = builder.source(text, "f", targets=("sm_80", "sm_90")).one("PLC407")
    assert report.notes == ("for `sm_90`",) and at(report)[:2] == ("k.cu", 3)


def test_errors_in_templates_show_the_way_there(builder: Builder) -> None:
    text = (
        "template <class T> __device__ T twice(T x) { return x->member; }\n"
        "template <class T> __global__ void f(T* x) { *x = twice(*x); }\n"
    )
    report = builder.source(text, "f<float>").one("PLC406")
    assert at(report)[:2] == ("k.cu", 1)
    assert [r.span.line for r in report.related if r.span] == [2]


def test_error_inside_a_cuda_header_blames_the_author(builder: Builder) -> None:
    text = (
        "#include <cuda/std/array>\n"
        "__global__ void f(int* x) { cuda::std::array<int, 2> a{}; x[0] = cuda::std::get<5>(a); }\n"
    )
    found = builder.source(text, "f")
    assert {d.code for d in found.errors} == {"PLC406"}
    assert all(at(d)[0] == "k.cu" for d in found.errors if d.span and d.span.file != "graph.yaml")
    assert any(at(d)[:2] == ("k.cu", 2) for d in found.errors)


def test_candidates_are_notes(builder: Builder) -> None:
    text = '__device__ void g(int);\n__device__ void g(int, int);\n__global__ void f() { g("x"); }\n'
    report = builder.source(text, "f").one("PLC406")
    assert any("k.cu(1): note:" in note for note in report.notes)
    assert not any("^" in note for note in report.notes)


def test_missing_headers(builder: Builder) -> None:
    report = builder.source("#include <nowhere.h>\n__global__ void f() {}\n", "f").one("PLC404")
    assert at(report) == ("k.cu", 1, 1) and "include_dirs" in report.help
    report = builder.source("#include <utility>\n__global__ void f() {}\n", "f").one("PLC404")
    assert report.help == "`#include <cuda/std/utility>` and use `cuda::std`"
    assert builder.source("#ifdef HOST\n#include <vector>\n#endif\n__global__ void f() {}\n", "f").only()


def test_a_header_named_by_a_macro(builder: Builder) -> None:
    builder.write("n.h", "#define N 1\n")
    text = '#include "n.h"\n__global__ void f(int* x) { *x = N; }\n'
    report = builder.source('#define H "n.h"\n' + text.replace('"n.h"', "H"), "f").one("PLC404")
    assert "not by a macro" in report.help and at(report)[:2] == ("k.cu", 2)
    assert builder.source(text, "f").only()


def test_a_header_that_lies_only_beside_the_process_is_not_found(builder: Builder) -> None:
    builder.write("beside.h", "#define N 1\n")
    builder.write("sub/k.cu", '#include "beside.h"\n__global__ void f(int* x) { *x = N; }\n')
    builder.build(kernel(builder.folder, "sub/k.cu", "f")).one("PLC404")
    builder.write("sub/beside.h", "#define N 1\n")
    assert builder.build(kernel(builder.folder, "sub/k.cu", "f")).only()


def test_host_code_has_a_cure(builder: Builder) -> None:
    report = builder.source("float4 f4;\n__global__ void f() {}\n", "f").one("PLC406")
    assert "__CUDACC_RTC__" in report.help
    assert builder.source("#ifndef __CUDACC_RTC__\nfloat4 f4;\n#endif\n__global__ void f() {}\n", "f").only()


def test_error_directive_has_its_column(builder: Builder) -> None:
    report = builder.source("#if N < 4\n  #error N is too small\n#endif\n__global__ void f() {}\n", "f").one(
        "PLC406"
    )
    assert at(report)[:2] == ("k.cu", 2) and "N is too small" in report.message


def test_unresolved_function(builder: Builder) -> None:
    text = (
        'extern "C" __device__ float ext(float);\n'
        "__global__ void f(float* x) {\n  x[0] = 1;\n  x[1] = ext(x[2]);\n}\n"
    )
    report = builder.source(text, "f").one("PLC416")
    assert report.message == "`ext` is used and nowhere defined" and at(report)[:2] == ("k.cu", 4)
    defined = text.replace("ext(float);", "ext(float x) { return x; }")
    assert builder.source(defined, "f").only()


def test_too_much_static_shared_memory(builder: Builder) -> None:
    text = (
        "\n__global__ void f(float* x) {\n __shared__ float s[%d];\n s[int(x[2])] = 1;\n"
        " __syncthreads();\n x[3] = s[3]; }\n"
    )
    report = builder.source(text % 12_289, "f").one("PLC416")
    assert "too much shared data" in report.message and at(report) == ("k.cu", 2, 17)
    assert builder.source(text % 12_288, "f").only().resources["sm_80"].static_shared == 49_152


def test_linker_warning(builder: Builder) -> None:
    text = (
        "__device__ __noinline__ int r(int n) { return n < 2 ? 1 : r(n - 1) + r(n - 2); }\n"
        "__global__ void f(int* x) { *x = r(*x); }\n"
    )
    found = builder.source(text, "f")
    assert at(found.one("PLC417")) == ("k.cu", 2, 17) and found.only().resources["sm_80"].local == 0


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"options": ("-G",)}, "PLC411"),
        ({"options": ("-fmad=false",)}, ""),
        ({"defines": {"a b": "1"}}, "PLC412"),
        ({"defines": {"ab": "1"}}, ""),
        ({"include_dirs": "nowhere"}, "PLC403"),
        ({"include_dirs": "inc"}, ""),
    ],
)
def test_settings(builder: Builder, settings: dict[str, object], code: str) -> None:
    (builder.folder / "inc").mkdir()
    if "include_dirs" in settings:
        name = str(settings["include_dirs"])
        settings = {"include_dirs": ((name, builder.folder / name),)}
    found = builder.source("__global__ void f() {}\n", "f", **settings)
    assert found.codes == ([code] if code else [])


def test_all_at_once(builder: Builder) -> None:
    found = builder.source(
        "__global__ void f() {}\n",
        "f",
        options=("-G", "-rdc=true"),
        defines={"1": ""},
        targets=("sm_80", "sm_1"),
    )
    assert sorted(found.codes) == ["PLC411", "PLC411", "PLC412", "PLC414"]


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [("gone.cu", None, "no such file"), ("zero.cu", b"a\0b", "zero byte"), ("folder", "", "is a directory")],
)
def test_unreadable(builder: Builder, name: str, data: bytes | str | None, reason: str) -> None:
    if data == "":
        (builder.folder / name).mkdir()
    elif data is not None:
        builder.write(name, data)
    report = builder.build(kernel(builder.folder, name, "f")).one("PLC401")
    assert reason in report.message and at(report) == ("graph.yaml", 4, 13)


def test_bytes_that_are_not_utf8_pass_through(builder: Builder) -> None:
    builder.write("k.cu", b"\xef\xbb\xbf// caf\xe9\n__global__ void f(int* x) { *x = 1; }\n")
    assert builder.build(kernel(builder.folder, "k.cu", "f")).only()


def test_a_cache_that_cannot_be_written_is_a_hint(builder: Builder) -> None:
    builder.write("occupied", "")
    builder.write("k.cu", "__global__ void f(int* x) { *x = 7; }\n")
    found = builder.build(kernel(builder.folder, "k.cu", "f"), cache=Cache(builder.folder / "occupied"))
    assert "PLANC_CACHE" in found.one("PLC422").help and found.only()
