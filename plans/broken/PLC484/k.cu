extern "C" __global__ void step(const float* src, float* dst) {
  float4 four = *(const float4*)(src + threadIdx.x);   // error: PLC484
  dst[threadIdx.x] = four.x + four.w;
}
