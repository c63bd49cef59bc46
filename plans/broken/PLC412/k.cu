extern "C" __global__ void step(float* u) { u[threadIdx.x] += 1; }
