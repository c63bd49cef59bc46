"""Atomics against a loop over threads in ascending order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from planc.simt.arith import binary
from planc.simt.collisions import Update, serve
from planc.simt.example import run_body
from tests.simt.cuda import cuda

INTEGERS = [(op, t) for op in ("add", "min", "max") for t in ("u32", "s32", "u64", "s64")]
LOGIC = [(op, t) for op in ("and", "or", "xor", "exch", "cas") for t in ("b32", "b64")]
FLOATS = [("add", "f32"), ("add", "f64"), ("add", "f16"), ("add", "bf16"), ("add", "f16x2")]
OTHERS = [("inc", "u32"), ("dec", "u32")]
WIDTHS = {"16": np.uint16, "32": np.uint32, "64": np.uint64}


def dtype_of(kind: str) -> type[np.unsignedinteger]:
    return np.uint32 if kind.endswith("x2") else WIDTHS[kind.lstrip("subf")]


def one_by_one(
    memory: np.ndarray, index: np.ndarray, values: list[np.ndarray], function: Callable
) -> np.ndarray:
    old = np.zeros(len(index), memory.dtype)
    for i, at in enumerate(index):
        old[i] = memory[at]
        memory[at] = function(memory[at : at + 1], *(v[i : i + 1] for v in values))[0]
    return old


def operands(
    rng: np.random.Generator, operation: str, kind: str, n: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return what memory holds at first, and the operands."""
    dtype = dtype_of(kind)
    if operation in ("inc", "dec"):
        return rng.integers(0, 7, 8).astype(dtype), [rng.integers(0, 9, n).astype(dtype)]
    if operation == "cas":
        return rng.integers(0, 3, 8).astype(dtype), [rng.integers(0, 3, n).astype(dtype) for _ in range(2)]
    if kind in ("f32", "f64"):
        floats = rng.standard_normal(n + 8).astype(np.float32 if kind == "f32" else np.float64)
        return floats[n:].view(dtype), [floats[:n].view(dtype)]
    if kind in ("f16", "f16x2", "bf16"):
        halves = rng.standard_normal(4 * n + 16).astype(np.float16).view(np.uint16)
        return np.resize(halves.view(dtype), 8), [halves.view(dtype)[8 : 8 + n].copy()]
    full = rng.integers(0, np.iinfo(dtype).max, n + 8, dtype=dtype, endpoint=True)
    return full[n:].copy(), [full[:n].copy()]


@pytest.mark.parametrize(("operation", "kind"), INTEGERS + LOGIC + FLOATS + OTHERS)
@pytest.mark.parametrize("pattern", ["apart", "few", "one", "mixed"])
@pytest.mark.parametrize("wants_old", [True, False])
def test_collisions_are_served_in_ascending_order(
    operation: str, kind: str, pattern: str, wants_old: bool
) -> None:
    rng = np.random.default_rng([*f"{operation} {kind} {pattern}".encode()])
    n = 8 if pattern == "apart" else 60
    index = {
        "apart": rng.permutation(8),
        "few": rng.integers(0, 3, n),
        "one": np.full(n, 5),
        "mixed": np.minimum(rng.geometric(0.3, n), 8) - 1,
    }[pattern].astype(np.int64)
    memory, values = operands(rng, operation, kind, n)
    function = binary(operation, kind)
    expected = memory.copy()
    old = one_by_one(expected, index, values, function)
    got = memory.copy()
    seen, changed = serve(got, index, values, Update(operation, kind, function, wants_old))
    np.testing.assert_array_equal(got, expected)
    assert changed == bool((got != memory).any())
    if wants_old:
        np.testing.assert_array_equal(seen, old)


