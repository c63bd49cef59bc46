extern "C" __global__ void step(float* u) {
  int idle;   // warning: PLC407
  u[threadIdx.x] = 1;
}
