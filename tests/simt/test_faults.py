"""Accesses that must stop a run: the last legal one passes, its neighbour is refused with all facts."""

from __future__ import annotations

import numpy as np
import pytest

from planc.diagnostics import ReplayError
from planc.diagnostics.diagnostic import Fact
from planc.simt.example import run_body
from tests.simt.cuda import cuda

SIMPLE = r"""
extern "C" __global__ void put(float* out, int shift) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i + shift] = 1.0f;
}
extern "C" __global__ void get(const double2* in, double* out, int at) {
  double2 v = in[at];
  out[threadIdx.x] = v.x + v.y;
}
extern "C" __global__ void shared_(int* out, int at) {
  __shared__ int a[10], b[10];
  a[threadIdx.x] = threadIdx.x;
  b[threadIdx.x] = 2 * threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = a[at] + b[9 - threadIdx.x];
}
extern "C" __global__ void dynamic(int* out, int at) {
  extern __shared__ int d[];
  d[threadIdx.x] = 3;
  out[threadIdx.x] = d[at];
}
extern "C" __global__ void local(int* out, int at) {
  int a[8];
  for (int k = 0; k < 8; ++k) a[k] = k * at;
  out[threadIdx.x] = a[at];
}
extern "C" __global__ void add(unsigned* out, int at) { atomicAdd(out + at, 1u); }
__constant__ int table[4] = {1, 2, 3, 4};
extern "C" __global__ void constant(int* out, int at) { out[threadIdx.x] = table[at]; }
extern "C" __global__ void null(int* p) { *p = 1; }
"""


def facts(caught: pytest.ExceptionInfo[ReplayError]) -> dict[str, Fact]:
    (found,) = caught.value.diagnostics
    return dict(found.facts)


def test_the_last_element_is_legal_and_the_next_is_not() -> None:
    device = cuda(SIMPLE)
    out = np.zeros(128, np.float32)
    pointer = device.array("out", out)
    device.run("put", 4, 32, pointer, np.int32(0))
    assert out.sum() == 128
    with pytest.raises(ReplayError) as caught:
        device.run("put", 4, 32, pointer, np.int32(1))
    found = facts(caught)
    assert caught.value.code == "PLC754"
    assert (found["thread"], found["block"], found["kernel"]) == ([31, 0, 0], [3, 0, 0], "put")
    assert (found["buffer"], found["buffer_bytes"], found["offset"], found["off_by"]) == ("out", 512, 512, 4)
    assert (found["access"], found["space"], found["bytes"]) == ("write", "global", 4)
    assert found["address"] == hex(pointer + 512)
    assert found["cuda_line"] == 4
    assert str(found["cuda_file"]).endswith("k.cu")
    assert isinstance(found["ptx_line"], int)
    assert caught.value.diagnostics[0].span is not None
    assert "4 bytes past the end of `out`" in str(caught.value)


def test_the_element_before_the_first_is_refused() -> None:
    device = cuda(SIMPLE)
    pointer = device.array("out", np.zeros(128, np.float32))
    with pytest.raises(ReplayError, match="8 bytes before the start of `out`") as caught:
        device.run("put", 1, 32, pointer, np.int32(-2))
    assert (facts(caught)["offset"], facts(caught)["off_by"]) == (-8, 8)
    assert facts(caught)["thread"] == [0, 0, 0]


def test_a_vector_half_outside_is_refused() -> None:
    device = cuda(SIMPLE)
    source, out = device.array("in", np.ones(11)), device.array("out", np.zeros(1))
    device.run("get", 1, 1, source, out, np.int32(4))
    with pytest.raises(ReplayError) as caught:
        device.run("get", 1, 1, source, out, np.int32(5))
    found = facts(caught)
    assert (found["offset"], found["off_by"], found["bytes"], found["access"]) == (80, 8, 16, "read")


