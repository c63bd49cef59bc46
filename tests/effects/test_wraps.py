"""Arithmetic at 2**31 and 2**32: a form survives only where nothing wraps."""

from __future__ import annotations

import functools

import pytest

from planc.effects import Analyser, IntegerFact, LaunchFacts, PointerFact, integer
from planc.plan.boxes import Box
from planc.ptx import parse
from tests.simt.cuda import compile_cuda

SOURCE = """
#define K extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
K plus(char* y, int a) { y[a + (int)threadIdx.x] = 1; }
K plus_unsigned(char* y, unsigned a) { y[a + threadIdx.x] = 1; }
K guard_signed(char* y, int n) { int i = I; if (i < n) y[i] = 1; }
K guard_unsigned(char* y, unsigned n) { unsigned i = I; if (i < n) y[i] = 1; }
K times(char* y, int a) { y[a * (int)threadIdx.x] = 1; }
K wide(char* y, int a) { y[(long long)a * threadIdx.x] = 1; }
K step(char* y, int first, int last) {
#pragma unroll 1
  for (int i = first; i < last; i += 4) y[i] = 1; }
K step_unsigned(char* y, unsigned first, unsigned last) {
#pragma unroll 1
  for (unsigned i = first; i < last; i += 4) y[i] = 1; }
K both_ways(char* y, int a) { int i = (int)threadIdx.x - a; if (i >= 0) y[i] = 1; }
K compare_unsigned(char* y, int a) { int i = (int)threadIdx.x + a; if ((unsigned)i < 16u) y[i] = 1; }
K halves(char* y, unsigned a) { y[(a + threadIdx.x) >> 1] = 1; }
K narrow(char* y, long long a) { y[(int)(a + threadIdx.x)] = 1; }
K short_index(char* y, int a) { y[(short)(a + threadIdx.x)] = 1; }
K byte_index(char* y, int a) { y[(unsigned char)(a + threadIdx.x)] = 1; }
"""


@functools.cache
def _analyser() -> Analyser:
    return Analyser(parse(compile_cuda(SOURCE), "wraps.ptx"))


def _effect(name: str, *values: int, grid: int = 1, block: int = 4, size: int = 4):
    facts = {0: PointerFact(None)} | {8 + size * n: integer(v, size) for n, v in enumerate(values)}
    return _analyser().analyse(name, LaunchFacts((grid, 1, 1), (block, 1, 1), 0, facts)).parameters[0]


def _interval(effect) -> tuple[int, int]:
    (box,) = effect.may
    return box.interval


TOP, EDGE = (1 << 31) - 1, 1 << 31


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("plus", TOP - 3, (TOP - 3, TOP + 1)),
        ("plus", TOP - 2, (-EDGE, EDGE)),
        ("plus", -EDGE, (-EDGE, -EDGE + 4)),
        ("plus_unsigned", TOP - 2, (TOP - 2, TOP + 2)),
        ("plus_unsigned", 2 * EDGE - 4, (2 * EDGE - 4, 2 * EDGE)),
        ("plus_unsigned", 2 * EDGE - 3, (0, 2 * EDGE)),
        ("times", TOP // 3, (0, TOP // 3 * 3 + 1)),
        ("times", TOP // 3 + 1, (-EDGE, EDGE)),
        ("wide", EDGE // 3, (0, EDGE // 3 * 3 + 1)),
        ("wide", -EDGE // 3, (3 * (-EDGE // 3), 1)),
        ("both_ways", 2, (0, 2)),
        ("compare_unsigned", -2, (0, 2)),
        ("compare_unsigned", 14, (14, 16)),
        ("halves", 2 * EDGE - 4, (EDGE - 2, EDGE)),
        ("halves", 2 * EDGE - 3, (0, EDGE)),
        ("short_index", 32764, (32764, 32768)),
        ("short_index", 32765, (-32768, 32768)),
        ("short_index", 65536, (0, 4)),
        ("byte_index", 252, (252, 256)),
        ("byte_index", 253, (0, 256)),
        ("byte_index", 256, (0, 4)),
    ],
)
def test_sums_and_products(name: str, value: int, wanted: tuple[int, int]) -> None:
    effect = _effect(name, value)
    low, high = _interval(effect)
    assert (low, high) == wanted
    wraps = wanted[1] - wanted[0] > 3 * EDGE // 2 or wanted in ((-32768, 32768), (0, 256), (0, EDGE))
    assert bool(effect.must) == (not wraps)


def test_truncation_of_64_bits() -> None:
    assert _interval(_effect("narrow", TOP - 3, size=8)) == (TOP - 3, TOP + 1)
    assert _interval(_effect("narrow", 1 << 32, size=8)) == (0, 4)
    assert _interval(_effect("narrow", TOP - 2, size=8)) == (-EDGE, EDGE)


def test_guards_just_below_and_above_the_wrap() -> None:
    """2**21 blocks of 1024 threads reach 2**31 - 1; one block more is negative as an int."""
    fits = _effect("guard_signed", 1000, grid=1 << 21, block=1024)
    assert fits.may == (Box(0, ((1000, 1),), 1),)
    assert fits.must == fits.may
    wraps = _effect("guard_signed", 1000, grid=(1 << 21) + 1, block=1024)
    assert _interval(wraps)[0] == -EDGE
    assert not wraps.must
    unsigned = _effect("guard_unsigned", 1000, grid=1 << 22, block=1024)
    assert unsigned.may == (Box(0, ((1000, 1),), 1),)
    over = _effect("guard_unsigned", 1000, grid=(1 << 22) + 1, block=1024)
    assert _interval(over) == (0, 1000)
    assert not over.must


@pytest.mark.parametrize(
    ("name", "last", "wanted"),
    [
        ("step", TOP - 3, (TOP - 43, TOP - 6)),
        ("step", TOP - 4, (TOP - 43, TOP - 6)),
        ("step_unsigned", TOP + 20, (TOP - 43, TOP + 18)),
    ],
)
def test_loops_up_to_the_wrap(name: str, last: int, wanted: tuple[int, int]) -> None:
    """``i += 4`` with ``i < last`` wraps only where ``last`` is within 3 of 2**31."""
    assert _interval(_effect(name, TOP - 43, last)) == wanted


@pytest.mark.parametrize("last", [TOP - 2, TOP])
def test_a_loop_that_wraps_is_not_bounded(last: int) -> None:
    """From 2**31 - 4 the next turn is negative, and the loop goes on."""
    effect = _effect("step", TOP - 43, last)
    assert not effect.must
    assert effect.may is None or _interval(effect)[0] <= -EDGE + 3


def test_slots_are_taken_over_their_whole_range() -> None:
    facts = {0: PointerFact(100), 8: IntegerFact(4, 0, 100)}
    launch = LaunchFacts((1, 1, 1), (128, 1, 1), 0, facts)
    found = _analyser().analyse("guard_signed", launch)
    assert found.parameters[0].may == (Box(0, ((100, 1),), 1),)
    assert found.parameters[0].is_inside
    assert not found.parameters[0].must
    facts[8] = IntegerFact(4, 20, 101)
    found = _analyser().analyse("guard_signed", LaunchFacts((1, 1, 1), (128, 1, 1), 0, facts))
    assert not found.parameters[0].is_inside
    assert found.parameters[0].must == (Box(0, ((20, 1),), 1),)
