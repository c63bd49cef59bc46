struct Pair { float a, b; };
extern "C" __global__ void set(float* dst, Pair p) { dst[threadIdx.x] = p.a + p.b; }
