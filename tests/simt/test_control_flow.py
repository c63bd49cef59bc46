"""Divergence, functions and printf against a plain loop over threads."""

from __future__ import annotations

import numpy as np
import pytest

from planc.diagnostics import ReplayError
from planc.simt import prepare
from planc.simt.example import run_body
from tests.simt.cuda import Device, cuda


def test_nested_divergent_loops_with_break_continue_return() -> None:
    device = cuda(r"""
    extern "C" __global__ void loops(const int* x, int* y) {
      int i = blockIdx.x * blockDim.x + threadIdx.x, acc = 0;
      for (int a = 0; a < x[i] % 7; ++a) {
        if ((a + i) % 3 == 0) continue;
        for (int b = 0; b < 10; ++b) {
          if (b * a > x[i]) break;
          if (acc > 200) { y[i] = -acc; return; }
          acc += b * a + (i & 1 ? 3 : 1);
        }
      }
      y[i] = acc;
    }""")

    def one(i: int, x: int) -> int:
        acc = 0
        for a in range(x % 7):
            if (a + i) % 3 == 0:
                continue
            for b in range(10):
                if b * a > x:
                    break
                if acc > 200:
                    return -acc
                acc += b * a + (3 if i & 1 else 1)
        return acc

    x = np.random.default_rng(1).integers(0, 40, 256).astype(np.int32)
    y = np.zeros(256, np.int32)
    device.run("loops", 2, 128, device.array("x", x), device.array("y", y))
    assert y.tolist() == [one(i, int(v)) for i, v in enumerate(x)]


