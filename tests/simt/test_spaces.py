"""State spaces, address conversions, copies, special registers, traces."""

from __future__ import annotations

import numpy as np
import pytest

from planc.diagnostics import ReplayError
from planc.simt import Memory, supports
from planc.simt.example import run_body
from planc.simt.memory import GAP
from tests.simt.cuda import cuda


def test_buffers_are_shared_aligned_and_far_apart() -> None:
    memory = Memory()
    sizes = [1, 255, 256, 257, 0, 100_000]
    arrays = [np.full(size, 7, np.uint8) for size in sizes]
    starts = [memory.map(f"b{k}", data) for k, data in enumerate(arrays)]
    assert all(start % 256 == 0 for start in starts)
    for k in range(len(sizes) - 1):
        assert starts[k + 1] - (starts[k] + sizes[k]) >= GAP
    for start, size, data in zip(starts, sizes, arrays, strict=True):
        region = memory.find(start)
        if size:
            assert region is not None and region.data is data
            assert memory.find(start + size - 1) is region
        assert memory.find(start + size) is None
        assert memory.find(start - 1) is None


def test_lookup_of_many_addresses_agrees_with_one_by_one() -> None:
    memory = Memory()
    rng = np.random.default_rng(1)
    for k in range(20):
        memory.map(f"b{k}", np.zeros(int(rng.integers(1, 5000)), np.uint8))
    regions = memory.regions
    for size in (1, 4, 16):
        inside = [
            (r, int(rng.integers(0, r.size - size + 1))) for r in regions if r.size >= size for _ in range(5)
        ]
        addresses = np.array([r.start + at for r, at in inside], np.uint64)
        found = memory.table.find(addresses, size)
        assert [regions[k] for k in np.broadcast_to(found, len(inside))] == [r for r, _ in inside]
        single = memory.table.find(addresses[:5], size)
        assert regions[int(np.max(single))] is regions[0] or regions[0].size < size


@pytest.mark.parametrize(
    "data",
    [np.zeros(4, np.float32), np.zeros((2, 2), np.uint8), np.zeros(8, np.uint8)[::2]],
)
def test_only_flat_bytes_can_be_mapped(data: np.ndarray) -> None:
    with pytest.raises(ValueError, match="contiguous"):
        Memory().map("x", data)


def test_read_only_arrays_are_mapped_read_only() -> None:
    data = np.zeros(4, np.uint8)
    data.flags.writeable = False
    Memory().map("x", data, writable=False)
    with pytest.raises(ValueError, match="read-only"):
        Memory().map("x", data)


def test_parameters_by_address() -> None:
    device = cuda(r"""
    struct Big { int a[16]; };
    __device__ __noinline__ int pick(const Big* b, int i) { return b->a[i]; }
    extern "C" __global__ void k(const __grid_constant__ Big b, int* out) {
      out[threadIdx.x] = pick(&b, threadIdx.x) + b.a[15 - threadIdx.x];
    }""")
    data = np.arange(16, dtype=np.int32) ** 2
    out = np.zeros(16, np.int32)
    device.run("k", 1, 16, data.tobytes(), device.array("out", out))
    np.testing.assert_array_equal(out, data + data[::-1])


def test_window_predicates_and_conversions_round_trip() -> None:
    body = """
    .shared .align 8 .b8 s[64]; .local .align 8 .b8 l[64];
    mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; cvta.to.shared.u64 %d3, %d2;
    setp.eq.u64 %q1, %d1, %d3; selp.u32 %v1, 1, 0, %q1;
    isspacep.shared %q2, %d2; selp.u32 %v2, 2, 0, %q2; or.b32 %v1, %v1, %v2;
    isspacep.global %q2, %p; selp.u32 %v2, 4, 0, %q2; or.b32 %v1, %v1, %v2;
    mov.u64 %d4, l; cvta.local.u64 %d4, %d4;
    isspacep.local %q2, %d4; selp.u32 %v2, 8, 0, %q2; or.b32 %v1, %v1, %v2;
    isspacep.global %q2, %d4; selp.u32 %v2, 16, 0, %q2; or.b32 %v1, %v1, %v2;
    isspacep.shared %q2, %p; selp.u32 %v2, 32, 0, %q2; or.b32 %v1, %v1, %v2;
    cvta.global.u64 %d5, %p; cvta.to.global.u64 %d5, %d5; st.global.u32 [%d5], %v1;"""
    assert run_body(body, threads=2).tolist() == [15, 15]


