extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
template <typename T> __global__ void scale(T* x, T a, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = x[i] * a + a - x[i] * x[i];
}
template __global__ void scale<float>(float*, float, int);
template __global__ void scale<double>(double*, double, int);
