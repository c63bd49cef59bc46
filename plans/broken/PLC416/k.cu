extern "C" __device__ float twice(float x);
extern "C" __global__ void step(float* u) {
  u[threadIdx.x] = twice(u[threadIdx.x]);   // error: PLC416
}
