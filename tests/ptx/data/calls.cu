#include <cuda_fp16.h>
extern "C" __device__ __noinline__ float helper(float a, int b) { return b > 3 ? a * b : a - b; }
extern "C" __device__ __noinline__ float other(float a, int b) { return a / b; }
__device__ int counter = 7;
__device__ int* pointers[2] = {&counter, &counter + 1};
typedef float (*function)(float, int);
__device__ function table[2] = {helper, other};
extern __shared__ float dynamic[];
extern "C" __global__ void __launch_bounds__(256, 2) calls(const float* __restrict__ a, float* b, int n) {
  __shared__ float t[32][33];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float local[16];
  for (int j = 0; j < 16; j++) local[j] = a[(i * j) % n];
  dynamic[threadIdx.x] = helper(a[i], n);
  t[threadIdx.x % 32][0] = dynamic[0];
  __syncthreads();
  b[i] = table[n & 1](a[0], n) + *pointers[i & 1] + t[0][threadIdx.x & 31] + local[n & 15];
  printf("%d %f\n", i, (double)b[i]);
  b[0] = __half2float(__float2half(b[1]) * __float2half(b[2]));
}
