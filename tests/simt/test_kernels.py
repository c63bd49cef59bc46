"""Classic kernels in CUDA C++ against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.simt.cuda import cuda

SAXPY = r"""
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = fmaf(a, x[i], y[i]);
}
"""


@pytest.mark.parametrize("n", [1, 127, 128, 129, 1000, 5000])
def test_saxpy_with_guard(n: int) -> None:
    device = cuda(SAXPY)
    rng = np.random.default_rng(n)
    x = rng.standard_normal(n).astype(np.float32)
    y = rng.standard_normal(n).astype(np.float32)
    expected = (np.float64(np.float32(1.25)) * x.astype(np.float64) + y).astype(np.float32)
    stats = device.run(
        "saxpy", -(-n // 128), 128, np.float32(1.25), device.array("x", x), device.array("y", y), np.int32(n)
    )
    np.testing.assert_array_equal(y, expected)
    assert stats.threads == -(-n // 128) * 128
    assert stats.thread_instructions > 15 * n


def test_stencil_in_two_dimensions() -> None:
    device = cuda(r"""
    extern "C" __global__ void step(const float* u, float* v, int nx, int ny) {
      int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
      if (x >= nx || y >= ny) return;
      int i = y * nx + x;
      if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) { v[i] = u[i]; return; }
      v[i] = __fadd_rn(__fadd_rn(u[i - 1], u[i + 1]), __fadd_rn(u[i - nx], u[i + nx])) * 0.25f;
    }""")
    nx, ny = 70, 45
    u = np.random.default_rng(1).standard_normal((ny, nx)).astype(np.float32)
    v = np.zeros_like(u)
    device.run(
        "step", (3, 6, 1), (32, 8, 1), device.array("u", u), device.array("v", v), np.int32(nx), np.int32(ny)
    )
    expected = u.copy()
    expected[1:-1, 1:-1] = ((u[1:-1, :-2] + u[1:-1, 2:]) + (u[:-2, 1:-1] + u[2:, 1:-1])) * np.float32(0.25)
    np.testing.assert_array_equal(v, expected)


def test_transpose_through_shared_memory() -> None:
    device = cuda(r"""
    extern "C" __global__ void transpose(const int* a, int* b, int w, int h) {
      __shared__ int tile[32][33];
      int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8)
        if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * w + x];
      __syncthreads();
      x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
      for (int j = 0; j < 32; j += 8)
        if (x < h && y + j < w) b[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
    }""")
    w, h = 100, 70
    a = np.arange(w * h, dtype=np.int32).reshape(h, w)
    b = np.zeros((w, h), np.int32)
    pointers = device.array("a", a), device.array("b", b)
    device.run("transpose", (4, 3, 1), (32, 8, 1), *pointers, np.int32(w), np.int32(h))
    np.testing.assert_array_equal(b, a.T)


@pytest.mark.parametrize("n", [256, 1000])
def test_reduction_in_shared_memory(n: int) -> None:
    device = cuda(r"""
    extern "C" __global__ void total(const int* x, int* out, int n) {
      extern __shared__ int part[];
      int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
      part[t] = i < n ? x[i] : 0;
      __syncthreads();
      for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
      }
      if (t == 0) out[blockIdx.x] = part[0];
    }""")
    x = np.random.default_rng(2).integers(-1000, 1000, n).astype(np.int32)
    blocks = -(-n // 256)
    out = np.zeros(blocks, np.int32)
    pointers = device.array("x", x), device.array("out", out)
    device.run("total", blocks, 256, *pointers, np.int32(n), shared=1024)
    padded = np.zeros(blocks * 256, np.int32)
    padded[:n] = x
    np.testing.assert_array_equal(out, padded.reshape(-1, 256).sum(axis=1))


def test_warp_shuffle_reduction_and_scan() -> None:
    device = cuda(r"""
    extern "C" __global__ void warps(const int* x, int* sums, int* scans, int* turned) {
      int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = x[i];
      int sum = v;
      for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(~0u, sum, d);
      if (lane == 0) sums[i / 32] = sum;
      int scan = v;
      for (int d = 1; d < 32; d <<= 1) { int o = __shfl_up_sync(~0u, scan, d); if (lane >= d) scan += o; }
      scans[i] = scan;
      turned[i] = __shfl_xor_sync(~0u, v, 5, 8) + 1000 * __shfl_sync(~0u, v, lane + 3, 16);
    }""")
    x = np.random.default_rng(3).integers(0, 100, 512).astype(np.int32)
    sums, scans, turned = np.zeros(16, np.int32), np.zeros(512, np.int32), np.zeros(512, np.int32)
    arrays = [device.array(n, a) for n, a in (("x", x), ("s", sums), ("c", scans), ("t", turned))]
    device.run("warps", 4, 128, *arrays)
    rows = x.reshape(-1, 32)
    np.testing.assert_array_equal(sums, rows.sum(axis=1))
    np.testing.assert_array_equal(scans.reshape(-1, 32), rows.cumsum(axis=1))
    lanes = np.arange(32)
    segment = (lanes & 16) | ((lanes + 3) & 15)
    np.testing.assert_array_equal(turned.reshape(-1, 32), rows[:, lanes ^ 5] + 1000 * rows[:, segment])


def test_block_scan_with_barriers() -> None:
    device = cuda(r"""
    extern "C" __global__ void scan(const float* x, float* y) {
      __shared__ float a[2][256];
      int t = threadIdx.x, in = 0;
      a[0][t] = x[blockIdx.x * 256 + t];
      __syncthreads();
      for (int d = 1; d < 256; d *= 2) {
        a[1 - in][t] = t >= d ? a[in][t - d] + a[in][t] : a[in][t];
        in = 1 - in;
        __syncthreads();
      }
      y[blockIdx.x * 256 + t] = a[in][t];
    }""")
    x = np.random.default_rng(4).integers(0, 9, 512).astype(np.float32)
    y = np.zeros_like(x)
    device.run("scan", 2, 256, device.array("x", x), device.array("y", y))
    np.testing.assert_array_equal(y.reshape(2, 256), x.reshape(2, 256).cumsum(axis=1))


def test_histograms_with_global_and_shared_atomics() -> None:
    device = cuda(r"""
    extern "C" __global__ void simple(const unsigned char* x, unsigned* h, int n) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(h + x[i], 1u);
    }
    extern "C" __global__ void private_(const unsigned char* x, unsigned* h, int n) {
      __shared__ unsigned mine[256];
      mine[threadIdx.x] = 0;
      __syncthreads();
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(mine + x[i], 1u);
      __syncthreads();
      if (mine[threadIdx.x]) atomicAdd(h + threadIdx.x, mine[threadIdx.x]);
    }""")
    x = np.random.default_rng(5).integers(0, 256, 10_000).astype(np.uint8) & np.uint8(0x7F)
    source = device.array("x", x)
    for entry in ("simple", "private_"):
        h = np.zeros(256, np.uint32)
        device.run(entry, 7, 256, source, device.array(entry, h), np.int32(len(x)))
        np.testing.assert_array_equal(h, np.bincount(x, minlength=256))


def test_bitonic_sort() -> None:
    device = cuda(r"""
    extern "C" __global__ void sort(unsigned* x) {
      __shared__ unsigned a[512];
      int t = threadIdx.x;
      a[t] = x[t];
      __syncthreads();
      for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
          int o = t ^ j;
          if (o > t) {
            bool up = (t & k) == 0;
            if ((a[t] > a[o]) == up) { unsigned s = a[t]; a[t] = a[o]; a[o] = s; }
          }
          __syncthreads();
        }
      x[t] = a[t];
    }""")
    x = np.random.default_rng(6).integers(0, 2**32, 512, dtype=np.uint64).astype(np.uint32)
    expected = np.sort(x)
    device.run("sort", 1, 512, device.array("x", x))
    np.testing.assert_array_equal(x, expected)


def test_constants_locals_and_structs() -> None:
    device = cuda(r"""
    struct Point { char tag; short count[3]; float w; double scale; };
    __constant__ int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    __device__ float bias[2] = {0.5f, -0.5f};
    extern "C" __global__ void mixed(Point p, float* out, const int* pick) {
      int i = threadIdx.x, mine[8];
      for (int k = 0; k < 8; ++k) mine[k] = table[k] * i;
      out[i] = mine[pick[i]] + p.count[i % 3] * p.w + bias[i & 1] + (float)p.scale + p.tag;
    }""")
    out = np.zeros(64, np.float32)
    pick = np.random.default_rng(7).integers(0, 8, 64).astype(np.int32)
    point = np.zeros(
        1, np.dtype([("tag", "i1"), ("count", "i2", 3), ("w", "f4"), ("scale", "f8")], align=True)
    )
    point["tag"], point["count"], point["w"], point["scale"] = -3, [1, -2, 300], 0.25, 7.0
    device.run("mixed", 1, 64, point.tobytes(), device.array("out", out), device.array("pick", pick))
    i = np.arange(64)
    table = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    expected = table[pick] * i + point["count"][0][i % 3] * 0.25 + np.where(i & 1, -0.5, 0.5) + 7.0 - 3
    np.testing.assert_array_equal(out, expected.astype(np.float32))


def test_half_precision_headers() -> None:
    device = cuda(r"""
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    extern "C" __global__ void halves(const __half* a, const __half* b, __half* sum, __half2* fused,
                                      __nv_bfloat16* wide, float* as_float) {
      int i = threadIdx.x;
      sum[i] = __hadd(a[i], b[i]);
      as_float[i] = __half2float(__hmul(a[i], b[i]));
      wide[i] = __float2bfloat16(__half2float(a[i]) * 3.0f);
      if (i < 32) fused[i] = __hfma2(((const __half2*)a)[i], ((const __half2*)b)[i], ((const __half2*)a)[i]);
    }""")
    rng = np.random.default_rng(8)
    a, b = rng.standard_normal(64).astype(np.float16), rng.standard_normal(64).astype(np.float16)
    total, fused = np.zeros(64, np.float16), np.zeros(64, np.float16)
    wide, floats = np.zeros(64, np.uint16), np.zeros(64, np.float32)
    arrays = [("a", a), ("b", b), ("s", total), ("f", fused), ("w", wide), ("g", floats)]
    device.run("halves", 1, 64, *(device.array(name, data) for name, data in arrays))
    np.testing.assert_array_equal(total, a + b)
    np.testing.assert_array_equal(floats, (a * b).astype(np.float32))
    exact = a.astype(np.float64) * b.astype(np.float64) + a.astype(np.float64)
    np.testing.assert_array_equal(fused, exact.astype(np.float16))
    tripled = (a.astype(np.float32) * np.float32(3)).view(np.uint32)
    rounded = (tripled + np.uint32(0x7FFF) + (tripled >> np.uint32(16) & np.uint32(1))) >> np.uint32(16)
    np.testing.assert_array_equal(wide, rounded.astype(np.uint16))


def test_grid_in_three_dimensions_and_wide_indices() -> None:
    device = cuda(r"""
    extern "C" __global__ void where(unsigned long long* out) {
      unsigned long long b = blockIdx.x + gridDim.x * (blockIdx.y + 1ull * gridDim.y * blockIdx.z);
      unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
      unsigned n = blockDim.x * blockDim.y * blockDim.z;
      out[b * n + t] = (1ull << 40) * blockIdx.z + (1ull << 32) * blockIdx.y + (1u << 24) * blockIdx.x
          + threadIdx.x + 256 * threadIdx.y + 65536 * threadIdx.z;
    }""")
    grid, block = (3, 4, 5), (5, 3, 2)
    out = np.zeros(60 * 30, np.uint64)
    device.run("where", grid, block, device.array("out", out))
    z, y, x, tz, ty, tx = np.meshgrid(*map(np.arange, (5, 4, 3, 2, 3, 5)), indexing="ij")
    expected = (z << 40) + (y << 32) + (x << 24) + tx + 256 * ty + 65536 * tz
    np.testing.assert_array_equal(out, expected.reshape(-1).astype(np.uint64))


def test_a_kernel_runs_again_with_other_memory() -> None:
    from planc.simt import Memory, prepare
    from tests.simt.cuda import pack

    kernel = prepare(cuda(SAXPY).module, "saxpy")
    for scale in (1.0, 2.0):
        memory = Memory()
        x, y = np.ones(10, np.float32), np.zeros(10, np.float32)
        pointers = [memory.map(name, data.view(np.uint8)) for name, data in (("x", x), ("y", y))]
        kernel.run((1, 1, 1), (32, 1, 1), 0, pack(np.float32(scale), *pointers, np.int32(10)), memory)
        np.testing.assert_array_equal(y, np.full(10, scale, np.float32))


def test_reset_gives_variables_their_first_values() -> None:
    device = cuda(r"""
    __device__ int count = 5;
    extern "C" __global__ void bump(int* out) { *out = atomicAdd(&count, 1); }""")
    out = np.zeros(1, np.int32)
    pointer = device.array("out", out)
    seen = []
    for step in range(4):
        if step == 2:
            device.variables.reset()
        device.run("bump", 1, 1, pointer)
        seen.append(int(out[0]))
    assert seen == [5, 6, 5, 6]
