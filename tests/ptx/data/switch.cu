extern "C" __global__ void dispatch(int* out, const int* op, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = out[i];
  switch (op[i]) {
    case 0: x = x * 3 + __clz(x); break;
    case 1: x = __popc(x) - 7; break;
    case 2: x = x / 5; break;
    case 3: x ^= 0x55aa; break;
    case 4: x = __brev(x); break;
    case 5: x = x << (i & 31); break;
    case 6: x = x >> 3; break;
    case 7: x = atomicAdd(&out[(i + 1) % n], x); break;
    case 8: x = __ffs(x); break;
    case 9: x = __vabsdiffs4(x, i); break;
    case 10: x = -x; break;
    default: __trap();
  }
  out[i] = x;
}
