__constant__ float table[4];
extern "C" __global__ void look(float* dst, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = table[i % 4];
}
