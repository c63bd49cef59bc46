extern "C" __global__ void step(float* u) {
  u[threadIdx.x] = sale * 2;   // error: PLC406
}
