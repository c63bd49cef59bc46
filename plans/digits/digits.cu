// One dense layer: y[row, out] = sum over in of x[row, in] * w[in, out], plus b[out], then ReLU if wanted.
template <bool RELU>
__global__ void dense(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ b,
                      float* __restrict__ y, int rows, int inputs, int outputs) {
  int out = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (out >= outputs || row >= rows) return;
  float sum = b[out];
  for (int i = 0; i < inputs; ++i) sum += x[row * inputs + i] * w[i * outputs + out];
  y[row * outputs + out] = RELU ? fmaxf(sum, 0.0f) : sum;
}

// The pixels of the data set lie in 0..16.
__global__ void scale(const unsigned char* __restrict__ pixels, float* __restrict__ x, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) x[i] = pixels[i] * 0.0625f;
}

// The index of the largest logit of each row; the first of equals.
__global__ void argmax(const float* __restrict__ logits, int* __restrict__ labels, int rows, int classes) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  int best = 0;
  for (int c = 1; c < classes; ++c)
    if (logits[row * classes + c] > logits[row * classes + best]) best = c;
  labels[row] = best;
}
