"""Broken PTX: whatever a text says, it runs, or it gets a code; nothing else may come out."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from planc.diagnostics import PlancError
from planc.ptx import parse
from planc.simt import Memory, load_variables, prepare
from tests.simt.cuda import compile_cuda

SOURCE = r"""
#include <cuda_fp16.h>
struct Pair { int a; float b; };
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter, lock;
__device__ __noinline__ int twice(int a) { return 2 * a; }
__device__ __noinline__ int square(int a) { return a * a; }
typedef int (*Op)(int);
__device__ Op ops[2] = {twice, square};
__device__ __noinline__ float pick(Pair p, int k) { return k % 3 ? p.a * 1.5f : p.b; }
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void everything(int* out, const float* in, Pair p, int n) {
  __shared__ int s[64];
  extern __shared__ int dynamic[];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, local[8];
  if (i >= n) return;
  for (int k = 0; k < 8; ++k) local[k] = k * i;
  s[t] = twice(t) + table[t & 3];
  dynamic[t & 7] = t;
  __syncthreads();
  int v = s[(t + 1) % blockDim.x] + local[i & 7] + ops[t & 1](t) + fib(t % 5);
  v += __shfl_xor_sync(__activemask(), v, 1) + __popc(__ballot_sync(__activemask(), t & 1));
  switch (v % 9) { case 0: v = 1; break; case 1: v = t; break; case 2: v *= 3; break; case 3: v = 9; break;
                   case 4: v -= 1; break; case 5: v ^= 7; break; case 6: out[i] = v; return; }
  if (__syncthreads_count(v & 1) > 5) v += atomicAdd(&counter, 1);
  if (t == 0) { while (atomicCAS(&lock, 0, 1)) ; atomicExch(&lock, 0); }
  out[i] = v + (int)pick(p, t) + (int)__half2float(__hadd(__float2half(in[i]), __float2half(1.0f)));
  if (t == 3) printf("%d %f\n", v, in[i]);
}
"""
_SPLIT = re.compile(r"([\s,;\[\]{}()@!+.]+)")
_WORDS = [
    "0",
    "1",
    "-1",
    "4294967295",
    "9223372036854775807",
    "%r1",
    "%rd1",
    "%p1",
    "%f1",
    "u8",
    "s64",
    "f16",
    "pred",
    "v4",
    "sync",
    "shared",
    "local",
    "bra",
    "ret",
    "exit",
]


def mutate(rng: random.Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
        kind = rng.random()
        if kind < 0.2:
            del lines[at]
        elif kind < 0.35:
            lines.insert(other, lines[at])
        elif kind < 0.5:
            lines[at], lines[other] = lines[other], lines[at]
        else:
            words = _SPLIT.split(lines[at])
            words[rng.randrange(len(words))] = rng.choice(_SPLIT.split(lines[other]) + _WORDS)
            lines[at] = "".join(words)
    return "\n".join(lines)


def run_text(text: str) -> None:
    module = parse(text, "k.ptx")
    memory = Memory()
    variables = load_variables(module, memory)
    out = memory.map("out", np.zeros(1024, np.uint8))
    source = memory.map("in", np.zeros(1024, np.uint8), writable=False)
    parameters = (
        out.to_bytes(8, "little") + source.to_bytes(8, "little") + bytes(8) + (70).to_bytes(64, "little")
    )
    for entry in module.entries:
        kernel = prepare(module, entry.name)
        kernel.run((2, 1, 1), (40, 1, 1), 32, parameters, memory, variables=variables, budget=50_000)


def test_the_whole_text_runs() -> None:
    run_text(compile_cuda(SOURCE))


@pytest.mark.parametrize("seed", range(10))
def test_mutants_get_a_code_or_run(seed: int) -> None:
    rng = random.Random(seed)
    text = compile_cuda(SOURCE)
    refused = 0
    for _ in range(25):
        try:
            run_text(mutate(rng, text))
        except PlancError as error:
            assert error.code.startswith("PLC")
            refused += 1
    assert 0 < refused < 25
