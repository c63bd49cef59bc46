// Loops: counts, steps, nests, unrolling, vectors, breaks, wraps.
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T (gridDim.x * blockDim.x)
#define K extern "C" __global__ void

// launch: 1 x 1: R(4000, ALL), W(4000, ALL), 1000
K serial(const float* x, float* y, int n) { for (int i = 0; i < n; i++) y[i] = x[i]; }
// launch: 1 x 1: W(4000, ALL), 1000
K downwards(float* y, int n) { for (int i = n - 1; i >= 0; i--) y[i] = 1; }
// launch: 1 x 1: W(4000, ALL), 1000
K while_loop(float* y, int n) { int i = 0; while (i < n) { y[i] = i; i++; } }
// launch: 1 x 1: W(4000, ALL), 1000
K do_loop(float* y, int n) { int i = 0; do { y[i] = i; } while (++i < n); }
// launch: 1 x 1: W(4000, ALL), 1000
K pointers(float* y, int n) { for (float *p = y, *e = y + n; p != e; p++) *p = 1; }
// launch: 1 x 1: W(4000, BOX(0, 334, 12)), 1000
K step_three(float* y, int n) { for (int i = 0; i < n; i += 3) y[i] = 1; }
// launch: 2 x 64: R(4000, ALL), W(4000, ALL), 1000
K not_unrolled(const float* x, float* y, int n) {
#pragma unroll 1
for (int i = I; i < n; i += T) y[i] = x[i]; }
// launch: 1 x 64: R(4096, ALL), W(4096, ALL)
K fixed_count(const float* x, float* y) { for (int k = 0; k < 16; k++) y[k * 64 + threadIdx.x] = x[k * 64 + threadIdx.x]; }
// launch: 1 x 64: R(4096, ALL), W(4096, ALL)
K fixed_rolled(const float* x, float* y) {
#pragma unroll 1
for (int k = 0; k < 16; k++) y[k * 64 + threadIdx.x] = x[k * 64 + threadIdx.x]; }
// launch: 1 x 64: R(4096, ALL), W(4096, ALL), 16
K chunk_per_thread(const float* x, float* y, int c) { for (int k = 0; k < c; k++) y[threadIdx.x * c + k] = x[threadIdx.x * c + k]; }
// launch: 2 x 64: R(4096, ALL), W(4096, ALL), 1024
K unrolled_four(const float* x, float* y, int n) {
#pragma unroll 4
for (int i = I; i < n; i += 128) y[i] = x[i]; }
// launch: 2 x 64: R(4000, ALL), W(4000, ALL), 250
K float4_stride(const float4* x, float4* y, int n) { for (int i = I; i < n; i += T) y[i] = x[i]; }
// launch: 2 x 64: R(4012, ALL), W(4012, ALL), 1003
K vector_and_rest(const float* x, float* y, int n) { int m = n / 4; for (int i = I; i < m; i += T) ((float4*)y)[i] = ((const float4*)x)[i]; int r = m * 4 + I; if (r < n) y[r] = x[r]; }
// launch: 1 x 32: W(12800, ALL), 50, 64
K nested(float* y, int ny, int nx) { for (int j = 0; j < ny; j++) for (int i = threadIdx.x; i < nx; i += 32) y[j * nx + i] = 1; }
// launch: 1 x 1: W(24000, ALL), 10, 20, 30
K triple(float* y, int nz, int ny, int nx) { for (int k = 0; k < nz; k++) for (int j = 0; j < ny; j++) for (int i = 0; i < nx; i++) y[(k * ny + j) * nx + i] = 1; }
// launch: 1 x 1: W(24000, ALL), 10, 20, 30
K flat_counter(float* y, int nz, int ny, int nx) { int a = 0; for (int k = 0; k < nz; k++) for (int j = 0; j < ny; j++) for (int i = 0; i < nx; i++) y[a++] = 1; }
// launch: 2 x 16: W(12800, ALL), 50, 64
K rows_by_threads(float* y, int ny, int nx) { for (int j = I; j < ny; j += T) for (int i = 0; i < nx; i++) y[j * nx + i] = 1; }
// launch: (2, 3) x (8, 8): W(12000, ALL), 60, 50
K stride_2d(float* y, int nx, int ny) { for (int j = blockIdx.y * blockDim.y + threadIdx.y; j < ny; j += gridDim.y * blockDim.y) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < nx; i += gridDim.x * blockDim.x) y[j * nx + i] = 1; }
// launch: 1 x 64: W(4000), R(4000), 1000
K break_on_data(float* y, const float* x, int n) { for (int i = threadIdx.x; i < n; i += 64) { if (x[i] > 1) break; y[i] = 1; } }
// launch: 1 x 64: W(4000), R(4000, ALL), 1000
K continue_on_data(float* y, const float* x, int n) { for (int i = threadIdx.x; i < n; i += 64) { if (x[i] > 1) continue; y[i] = 1; } }
// launch: 1 x 64: R(256, ALL), W(256, ALL), 10
K iterate(const float* x, float* y, int steps) { float v = x[threadIdx.x]; for (int s = 0; s < steps; s++) v = v * v + 1; y[threadIdx.x] = v; }
// launch: 1 x 64: R(256, ALL), W(256, ALL)
K until_converged(const float* x, float* y) { float v = x[threadIdx.x]; while (v > 1e-3f) v *= 0.5f; y[threadIdx.x] = v; }
// launch: 1 x 32: W(4096)
K powers(float* y) { for (int i = 1; i < 1024; i *= 2) y[i] = 1; }
// launch: 1 x 32: W(4096), 1
K halving(float* y, int n) { for (int i = 512; i > 0; i >>= 1) y[i + (threadIdx.x & 1)] = 1; }
// launch: 1 x 64: W(4096, MAY(0, 1024, 4)), 1000
K clamp(float* y, int n) { for (int k = 0; k < 32; k++) { int i = threadIdx.x * 17 + k * 29; i = i < 0 ? 0 : i > 1023 ? 1023 : i; y[i] = 1; } }
// launch: 1 x 64: R(4096, MAY(0, 1024, 4)), W(256, ALL)
K ring(const float* x, float* y) { float s = 0; int i = threadIdx.x; for (int k = 0; k < 100; k++) { s += x[i]; i = (i + 7) & 1023; } y[threadIdx.x] = s; }
// launch: 1 x 64: R(4096), W(256, ALL)
K chase(const int* next, int* y) { int i = threadIdx.x; for (int k = 0; k < 10; k++) i = next[i] & 1023; y[threadIdx.x] = i; }
// launch: 1 x 64: RW(256, ALL), 5
K repeated(float* y, int n) { for (int s = 0; s < n; s++) { y[threadIdx.x] += 1; __syncthreads(); } }
// launch: 1 x 64: R(260, ALL), W(256, ALL), 64
K neighbours(const float* x, float* y, int n) { for (int i = threadIdx.x; i < n; i += 64) y[i] = x[i + 1] - x[i]; }
// launch: 1 x 64: N(256), 0
K no_turns(float* y, int n) { for (int i = threadIdx.x; i < n; i += 64) y[i] = 1; }
// launch: (8, 1) x (32, 4): R(4096, ALL), W(4096, ALL)
K two_d_block(const float* x, float* y) { int i = (blockIdx.x * 4 + threadIdx.y) * 32 + threadIdx.x; y[i] = x[i]; }
// launch: 8 x 128: R(4096, ALL), W(4096, ALL)
K warp_lane(const float* x, float* y) { int w = I / 32, l = I % 32; y[w * 32 + l] = x[w * 32 + 31 - l]; }
// launch: 8 x 128: W(128, ALL)
K warp_leader(float* y) { if (threadIdx.x % 32 == 0) y[I / 32] = 1; }
// launch: 4 x 64: W(1024, ALL), 4
K interleaved(float* y, int m) { for (int k = 0; k < m; k++) if (k == blockIdx.x) y[threadIdx.x * m + k] = 1; }
