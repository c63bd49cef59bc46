"""Which files a source is made of, and under which names."""

from __future__ import annotations

from pathlib import Path

import pytest

from planc.kernels import find_toolkit
from planc.kernels.cudaheaders import CudaHeaders
from planc.kernels.headers import C_HEADERS
from planc.kernels.includes import SearchScope, Unreadable, read_sources
from planc.kernels.paths import Namer
from planc.kernels.sources import SourceSet
from tests.kernels.helpers import Builder


def read(folder: Path, main: str = "k.cu", include: tuple[str, ...] = (), allow: bool = False) -> SourceSet:
    path = folder / main
    scope = SearchScope(tuple(folder / name for name in include), folder, allow)
    return read_sources(path, Namer(path, main, folder, None), scope, CudaHeaders(find_toolkit().include))


def names(sources: SourceSet) -> list[str]:
    return [file.name for file in sources.project]


def test_search_order(builder: Builder) -> None:
    builder.write("a.h", "")
    builder.write("inc/a.h", "")
    builder.write("sub/k.cu", '#include "a.h"\n')
    assert names(read(builder.folder, "sub/k.cu", ("inc", "."))) == ["sub/k.cu", "inc/a.h"]
    assert names(read(builder.folder, "sub/k.cu", (".", "inc"))) == ["sub/k.cu", "a.h"]
    builder.write("sub/a.h", "")
    assert names(read(builder.folder, "sub/k.cu", (".", "inc"))) == ["sub/k.cu", "sub/a.h"]
    builder.write("sub/k.cu", "#include <a.h>\n")
    assert names(read(builder.folder, "sub/k.cu", (".", "inc"))) == ["sub/k.cu", "a.h"]


def test_headers_beside_headers_and_circles(builder: Builder) -> None:
    builder.write("k.cu", '#include "u/a.h"\n#include "u/../u/a.h"\n')
    builder.write("u/a.h", '#include "b.h"\n#include "../k2.h"\n')
    builder.write("u/b.h", '#include "a.h"\n')
    builder.write("k2.h", "")
    sources = read(builder.folder)
    assert names(sources) == ["k.cu", "u/a.h", "u/b.h", "k2.h"]
    assert sources.text == '#line 1 "k.cu"\n#include <planc:1>\n#include <planc:1>\n'
    assert sources.headers["planc:1"] == '#line 1 "u/a.h"\n#include <planc:2>\n#include <planc:3>\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('#include "a.h"', True),
        ("  #  include <a.h> // c", True),
        ('#include /* c */ "a.h"', False),
        ('#include \\\n "a.h"', True),
        ('// #include "a.h"', False),
        ('/*\n#include "a.h"\n*/', False),
        ('R"(\n#include "a.h"\n)"', False),
        ('#ifdef X\n#include "a.h"\n#endif', True),
        ('#if __has_include("a.h")\n#endif', True),
        ('#define A "a.h"\n#include A', False),
    ],
)
def test_directives(builder: Builder, text: str, found: bool) -> None:
    builder.write("inc/a.h", "")
    builder.write("k.cu", text + "\n")
    sources = read(builder.folder, include=("inc",))
    assert (names(sources) == ["k.cu", "inc/a.h"]) is found
    assert sources.text.count("\n") == text.count("\n") + 2


def test_unresolved_and_outside(builder: Builder) -> None:
    builder.write("h.h", "")
    builder.write("p/k.cu", '#include <vector>\n#include "../h.h"\n')
    folder = builder.folder / "p"
    sources = read(folder)
    assert [(u.spelled, u.line, u.outside is not None) for u in sources.unresolved] == [
        ("vector", 1, False), ("../h.h", 2, True)
    ]  # fmt: skip
    allowed = read(folder, allow=True)
    assert names(allowed) == ["k.cu", "outside/h.h"] and len(allowed.unresolved) == 1


