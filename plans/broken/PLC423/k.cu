#define HEADER <cuda_pipeline_primitives.h>
#define _CUDA_PIPELINE_DEBUG 1
#include HEADER
extern "C" __global__ void step(float* u) {
  __shared__ float tile[8];
  __pipeline_memcpy_async(&tile[threadIdx.x], &u[threadIdx.x], 4);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  u[threadIdx.x] = tile[threadIdx.x] + 1;
}
