"""CUDA C++ built for real: images, parameters, resources, what the graph can know of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from planc.kernels import Cache, Toolkit, read_cubin
from planc.ptx import parse
from tests.kernels.helpers import Builder, image, kernel

STEP = """\
#include <stdint.h>
typedef float real;
struct Pair { double x; char c; };
__constant__ float table[4];
__device__ int counter = 3;
extern "C" __global__ void __launch_bounds__(128) step(
    const real* __restrict__ src, float* dst, float alpha, unsigned char flag, Pair pair, bool on) {
  __shared__ float tile[100];
  int i = threadIdx.x;
  tile[i] = src[i] + table[i & 3] + (on ? float(pair.x) : 0);
  __syncthreads();
  dst[i] = tile[99 - i] * alpha + flag + counter;
}
template <class T, int N>
__global__ void gemm(T* __restrict__ x, const T* y, uint64_t n) { x[n] = y[N]; }
namespace ns {
__global__ void over(int* x) { *x = 1; }
__global__ void over(int* x, float y) { *x = int(y); }
namespace { __global__ void hidden(double* d) { *d = 1; } }
}
__global__ void unnamed(int*, int) {}
"""


@pytest.fixture
def step(builder: Builder) -> Builder:
    builder.write("k.cu", STEP)
    return builder


def test_extern_c(step: Builder) -> None:
    names = ["in f32* src", "out f32* dst", "f32 alpha", "u8 flag", "f64 pair", "bool on"]
    found = step.build(kernel(step.folder, "k.cu", "step", parameters=names), targets=("sm_80", "sm_90"))
    artifact = found.only()
    assert artifact.symbol == "step"
    assert [(p.offset, p.size, p.align) for p in artifact.parameters] == [
        (0, 8, 8), (8, 8, 8), (16, 4, 4), (20, 1, 1), (24, 16, 8), (40, 1, 1)
    ]  # fmt: skip
    written = artifact.source_parameters
    assert written is not None
    assert [(p.name, p.dtype, p.pointer, p.const) for p in written] == [
        ("src", None, True, True),
        ("dst", "f32", True, False),
        ("alpha", "f32", False, False),
        ("flag", "u8", False, False),
        ("pair", None, False, False),
        ("on", "bool", False, False),
    ]
    assert (written[0].file, written[0].line, written[0].column) == ("k.cu", 7, 30)
    for resources in artifact.resources.values():
        assert resources.static_shared == 400 and resources.local == 0
        assert resources.parameter_bytes == 41 and resources.max_threads == 128
        assert resources.registers is not None and 0 < resources.registers <= 64
    assert [(i.target, i.form) for i in artifact.module.images] == [
        ("sm_80", "ptx"), ("sm_80", "cubin"), ("sm_90", "ptx"), ("sm_90", "cubin")
    ]  # fmt: skip
    symbols = artifact.module.globals
    assert (symbols["counter"].space, symbols["counter"].size, symbols["counter"].initialised) == (
        "global",
        4,
        True,
    )
    assert (symbols["table"].space, symbols["table"].size, symbols["table"].initialised) == (
        "const",
        16,
        False,
    )


def test_cubin_is_of_the_very_ptx(step: Builder) -> None:
    artifact = step.build(kernel(step.folder, "k.cu", "step"), targets=("sm_80", "sm_90")).only()
    for target, number in (("sm_80", 80), ("sm_90", 90)):
        module = parse(image(artifact, "ptx", target).decode())
        assert module.target[0] == target
        cubin = read_cubin(image(artifact, "cubin", target))
        assert cubin.number == number
        assert {e.name for e in module.entries} == set(cubin.entries)
        assert [p.offset for p in cubin.entries["step"].parameters] == [p.offset for p in artifact.parameters]
    assert "k.cu" in parse(image(artifact, "ptx").decode()).files.values()


def test_template_instances_share_a_module(step: Builder) -> None:
    found = step.build(
        kernel(step.folder, "k.cu", "gemm<float, 32>", name="a"),
        kernel(step.folder, "k.cu", "gemm<double,3>", name="b"),
        kernel(step.folder, "k.cu", "step", name="c"),
        kernel(step.folder, "k.cu", "step", name="d", exact=True),
    )
    a, b, c, d = (found.artifacts[name] for name in "abcd")
    assert a.symbol == "_Z4gemmIfLi32EEvPT_PKS0_m" or a.symbol == "_Z4gemmIfLi32EEvPT_PKS0_y"
    assert a.module == b.module == c.module and a.module.key != d.module.key
    assert not a.module.exact and d.module.exact
    for artifact, dtype in ((a, "f32"), (b, "f64")):
        written = artifact.source_parameters
        assert written is not None
        assert [(p.name, p.dtype, p.const) for p in written] == [
            ("x", dtype, False),
            ("y", dtype, True),
            ("n", "u64", False),
        ]


def test_exact_rounds_every_sum(step: Builder) -> None:
    plain = step.build(kernel(step.folder, "k.cu", "step")).only()
    exact = step.build(kernel(step.folder, "k.cu", "step", exact=True)).only()
    assert b"add.f32" in image(plain, "ptx")
    assert b"add.f32" not in image(exact, "ptx") and b"add.rn.f32" in image(exact, "ptx")


def test_stored_at_the_lowest_version(step: Builder) -> None:
    artifact = step.build(kernel(step.folder, "k.cu", "step")).only()
    assert parse(image(artifact, "ptx").decode()).version < (9, 0)


def test_a_version_that_the_linker_finds_too_low(step: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planc.ptx.lowest_version", lambda module: (6, 0))
    found = step.build(kernel(step.folder, "k.cu", "step", exact=True), cache=Cache(limit=0))
    ptx = image(found.only(), "ptx")
    assert parse(ptx.decode()).version == (9, 0) and b"add.rn.f32" in ptx


@pytest.mark.parametrize(
    ("entry", "parameters", "symbol"),
    [
        ("ns::over", ["inout i32* x"], "_ZN2ns4overEPi"),
        ("ns::over", ["inout i32* x", "f32 y"], "_ZN2ns4overEPif"),
        ("::ns::hidden", None, ""),
        ("_ZN2ns4overEPi", None, "_ZN2ns4overEPi"),
    ],
)
def test_entries(step: Builder, entry: str, parameters: list[str] | None, symbol: str) -> None:
    artifact = step.build(kernel(step.folder, "k.cu", entry, parameters=parameters)).only()
    assert artifact.symbol == symbol or (not symbol and "hidden" in artifact.symbol)


def test_parameters_without_names_get_the_graphs(step: Builder) -> None:
    named = step.build(kernel(step.folder, "k.cu", "unnamed", parameters=["in i32* p", "i32 n"])).only()
    bare = step.build(kernel(step.folder, "k.cu", "unnamed")).only()
    assert named.source_parameters is not None and bare.source_parameters is not None
    assert [p.name for p in named.source_parameters] == ["p", "n"]
    assert [p.name for p in bare.source_parameters] == ["arg0", "arg1"]
    assert [(p.dtype, p.pointer) for p in bare.source_parameters] == [("i32", True), ("i32", False)]


def test_entry_not_found(step: Builder) -> None:
    report = step.build(kernel(step.folder, "k.cu", "stp")).one("PLC408")
    assert report.help == "write `step`" and report.span is not None and report.span.line == 5
    assert "step" in report.facts["entries"]  # type: ignore[operator]


def test_template_without_arguments(step: Builder) -> None:
    report = step.build(
        kernel(step.folder, "k.cu", "gemm", name="a"),
        kernel(step.folder, "k.cu", "gemm<float, 32>", name="b"),
    ).one("PLC408")
    assert "say which instance" in report.help


def test_entry_with_several_meanings(step: Builder) -> None:
    report = step.build(kernel(step.folder, "k.cu", "ns::over")).one("PLC409")
    assert report.notes == ("`ns::over(int*)`", "`ns::over(int*, float)`")
    report = step.build(kernel(step.folder, "k.cu", "ns::over", parameters=["in f64* x"])).one("PLC409")


def test_template_arguments_that_do_not_fit(step: Builder) -> None:
    found = step.build(
        kernel(step.folder, "k.cu", "gemm<float>", name="a"), kernel(step.folder, "k.cu", "step", name="b")
    )
    report = found.one("PLC410")
    assert report.facts["kernel"] == "a" and report.span is not None and report.span.line == 5


def test_conditional_declarations_that_widths_cannot_tell_apart(builder: Builder) -> None:
    text = (
        "#ifdef DOUBLE\n"
        'extern "C" __global__ void f(double* x, double n) { *x = n; }\n'
        "#elif defined(BITS)\n"
        'extern "C" __global__ void f(int* x, int n) { *x = n; }\n'
        "#else\n"
        'extern "C" __global__ void f(float* x, float m) { *x = m; }\n'
        "#endif\n"
    )
    written = builder.source(text, "f").only().source_parameters
    assert written is not None and [p.dtype for p in written] == [None, None]
    doubled = builder.source(text, "f", defines={"DOUBLE": ""}).only().source_parameters
    assert doubled is not None and [(p.name, p.dtype) for p in doubled] == [("x", "f64"), ("n", "f64")]


def test_mangled_types_settle_typedefs_and_conditions(builder: Builder) -> None:
    text = (
        "#ifdef DOUBLE\ntypedef double real;\n#else\ntypedef float real;\n#endif\n"
        "__global__ void f(const real* x, real n) { (void)x; (void)n; }\n"
    )
    for defines, dtype in (({}, "f32"), ({"DOUBLE": "1"}, "f64")):
        written = builder.source(text, "f", defines=defines).only().source_parameters
        assert written is not None
        assert [(p.name, p.dtype, p.text) for p in written] == [
            ("x", dtype, "const real*"),
            ("n", dtype, "real"),
        ]


def test_defines_options_and_include_dirs(builder: Builder) -> None:
    builder.write("inc/size.h", "#pragma once\n#define SIZE (BASE + 1)\n")
    builder.write(
        "k.cu", '#include <size.h>\nextern "C" __global__ void f(float* x) { x[SIZE] = x[0] / x[1]; }\n'
    )
    include = (("inc", builder.folder / "inc"),)
    plain = builder.build(
        kernel(builder.folder, "k.cu", "f", defines={"BASE": "41"}, include_dirs=include)
    ).only()
    fast = builder.build(
        kernel(
            builder.folder,
            "k.cu",
            "f",
            defines={"BASE": "41"},
            include_dirs=include,
            options=("--use_fast_math",),
        )
    ).only()
    assert b"[%rd2+168]" in image(plain, "ptx")
    assert b"div.rn.f32" in image(plain, "ptx") and b"div.rn.f32" not in image(fast, "ptx")


def test_a_bound_on_registers_reaches_the_linker(builder: Builder) -> None:
    loop = "#pragma unroll\nfor (int i = 0; i < 100; ++i) "
    text = (
        f'extern "C" __global__ void f(float* x) {{ float a[100];\n{loop} a[i] = x[i * 7];\n'
        f"__syncthreads();\n{loop} x[i] = a[99 - i] * a[i]; }}\n"
    )
    few = builder.source(text, "f", options=("--maxrregcount=32",)).only().resources["sm_80"]
    many = builder.source(text, "f", options=("--maxrregcount=64",)).only().resources["sm_80"]
    assert few.registers is not None and many.registers is not None
    assert few.registers <= 32 < many.registers and few.local > many.local == 0


def test_driver_functions_stay_open(builder: Builder) -> None:
    text = (
        '#include <stdio.h>\n#include <assert.h>\n__global__ void f(int n) { assert(n); printf("%d", n); }\n'
    )
    artifact = builder.source(text, "f").only()
    assert set(read_cubin(image(artifact, "cubin")).undefined) == {"vprintf", "__assertfail"}
    assert artifact.module.globals == {}


def test_parameters_that_differ_between_targets(builder: Builder) -> None:
    text = (
        "struct S {\n#if __CUDA_ARCH__ >= 900\nlong long x[2];\n#else\nint x[2];\n#endif\n};\n"
        'extern "C" __global__ void f(S s) { (void)s; }\n'
    )
    report = builder.source(text, "f", targets=("sm_80", "sm_90")).one("PLC421")
    assert report.facts["kernel"] == "f"
    assert builder.source(text, "f", targets=("sm_80",)).only().parameters[0].size == 8


def test_a_kernel_that_one_target_lacks(builder: Builder) -> None:
    text = '#if __CUDA_ARCH__ >= 900\nextern "C" __global__ void f() {}\n#endif\n__global__ void g() {}\n'
    report = builder.source(text, "f", targets=("sm_80", "sm_90")).one("PLC408")
    assert report.notes == ("it is there for other targets, not for `sm_80`",)
    assert builder.source(text, "f", targets=("sm_90",)).only().symbol == "f"


def test_large_parameters_keep_a_version_that_has_them(builder: Builder) -> None:
    text = 'struct S { int x[%d]; };\nextern "C" __global__ void f(const S s, int* p) { *p = s.x[*p]; }\n'
    small = builder.source(text % 1_000, "f").only()
    large = builder.source(text % 1_100, "f").only()
    assert parse(image(small, "ptx").decode()).version < (8, 1)
    assert parse(image(large, "ptx").decode()).version >= (8, 1)
    assert large.resources["sm_80"].parameter_bytes == 4_408


@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_100f", "sm_120"])
def test_every_kind_of_target(builder: Builder, target: str) -> None:
    artifact = builder.source("__global__ void f(int* p) { *p = 1; }\n", "f", targets=(target,)).only()
    assert [i.target for i in artifact.module.images] == [target, target]
    assert f".target {target}".encode() in image(artifact, "ptx", target)


def test_default_targets_and_unknown_ones(builder: Builder) -> None:
    text = "__global__ void f(int* p) { *p = 1; }\n"
    assert set(builder.source(text, "f", targets=()).only().resources) == {"sm_80", "sm_90"}
    span = kernel(builder.folder, "k.cu", "f").span
    for name in ("sm_12", "sm_91", "compute_80", "hopper"):
        report = builder.source(text, "f", targets=((name, span),)).one("PLC414")
        assert report.span == span and "`sm_80`" in report.help


def test_without_the_compiler(builder: Builder) -> None:
    builder.write("k.cu", "__global__ void f() {}\n")
    bare = Toolkit(None, None)
    report = builder.build(kernel(builder.folder, "k.cu", "f"), toolkit=bare).one("PLC413")
    assert "pip install" in report.help


def test_without_the_linker_there_is_ptx(builder: Builder) -> None:
    from planc.kernels import find_toolkit

    full = find_toolkit()
    compiler = Toolkit(full.nvrtc, None, include=full.include)
    text = (
        "__shared__ double wide[8];\n__global__ void f(int* p) { __shared__ char a[3]; a[*p] = 1; "
        "wide[*p] = a[*p]; *p = int(wide[0]); }\n"
    )
    builder.write("k.cu", text)
    artifact = builder.build(
        kernel(builder.folder, "k.cu", "f"), toolkit=compiler, cache=Cache(limit=0)
    ).only()
    assert [i.form for i in artifact.module.images] == ["ptx"]
    resources = artifact.resources["sm_80"]
    assert resources.registers is None and resources.static_shared in (67, 72)


def test_progress_counts_each_target(step: Builder) -> None:
    seen: list[tuple[str, int, int]] = []
    step.build(
        kernel(step.folder, "k.cu", "step"),
        targets=("sm_80", "sm_90"),
        progress=lambda label, done, total: seen.append((label, done, total)),
    )
    assert seen == [("k.cu for sm_80", 0, 2), ("k.cu for sm_90", 1, 2)]


def test_cuda_headers(builder: Builder) -> None:
    text = (
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <cuda_runtime.h>\n"
        "__global__ void f(__half* h, const __nv_bfloat16* b, float4 v, __half s) {\n"
        "  h[0] = __hadd(h[1], s); h[2] = __float2half(__bfloat162float(b[0]) + v.x); }\n"
    )
    written = builder.source(text, "f").only().source_parameters
    assert written is not None
    assert [(p.dtype, p.pointer, p.const) for p in written] == [
        ("f16", True, False), ("bf16", True, True), (None, False, False), ("f16", False, False)
    ]  # fmt: skip


def test_declaration_in_a_header(builder: Builder) -> None:
    builder.write(
        "lib/step.cuh", "// a header\n__global__ void f(const int* p, unsigned n) { (void)p; (void)n; }\n"
    )
    written = builder.source('#include "lib/step.cuh"\n', "f").only().source_parameters
    assert written is not None
    assert [(p.name, p.dtype, p.file, p.line) for p in written] == [
        ("p", "i32", "lib/step.cuh", 2), ("n", "u32", "lib/step.cuh", 2)
    ]  # fmt: skip


def test_files_outside_the_project(tmp_path: Path, builder: Builder) -> None:
    project = builder.folder / "project"
    builder.write("shared/h.h", "#define N 3\n")
    builder.write("shared/o.cu", "__global__ void f(int* p) { *p = 1; }\n")
    builder.write("project/k.cu", '#include "../shared/h.h"\n__global__ void f(int* p) { *p = N; }\n')
    inside = kernel(project, "k.cu", "f")
    outside = kernel(project, "../shared/o.cu", "f")
    (project / "link.cu").symlink_to(builder.folder / "shared/o.cu")
    assert builder.build(inside, root=project).one("PLC405").span is not None
    assert builder.build(outside, root=project).one("PLC163").span == outside.path_span
    builder.build(kernel(project, "link.cu", "f"), root=project).one("PLC163")
    for each in (inside, outside):
        artifact = builder.build(each, root=project, allow_outside=True).only()
        assert str(builder.folder).encode() not in image(artifact, "ptx")
