"""Accesses out of bounds, misaligned, cached: found at their line, each with a legal neighbour."""

from __future__ import annotations

import functools

import pytest

from planc.effects import Analyser, Finding, LaunchFacts, PointerFact, integer
from planc.ptx import parse
from tests.simt.cuda import compile_cuda

SOURCE = """#define K extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
K open_end(float* y, int n) { int i = I;
  y[i] = 1; }
K closed(float* y, int n) { int i = I; if (i < n)
  y[i] = 1; }
K off_by_one(float* y, int n) { int i = I; if (i <= n)
  y[i] = 1; }
K left(float* y, int n) { int i = I; if (i < n)
  y[i - 1] = 1; }
K looped(float* y, int n) { for (int i = I; i < n + 1; i += gridDim.x * blockDim.x)
  y[i] = 1; }
K column(float* y, int n) { int i = threadIdx.x, j = threadIdx.y; if (i < n && j < n)
  y[j * (n + 1) + i] = 1; }
K indirect(float* y, const int* at, int n) { int i = I; if (i < n)
  y[at[i]] = 1; }
K indirect_guarded(float* y, const int* at, int n) { int i = I; if (i < n) if ((unsigned)at[i] < n)
  y[at[i]] = 1; }
K behind_data(float* y, const int* at, int n) { int i = I; if (i < n) if (at[i])
  y[i + 1] = 1; }
K vector(float* y, int n) { int i = I; if (i < n)
  *(float4*)(y + i) = make_float4(1, 2, 3, 4); }
K vector_good(float* y, int n) { int i = I; if (4 * i + 3 < n)
  *(float4*)(y + 4 * i) = make_float4(1, 2, 3, 4); }
K shifted(float* y, int n) { int i = I; if (i < n)
  ((float2*)y)[i] = make_float2(1, 2); }
K cached(float* y, int n) { int i = I; if (i < n)
  y[i] = __ldg(y + i) + 1; }
K cached_apart(float* y, int n) { int i = I; if (i < n)
  y[i] = __ldg(y + i + n) + 1; }
__device__ float fixed[64];
K variable(float* y) {
  fixed[I] = 1; }
__device__ __noinline__ void put(float* p, int i) {
  p[i] = 1; }
K called(float* y, int n) { put(y, I); }
"""


@functools.cache
def _analyser() -> Analyser:
    return Analyser(parse(compile_cuda(SOURCE), "findings.ptx"))


def _find(
    name: str, n: int = 1000, nbytes: int = 4000, grid: int = 4, block=(256, 1, 1), offset: int = 0
) -> list[Finding]:
    function = _analyser().module.functions[name]
    facts: dict[int, object] = {}
    for parameter in function.parameters:
        pointer = PointerFact(nbytes, offset) if parameter.offset == 0 else PointerFact(4000)
        facts[parameter.offset] = pointer if parameter.size == 8 else integer(n)
    return list(_analyser().analyse(name, LaunchFacts((grid, 1, 1), block, 0, facts)).findings)


def _line(name: str) -> int:
    """The line after the head of a kernel is that of its access."""
    lines = SOURCE.splitlines()
    return next(n for n, text in enumerate(lines, 1) if f" {name}(" in text and text[0] in "K_") + 1


@pytest.mark.parametrize(
    ("name", "thread", "block", "offset", "guard"),
    [
        ("open_end", 232, 3, 4000, "256*blockIdx.x + threadIdx.x < 1000"),
        ("off_by_one", 232, 3, 4000, "256*blockIdx.x + threadIdx.x < 1000"),
        ("left", 0, 0, -4, "256*blockIdx.x + threadIdx.x >= 1"),
    ],
)
def test_out_of_bounds_names_thread_line_and_guard(
    name: str, thread: int, block: int, offset: int, guard: str
) -> None:
    (found,) = _find(name)
    assert found.kind == "out-of-bounds"
    assert found.witness is not None
    assert (found.witness.thread, found.witness.block) == ((thread, 0, 0), (block, 0, 0))
    assert found.witness.offset == offset
    assert found.access.source_line == _line(name)
    assert found.guard == guard


def test_the_guard_makes_it_legal() -> None:
    assert not _find("closed")
    assert not _find("open_end", grid=3, nbytes=3 * 256 * 4)
    assert _find("closed", nbytes=3999)


def test_a_loop_too_long() -> None:
    (found,) = _find("looped", grid=1)
    assert found.kind == "out-of-bounds"
    assert found.witness is not None and found.witness.thread == (1000 % 256, 0, 0)
    assert not _find("looped", n=999, grid=1)


def test_two_dimensions() -> None:
    (found,) = _find("column", n=8, nbytes=256, grid=1, block=(16, 16, 1))
    assert found.kind == "out-of-bounds"
    assert found.witness is not None and found.witness.thread[1] == 7
    assert not _find("column", n=8, nbytes=(7 * 9 + 8) * 4, grid=1, block=(16, 16, 1))


def test_what_depends_on_data_is_only_not_shown() -> None:
    (found,) = _find("indirect")
    assert found.kind == "not-shown"
    assert found.access.source_line == _line("indirect")
    assert not _find("indirect_guarded")
    (found,) = _find("behind_data")
    assert found.kind == "not-shown"


def test_misaligned_vectors() -> None:
    (found,) = _find("vector", n=900)
    assert found.kind == "misaligned"
    assert found.access.source_line == _line("vector")
    assert found.witness is not None and found.witness.offset % 16
    assert not _find("vector_good")
    (found,) = _find("vector_good", offset=8)
    assert found.kind == "misaligned"
    assert not _find("shifted", n=500, offset=8)
    assert [f.kind for f in _find("shifted", n=500, offset=4)] == ["misaligned"]


def test_cached_loads_of_written_bytes() -> None:
    (found,) = _find("cached")
    assert found.kind == "cached-load-of-written"
    assert not _find("cached_apart", n=500)


def test_variables_have_their_size() -> None:
    (found,) = _find("variable")
    assert (found.kind, found.target) == ("out-of-bounds", "fixed")
    assert not _find("variable", grid=1, block=(64, 1, 1))


def test_device_functions_are_followed() -> None:
    (found,) = _find("called")
    assert found.kind == "out-of-bounds"
    assert found.access.source_line == _line("put")
    assert len(found.access.calls) == 1
    assert not _find("called", grid=1)
