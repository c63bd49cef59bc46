extern "C" __global__ void step(float* dst, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  dst[i] = 2.0f;   // error: PLC483
}
