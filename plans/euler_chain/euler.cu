// One Euler step of dy/dt = -y * y + drive, in place: every element changes at every step.
__global__ void euler_step(float* __restrict__ y, float h, float drive, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = y[i] + h * (drive - y[i] * y[i]);
}