def test_too_many_files(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planc.kernels.includes.MAX_PROJECT_FILES", 3)
    for i in range(4):
        builder.write(f"h{i}.h", f'#include "h{i + 1}.h"\n')
    builder.write("k.cu", '#include "h2.h"\n')
    assert len(names(read(builder.folder))) == 3
    builder.write("k.cu", '#include "h1.h"\n')
    with pytest.raises(Unreadable, match="more than 3 files"):
        read(builder.folder)


def test_too_large(builder: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planc.kernels.includes.MAX_FILE_BYTES", 20)
    builder.write("k.cu", " " * 20)
    read(builder.folder)
    builder.write("k.cu", " " * 21)
    with pytest.raises(Unreadable, match="more than"):
        read(builder.folder)


def test_cuda_headers_have_one_name_each(builder: Builder) -> None:
    builder.write(
        "k.cu", "#include <cuda_fp16.h>\n#include <cub/block/block_reduce.cuh>\n#include <stdint.h>\n"
    )
    sources = read(builder.folder)
    assert {
        "cuda_fp16.h",
        "cuda_fp16.hpp",
        "cub/block/block_reduce.cuh",
        "cuda/std/cstdint",
        "stdint.h",
    } <= set(sources.headers)
    assert "stdint.h" not in sources.cuda and sources.cuda < set(sources.headers)
    assert sources.headers["cuda_fp16.h"].startswith('#line 1 "cuda/cuda_fp16.h"\n')
    for folder in find_toolkit().include:
        assert not any(str(folder) in text for text in sources.headers.values())


def test_a_projects_header_hides_one_of_cudas(builder: Builder) -> None:
    builder.write("cuda_fp16.h", "")
    builder.write("k.cu", '#include "cuda_fp16.h"\n#include <cuda_bf16.h>\n')
    sources = read(builder.folder)
    assert names(sources) == ["k.cu", "cuda_fp16.h"]
    assert sources.text.splitlines()[1] == "#include <planc:1>" and "cuda_bf16.h" in sources.headers


EVERYTHING = "".join(f"#include <{name}>\n" for name in sorted(C_HEADERS))
USES = """\
template <class T> __device__ T use(T x) {
  return std::sqrt(x) + std::abs(x) + std::fmax(x, x) + std::pow(x, x) + std::floor(x) + std::fma(x, x, x) +
         T(std::isnan(x)) + T(std::isinf(x)) + T(std::isfinite(x)) + T(std::signbit(x));
}
struct S { int a; float b; };
extern "C" __global__ void f(float* x, double* d, int n) {
  assert(n > 0);
  printf("%d", n);
  std::printf("%d", 3);
  x[0] = use(x[1]);
  d[0] = use(d[1]);
  uint64_t a = UINT64_MAX;
  std::int32_t b = INT32_MIN;
  static_assert(sizeof(int64_t) == 8 && sizeof(uint16_t) == 2 && sizeof(uintptr_t) == 8, "");
  static_assert(INT8_MIN == -128 && PTRDIFF_MAX == INT64_MAX, "");
  static_assert(INT64_C(1) << 40 > UINT32_MAX && offsetof(S, b) == 4 && CHAR_BIT == 8, "");
  x[3] = a + b + M_PI + INFINITY + FLT_MAX + DBL_MAX + INT_MIN + LLONG_MIN + ULONG_MAX;
  x[4] = std::size_t(3) + SIZE_MAX;
  d[2] = NAN;
  bool t = NULL == x;
  if (t) memset(x, 0, 4);
  std::memcpy(x, d, 4);
}
"""


@pytest.mark.parametrize(
    "order",
    [
        EVERYTHING + "// 0\n",
        "#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n" + EVERYTHING,
        EVERYTHING + "#include <cuda/std/cstdint>\n#include <cuda/std/climits>\n",
        "#include <cuda/std/cstdint>\n#include <cuda/std/cfloat>\n#include <cuda/std/cstddef>\n" + EVERYTHING,
    ],
)
def test_c_headers_compile_alone_and_with_cudas(builder: Builder, order: str) -> None:
    found = builder.source(order + USES, "f")
    assert found.codes == [], found.diagnostics


@pytest.mark.parametrize("name", sorted(C_HEADERS))
def test_each_c_header_twice(builder: Builder, name: str) -> None:
    builder.write("k.cu", f"#include <{name}>\n#include <{name}>\n")
    sources = read(builder.folder)
    assert not sources.unresolved and name in sources.headers and not sources.cuda


def test_core_libraries(builder: Builder) -> None:
    text = (
        "#include <cub/block/block_reduce.cuh>\n__global__ void f(int* x) {\n"
        "using R = cub::BlockReduce<int, 128>; __shared__ typename R::TempStorage s;\n"
        "int v = R(s).Sum(x[threadIdx.x]); if (!threadIdx.x) *x = v; }\n"
    )
    artifact = builder.source(text, "f").only()
    assert all(str(p).encode() not in i.data for i in artifact.module.images for p in find_toolkit().include)
