// Device functions, struct arguments, variables of the module, selected and loaded pointers, printing.
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define T (gridDim.x * blockDim.x)
#define K extern "C" __global__ void
typedef float (*Function)(float);
struct Pair { const float* x; float* y; int n; };
struct View { float* data; int nx, ny; };
struct Deep { int tag; Pair pair; float scale; };
struct Table { float* p[4]; };
__device__ float table[256];
__device__ int counter;
__constant__ float weights[16];
__device__ float* hidden;
extern "C" __device__ float plain(float x) { return x + 1; }
__device__ __noinline__ float load(const float* p, int i) { return p[i]; }
__device__ __noinline__ void store(float* p, int i, float v) { p[i] = v; }
__device__ __noinline__ float sum(const float* p, int n) { float s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
__device__ __noinline__ float* at(float* p, int i) { return p + i; }
__device__ __noinline__ void both(const float* a, float* b, int i) { store(b, i, load(a, i)); }
__device__ __noinline__ void add_to(float* p, float v) { atomicAdd(p, v); }
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
__device__ __noinline__ float guarded(const float* p, int i, int n) { if (i >= n) return 0; return p[i]; }

// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K call_load(const float* x, float* y, int n) { int i = I; if (i < n) y[i] = load(x, i); }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K call_store(const float* x, float* y, int n) { int i = I; if (i < n) store(y, i, x[i]); }
// launch: 4 x 256: R(4000, ALL), W(4000, ALL), 1000
K call_nested(const float* x, float* y, int n) { int i = I; if (i < n) both(x, y, i); }
// launch: 1 x 50: R(12000, ALL), W(200, ALL), 60
K call_loop(const float* x, float* y, int n) { int i = I; y[i] = sum(x + i * n, n); }
// launch: 4 x 256: W(4000, ALL), 1000
K call_pointer(float* y, int n) { int i = I; if (i < n) *at(y, i) = 1; }
// launch: 4 x 256: R(4000, ALL), RED(4), 1000
K call_atomic(const float* x, float* s, int n) { int i = I; if (i < n) add_to(s, x[i]); }
// launch: 4 x 256: R(4000, ALL), W(4096, ALL), 1000
K call_guarded(const float* x, float* y, int n) { int i = I; y[i] = guarded(x, i, n); }
// launch: 1 x 32: W(128, MAY(0, 32, 4))
K call_recursive(int* y) { y[threadIdx.x] = fib(threadIdx.x & 3); }
// launch only: 1 x 32: W(128, MAY(0, 32, 4)), L(0)
K call_indirect(float* y, Function f) { y[threadIdx.x] = f(1); }
// launch: 4 x 256: [R(4000, ALL), W(4000, ALL), 1000]
K struct_pair(Pair p) { int i = I; if (i < p.n) p.y[i] = p.x[i]; }
// launch: (4, 8) x (16, 8): [W(12000, ALL), 60, 50]
K struct_view(View v) { int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y; if (i < v.nx && j < v.ny) v.data[j * v.nx + i] = 1; }
// launch: 4 x 256: [7, [R(4000, ALL), W(4000, ALL), 1000], F]
K struct_nested(Deep d) { int i = I; if (i < d.pair.n) d.pair.y[i] = d.pair.x[i] * d.scale; }
// launch: 4 x 256: [R(4000, ALL), N(4000), 1000], W(4000, ALL)
K struct_and_pointer(Pair p, float* z) { int i = I; if (i < p.n) z[i] = p.x[i]; }
// launch: 1 x 64: [W(256, ALL), W(256, ALL), N(256), W(256, ALL)]
K struct_array(Table t) { t.p[0][threadIdx.x] = 1; t.p[1][threadIdx.x] = 2; t.p[3][threadIdx.x] = 3; }
// launch: 1 x 64: W(1024, ALL), globals=dict(table="read")
K read_global(float* y) { for (int k = 0; k < 4; k++) y[threadIdx.x + 64 * k] = table[threadIdx.x + 64 * k]; }
// launch: 1 x 256: R(1024, ALL), globals=dict(table="write")
K write_global(const float* x) { table[threadIdx.x] = x[threadIdx.x]; }
// launch: 1 x 64: globals=dict(counter="reduce")
K count_global() { atomicAdd(&counter, 1); }
// launch: 1 x 64: globals=dict(table="read-write")
K change_global() { table[threadIdx.x] += 1; }
// launch: 4 x 256: R(4060, ALL), W(4000, ALL), 1000, globals=dict(weights="read")
K constant_filter(const float* x, float* y, int n) { int i = I; if (i < n) { float s = 0; for (int k = 0; k < 16; k++) s += weights[k] * x[i + k]; y[i] = s; } }
// launch only: 1 x 64: N(256), globals=dict(hidden="read"), unknown=True
K hidden_pointer(float* y) { hidden[threadIdx.x] = 1; }
// launch only: 1 x 4: R(32, ALL), 64, unknown=True
K pointer_table(float** p, int n) { p[threadIdx.x][0] = 1; }
// launch only: 1 x 64: U(256), W(8, ALL)
K stored_pointer(float* x, float** out) { if (threadIdx.x == 0) *out = x; }
// launch: 4 x 256: W(4000), W(4000), 1000, 500
K select_pointer(float* a, float* b, int n, int m) { int i = I; if (i < n) { float* p = i < m ? a : b; p[i] = 1; } }
// launch: 4 x 256: W(4000), W(4000), R(4000), 1000
K select_by_data(float* a, float* b, const int* c, int n) { int i = I; if (i < n) { float* p = c[i] ? a : b; p[i] = 1; } }
// launch: 4 x 256: R(4000), W(4000), R(4000), 1000, 1
K either_source(const float* a, float* y, const float* b, int n, int which) { int i = I; const float* p = b; if (which > threadIdx.x) p = a; if (i < n) y[i] = p[i]; }
// launch: 1 x 64: RW(256, ALL), RW(256, ALL), 4
K ping_pong(float* a, float* b, int steps) { int t = threadIdx.x; float *p = a, *q = b; for (int s = 0; s < steps; s++) { q[t] = p[t] + 1; float* r = p; p = q; q = r; __syncthreads(); } }
// launch: 4 x 256: R(4000, MAY(0, 256, 4)), R(1000, ALL), W(4000, ALL), 1000
K gather(const float* x, const unsigned char* at, float* y, int n) { int i = I; if (i < n) y[i] = x[at[i]]; }
// launch: 4 x 256: R(4000), R(4000, ALL), W(4000, ALL), 1000
K gather_checked(const float* x, const int* at, float* y, int n) { int i = I; if (i < n) { int k = at[i]; y[i] = k >= 0 && k < n ? x[k] : 0; } }
// launch: 4 x 256: R(4000), R(4000, ALL), W(4000, ALL), 1000
K gather_open(const float* x, const int* at, float* y, int n) { int i = I; if (i < n) y[i] = x[at[i]]; }
// launch: 4 x 256: R(4000, ALL), R(4000, ALL), W(4000), 1000
K scatter_open(const float* x, const int* at, float* y, int n) { int i = I; if (i < n) y[at[i]] = x[i]; }
// launch: 4 x 256: R(4000, ALL), R(4000, ALL), RED(4000), 1000
K scatter_add(const float* x, const int* at, float* y, int n) { int i = I; if (i < n) atomicAdd(y + at[i], x[i]); }
// launch: 4 x 256: R(8000), R(4000), W(4000), R(4000), 1000
K spmv(const int* rows, const int* columns, float* y, const float* x, int n) { int i = I; if (i < n) { float s = 0; for (int k = rows[i]; k < rows[i + 1]; k++) s += x[columns[k]]; y[i] = s; } }
// launch: 4 x 256: R(4000), R(4000, ALL), W(4000, ALL), 1000
K binary_search(const float* x, const float* v, int* y, int n) { int i = I; if (i >= n) return; int lo = 0, hi = n; while (lo < hi) { int mid = (lo + hi) / 2; if (x[mid] < v[i]) lo = mid + 1; else hi = mid; } y[i] = lo; }
// launch: 1 x 32: R(128, ALL), 32, external=True
K prints(const float* x, int n) { printf("%f\n", x[threadIdx.x]); }
// launch: 1 x 32: RW(128, ALL), 32
K local_array(float* x, int n) { float v[4]; for (int k = 0; k < 4; k++) v[k] = x[threadIdx.x] + k; x[threadIdx.x] = v[threadIdx.x & 3]; }
// launch: 1 x 64: R(256, ALL), W(256, ALL)
K shared_copy(const float* x, float* y) { __shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); y[threadIdx.x] = s[63 - threadIdx.x]; }
// launch: 1 x 64: R(256, ALL), W(256, ALL)
K generic_shared(const float* x, float* y) { __shared__ float s[64]; store(s, threadIdx.x, x[threadIdx.x]); __syncthreads(); y[threadIdx.x] = load(s, 63 - threadIdx.x); }
// launch: 1 x 64: W(256, ALL), R(256, ALL), 3
K switch_table(float* y, const float* x, int op) { float v = x[threadIdx.x]; switch (op) { case 0: v += 1; break; case 1: v *= 2; break; case 2: v -= 3; break; case 3: v = sqrtf(v); break; case 4: v = v * v; break; case 5: v = v / 3; break; } y[threadIdx.x] = v; }
// launch: 1 x 64: W(256, ALL), R(256, ALL), R(256, ALL)
K switch_by_data(float* y, const float* x, const int* op) { float v = x[threadIdx.x]; switch (op[threadIdx.x]) { case 0: v += 1; break; case 1: v *= 2; break; case 2: v -= 3; break; case 3: v = sqrtf(v); break; case 4: v = v * v; break; case 5: v = v / 3; break; } y[threadIdx.x] = v; }
// launch: 1 x 64: R(1024, ALL), W(1024, ALL)
K async_copy(const float4* x, float4* y) { __shared__ float4 s[64]; unsigned at = __cvta_generic_to_shared(s + threadIdx.x); asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group; cp.async.wait_group 0;" :: "r"(at), "l"(__cvta_generic_to_global(x + threadIdx.x)) : "memory"); __syncthreads(); y[threadIdx.x] = s[threadIdx.x]; }
// launch: 1 x 64: R(256, ALL), W(256, ALL)
K inline_assembly(const float* x, float* y) { float v; asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(__cvta_generic_to_global(x + threadIdx.x))); y[threadIdx.x] = v; }
// launch only: 1 x 64: U(256), L(64), unknown=True
K pointer_bits(float* x, unsigned long long key) { unsigned long long p = (unsigned long long)x; p ^= key; ((float*)(p | 16))[0] = 1; }
// launch: 1 x 64: W(256, MAY(0, 64, 4))
K aligned_start(float* x) { int skip = (16 - ((unsigned long long)x & 15)) & 15; if (threadIdx.x >= skip / 4) x[threadIdx.x] = 1; }
// launch: 1 x 64: W(256, ALL), W(256, ALL)
K difference(float* a, float* b) { long long d = b - a; float* p = a + d; p[threadIdx.x] = 1; a[threadIdx.x] = 2; }
// launch: 1 x 64: R(256, ALL), N(256), external=True
K asserts(const float* x, float* y) { if (x[threadIdx.x] > 1e9f) __assertfail("x", "k.cu", 1, "k", 1); }
// launch: 1 x 64: W(256, MAY(0, 64, 4)), R(256, ALL)
K traps(float* y, const float* x) { if (x[threadIdx.x] > 1e9f) __trap(); y[threadIdx.x] = 1; }
// launch: 1 x 1: W(4000), W(4004), R(4000, ALL), 1000
K switched_pointer(float* y, float* z, const int* c, int n) { float* p = y; for (int i = 0; i < n; i++) { p[i] = 1; if (c[i]) p = z + 1; } }
// launch: 1 x 1: W(4000), W(4000), 7
K swapped_pointers(float* y, float* z, int n) {
#pragma unroll 1
for (int i = 0; i < n; i++) { y[i] = 1; float* r = y; y = z; z = r; } }
// launch: 1 x 1: W(4000), R(4000, ALL), 1000
K loaded_steps(float* y, const int* step, int n) { float* p = y; for (int i = 0; i < n; i++) { *p = 1; p += step[i] & 3; } }
// launch: 1 x 32: W(40000), 10, 9
K argument_steps(float* y, int s, int n) { float* p = y + threadIdx.x; for (int i = 0; i < n; i++) { *p = 1; p += s; } }
