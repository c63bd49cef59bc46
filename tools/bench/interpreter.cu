// Kernels that tools/bench/interpreter.py times; interpreter.ptx is made from this file by NVRTC 13.0
// with -arch=compute_90.
extern "C" __global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

extern "C" __global__ void polynomial(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i], s = 0.5f;
#pragma unroll 1
  for (int k = 0; k < 16; ++k) {
    s = s * v + 0.25f;
    s = s - v * 0.125f;
    s = s * 0.5f + v;
  }
  y[i] = s;
}

extern "C" __global__ void stencil(const float* u, float* v, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
  int i = y * nx + x;
  v[i] = u[i] + 0.1f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx] - 4.0f * u[i]);
}

extern "C" __global__ void reduction(const float* x, float* out) {
  __shared__ float part[256];
  int t = threadIdx.x;
  part[t] = x[blockIdx.x * 256 + t];
  __syncthreads();
  for (int s = 128; s > 0; s >>= 1) {
    if (t < s) part[t] += part[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = part[0];
}

extern "C" __global__ void divergent(const int* trips, int* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = i;
#pragma unroll 1
  for (int k = 0; k < trips[i]; ++k) {
    if (v & 1) v = 3 * v + 1;
    else v >>= 1;
  }
  out[i] = v;
}