def test_the_nearest_of_two_buffers_is_named() -> None:
    device = cuda(SIMPLE)
    first = device.array("first", np.zeros(4, np.float32))
    second = device.array("second", np.zeros(4, np.float32))
    distance = (second - first) // 4
    for shift, name in ((4, "first"), (distance - 1, "second")):
        with pytest.raises(ReplayError) as caught:
            device.run("put", 1, 1, first, np.int32(shift))
        assert facts(caught)["buffer"] == name


def test_unmapped_buffers_are_gone() -> None:
    device = cuda(SIMPLE)
    kept = device.array("kept", np.zeros(4, np.float32))
    gone = device.array("gone", np.zeros(4, np.float32))
    device.run("put", 1, 4, gone, np.int32(0))
    device.memory.unmap(gone)
    with pytest.raises(ReplayError, match="PLC754"):
        device.run("put", 1, 4, gone, np.int32(0))
    device.run("put", 1, 4, kept, np.int32(0))
    with pytest.raises(KeyError):
        device.memory.unmap(gone)


@pytest.mark.parametrize(
    ("entry", "last", "shared", "buffer"),
    [
        ("shared_", 9, 0, "shared_"),
        ("dynamic", 11, 48, "dynamic shared memory"),
        ("local", 7, 0, "local memory"),
    ],
)
def test_shared_and_local_variables_have_ends(entry: str, last: int, shared: int, buffer: str) -> None:
    device = cuda(SIMPLE)
    pointer = device.array("out", np.zeros(10, np.int32))
    device.run(entry, 2, 10, pointer, np.int32(last), shared=shared)
    with pytest.raises(ReplayError) as caught:
        device.run(entry, 2, 10, pointer, np.int32(last + 1), shared=shared)
    assert caught.value.code == "PLC754"
    assert buffer in str(facts(caught)["buffer"])
    assert facts(caught)["off_by"] == 4


def test_atomics_and_constants_have_ends() -> None:
    device = cuda(SIMPLE)
    pointer = device.array("out", np.zeros(4, np.int32))
    for entry, name, kind in (("add", "out", "atomic"), ("constant", "table", "read")):
        device.run(entry, 1, 1, pointer, np.int32(3))
        with pytest.raises(ReplayError) as caught:
            device.run(entry, 1, 1, pointer, np.int32(4))
        assert (facts(caught)["buffer"], facts(caught)["access"]) == (name, kind)


def test_null_pointer_is_refused() -> None:
    device = cuda(SIMPLE)
    device.array("out", np.zeros(4, np.int32))
    with pytest.raises(ReplayError) as caught:
        device.run("null", 1, 1, 0)
    assert facts(caught)["address"] == "0x0"


def test_read_only_memory_can_be_read_but_not_written() -> None:
    device = cuda(SIMPLE)
    source = device.array("in", np.ones(4), writable=False)
    out = np.zeros(1)
    device.run("get", 1, 1, source, device.array("out", out), np.int32(1))
    assert out[0] == 2
    with pytest.raises(ReplayError) as caught:
        device.run("put", 1, 4, source, np.int32(0))
    assert caught.value.code == "PLC756"
    assert facts(caught)["buffer"] == "in"
    with pytest.raises(ReplayError, match=r"PLC756.*`table`"):
        device.run("put", 1, 1, device.variables.addresses["table"], np.int32(0))
    with pytest.raises(ReplayError, match="PLC756"):
        device.run("add", 1, 1, source, np.int32(0))


@pytest.mark.parametrize(
    ("form", "width"), [("u16", 2), ("u32", 4), ("v2.u32", 8), ("u64", 8), ("v4.u32", 16)]
)
def test_alignment_is_that_of_the_whole_access(form: str, width: int) -> None:
    values = {"u16": "%h", "u32": "%v1", "u64": "%d1"}.get(form) or {
        8: "{%v1, %v2}",
        16: "{%v1, %v2, %v3, %v4}",
    }[width]
    for offset in range(0, 33):
        for text in (
            f"ld.global.{form} {values}, [%base+{offset}];",
            f"st.global.{form} [%base+{offset}], {values};",
        ):
            body = ".reg .b16 %h;" + text
            if offset % width == 0:
                run_body(body, threads=3, words=12)
                continue
            with pytest.raises(ReplayError) as caught:
                run_body(body, threads=3, words=12)
            assert caught.value.code == "PLC755"
            assert f"{offset % width} bytes past a multiple of {width}" in str(caught.value)


