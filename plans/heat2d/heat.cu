// One explicit step of the heat equation on an ny x nx grid whose border is held fixed.
__global__ void heat_step(const float* __restrict__ src, float* __restrict__ dst, float alpha, int nx, int ny) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  int i = y * nx + x;
  float c = src[i];
  if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) {
    dst[i] = c;
    return;
  }
  float around = (src[i - 1] + src[i + 1]) + (src[i - nx] + src[i + nx]);
  dst[i] = c + alpha * (around - 4.0f * c);
}
