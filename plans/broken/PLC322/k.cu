extern "C" __global__ void pair(float* a, float* b) {
  a[threadIdx.x] = 0;
  b[threadIdx.x] = 1;
}