def test_the_first_offender_is_named_under_divergence() -> None:
    with pytest.raises(ReplayError) as caught:
        run_body(
            "and.b32 %v1, %t, 1; setp.eq.u32 %q1, %v1, 1; @!%q1 bra skip; st.global.u32 [%p], 1; skip:",
            threads=32,
            words=10,
        )
    assert facts(caught)["thread"] == [11, 0, 0]
    with pytest.raises(ReplayError) as caught:
        run_body("setp.gt.u32 %q1, %t, 20; @%q1 st.global.u32 [%p], 1;", threads=32, words=10)
    assert facts(caught)["thread"] == [21, 0, 0]


def test_generic_pointers_are_checked_in_their_window() -> None:
    body = """
    .shared .align 8 .b8 s[64]; .local .align 8 .b8 l[64];
    mov.u64 %d1, s; cvta.shared.u64 %d1, %d1; mov.u64 %d2, l; cvta.local.u64 %d2, %d2;
    and.b32 %v1, %t, 3; setp.eq.u32 %q1, %v1, 0; setp.eq.u32 %q2, %v1, 1;
    selp.b64 %d3, %d1, %d2, %q1; selp.b64 %d3, %p, %d3, %q2;
    st.u32 [%d3{offset}], %t; ld.u32 %v2, [%d3{offset}]; st.global.u32 [%p], %v2;"""
    # Threads 0, 4, 8 share one word of shared memory: the last one stays.
    got = run_body(body.format(offset=""), threads=12)
    assert got.tolist() == [8, 1, 2, 3, 8, 5, 6, 7, 8, 9, 10, 11]
    with pytest.raises(ReplayError) as caught:
        run_body(body.format(offset="+64"), threads=12, words=64)
    found = facts(caught)
    assert (found["space"], found["off_by"]) in (("shared", 4), ("local", 4))


def test_buffers_may_have_odd_sizes_and_none_at_all() -> None:
    device = cuda(r"""
    extern "C" __global__ void last(const unsigned char* x, unsigned char* y, int n) { y[0] = x[n - 1]; }""")
    data = np.arange(7, dtype=np.uint8)
    out = np.zeros(1, np.uint8)
    pointers = device.array("x", data), device.array("y", out)
    device.array("empty", np.zeros(0, np.uint8))
    device.run("last", 1, 1, *pointers, np.int32(7))
    assert out[0] == 6
    with pytest.raises(ReplayError, match="PLC754"):
        device.run("last", 1, 1, *pointers, np.int32(8))


def test_wrong_launches_are_refused() -> None:
    device = cuda(r"""
    extern "C" __global__ void __launch_bounds__(64) plain(int* p) {}""")
    for block, grid in (((0, 1, 1), (1, 1, 1)), ((32, 33, 1), (1, 1, 1)), ((1, 1, 1), (0, 1, 1))):
        with pytest.raises(ReplayError, match="PLC761"):
            device.run("plain", grid, block, 0)
    device.run("plain", 1, (32, 32, 1), 0, shared=227 << 10)
    with pytest.raises(ReplayError, match=r"PLC761.*shared memory"):
        device.run("plain", 1, 1, 0, shared=(227 << 10) + 1)
    run_body(f".local .b8 x[{500 << 10}];", threads=1)
    with pytest.raises(ReplayError, match=r"PLC761.*local memory"):
        run_body(f".local .b8 x[{512 << 10}];", threads=1)
    with pytest.raises(ReplayError, match="PLC736"):
        run_body("ret;", functions=f".global .b8 x[{1 << 47}];")
    with pytest.raises(ReplayError, match=r"PLC761.*0 bytes of parameters.*takes 8"):
        device.run("plain", 1, 1)
