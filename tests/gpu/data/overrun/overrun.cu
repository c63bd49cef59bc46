// Planted: the guard allows one element more than the buffer has.
__global__ void overrun(float* __restrict__ y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] = 1.0f;
}
