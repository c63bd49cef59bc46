extern "C" __global__ void sample(cudaTextureObject_t t, cudaSurfaceObject_t s, float4* out, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  out[x] = tex2D<float4>(t, x + 0.5f, y + 0.5f);
  float4 a = tex2DLod<float4>(t, x, y, 1.f); float4 g = tex2Dgather<float4>(t, x, y, 0);
  uchar4 u; surf2Dread(&u, s, x * 4, y); surf2Dwrite(u, s, x * 4, y + 1, cudaBoundaryModeTrap); out[x + 1] = make_float4(a.x, g.y, u.z, 0);
}