def test_switch() -> None:
    device = cuda(r"""
    extern "C" __global__ void pick(const int* x, int* y) {
      int i = threadIdx.x, v = x[i];
      switch (v) {
        case 0: v = i; break;
        case 1: v = 3 * i; break;
        case 2: v -= 100;
        case 3: v += i; break;
        case 4: v = -i; break;
        case 5: y[i] = 77; return;
        case 6: v = i * i; break;
        case 7: v = 1 << (i & 7); break;
        case 8: v = i / 3; break;
        default: v = -1;
      }
      y[i] = v;
    }""")
    x = np.random.default_rng(2).integers(-2, 12, 256).astype(np.int32)
    y = np.zeros(256, np.int32)
    device.run("pick", 1, 256, device.array("x", x), device.array("y", y))

    def one(i: int, v: int) -> int:
        table = [i, 3 * i, 2 - 100 + i, 3 + i, -i, 77, i * i, 1 << (i & 7), i // 3]
        return table[v] if 0 <= v < 9 else -1

    assert y.tolist() == [one(i, int(v)) for i, v in enumerate(x)]


def test_indexed_branch() -> None:
    device = Device(r"""
    .version 8.0
    .target sm_90
    .address_size 64
    .visible .entry k(.param .u64 out) {
      .reg .b32 %t, %v; .reg .b64 %p, %o;
      ld.param.u64 %p, [out];
      mov.u32 %t, %tid.x;
      mul.wide.u32 %o, %t, 4;
      add.u64 %p, %p, %o;
      and.b32 %v, %t, 3;
      ts: .branchtargets A, B, C, A;
      brx.idx %v, ts;
      A: mov.u32 %v, 10; bra.uni done;
      B: mov.u32 %v, 20; bra.uni done;
      C: mov.u32 %v, 30;
      done: st.global.u32 [%p], %v;
      ret;
    }""")
    out = np.zeros(64, np.uint32)
    device.run("k", 1, 64, device.array("out", out))
    assert out.tolist() == [10, 20, 30, 10] * 16


FUNCTIONS = r"""
struct Vec { float x, y, z; int tag; };
__device__ __noinline__ float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.tag - b.tag; }
__device__ __noinline__ Vec scale(Vec a, float s) { a.x *= s; a.y *= s; a.z *= s; a.tag += 1; return a; }
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ int twice(int v) { return 2 * v; }
__device__ __noinline__ int square(int v) { return v * v; }
__device__ __noinline__ int negate(int v) { return -v; }
typedef int (*Op)(int);
__device__ Op ops[3] = {twice, square, negate};
__device__ __noinline__ int sum_of(const int* local, int n) {
  int s = 0;
  while (n-- > 0) s += local[n];
  return s;
}
extern "C" __global__ void structs(float* out) {
  int i = threadIdx.x;
  Vec a = {1.0f * i, 2.0f, 3.0f, i};
  out[i] = dot(scale(a, 0.5f), a);
}
extern "C" __global__ void recursive(const int* n, int* out) { out[threadIdx.x] = fib(n[threadIdx.x]); }
extern "C" __global__ void deep(int* out) { out[threadIdx.x] = fib(400); }
extern "C" __global__ void pointers(const int* which, int* out) {
  int i = threadIdx.x, v = i;
  if (which[i] < 3) v = ops[which[i]](i);
  out[i] = v;
}
extern "C" __global__ void locals(int* out) {
  int i = threadIdx.x, a[16];
  for (int k = 0; k < 16; ++k) a[k] = k * i;
  out[i] = sum_of(a, i & 15);
}
extern "C" __global__ void in_branch(int* out) {
  int i = threadIdx.x, v = i;
  if (i % 3) v = square(v); else if (i % 2) v = twice(v);
  out[i] = v;
}
"""


def test_functions_with_structs_by_value() -> None:
    out = np.zeros(64, np.float32)
    device = cuda(FUNCTIONS)
    device.run("structs", 1, 64, device.array("out", out))
    i = np.arange(64, dtype=np.float32)
    np.testing.assert_array_equal(out, 0.5 * i * i + 2 + 4.5 + 1)


def test_recursion_differs_per_thread() -> None:
    n = np.random.default_rng(3).integers(0, 11, 64).astype(np.int32)
    out = np.zeros(64, np.int32)
    device = cuda(FUNCTIONS)
    device.run("recursive", 1, 64, device.array("n", n), device.array("out", out))
    fib = [0, 1]
    while len(fib) < 12:
        fib.append(fib[-1] + fib[-2])
    assert out.tolist() == [fib[k] for k in n]


def test_recursion_without_end_is_refused() -> None:
    device = cuda(FUNCTIONS)
    with pytest.raises(ReplayError) as caught:
        device.run("deep", 1, 1, device.array("out", np.zeros(1, np.int32)))
    assert caught.value.code == "PLC760"


def test_calls_through_a_table_of_functions() -> None:
    which = np.random.default_rng(4).integers(0, 4, 128).astype(np.int32)
    out = np.zeros(128, np.int32)
    device = cuda(FUNCTIONS)
    device.run("pointers", 1, 128, device.array("which", which), device.array("out", out))
    i = np.arange(128)
    np.testing.assert_array_equal(out, np.choose(which, [2 * i, i * i, -i, i]))


def test_pointers_to_local_arrays_reach_functions() -> None:
    out = np.zeros(64, np.int32)
    device = cuda(FUNCTIONS)
    device.run("locals", 1, 64, device.array("out", out))
    assert out.tolist() == [i * sum(range(i & 15)) for i in range(64)]


def test_calls_inside_branches() -> None:
    out = np.zeros(64, np.int32)
    device = cuda(FUNCTIONS)
    device.run("in_branch", 1, 64, device.array("out", out))
    assert out.tolist() == [i * i if i % 3 else 2 * i if i % 2 else i for i in range(64)]


def test_wild_function_pointer_is_refused() -> None:
    device = cuda(r"""
    __device__ __noinline__ int f(int v) { return v; }
    typedef int (*Op)(int);
    __device__ Op one = f;
    extern "C" __global__ void call(int* out, Op* table) { *out = table[threadIdx.x](3) + one(1); }""")
    table = np.array([0x1234], np.uint64)
    with pytest.raises(ReplayError) as caught:
        device.run("call", 1, 1, device.array("out", np.zeros(1, np.int32)), device.array("table", table))
    assert caught.value.code == "PLC762"
    assert "0x1234" in str(caught.value)


def test_printf_follows_c() -> None:
    device = cuda(r"""
    extern "C" __global__ void say(float x, long long big) {
      if (threadIdx.x % 2 == 0)
        printf("%d|%5u|%-6x|%08.3f|%e|%g|%s|%c|%lld|%+d|%%|%#x|%.3s|%5.1f|%*d\n", -3, 7u, 255, x, 12345.678,
               0.5, "text", 'A' + threadIdx.x, big, 5, 255, "abcdef", 2.25, 6, 42);
      if (threadIdx.x == 1) printf("plain\n");
      if (threadIdx.x == 3) printf("%p %p\n", (void*)0x1234, (void*)0);
    }""")
    device.run("say", 1, 4, np.float32(3.14159), np.int64(-(1 << 40)))
    line = "-3|    7|ff    |0003.142|1.234568e+04|0.5|text|{}|-1099511627776|+5|%|0xff|abc|  2.2|    42\n"
    assert sorted(device.printed) == sorted([line.format("A"), line.format("C"), "plain\n", "0x1234 (nil)\n"])
    assert device.printed.index(line.format("A")) < device.printed.index(line.format("C"))


def test_threads_print_in_ascending_order() -> None:
    device = cuda(r"""
    extern "C" __global__ void say() { printf("%d %d\n", blockIdx.x, threadIdx.x); }""")
    device.run("say", 3, 40)
    assert device.printed == [f"{b} {t}\n" for b in range(3) for t in range(40)]


def test_assertion_names_text_line_and_thread() -> None:
    device = cuda(r"""
    extern "C" __global__ void check(int n) { assert(threadIdx.x < n); }""")
    device.run("check", 2, 32, np.int32(32))
    with pytest.raises(ReplayError) as caught:
        device.run("check", 2, 32, np.int32(31))
    (found,) = caught.value.diagnostics
    assert found.code == "PLC758"
    assert found.facts["assertion"] == "threadIdx.x < n"
    assert (found.facts["thread"], found.facts["block"], found.facts["line"]) == ([31, 0, 0], [0, 0, 0], 2)


def test_trap_is_reported() -> None:
    device = cuda(r"""extern "C" __global__ void stop(int n) { if (threadIdx.x == n) __trap(); }""")
    device.run("stop", 1, 32, np.int32(32))
    with pytest.raises(ReplayError) as caught:
        device.run("stop", 1, 32, np.int32(31))
    assert caught.value.code == "PLC757"
    assert caught.value.diagnostics[0].facts["thread"] == [31, 0, 0]


@pytest.mark.parametrize(
    ("body", "code", "form"),
    [
        ("void* p = malloc(16); *(int*)p = 1;", "PLC759", "call malloc"),
        ("__brkpt();", "PLC750", "brkpt"),
        (
            'asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(*out) : "l"(0ull));',
            "PLC750",
            "ldmatrix",
        ),
    ],
)
def test_what_is_not_supported_is_refused_when_prepared(body: str, code: str, form: str) -> None:
    device = cuda(f'extern "C" __global__ void k(int* out) {{ {body} }}')
    with pytest.raises(ReplayError) as caught:
        prepare(device.module, "k")
    assert caught.value.code == code
    assert form in str(caught.value)
    assert caught.value.diagnostics[0].facts["cuda_line"] == 1


def test_unknown_kernel_and_missing_function() -> None:
    device = cuda(
        r"""
    extern __device__ int elsewhere(int);
    extern "C" __global__ void k(int* out) { *out = elsewhere(1); }""",
        "-rdc=true",
    )
    with pytest.raises(ReplayError, match=r"PLC751.*no kernel `nope`.*`k`"):
        prepare(device.module, "nope")
    with pytest.raises(ReplayError, match=r"PLC751.*elsewhere"):
        prepare(device.module, "k")


def test_register_parameters_results_and_constants() -> None:
    functions = """
    .func (.reg .b32 %r, .reg .pred %ok) pick(.reg .b32 %a, .reg .b32 %b) {
      setp.gt.u32 %ok, %a, %b;
      selp.u32 %r, %a, %b, %ok;
      ret;
    }
    .func (.param .b32 out) double(.param .b32 in) {
      .reg .b32 %v; ld.param.b32 %v, [in]; shl.b32 %v, %v, 1; st.param.b32 [out], %v; ret;
    }
    .func quit(.reg .b32 %a) { .reg .pred %q; setp.eq.u32 %q, %a, 3; @%q exit; ret; }"""
    body = """
    call (%v1, %q1), pick, (%t, 4);
    selp.u32 %v2, 100, 0, %q1;
    call (%v3), double, (%t);
    call quit, (%t);
    setp.eq.u32 %q2, %t, 6;
    @%q2 call (%v1, %q3), pick, (77, %v1);
    add.u32 %v1, %v1, %v2; mad.lo.u32 %v1, %v3, 1000, %v1;
    st.global.u32 [%p], %v1;"""
    got = run_body(body, threads=8, functions=functions)
    expected = [2000 * t + max(t, 4) + (100 if t > 4 else 0) for t in range(8)]
    expected[3] = 0
    expected[6] = 12_000 + 77 + 100
    assert got.tolist() == expected


def test_barriers_and_shuffles_inside_functions() -> None:
    device = cuda(r"""
    __device__ __noinline__ int block_sum(int v, int* scratch) {
      int t = threadIdx.x;
      for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(~0u, v, d);
      if (t % 32 == 0) scratch[t / 32] = v;
      __syncthreads();
      int s = 0;
      for (int w = 0; w < blockDim.x / 32; ++w) s += scratch[w];
      __syncthreads();
      return s;
    }
    extern "C" __global__ void k(int* out) {
      __shared__ int scratch[32];
      int i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
      if (i % 3 == 0) v *= 2;
      int first = block_sum(v, scratch);
      if (i % 2) v += first;
      out[i] = block_sum(v, scratch) + first;
    }""")
    out = np.zeros(3 * 96, np.int32)
    device.run("k", 3, 96, device.array("out", out))
    i = np.arange(3 * 96).reshape(3, 96)
    v = np.where(i % 3 == 0, 2 * i, i)
    first = v.sum(axis=1, keepdims=True)
    second = np.where(i % 2, v + first, v).sum(axis=1, keepdims=True)
    np.testing.assert_array_equal(out.reshape(3, 96), np.broadcast_to(first + second, (3, 96)))


def test_functions_that_spin_take_turns() -> None:
    device = cuda(r"""
    __device__ int lock = 0;
    __device__ __noinline__ bool try_lock(int* l) { return atomicCAS(l, 0, 1) == 0; }
    extern "C" __global__ void k(int* total) {
      while (!try_lock(&lock)) ;
      *(volatile int*)total = *(volatile int*)total + 1;
      atomicExch(&lock, 0);
    }""")
    total = np.zeros(1, np.int32)
    device.run("k", 2, 40, device.array("total", total))
    assert total[0] == 80
