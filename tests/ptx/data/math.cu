extern "C" __global__ void maths(float* f, double* d, long long* l, unsigned* u, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = f[i]; double y = d[i];
  f[i] = sqrtf(fabsf(x)) / (1.f + x * x) - __fdividef(x, 3.f) + rsqrtf(x) + __expf(x) + floorf(x) + fminf(x, 2.f) + fmaf(x, x, 1.f) + __fadd_rd(x, 1.f) + __fmul_rz(x, 3.f);
  d[i] = y * y + y / sqrt(y) - fma(y, y, y) + __dadd_rn(y, 1.0) + rint(y) + fmin(y, 0.0) + trunc(y) + copysign(y, -1.0);
  l[i] = l[i] / 7 + l[i] % 5 + llrint(y) + (long long)x + min(l[i], 3LL) + __mul64hi(l[i], l[i + 1]);
  u[i] = u[i] / 7u + __umulhi(u[i], 3) + __float2uint_rd(x) + __double2hiint(y) + __float_as_uint(x) + max(u[i], 2u) + __sad(i, n, u[i]) + __usad(u[i], 2, 3) + __brevll(l[i]);
}
