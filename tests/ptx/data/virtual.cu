struct Shape { __device__ virtual float area(float k) const = 0; int id; };
struct Square : Shape { float a; __device__ Square(float a) : a(a) {} __device__ float area(float k) const override { return a * a * k; } };
struct Disc : Shape { float r; __device__ Disc(float r) : r(r) {} __device__ float area(float k) const override { return 3.14f * r * r + k; } };
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void areas(float* out, int n) {
  Square s(2.f); Disc d(1.f);
  const Shape* p = (threadIdx.x & 1) ? (const Shape*)&s : (const Shape*)&d;
  out[threadIdx.x] = p->area((float)n) + fib(n);
}