@pytest.mark.parametrize(
    ("kind", "register", "stored", "loaded"),
    [
        ("u8", "b32", 0x12345687, 0x87),
        ("s8", "b32", 0x12345687, 0xFFFFFF87),
        ("u16", "b32", 0x1234F687, 0xF687),
        ("s16", "b32", 0x1234F687, 0xFFFFF687),
        ("b32", "b32", 0x9234F687, 0x9234F687),
        ("s32", "b64", 0x9234F687, 0xFFFFFFFF9234F687),
        ("u32", "b64", 0xFF_9234F687, 0x9234F687),
    ],
)
@pytest.mark.parametrize("space", ["global", "shared", "local"])
def test_narrow_accesses_extend_by_their_type(
    kind: str, register: str, stored: int, loaded: int, space: str
) -> None:
    name = "%v1" if register == "b32" else "%d1"
    place = "[%base]" if space == "global" else "[m]"
    declaration = "" if space == "global" else f".{space} .align 8 .b8 m[8];"
    body = f"""{declaration} mov.{register} {name}, {stored}; st.{space}.{kind} {place}, {name};
    ld.{space}.{kind} {name}, {place}; cvt.u64.u{register[1:]} %d2, {name}; st.global.u64 [%base+8], %d2;"""
    got = run_body(body, threads=1, words=4)
    assert int(got[2:].view(np.uint64)[0]) == loaded


def test_vectors_with_discarded_elements() -> None:
    body = """
    st.global.v4.u32 [%base], {1, 2, 3, 4};
    ld.global.v4.u32 {_, %v1, _, %v2}, [%base];
    mad.lo.u32 %v1, %v1, 10, %v2; st.global.u32 [%base+16], %v1;
    ld.global.v2.u8 {%h1, %h2}, [%base+4]; cvt.u32.u16 %v3, %h1; st.global.u32 [%base+20], %v3;"""
    assert run_body(".reg .b16 %h1, %h2;" + body, threads=1, words=6).tolist() == [1, 2, 3, 4, 24, 2]


def test_the_highest_thread_wins_a_store_to_one_place() -> None:
    assert run_body("st.global.u32 [%base], %t;", threads=100, words=1).tolist() == [99]


def test_hints_and_orders_do_not_change_the_result() -> None:
    forms = [
        "ld.global.nc.L1::no_allocate.L2::128B.u32",
        "ld.relaxed.gpu.global.u32",
        "ld.acquire.sys.global.u32",
        "ld.volatile.global.u32",
        "ld.global.cg.u32",
        "ldu.global.u32",
        "ld.weak.global.u32",
    ]
    for form in forms:
        body = f"st.release.gpu.global.u32 [%p], %t; {form} %v1, [%p]; add.u32 %v1, %v1, 1;"
        assert run_body(body + "st.global.wt.u32 [%p], %v1;", threads=3).tolist() == [1, 2, 3]
    fences = "membar.gl; fence.acq_rel.gpu; fence.proxy.alias; prefetch.global.L2 [%p]; griddepcontrol.wait;"
    assert run_body(fences + "st.global.u32 [%p], 1;", threads=2).tolist() == [1, 1]


def test_asynchronous_copies_happen_at_once() -> None:
    body = """
    .shared .align 16 .b8 s[64];
    mov.u64 %d1, s; mad.wide.u32 %d1, %t, 16, %d1; mad.wide.u32 %d2, %t, 16, %base;
    st.global.v4.u32 [%d2], {%t, 7, 8, 9};
    setp.eq.u32 %q1, %t, 0; selp.u32 %v1, 16, 8, %q1;
    cp.async.cg.shared.global [%d1], [%d2], 16, %v1;
    cp.async.commit_group; cp.async.wait_group 0;
    ld.shared.v4.u32 {%v1, %v2, %v3, %v4}, [%d1];
    st.global.v4.u32 [%d2+64], {%v1, %v2, %v3, %v4};"""
    got = run_body(body, threads=3, words=32)
    assert got[16:28].tolist() == [0, 7, 8, 9, 1, 7, 0, 0, 2, 7, 0, 0]
    run_body(body.replace("[%d2], 16", "[%d2+80], 16"), threads=3, words=32)
    for offset, code in ((96, "PLC754"), (8, "PLC755")):
        with pytest.raises(ReplayError, match=code):
            run_body(body.replace("[%d2], 16", f"[%d2+{offset}], 16"), threads=3, words=32)


def test_uninitialised_registers_hold_zero() -> None:
    body = "setp.gt.u32 %q1, %t, 1; @%q1 mov.u32 %v1, 5; @%q2 add.u32 %v1, %v1, 1; st.global.u32 [%p], %v1;"
    assert run_body(body, threads=4).tolist() == [0, 0, 5, 5]


