extern "C" __global__ void blocks(unsigned* out, const unsigned* in, unsigned long long* wide) {
  unsigned i = threadIdx.x, r, p;
#pragma unroll
  for (int k = 0; k < 3; k++)
    asm volatile("{\n .reg .pred p;\n .reg .u32 t<2>;\n setp.gt.u32 p, %1, 7;\n @p bra L1;\n mov.u32 t0, 5;\n bra.uni L2;\nL1: mov.u32 t0, 9;\nL2:\n add.u32 %0, t0, %1;\n}" : "=r"(r) : "r"(in[i + k]));
  asm("{ .reg .pred q; setp.eq.u32 q, %1, 0; selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(r));
  out[i] = r + p;
  unsigned lo, hi; asm("add.cc.u32 %0, %2, %3; addc.u32 %1, %2, 0;" : "=r"(lo), "=r"(hi) : "r"(r), "r"(p));
  wide[i] = ((unsigned long long)hi << 32 | lo) + __umul64hi(wide[i], 0x123456789abcdefULL);
  asm volatile("{ .reg .u64 a; cvta.to.global.u64 a, %0; prefetch.global.L2 [a]; }" :: "l"(wide));
  out[1] = __dp4a((int)r, (int)p, 3) + __byte_perm(r, p, 0x3210) + __funnelshift_l(r, p, 5) + clock();
}
