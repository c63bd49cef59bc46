extern "C" __global__ void busy(float* x) {
  float a[96];
  for (int k = 0; k < 96; ++k) a[k] = x[threadIdx.x + k];
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int k = 0; k < 96; ++k) for (int j = 0; j < 96; ++j) s += a[k] * a[j] * (k ^ j);
  for (int k = 0; k < 96; ++k) x[threadIdx.x + k] = s * a[k];
}
