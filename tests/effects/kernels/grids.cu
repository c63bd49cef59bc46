// Two and three dimensions: rows, columns, tiles, stencils, transposes.
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)
#define Z (blockIdx.z * blockDim.z + threadIdx.z)
#define K extern "C" __global__ void

// launch: (4, 8) x (16, 8): R(12000, ALL), W(12000, ALL), 60, 50
K copy_2d(const float* x, float* y, int nx, int ny) { int i = X, j = Y; if (i < nx && j < ny) y[j * nx + i] = x[j * nx + i]; }
// launch: (4, 8) x (16, 8): R(12000, ALL), W(12000, ALL), 60, 50
K copy_2d_return(const float* x, float* y, int nx, int ny) { int i = X, j = Y; if (i >= nx || j >= ny) return; y[j * nx + i] = x[j * nx + i]; }
// launch: (4, 8) x (16, 8): R(12000, ALL), W(12000, ALL), 60, 50
K transpose(const float* x, float* y, int nx, int ny) { int i = X, j = Y; if (i < nx && j < ny) y[i * ny + j] = x[j * nx + i]; }
// launch: (4, 4, 5) x (4, 4, 4): R(12000, ALL), W(12000, ALL), 15, 10, 20
K copy_3d(const float* x, float* y, int nx, int ny, int nz) { int i = X, j = Y, k = Z; if (i < nx && j < ny && k < nz) { int a = (k * ny + j) * nx + i; y[a] = x[a]; } }
// launch: (4, 8) x (16, 8): R(12000), W(12000, BOX(244, (48, 240), (58, 4))), 60, 50
K heat(const float* u, float* v, int nx, int ny) { int i = X, j = Y; if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1) { int a = j * nx + i; v[a] = u[a] + 0.1f * (u[a - 1] + u[a + 1] + u[a - nx] + u[a + nx] - 4 * u[a]); } }
// launch: (4, 8) x (16, 8): R(12000), W(12000, BOX(244, (48, 240), (58, 4))), 60, 50
K heat_return(const float* u, float* v, int nx, int ny) { int i = X, j = Y; if (i < 1 || i >= nx - 1 || j < 1 || j >= ny - 1) return; int a = j * nx + i; v[a] = u[a - 1] + u[a + 1] + u[a - nx] + u[a + nx]; }
// launch: (4, 8) x (16, 8): R(12000), W(12000, ALL), 60, 50
K heat_clamped(const float* u, float* v, int nx, int ny) { int i = X, j = Y; if (i >= nx || j >= ny) return; int l = max(i - 1, 0), r = min(i + 1, nx - 1), t = max(j - 1, 0), b = min(j + 1, ny - 1); v[j * nx + i] = u[j * nx + l] + u[j * nx + r] + u[t * nx + i] + u[b * nx + i]; }
// launch: (4, 8) x (16, 8): R(12000), W(12000, ALL), 60, 50
K heat_edges(const float* u, float* v, int nx, int ny) { int i = X, j = Y; if (i >= nx || j >= ny) return; int a = j * nx + i; v[a] = (i > 0 ? u[a - 1] : 0) + (i < nx - 1 ? u[a + 1] : 0) + (j > 0 ? u[a - nx] : 0) + (j < ny - 1 ? u[a + nx] : 0); }
// launch: (4, 8) x (16, 8): R(12000), W(12000, ALL), 60, 50
K heat_periodic(const float* u, float* v, int nx, int ny) { int i = X, j = Y; if (i >= nx || j >= ny) return; int l = i == 0 ? nx - 1 : i - 1, r = i == nx - 1 ? 0 : i + 1; v[j * nx + i] = u[j * nx + l] + u[j * nx + r]; }
// launch: (4, 8) x (16, 8): R(12000), W(12000, ALL), 60, 50
K heat_modulo(const float* u, float* v, int nx, int ny) { int i = X, j = Y; if (i >= nx || j >= ny) return; v[j * nx + i] = u[j * nx + (i + nx - 1) % nx] + u[j * nx + (i + 1) % nx]; }
// launch: 4 x 256: R(4000, ALL), W(4000, BOX(4, 998, 4)), 1000
K stencil_1d(const float* u, float* v, int n) { int i = X; if (i > 0 && i < n - 1) v[i] = u[i - 1] + u[i] + u[i + 1]; }
// launch: 4 x 256: R(4016, ALL), W(4000, ALL), 1000
K stencil_halo(const float* u, float* v, int n) { int i = X; if (i < n) { float s = 0; for (int k = 0; k < 5; k++) s += u[i + k]; v[i] = s; } }
// launch: 4 x 256: R(4000, ALL), R(36, ALL), W(4000, BOX(16, 992, 4)), 1000, 4
K convolution(const float* u, const float* w, float* v, int n, int r) { int i = X; if (i < r || i >= n - r) return; float s = 0; for (int k = -r; k <= r; k++) s += u[i + k] * w[k + r]; v[i] = s; }
// launch: (4, 4, 5) x (4, 4, 4): R(12000), W(12000, BOX(664, (18, 600), (8, 60), (13, 4))), 15, 10, 20
K stencil_3d(const float* u, float* v, int nx, int ny, int nz) { int i = X, j = Y, k = Z; if (i < 1 || j < 1 || k < 1 || i > nx - 2 || j > ny - 2 || k > nz - 2) return; int a = (k * ny + j) * nx + i; v[a] = u[a - 1] + u[a + 1] + u[a - nx] + u[a + nx] + u[a - nx * ny] + u[a + nx * ny]; }
// launch: 12 x 256: R(12000, ALL), W(12000, ALL), 60, 50
K flat_to_2d(const float* x, float* y, int nx, int ny) { int t = X; if (t >= nx * ny) return; int i = t % nx, j = t / nx; y[i * ny + j] = x[j * nx + i]; }
// launch: 12 x 256: R(12000, ALL), W(12000, ALL)
K flat_constant(const float* x, float* y) { unsigned t = X; if (t >= 3000) return; unsigned i = t % 60, j = t / 60; y[i * 50 + j] = x[t]; }
// launch: 16 x 256: R(16384, ALL), W(16384, ALL)
K flat_power(const float* x, float* y) { unsigned t = X; unsigned i = t & 63, j = t >> 6; y[i * 64 + j] = x[t]; }
// launch: 16 x 256: R(16384, ALL), W(16384, ALL)
K swizzle_bits(const float* x, float* y) { unsigned t = X; y[(t & ~63u) | ((t & 7) << 3) | ((t >> 3) & 7)] = x[t]; }
// launch: 12 x 256: R(12000), W(12000), 15, 10, 20
K flat_to_3d(const float* x, float* y, int nx, int ny, int nz) { int t = X; if (t >= nx * ny * nz) return; int i = t % nx, j = t / nx % ny, k = t / (nx * ny); y[(i * ny + j) * nz + k] = x[t]; }
// launch: 50 x 32: R(12000, ALL), W(200, ALL), 60
K row_sum(const float* x, float* y, int nx) { float s = 0; for (int i = threadIdx.x; i < nx; i += 32) s += x[blockIdx.x * nx + i]; for (int k = 16; k; k >>= 1) s += __shfl_down_sync(~0u, s, k); if (threadIdx.x == 0) y[blockIdx.x] = s; }
// launch: 1 x 64: R(12000, ALL), W(240, ALL), 60, 50
K column_sum(const float* x, float* y, int nx, int ny) { int i = X; if (i >= nx) return; float s = 0; for (int j = 0; j < ny; j++) s += x[j * nx + i]; y[i] = s; }
// launch: (4, 8) x (16, 8): W(12000, BOX(0, (50, 240), (30, 8))), 60, 50
K even_columns(float* y, int nx, int ny) { int i = X, j = Y; if (2 * i < nx && j < ny) y[j * nx + 2 * i] = 1; }
// launch: (4, 8) x (16, 8): W(12000, BOX(4, (50, 240), (30, 8))), 60, 50
K odd_columns(float* y, int nx, int ny) { int i = X, j = Y; if (2 * i + 1 < nx && j < ny) y[j * nx + 2 * i + 1] = 1; }
// launch: (4, 8) x (16, 8): W(12000, BOX(2400, (20, 240), (10, 4))), 60, 10, 20
K sub_block(float* y, int nx, int w, int h) { int i = X, j = Y; if (i < w && j < h) y[(j + 10) * nx + i] = 1; }
// launch: (2, 2) x (32, 8): R(16384, ALL), W(16384, ALL), 64
K tiled_transpose(const float* x, float* y, int n) { __shared__ float s[32][33]; int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 32 + threadIdx.y; for (int k = 0; k < 32; k += 8) s[threadIdx.y + k][threadIdx.x] = x[(j + k) * n + i]; __syncthreads(); i = blockIdx.y * 32 + threadIdx.x; j = blockIdx.x * 32 + threadIdx.y; for (int k = 0; k < 32; k += 8) y[(j + k) * n + i] = s[threadIdx.x][threadIdx.y + k]; }
// launch: (4, 4) x (16, 16): R(16384, ALL), R(16384, ALL), W(16384, ALL), 64
K gemm(const float* a, const float* b, float* c, int n) { int i = X, j = Y; if (i >= n || j >= n) return; float s = 0; for (int k = 0; k < n; k++) s += a[j * n + k] * b[k * n + i]; c[j * n + i] = s; }
// launch: (4, 4) x (16, 16): R(16384, ALL), R(16384, ALL), W(16384, ALL), 64
K gemm_shared(const float* a, const float* b, float* c, int n) { __shared__ float s[16][16], t[16][16]; int x = threadIdx.x, y = threadIdx.y, i = X, j = Y; float v = 0; for (int m = 0; m < n / 16; m++) { s[y][x] = a[j * n + m * 16 + x]; t[y][x] = b[(m * 16 + y) * n + i]; __syncthreads(); for (int k = 0; k < 16; k++) v += s[y][k] * t[k][x]; __syncthreads(); } c[j * n + i] = v; }
// launch: (4, 4) x (16, 16): R(14400), R(14400), W(14400, ALL), 60
K gemm_ragged(const float* a, const float* b, float* c, int n) { __shared__ float s[16][16], t[16][16]; int x = threadIdx.x, y = threadIdx.y, i = X, j = Y; float v = 0; for (int m = 0; m < (n + 15) / 16; m++) { s[y][x] = (j < n && m * 16 + x < n) ? a[j * n + m * 16 + x] : 0; t[y][x] = (m * 16 + y < n && i < n) ? b[(m * 16 + y) * n + i] : 0; __syncthreads(); for (int k = 0; k < 16; k++) v += s[y][k] * t[k][x]; __syncthreads(); } if (i < n && j < n) c[j * n + i] = v; }
// launch: 1 x 64: R(16384, ALL), R(256, ALL), W(256, ALL), 64
K matvec(const float* a, const float* x, float* y, int n) { int i = X; if (i < n) { float s = 0; for (int k = 0; k < n; k++) s += a[i * n + k] * x[k]; y[i] = s; } }
// launch: 1 x 64: W(16384, MAY(0, 4096, 4)), 64
K lower_triangle(float* y, int n) { int i = X; if (i < n) for (int j = 0; j <= i; j++) y[i * n + j] = 1; }
// launch: (4, 4) x (16, 16): W(16384), 64
K diagonal_guard(float* y, int n) { int i = X, j = Y; if (i < n && j < n && i <= j) y[j * n + i] = 1; }
// launch: 1 x 64: W(16384, BOX(0, (64, 260))), 64
K diagonal(float* y, int n) { int i = X; if (i < n) y[i * n + i] = 1; }
// launch: (4, 4) x (16, 16): R(16384, ALL), W(4096, ALL), 32
K pool_2x2(const float* x, float* y, int n) { int i = X, j = Y; if (i >= n || j >= n) return; float m = 0; for (int a = 0; a < 2; a++) for (int b = 0; b < 2; b++) m = fmaxf(m, x[(2 * j + a) * 2 * n + 2 * i + b]); y[j * n + i] = m; }
// launch: (4, 8) x (16, 8): RW(12000), 60, 50
K red_black(float* u, int nx, int ny) { int i = X, j = Y; if (i > 0 && i < nx - 1 && j > 0 && j < ny - 1 && ((i + j) & 1)) { int a = j * nx + i; u[a] = u[a - 1] + u[a + 1] + u[a - nx] + u[a + nx]; } }
// launch: (2, 50) x 32: R(12000, ALL), W(12000, ALL), 60
K block_per_row(const float* x, float* y, int nx) { int i = X; if (i < nx) y[blockIdx.y * nx + i] = x[blockIdx.y * nx + i]; }
