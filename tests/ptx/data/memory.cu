
struct __align__(16) Big { char tag; double d[3]; short s; };
struct Pair { float x, y; };
__constant__ Big table[3] = {{'a', {1, 2, 3}, 4}};
__device__ Pair pairs[4] = {{1.5f, -2.f}, {3.f, 4e-30f}};
__device__ const char* names[] = {"one", "two\n", nullptr};
__device__ double matrix[2][3] = {{1, 2}, {3}};
__managed__ int managed = 3;
__device__ float4 quad = {1, 2, 3, 4};
extern __shared__ __align__(128) unsigned char pool[];
extern "C" __global__ void use(Big b, char c, short s, Pair p, double* out, int idx, bool flag, float4 q, unsigned char bytes3[3]) {
  __shared__ Pair sp[16][17]; __shared__ double one;
  volatile int local[20]; local[idx] = c; local[idx + 1] = s;
  sp[threadIdx.y][threadIdx.x] = p; ((float4*)pool)[threadIdx.x] = q; one = b.d[idx & 1]; __syncthreads();
  out[0] = table[idx].d[1] + pairs[idx].x + matrix[1][idx % 3] + local[3] + sp[1][2].y + managed + quad.z + one + ((float*)pool)[idx];
  if (flag) printf("%s %d\n", names[idx], managed);
  void* m = malloc(idx); free(m);
  if (!m) asm("trap;");
}
