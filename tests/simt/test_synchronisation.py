"""Barriers, warps, locks and flags: threads that wait for each other."""

from __future__ import annotations

import numpy as np
import pytest

from planc.diagnostics import ReplayError
from planc.simt.example import run_body
from tests.simt.cuda import cuda


def run_ptx(body: str, threads: int) -> list[int]:
    return run_body(body, threads=threads).tolist()


def test_threads_that_ended_do_not_hold_up_a_barrier() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(int* out) {
      __shared__ int a[64];
      int t = threadIdx.x;
      a[t] = t;
      if (t >= 40) return;
      __syncthreads();
      out[t] = a[63 - t];
    }""")
    out = np.full(64, -1, np.int32)
    device.run("k", 1, 64, device.array("out", out))
    assert out.tolist() == [63 - t if t < 40 else -1 for t in range(64)]


def test_barrier_results() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(int* out) {
      int t = threadIdx.x;
      int n = __syncthreads_count(t % 3 == 0), a = __syncthreads_and(t < 64 + (int)blockIdx.x);
      int o = __syncthreads_or(t == 200);
      out[blockIdx.x * 64 + t] = n * 100 + (a != 0) * 10 + (o != 0);
    }""")
    out = np.zeros(128, np.int32)
    device.run("k", 2, 64, device.array("out", out))
    assert set(out.tolist()) == {2210}


def test_barrier_in_a_divergent_branch_counts_threads() -> None:
    body = """
    .shared .align 4 .b32 a[64];
    .reg .b32 %s, %s2; mov.u32 %s, a; mad.lo.u32 %s2, %t, 4, %s;
    setp.lt.u32 %q1, %t, 32;
    @%q1 bra first;
    st.shared.u32 [%s2], %t;
    bar.arrive 1, 64;
    bra.uni done;
    first: bar.sync 1, 64;
    ld.shared.u32 %v1, [%s2+128];
    st.global.u32 [%p], %v1;
    done: ret;"""
    assert run_ptx(body, 64) == [*range(32, 64), *[0] * 32]


def test_barriers_in_different_branches_of_one_block() -> None:
    # Both warps wait at barrier 0, at different places.
    body = """
    setp.lt.u32 %q1, %t, 32;
    mov.u32 %v1, 1;
    @%q1 bra first;
    bar.sync 0; mov.u32 %v1, 2; bra.uni done;
    first: bar.sync 0;
    done: st.global.u32 [%p], %v1; ret;"""
    assert run_ptx(body, 64) == [1] * 32 + [2] * 32


def test_deadlocked_barrier_names_its_lines() -> None:
    body = """
    setp.lt.u32 %q1, %t, 32;
    @%q1 bra first;
    bar.sync 1; bra.uni done;
    first: bar.sync 2;
    done: ret;"""
    with pytest.raises(ReplayError, match="PLC753") as caught:
        run_ptx(body, 64)
    assert caught.value.diagnostics[0].facts["waiting"] == 64
    assert len(caught.value.diagnostics[0].facts["lines"]) == 2


def test_barrier_with_too_few_threads_is_a_deadlock() -> None:
    assert run_ptx("bar.sync 1, 64; st.global.u32 [%p], 1; ret;", 64) == [1] * 64
    with pytest.raises(ReplayError, match="PLC753"):
        run_ptx("bar.sync 1, 96; st.global.u32 [%p], 1; ret;", 64)


def test_warp_barrier_in_both_branches() -> None:
    body = """
    setp.lt.u32 %q1, %t, 16;
    mov.u32 %v1, 1;
    @%q1 bra first;
    bar.warp.sync 0xffffffff; mov.u32 %v1, 2; bra.uni done;
    first: bar.warp.sync 0xffffffff;
    done: st.global.u32 [%p], %v1; ret;"""
    assert run_ptx(body, 32) == [1] * 16 + [2] * 16


