"""Launches that differ in nothing that matters share one analysis."""

from __future__ import annotations

import functools
import time

from planc.effects import Analyser, BytesFact, LaunchFacts, PointerFact, integer
from planc.ptx import parse
from tests.simt.cuda import compile_cuda

SOURCE = """#define K extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
K scale(float* y, const float* x, float a, int step, int n) { int i = I; if (i < n) y[i] = a * x[i] + step; }
K through(float* y, const int* x, int a, int n) { int i = I; if (i < n) { int k = x[a]; y[k & 7] = 1; } }
__device__ __noinline__ void put(float* p, int i) { p[i] = 1; }
K passed(float* y, int i) { put(y, i); }
"""


@functools.cache
def _module():
    return parse(compile_cuda(SOURCE), "cache.ptx")


def _launch(step: int, n: int, a: bytes = b"\0\0\x80\x3f") -> LaunchFacts:
    facts = {
        0: PointerFact(4000),
        8: PointerFact(4000),
        16: BytesFact(a),
        20: integer(step),
        24: integer(n),
    }
    return LaunchFacts((4, 1, 1), (256, 1, 1), 0, facts)


def test_values_that_are_only_data_share_a_result() -> None:
    analyser = Analyser(_module())
    results = {id(analyser.analyse("scale", _launch(step, 1000))) for step in range(2000)}
    assert len(results) == 1
    assert analyser.count == 1
    analyser.analyse("scale", _launch(0, 999))
    assert analyser.count == 2
    analyser.analyse("scale", _launch(7, 999, b"\0\0\0\0"))
    assert analyser.count == 2


def test_what_flows_into_addresses_and_guards_matters() -> None:
    analyser = Analyser(_module())
    assert analyser.relevant("scale") == {(0, 8), (8, 16), (24, 28)}
    assert {(16, 20), (20, 24)} <= analyser.relevant("through")
    assert (8, 12) in analyser.relevant("passed")


def test_a_grid_of_another_size_is_another_analysis() -> None:
    analyser = Analyser(_module())
    one = analyser.analyse("scale", _launch(0, 1000))
    facts = _launch(0, 1000).parameters
    other = analyser.analyse("scale", LaunchFacts((3, 1, 1), (256, 1, 1), 0, facts))
    assert one.parameters[0].may != other.parameters[0].may


def test_an_analysis_takes_milliseconds() -> None:
    analyser = Analyser(_module())
    analyser.analyse("scale", _launch(0, 1000))
    started = time.process_time()
    for n in range(100):
        analyser.analyse("scale", _launch(0, 500 + n))
    assert (time.process_time() - started) / 100 < 0.02
