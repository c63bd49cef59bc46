// Element by element: one thread or one turn of a grid-stride loop per element.
// Above each kernel: the launch and the right answer per argument (see tests/effects/table.py).
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T (gridDim.x * blockDim.x)
#define K extern "C" __global__ void

// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K copy_guarded(const float* x, float* y, int n) { int i = I; if (i < n) y[i] = x[i]; }
// launch: 4 x 250: R(4000, ALL), W(4000, ALL)
K copy_exact(const float* x, float* y) { int i = I; y[i] = x[i]; }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K copy_unsigned(const float* x, float* y, unsigned n) { unsigned i = I; if (i < n) y[i] = x[i]; }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), L(1000)
K copy_long(const float* x, float* y, long long n) { long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i]; }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), L(1000)
K copy_size_t(const float* x, float* y, unsigned long long n) { size_t i = I; if (i < n) y[i] = x[i]; }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K early_return(const float* x, float* y, int n) { int i = I; if (i >= n) return; y[i] = x[i] + 1; }
// launch: 2 x 64: R(4000, ALL), W(4000, ALL), 1000
K grid_stride(const float* x, float* y, int n) { for (int i = I; i < n; i += T) y[i] = x[i]; }
// launch: 2 x 64: R(4000, ALL), W(4000, ALL), 1000u
K grid_stride_unsigned(const float* x, float* y, unsigned n) { for (unsigned i = I; i < n; i += T) y[i] = x[i]; }
// launch: 2 x 64: R(4000, ALL), W(4000, ALL), L(1000)
K grid_stride_long(const float* x, float* y, long long n) { for (long long i = I; i < n; i += T) y[i] = x[i]; }
// launch: 16 x 64: RW(4000, ALL), R(4000, ALL), F, 1000
K saxpy(float* y, const float* x, float a, int n) { int i = I; if (i < n) y[i] += a * x[i]; }
// launch: 2 x 64: RW(4000, ALL), R(4000, ALL), F, 1000
K saxpy_loop(float* y, const float* x, float a, int n) { for (int i = I; i < n; i += T) y[i] += a * x[i]; }
// launch: 4 x 256: R(4000, ALL), R(4000, ALL), W(4000, ALL), 1000
K add3(const float* a, const float* b, float* c, int n) { int i = I; if (i < n) c[i] = a[i] + b[i]; }
// launch: 4 x 256: W(4000, ALL), F, 1000
K fill(float* y, float v, int n) { int i = I; if (i < n) y[i] = v; }
// launch: 4 x 256: RW(4000, ALL), 1000
K scale_in_place(float* y, int n) { int i = I; if (i < n) y[i] *= 2; }
// launch: 1 x 256: R(4000, ALL), W(4000, ALL)
K float4_copy(const float4* x, float4* y) { int i = I; if (i < 250) y[i] = x[i]; }
// launch: 2 x 256: R(4000, ALL), W(4000, ALL), 500
K float2_copy(const float2* x, float2* y, int n) { int i = I; if (i < n) y[i] = x[i]; }
// launch: 1 x 256: R(4000, ALL), W(4000, ALL), 1000
K four_each(const float* x, float* y, int n) { int i = I * 4; if (i + 3 < n) for (int k = 0; k < 4; k++) y[i + k] = x[i + k]; }
// launch: 4 x 256: R(1000, ALL), W(1000, ALL), 1000
K bytes(const char* x, char* y, int n) { int i = I; if (i < n) y[i] = x[i]; }
// launch: 4 x 256: R(2000, ALL), W(2000, ALL), 1000
K shorts(const short* x, short* y, int n) { int i = I; if (i < n) y[i] = x[i] + 1; }
// launch: 4 x 256: R(8000, ALL), W(8000, ALL), 1000
K doubles(const double* x, double* y, int n) { int i = I; if (i < n) y[i] = x[i] * 2; }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K reversed(const float* x, float* y, int n) { int i = I; if (i < n) y[n - 1 - i] = x[i]; }
// launch: 2 x 256: R(4000, BOX(0, 500, 8)), W(2000, ALL), 500
K every_second(const float* x, float* y, int n) { int i = I; if (i < n) y[i] = x[2 * i]; }
// launch: 2 x 256: R(4000, BOX(4, 500, 8)), W(4000, BOX(0, 500, 8)), 500
K odd_to_even(const float* x, float* y, int n) { int i = I; if (i < n) y[2 * i] = x[2 * i + 1]; }
// launch: 4 x 256: W(8000, BOX(4000, 1000, 4)), 1000
K upper_half(float* y, int n) { int i = I; if (i < n) y[n + i] = 1; }
// launch: 4 x 256: W(4000, BOX(400, 800, 4)), 100, 900
K between(float* y, int a, int b) { int i = I; if (i >= a && i < b) y[i] = 1; }
// launch: 4 x 256: W(4000, BOX(400, 800, 4)), 100, 900
K between_unsigned(float* y, unsigned a, unsigned b) { unsigned i = I; if (i >= a && i < b) y[i] = 1; }
// launch: 4 x 256: W(4000, BOX(0, 500, 4)), 1000
K first_half(float* y, int n) { int i = I; if (2 * i < n) y[i] = 1; }
// launch: 4 x 256: W(4000, MAY(0, 1000, 4)), R(4000, ALL), 1000
K where_positive(float* y, const float* x, int n) { int i = I; if (i < n && x[i] > 0) y[i] = 1; }
// launch: 4 x 256: W(4000, MAY(0, 1000, 4)), R(4000, ALL), 1000
K branch_on_data(float* y, const int* x, int n) { int i = I; if (i >= n) return; if (x[i] == 3) y[i] = 1; else if (x[i] > 7) y[i] = 2; }
// launch: 4 x 256: W(4000, MAY(0, 1000, 4)), 1000
K both_branches(float* y, int n) { int i = I; if (i >= n) return; if (i & 1) y[i] = sinf(i); else y[i] = cosf(i); }
// launch: 1 x 1: W(4, ALL)
K one_thread(float* y) { *y = 1; }
// launch: 4 x 256: W(4000, BOX(0, 1, 4))
K thread_zero(float* y) { if (I == 0) y[0] = 1; }
// launch: 4 x 256: W(16, ALL)
K block_leader(float* y) { if (threadIdx.x == 0) y[blockIdx.x] = 1; }
// launch: 4 x 256: N(4000), 1000
K nothing(float* y, int n) { }
// launch: 4 x 256: N(4000), W(4000, ALL), 1000
K unused_argument(const float* x, float* y, int n) { int i = I; if (i < n) y[i] = 1; }
// launch: 4 x 256: N(4000), 2000
K never(float* y, int n) { if (n < 1000) y[I] = 1; }
// launch: 2 x 64: R(4000, ALL), W(4000, ALL), 1000
K pointer_walk(const float* x, float* y, int n) { const float* e = x + n; float* o = y + I; for (const float* p = x + I; p < e; p += T, o += T) *o = *p; }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K read_only_loads(const float* __restrict__ x, float* __restrict__ y, int n) { int i = I; if (i < n) y[i] = __ldg(x + i); }
// launch: 4 x 256: R(4000, MAY(4, (333, 12), (2, 4))), W(4000, ALL), 1000
K select_load(const float* x, float* y, int n) { int i = I; if (i < n) y[i] = i % 3 ? x[i] : 0.f; }
// launch: 4 x 256: RW(4000, ALL), 1000
K volatile_access(volatile float* y, int n) { int i = I; if (i < n) y[i] = y[i] + 1; }