@pytest.mark.parametrize("special", [np.nan, np.inf, 1e-39, 3e38, -0.0])
def test_float_sums_near_the_edges_keep_the_order(special: float) -> None:
    values = np.array([1.5, special, -special, 2.5, special, 1e-38, 7.0], np.float32).view(np.uint32)
    index = np.array([0, 1, 0, 1, 0, 1, 1])
    for flushes in (False, True):
        function = binary("add", "f32", ftz=flushes)
        memory = np.zeros(2, np.uint32)
        expected = memory.copy()
        one_by_one(expected, index, [values], function)
        serve(memory, index, [values], Update("add", "f32", function, False, flushes))
        np.testing.assert_array_equal(memory, expected)


def test_compare_and_swap_in_a_crowd_finds_every_success() -> None:
    n = 500
    rng = np.random.default_rng(9)
    compare, new = rng.integers(0, 4, n).astype(np.uint32), rng.integers(0, 4, n).astype(np.uint32)
    index = rng.integers(0, 2, n)
    function = binary("cas", "b32")
    memory = np.array([1, 2], np.uint32)
    expected = memory.copy()
    old = one_by_one(expected, index, [compare, new], function)
    seen, _ = serve(memory, index, [compare, new], Update("cas", "b32", function))
    np.testing.assert_array_equal(seen, old)
    np.testing.assert_array_equal(memory, expected)


def test_global_f32_sums_flush_subnormals_and_shared_ones_do_not() -> None:
    tiny = int(np.float32(1e-40).view(np.uint32))
    body = f"""
    .shared .align 4 .b32 s[1]; .reg .f32 %f;
    mov.b32 %f, {tiny};
    red.global.add.f32 [%base], %f;
    red.shared.add.f32 [s], %f;
    ld.shared.u32 %v1, [s]; st.global.u32 [%base+4], %v1;"""
    assert run_body(body, threads=1, words=2).tolist() == [0, tiny]


def test_every_space_and_result() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(int* g, int* old) {
      __shared__ int s;
      int t = threadIdx.x;
      if (t == 0) s = 100;
      __syncthreads();
      int* p = t & 1 ? &s : g;
      old[t] = atomicAdd(p, t) + 10000 * atomicMax(&s, 1000 * (t == 5));
      __syncthreads();
      if (t == 0) g[1] = s;
    }""")
    g, old = np.array([7, 0], np.int32), np.zeros(8, np.int32)
    device.run("k", 1, 8, device.array("g", g), device.array("old", old))
    after = 100 + 1 + 3 + 5 + 7
    assert g.tolist() == [7 + 0 + 2 + 4 + 6, max(after, 1000)]
    first = [7, 100, 7, 101, 9, 104, 13, 109]
    second = [after] * 6 + [1000] * 2
    assert old.tolist() == [a + 10000 * b for a, b in zip(first, second, strict=True)]


def test_float_maximum_by_compare_and_swap() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(float* best, const float* x) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      int* p = (int*)best;
      int old = *p, seen;
      do {
        seen = old;
        old = atomicCAS(p, seen, __float_as_int(fmaxf(x[i], __int_as_float(seen))));
      } while (old != seen);
    }""")
    x = np.random.default_rng(1).standard_normal(600).astype(np.float32)
    best = np.full(1, -9, np.float32)
    device.run("k", 6, 100, device.array("best", best), device.array("x", x))
    assert best[0] == x.max()


def test_packed_and_wide_atomics() -> None:
    device = cuda(r"""
    #include <cuda_fp16.h>
    extern "C" __global__ void k(__half2* h, double* d, unsigned long long* u) {
      atomicAdd(h, __floats2half2_rn(1.0f, 0.5f));
      atomicAdd(d, 0.25);
      atomicMin(u, 1ull << (40 - threadIdx.x % 32));
    }""")
    h, d, u = np.zeros(2, np.float16), np.zeros(1), np.full(1, 2**63, np.uint64)
    device.run("k", 2, 64, *(device.array(n, a) for n, a in (("h", h), ("d", d), ("u", u))))
    assert (h.tolist(), d[0], u[0]) == ([128, 64], 32, 1 << 9)
