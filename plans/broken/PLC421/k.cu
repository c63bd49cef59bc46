#if __CUDA_ARCH__ >= 900
using Count = long long;
#else
using Count = int;
#endif
extern "C" __global__ void step(float* u, Count n) { *u = n; }