def test_votes_and_matches_under_divergence() -> None:
    device = cuda(
        r"""
    extern "C" __global__ void k(unsigned* out) {
      int t = threadIdx.x;
      unsigned r[8] = {0};
      r[0] = __ballot_sync(~0u, t % 3 == 0);
      r[1] = __any_sync(~0u, t == 40) | __all_sync(~0u, t < 40) << 1 | __uni_sync(~0u, t / 32) << 2;
      r[2] = __match_any_sync(~0u, t / 5);
      int same; r[3] = __match_all_sync(~0u, t / 32, &same) + same;
      if (t % 2) r[4] = __ballot_sync(0xaaaaaaaa, t < 20); else r[4] = __activemask();
      r[5] = __reduce_add_sync(~0u, t);
      r[6] = __reduce_max_sync(~0u, t ^ 21) - __reduce_min_sync(~0u, -t);
      r[7] = __reduce_xor_sync(0xffu << (t & 24), t);
      for (int k = 0; k < 8; ++k) out[8 * t + k] = r[k];
    }""".replace("__uni_sync(~0u, t / 32)", "(__all_sync(~0u, t / 32) || !__any_sync(~0u, t / 32))")
    )
    out = np.zeros((64, 8), np.uint32)
    device.run("k", 1, 64, device.array("out", out))
    for warp in range(2):
        t = np.arange(32) + 32 * warp
        bits = 1 << np.arange(32)
        rows = out[t]
        assert set(rows[:, 0]) == {int(bits[t % 3 == 0].sum())}
        assert set(rows[:, 1]) == {int((t == 40).any()) | int((t < 40).all()) << 1 | 4}
        assert rows[:, 2].tolist() == [int(bits[t // 5 == each // 5].sum()) for each in t]
        assert set(rows[:, 3]) == {0}  # 0xffffffff + 1
        assert set(rows[1::2, 4]) == {int(bits[(t < 20) & (t % 2 == 1)].sum())}
        assert set(rows[::2, 4]) == {0x55555555}
        assert set(rows[:, 5]) == {int(t.sum())}
        assert set(rows[:, 6]) == {int((t ^ 21).max() + t.max())}
        assert rows[:, 7].tolist() == [
            int(np.bitwise_xor.reduce(t[(each & 24) : (each & 24) + 8])) for each in range(32)
        ]


def test_shuffle_waits_for_its_members() -> None:
    # Half the lanes take a detour first; they meet at one shuffle inside a loop.
    device = cuda(r"""
    extern "C" __global__ void k(int* out, const int* n) {
      int t = threadIdx.x, v = t;
      for (int i = 0; i < n[t]; ++i) v += i;
      out[t] = __shfl_sync(~0u, v, t ^ 1);
    }""")
    n = (np.arange(64) % 5).astype(np.int32)
    out = np.zeros(64, np.int32)
    device.run("k", 1, 64, device.array("out", out), device.array("n", n))
    values = np.arange(64) + n * (n - 1) // 2
    np.testing.assert_array_equal(out, values[np.arange(64) ^ 1])


def test_partial_warp_and_ended_lanes() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(unsigned* out) {
      int t = threadIdx.x;
      if (t % 4 == 0) return;
      out[t] = __ballot_sync(__activemask(), 1) + __shfl_down_sync(~0u, t, 1);
    }""")
    out = np.zeros(40, np.uint32)
    device.run("k", 1, 40, device.array("out", out))
    for t in range(40):
        lanes = 0xEEEEEEEE if t < 32 else 0xEE
        last_of_four = t % 4 == 3
        below = t if last_of_four else t + 1
        assert out[t] == (0 if t % 4 == 0 else (lanes + below) & 0xFFFFFFFF)


def test_shuffle_of_lanes_that_never_come_is_a_deadlock() -> None:
    body = """
    setp.lt.u32 %q1, %t, 16;
    @%q1 bra first;
    bar.sync 0; bra.uni done;
    first: shfl.sync.idx.b32 %v1, %t, 0, 31, 0xffffffff;
    bar.sync 0;
    done: ret;"""
    with pytest.raises(ReplayError, match="PLC753"):
        run_ptx(body, 32)


@pytest.mark.parametrize("threads", [1, 33, 96])
def test_elect_and_legacy_votes(threads: int) -> None:
    body = """
    .reg .pred %w;
    elect.sync %v1|%w, 0xfffffff8;
    selp.u32 %v2, 100, 0, %w;
    add.u32 %v1, %v1, %v2;
    st.global.u32 [%p], %v1; ret;"""
    got = run_ptx(body, threads)
    for warp in range(-(-threads // 32)):
        for lane in range(min(32, threads - 32 * warp)):
            leader = 3 if threads - 32 * warp > 3 else 0
            assert got[32 * warp + lane] == leader + 100 * (lane == leader)


LOCKS = r"""
__device__ int lock = 0;
__device__ int count = 0;
__device__ void acquire() { while (atomicCAS(&lock, 0, 1) != 0) ; __threadfence(); }
__device__ void release() { __threadfence(); atomicExch(&lock, 0); }
extern "C" __global__ void in_turn(int* order) {
  acquire();
  order[blockIdx.x * blockDim.x + threadIdx.x] = count;
  count = count + 1;
  release();
}
extern "C" __global__ void leaders(int* order) {
  __shared__ int mine;
  if (threadIdx.x == 0) { acquire(); mine = count; count = mine + 1; release(); }
  __syncthreads();
  order[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}
extern "C" __global__ void sleeping(int* order) {
  unsigned ns = 8;
  while (atomicCAS(&lock, 0, 1) != 0) { __nanosleep(ns); if (ns < 256) ns *= 2; }
  order[threadIdx.x] = count; count = count + 1;
  atomicExch(&lock, 0);
}
"""


@pytest.mark.parametrize(
    ("entry", "grid", "block"), [("in_turn", 1, 64), ("in_turn", 5, 40), ("sleeping", 1, 64)]
)
def test_spin_lock_between_threads_of_warps_and_blocks(entry: str, grid: int, block: int) -> None:
    device = cuda(LOCKS)
    order = np.full(grid * block, -1, np.int32)
    device.run(entry, grid, block, device.array("order", order))
    assert sorted(order.tolist()) == list(range(grid * block))


def test_lock_taken_by_one_thread_of_each_block() -> None:
    device = cuda(LOCKS)
    order = np.full(20 * 64, -1, np.int32)
    device.run("leaders", 20, 64, device.array("order", order))
    rows = order.reshape(20, 64)
    assert (rows == rows[:, :1]).all()
    assert sorted(rows[:, 0].tolist()) == list(range(20))


def test_last_block_sees_the_work_of_all() -> None:
    device = cuda(r"""
    __device__ unsigned tickets = 0;
    __device__ int partial[64];
    extern "C" __global__ void sum(const int* x, int* out) {
      __shared__ bool last;
      int t = threadIdx.x;
      if (t == 0) {
        int s = 0;
        for (int k = 0; k < 32; ++k) s += x[blockIdx.x * 32 + k];
        partial[blockIdx.x] = s;
        __threadfence();
        last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
      }
      __syncthreads();
      if (last && t == 0) { int s = 0; for (int b = 0; b < gridDim.x; ++b) s += partial[b]; *out = s; }
    }""")
    x = np.random.default_rng(1).integers(0, 1000, 64 * 32).astype(np.int32)
    out = np.zeros(1, np.int32)
    pointers = device.array("x", x), device.array("out", out)
    for _ in range(2):
        out[:] = 0
        device.run("sum", 64, 32, *pointers)
        assert out[0] == x.sum()


CHAIN = r"""
extern "C" __global__ void chain(volatile int* flags, int* out, int forward) {
  __shared__ int seen;
  int b = blockIdx.x, from = forward ? b - 1 : b + 1;
  if (threadIdx.x == 0) {
    if (from >= 0 && from < gridDim.x) while (flags[from] == 0) ;
    seen = from >= 0 && from < gridDim.x ? flags[from] : 0;
    flags[b] = seen + 1;
  }
  __syncthreads();
  out[b * blockDim.x + threadIdx.x] = seen;
}
"""


@pytest.mark.parametrize("forward", [1, 0])
def test_blocks_wait_for_flags_of_earlier_and_of_later_blocks(forward: int) -> None:
    device = cuda(CHAIN)
    blocks = 70
    flags, out = np.zeros(blocks, np.int32), np.zeros((blocks, 1024), np.int32)
    pointers = device.array("flags", flags), device.array("out", out)
    stats = device.run("chain", blocks, 1024, *pointers, np.int32(forward))
    assert stats.chunks > 1
    expected = np.arange(blocks) if forward else np.arange(blocks)[::-1]
    np.testing.assert_array_equal(out, np.repeat(expected[:, None], 1024, axis=1))


def test_flag_between_warps_of_one_block() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(int* out) {
      volatile __shared__ int flag, data;
      int t = threadIdx.x;
      if (t == 0) flag = 0;
      __syncthreads();
      if (t == 63) { data = 42; __threadfence_block(); flag = 1; }
      if (t < 32) { while (flag == 0) ; out[t] = data; }
    }""")
    out = np.zeros(64, np.int32)
    device.run("k", 1, 64, device.array("out", out))
    assert out.tolist() == [42] * 32 + [0] * 32


def test_plain_loads_behind_a_fence_see_the_flag() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(int* flag, int* out) {
      if (threadIdx.x == 40) *flag = 7;
      else while (*flag == 0) __threadfence();
      out[threadIdx.x] = *flag;
    }""")
    flag, out = np.zeros(1, np.int32), np.zeros(64, np.int32)
    device.run("k", 1, 64, device.array("flag", flag), device.array("out", out))
    assert out.tolist() == [7] * 64


def test_flag_that_nobody_sets_is_refused_and_names_the_loop() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(volatile int* flag, int* out) {
      if (threadIdx.x == 0)
        while (*flag == 0) ;
      __syncthreads();
      *out = 1;
    }""")
    flag, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    pointers = device.array("flag", flag), device.array("out", out)
    with pytest.raises(ReplayError) as caught:
        device.run("k", 1, 64, *pointers, budget=None)
    (found,) = caught.value.diagnostics
    assert found.code == "PLC764"
    assert (found.facts["cuda_line"], found.facts["cuda_file"]) == (4, "/k.cu") or found.facts[
        "cuda_line"
    ] == 4
    flag[:] = 1
    device.run("k", 1, 64, *pointers, budget=None)
    assert out[0] == 1


def test_budget_names_the_loop() -> None:
    source = r"""
    extern "C" __global__ void k(int* out, int n) {
      int v = 0;
      for (int i = 0; i < n; ++i)
        v = v * 3 + out[i & 3];
      *out = v;
    }"""
    device = cuda(source)
    out = np.zeros(4, np.int32)
    pointer = device.array("out", out)
    needed = device.run("k", 1, 1, pointer, np.int32(1000)).thread_instructions
    device.run("k", 1, 1, pointer, np.int32(1000), budget=needed)
    with pytest.raises(ReplayError) as caught:
        device.run("k", 1, 1, pointer, np.int32(1000), budget=needed - 1)
    assert caught.value.code == "PLC752"
    with pytest.raises(ReplayError) as caught:
        device.run("k", 1, 1, pointer, np.int32(2**31 - 1), budget=10_000)
    (found,) = caught.value.diagnostics
    assert found.code == "PLC752"
    assert found.facts["cuda_line"] in (4, 5)
    assert "in the loop" in found.message
