#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <mma.h>
using namespace nvcuda;
__global__ void tile(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.f);
  wmma::load_matrix_sync(fa, a, 16); wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void halves(half2* x, __nv_bfloat162* y, __nv_fp8_e4m3* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] = __hfma2(x[i], x[i], h2exp(x[i])); x[i] = __hadd2(x[i], __hmul2(x[i], x[i]));
    y[i] = __hmax2(y[i], __float2bfloat162_rn(1.5f));
    z[i] = __nv_fp8_e4m3(float(x[i].x) * 2);
    atomicAdd(x + i, x[0]);
  }
}
