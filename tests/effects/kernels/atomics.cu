// Atomics, reductions, scans, histograms, sorts.
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T (gridDim.x * blockDim.x)
#define K extern "C" __global__ void

// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K sum_atomic(const float* x, float* s, int n) { int i = I; if (i < n) atomicAdd(s, x[i]); }
// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K sum_int(const int* x, int* s, int n) { int i = I; if (i < n) atomicAdd(s, x[i]); }
// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K max_atomic(const int* x, int* s, int n) { int i = I; if (i < n) atomicMax(s, x[i]); }
// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K min_unsigned(const unsigned* x, unsigned* s, int n) { int i = I; if (i < n) atomicMin(s, x[i]); }
// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K bits_or(const unsigned* x, unsigned* s, int n) { int i = I; if (i < n) atomicOr(s, x[i]); }
// launch: 4 x 256: R(8000, ALL), RED(8), 1000
K sum_double(const double* x, double* s, int n) { int i = I; if (i < n) atomicAdd(s, x[i]); }
// launch: 4 x 256: R(4000, ALL), RW(8), 1000
K two_operators(const int* x, int* s, int n) { int i = I; if (i < n) { atomicAdd(s, x[i]); atomicMax(s, x[i]); } }
// launch: 4 x 256: RW(4), W(4096, MAY(0, 1024, 4))
K ticket(int* s, int* y) { int t = atomicAdd(s, 1); if (t < 1024 && t >= 0) y[t] = I; }
// launch: 4 x 256: RW(4)
K inc_ticket(unsigned* s) { atomicInc(s, 100); }
// launch: 4 x 256: RW(4)
K exchange(int* s) { atomicExch(s, I); }
// launch: 1 x 32: RW(4)
K cas_loop(float* s) { int* p = (int*)s; int old = *p, seen; do { seen = old; old = atomicCAS(p, seen, __float_as_int(__int_as_float(seen) * 2 + 1)); } while (old != seen); }
// launch: 4 x 256: RW(4), 1000
K block_scope(int* s, int n) { atomicAdd_block(s, 1); }
// launch: 4 x 256: RED(4), 1000
K system_scope(int* s, int n) { atomicAdd_system(s, 1); }
// launch: 4 x 256: R(4000), RED(1024, MAY(0, 256, 4)), 1000
K histogram(const int* x, int* h, int n) { int i = I; if (i < n) atomicAdd(h + (x[i] & 255), 1); }
// launch: 2 x 256: R(4000), RED(1024, ALL), 1000
K histogram_shared(const int* x, int* h, int n) { __shared__ int s[256]; s[threadIdx.x] = 0; __syncthreads(); for (int i = I; i < n; i += T) atomicAdd(s + (x[i] & 255), 1); __syncthreads(); atomicAdd(h + threadIdx.x, s[threadIdx.x]); }
// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K reduce_shared(const float* x, float* s, int n) { __shared__ float v[256]; int t = threadIdx.x, i = I; v[t] = i < n ? x[i] : 0; __syncthreads(); for (int k = 128; k > 0; k >>= 1) { if (t < k) v[t] += v[t + k]; __syncthreads(); } if (t == 0) atomicAdd(s, v[0]); }
// launch: 4 x 256: R(4000, ALL), W(16, ALL), 1000
K reduce_blocks(const float* x, float* y, int n) { __shared__ float v[256]; int t = threadIdx.x, i = I; v[t] = i < n ? x[i] : 0; __syncthreads(); for (int k = blockDim.x / 2; k > 0; k /= 2) { if (t < k) v[t] += v[t + k]; __syncthreads(); } if (t == 0) y[blockIdx.x] = v[0]; }
// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K reduce_warp(const float* x, float* s, int n) { int i = I; float v = i < n ? x[i] : 0; for (int k = 16; k; k >>= 1) v += __shfl_xor_sync(~0u, v, k); if ((threadIdx.x & 31) == 0) atomicAdd(s, v); }
// launch: 1 x 256: R(1024, ALL), W(1024, ALL)
K scan_block(const float* x, float* y) { __shared__ float v[256]; int t = threadIdx.x; v[t] = x[t]; __syncthreads(); for (int k = 1; k < 256; k *= 2) { float a = t >= k ? v[t - k] : 0; __syncthreads(); v[t] += a; __syncthreads(); } y[t] = v[t]; }
// launch: 4 x 256: R(4096, ALL), W(4096, ALL), W(16, ALL)
K scan_with_sums(const float* x, float* y, float* sums) { __shared__ float v[256]; int t = threadIdx.x; v[t] = x[I]; __syncthreads(); for (int k = 1; k < 256; k *= 2) { float a = t >= k ? v[t - k] : 0; __syncthreads(); v[t] += a; __syncthreads(); } y[I] = v[t]; if (t == 255) sums[blockIdx.x] = v[t]; }
// launch: 1 x 128: RW(1024, ALL)
K bitonic_shared(float* x) { __shared__ float v[256]; int t = threadIdx.x; v[t] = x[t]; v[t + 128] = x[t + 128]; for (int k = 2; k <= 256; k *= 2) for (int j = k / 2; j > 0; j /= 2) { __syncthreads(); int a = 2 * j * (t / j) + t % j, b = a + j; bool up = (a & k) == 0; if ((v[a] > v[b]) == up) { float c = v[a]; v[a] = v[b]; v[b] = c; } } __syncthreads(); x[t] = v[t]; x[t + 128] = v[t + 128]; }
// launch: 1 x 256: RW(1024), 8, 4
K bitonic_step(float* x, int k, int j) { int i = I, p = i ^ j; if (p > i) { float a = x[i], b = x[p]; if (((i & k) == 0) == (a > b)) { x[i] = b; x[p] = a; } } }
// launch: 4 x 256: RW(4000), 1000, 0
K odd_even_step(float* x, int n, int odd) { int i = 2 * I + odd; if (i + 1 < n) { float a = x[i], b = x[i + 1]; if (a > b) { x[i] = b; x[i + 1] = a; } } }
// launch: 4 x 256: R(4000, ALL), W(4000, MAY(0, 1000, 4)), RW(4), 1000
K compact(const int* x, int* y, int* count, int n) { int i = I; if (i < n && x[i] > 0) { int at = atomicAdd(count, 1); if (at >= 0 && at < n) y[at] = x[i]; } }
// launch: 4 x 256: RW(4), R(4000, ALL), W(4, MAY(0, 1, 4)), 1000
K last_block(int* count, const float* x, float* y, int n) { float v = I < n ? x[I] : 0; __threadfence(); if (threadIdx.x == 0) { int t = atomicAdd(count, 1); if (t == gridDim.x - 1) *y = v; } }
// launch: 1 x 32: RW(4), W(4)
K spin_lock(int* lock, float* y) { if (threadIdx.x == 0) { while (atomicCAS(lock, 0, 1) != 0) ; *y = 1; __threadfence(); atomicExch(lock, 0); } }
// launch: 4 x 256: RW(4), 5
K read_and_add(int* s, int n) { if (*s < n) atomicAdd(s, 1); }
// launch: 2 x 64: R(4000, ALL), RED(64, MAY(0, 16, 4)), 1000
K strided_bins(const float* x, float* h, int n) { for (int i = I; i < n; i += T) atomicAdd(h + i % 16, x[i]); }
