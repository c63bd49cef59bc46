extern "C" __global__ void zero(float* v) { v[threadIdx.x] = 0.0f; }
