"""Declarations against proofs, reductions that commute, threads that keep to their own bytes."""

from __future__ import annotations

import functools

import pytest

from planc.effects import (
    Agreement,
    Analyser,
    Effect,
    LaunchFacts,
    PointerFact,
    commute,
    integer,
    judge_declaration,
    touch_own_bytes,
)
from planc.ptx import parse
from tests.simt.cuda import compile_cuda

SOURCE = """#define K extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
K copy(float* y, const float* x, int n) { int i = I; if (i < n) y[i] = x[i]; }
K change(float* y, const float* x, int n) { int i = I; if (i < n) y[i] += x[i]; }
K shift(float* y, const float* x, int n) { int i = I; if (i + 1 < n) y[i] = x[i + 1]; }
K total(float* y, const float* x, int n) { int i = I; if (i < n) atomicAdd(y, x[i]); }
K largest(int* y, const int* x, int n) { int i = I; if (i < n) atomicMax(y, x[i]); }
K count(int* y, const int* x, int n) { int i = I; if (i < n) atomicAdd(y, x[i]); }
K count_wide(unsigned long long* y, const int* x, int n) { int i = I; if (i < n) atomicAdd(y, 1ull); }
K count_odd(int* y, const int* x, int n) { int i = I; if (i < n) atomicAdd((int*)((char*)y + 2), x[i]); }
K stride(float* y, const float* x, int n) { for (int i = I; i < n; i += gridDim.x * blockDim.x) y[i] = x[i]; }
K flat(float* y, const float* x, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }
K plane(float* y, const float* x, int n) {
  int i = I; if (i < n) y[blockIdx.y * n + i] = x[blockIdx.y * n + i]; }
K skewed(float* y, const float* x, int n) {
  int i = I; if (i <= n) y[blockIdx.y * n + i] = x[blockIdx.y * n + i]; }
K stored(float* y, const float* x, int n) { y[0] = 1; *(float**)x = y; }
"""


@functools.cache
def _analyser() -> Analyser:
    return Analyser(parse(compile_cuda(SOURCE), "relations.ptx"))


def _effects(name: str, grid: tuple[int, int, int] = (4, 1, 1)) -> tuple[Effect, Effect]:
    facts = {0: PointerFact(1 << 20), 8: PointerFact(1 << 20), 16: integer(1000)}
    found = _analyser().analyse(name, LaunchFacts(grid, (256, 1, 1), 0, facts))
    return found.parameters[0], found.parameters[8]


@pytest.mark.parametrize(
    ("kernel", "place", "word", "wanted"),
    [
        ("copy", 0, "out", Agreement.EXACT),
        ("copy", 0, "inout", Agreement.WIDER),
        ("copy", 0, "in", Agreement.CONTRADICTED),
        ("copy", 1, "in", Agreement.EXACT),
        ("copy", 1, "out", Agreement.CONTRADICTED),
        ("copy", 1, "inout", Agreement.WIDER),
        ("change", 0, "inout", Agreement.EXACT),
        ("change", 0, "out", Agreement.CONTRADICTED),
        ("change", 0, "reduce", Agreement.CONTRADICTED),
        ("total", 0, "reduce", Agreement.EXACT),
        ("total", 0, "inout", Agreement.WIDER),
        ("total", 0, "out", Agreement.CONTRADICTED),
        ("stored", 0, "out", Agreement.OPEN),
        ("stored", 0, "in", Agreement.CONTRADICTED),
    ],
)
def test_declarations(kernel: str, place: int, word: str, wanted: Agreement) -> None:
    verdict = judge_declaration(word, _effects(kernel)[place])
    assert verdict.agreement is wanted
    assert (verdict.access is not None) == (wanted is Agreement.CONTRADICTED)


def test_reductions_commute_with_their_equals_alone() -> None:
    names = ("total", "largest", "count", "count_wide", "count_odd")
    found = {name: _effects(name)[0] for name in names}
    assert all(effect.kind == "reduce" for effect in found.values())
    for one in names:
        for other in names:
            assert commute(found[one], found[other]) == (one == other)
    assert not commute(found["count"], _effects("copy")[0])


@pytest.mark.parametrize(
    ("kernel", "grid", "wanted"),
    [
        ("copy", (4, 1, 1), True),
        ("change", (4, 1, 1), True),
        ("shift", (4, 1, 1), False),
        ("stride", (2, 1, 1), True),
        ("flat", (1, 1, 1), True),
        ("flat", (2, 1, 1), False),
        ("plane", (4, 3, 1), True),
        ("skewed", (4, 3, 1), False),
        ("total", (4, 1, 1), False),
        ("stored", (4, 1, 1), False),
    ],
)
def test_threads_with_bytes_of_their_own(kernel: str, grid: tuple[int, int, int], wanted: bool) -> None:
    assert touch_own_bytes(_effects(kernel, grid)) is wanted


def test_sums_of_floats_vary_with_the_order() -> None:
    facts = {0: PointerFact(4), 8: PointerFact(4000), 16: integer(1000)}
    launch = LaunchFacts((4, 1, 1), (256, 1, 1), 0, facts)
    (note,) = _analyser().analyse("total", launch).notes
    assert "adds floats in an order that varies" in note
    assert not _analyser().analyse("count", launch).notes