SPECIALS = {
    "%ntid.x": 70,
    "%nctaid.x": 3,
    "%ntid.w": 1,
    "%nwarpid": 64,
    "%total_smem_size": 0,
    "%envreg3": 0,
    "%cluster_nctaid.x": 1,
}


@pytest.mark.parametrize("name", SPECIALS)
def test_uniform_special_registers(name: str) -> None:
    assert set(run_body(f"mov.u32 %v1, {name}; st.global.u32 [%p], %v1;", threads=70, blocks=3)) == {
        SPECIALS[name]
    }


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("%laneid", lambda t: t % 32),
        ("%warpid", lambda t: t // 32),
        ("%lanemask_eq", lambda t: 1 << t % 32),
        ("%lanemask_lt", lambda t: (1 << t % 32) - 1),
        ("%lanemask_le", lambda t: (2 << t % 32) - 1),
        ("%lanemask_gt", lambda t: 0xFFFFFFFF & ~((2 << t % 32) - 1)),
        ("%lanemask_ge", lambda t: 0xFFFFFFFF & ~((1 << t % 32) - 1)),
    ],
)
def test_special_registers_of_lanes(name: str, value: object) -> None:
    got = run_body(f"mov.u32 %v1, {name}; st.global.u32 [%p], %v1;", threads=70)
    assert got.tolist() == [value(t) for t in range(70)]  # type: ignore[operator]


def test_clocks_go_forward_and_end_timed_waits() -> None:
    body = """
    mov.u64 %d1, %clock64;
    again: ld.volatile.global.u32 %v1, [%base]; mov.u64 %d2, %clock64; sub.u64 %d3, %d2, %d1;
    setp.lt.u64 %q1, %d3, 20000; setp.eq.u32 %q2, %v1, 0; and.pred %q1, %q1, %q2; @%q1 bra again;
    mov.u64 %d4, %globaltimer; setp.gt.u64 %q1, %d4, 0; selp.u32 %v1, 1, 0, %q1;
    st.global.u32 [%p], %v1;"""
    assert run_body(body, threads=3, budget=None).tolist() == [1, 1, 1]


def test_trace_sees_every_global_access() -> None:
    device = cuda(r"""
    __device__ int counter;
    extern "C" __global__ void k(const int* x, int* y) {
      __shared__ int s[8];
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      s[threadIdx.x] = x[i];
      if (i % 3 == 0) { y[i] = s[threadIdx.x]; atomicAdd(&counter, 1); }
    }""")
    x, y = np.arange(16, dtype=np.int32), np.zeros(16, np.int32)
    seen: list[tuple[str, str, int, list[int], list[int]]] = []

    def trace(kind: str, addresses: np.ndarray, size: int, region: object, threads: np.ndarray) -> None:
        offsets = (addresses - np.uint64(region.start)).tolist()  # type: ignore[attr-defined]
        seen.append((kind, region.name, size, offsets, threads.tolist()))  # type: ignore[attr-defined]

    device.run("k", 2, 8, device.array("x", x), device.array("y", y), trace=trace)
    third = list(range(0, 16, 3))
    assert ("read", "x", 4, [4 * i for i in range(16)], list(range(16))) in seen
    assert ("write", "y", 4, [4 * i for i in third], third) in seen
    assert ("atomic", "counter", 4, [0] * 6, third) in seen
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("add.s32", True),
        ("fma.rn.f32", True),
        ("ld.global.nc.v4.f32", True),
        ("ld.global.v3.f32", False),
        ("st.param.v2.b32", True),
        ("atom.global.cas.b64", True),
        ("atom.shared.add.noftz.f16x2", True),
        ("atom.global.add.b32", False),
        ("red.async.relaxed.cluster.global.add.u32", False),
        ("bar.sync", True),
        ("barrier.cta.sync.aligned", True),
        ("barrier.cluster.arrive", False),
        ("bar.red.popc.u32", True),
        ("shfl.sync.bfly.b32", True),
        ("shfl.sync.diag.b32", False),
        ("vote.sync.ballot.b32", True),
        ("redux.sync.max.s32", True),
        ("redux.sync.max.f32", False),
        ("cp.async.ca.shared.global", True),
        ("cp.async.bulk.shared::cluster.global", False),
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", False),
        ("tex.2d.v4.f32.f32", False),
        ("bra.uni", True),
        ("frobnicate.u32", False),
    ],
)
def test_supports(form: str, expected: bool) -> None:
    assert supports(form) is expected
