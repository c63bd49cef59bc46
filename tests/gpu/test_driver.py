"""Plans made by hand on the CUDA device, against NumPy and the CPU device.

The kernels are few and known by name, so that these tests also run over a driver made of host memory.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import textwrap
import weakref
from pathlib import Path

import numpy as np
import pytest

from planc.diagnostics import DeviceError, ReplayError
from planc.plan.program import Role
from planc.runtime import Executable, load
from planc.runtime.cuda import primary_context
from planc.runtime.loops import PythonLoop
from tests.gpu.tensors import GpuTensor
from tests.runtime.chains import chain_plan
from tests.runtime.kernels import BUMP, SHARED
from tests.runtime.programs import Maker, View, axpy_maker
from tests.runtime.views import random_case

pytestmark = pytest.mark.gpu
F32 = np.float32


def fed(exe: Executable) -> Executable:
    exe.write("x", np.arange(8, dtype=F32))
    exe.write("y", np.linspace(-1, 1, 8, dtype=F32))
    return exe


@pytest.mark.parametrize("memory", ["arena", "separate"])
def test_kernels_and_scalars_as_on_the_cpu(memory: str) -> None:
    plan = load(axpy_maker().plan())
    with plan.instantiate("cuda:0", memory=memory) as gpu, plan.instantiate("cpu") as cpu:
        for exe in (gpu, cpu):
            fed(exe)
        for scalars in ({}, {"a": 0.1}, {"a": 0.1, "n": 3}, {"n": 8}, {}):
            for exe in (gpu, cpu):
                exe.replay(**scalars).wait()
            assert gpu.read("y").tobytes() == cpu.read("y").tobytes()
        assert gpu.arguments == cpu.arguments


@pytest.mark.parametrize("item", [1, 2, 4])
@pytest.mark.parametrize("count", [1, 3, 4, 1000, 65_537])
def test_fills_by_item(item: int, count: int) -> None:
    maker = Maker("fill")
    dtype = {1: "u8", 2: "u16", 4: "u32"}[item]
    pattern = {1: 0xA1, 2: 0xB1C2, 4: 0xDEADBEEF}[item]
    maker.buffer("u", dtype, [count + 2], Role.INOUT)
    maker.fill("fill", View("u", (slice(1, -1),)), pattern, item)
    with load(maker.plan()).instantiate("cuda:0") as exe:
        exe.write("u", np.zeros(count + 2, dtype.replace("u", "uint")))
        exe.replay().wait()
        assert exe.read("u").tolist() == [0] + [pattern] * count + [0]


@pytest.mark.parametrize("seed", range(120))
def test_strided_fills_and_copies_against_numpy(seed: int) -> None:
    case = random_case(seed, longest=6 if seed % 3 else 17)
    with load(case.plan).instantiate("cuda:0", memory=("arena", "separate")[seed % 2]) as exe:
        exe.write("u", case.u)
        exe.write("v", case.v)
        exe.replay().wait()
        assert exe.read("u").tobytes() == case.wanted.tobytes()
        assert exe.read("v").tobytes() == case.v.tobytes()


@pytest.mark.parametrize(
    ("shape", "index"),
    [
        ((512, 768), (slice(None), slice(None, None, 2))),
        ((512, 768), (slice(1, None, 2), slice(5, 700))),
        ((16, 32, 48), (slice(None), slice(1, 30), slice(2, 47))),
        ((16, 32, 48), (slice(None, None, 3), slice(None, None, 2), slice(None))),
        ((4, 5, 6, 7), (slice(None), slice(1, 4), slice(1, 5), slice(1, 6))),
        ((300, 3), (slice(None, None, -1), slice(None))),
        ((70_000, 3), (slice(None), slice(1, 2))),
    ],
)
def test_larger_views(shape: tuple[int, ...], index: tuple[slice, ...]) -> None:
    source = np.random.default_rng(0).standard_normal(shape).astype(F32)
    part = source[index]
    maker = Maker("views")
    maker.buffer("u", "f32", shape, Role.INPUT)
    maker.buffer("packed", "f32", part.shape, Role.OUTPUT)
    maker.buffer("back", "f32", shape, Role.OUTPUT)
    maker.buffer("ones", "f32", shape, Role.OUTPUT)
    maker.copy("pack", View("packed"), View("u", index))
    maker.copy("unpack", View("back", index), View("packed"), after=["pack"])
    maker.fill("one", View("ones", index), 0x3F800000, 4)
    with load(maker.plan()).instantiate("cuda:0") as exe:
        exe.write("u", source)
        exe.replay().wait()
        wanted = np.zeros(shape, F32)
        wanted[index] = part
        assert np.array_equal(exe.read("packed"), part) and np.array_equal(exe.read("back"), wanted)
        wanted[index] = 1
        assert np.array_equal(exe.read("ones"), wanted)


def test_a_copy_whose_axes_do_not_match() -> None:
    maker = Maker("reshape")
    maker.buffer("u", "i32", [4, 9], Role.INPUT)
    maker.buffer("v", "i32", [6, 8], Role.OUTPUT)
    maker.copy("go", View("v", (slice(None), slice(0, 4))), View("u", (slice(None), slice(0, 6))))
    u = np.arange(36, dtype=np.int32).reshape(4, 9)
    with load(maker.plan()).instantiate("cuda:0") as exe:
        exe.write("u", u)
        exe.replay().wait()
        assert np.array_equal(exe.read("v")[:, :4], u[:, :6].reshape(6, 4))


def bound_plan() -> Maker:
    """A kernel, a fill, a plain copy and a strided copy, all on slots."""
    maker = axpy_maker()
    maker.buffer("plain", "f32", [8], Role.OUTPUT)
    maker.buffer("strided", "f32", [6, 8], Role.OUTPUT)
    maker.buffer("filled", "f32", [6, 8], Role.OUTPUT)
    maker.copy("plain", View("plain"), View("y"), after=["second"])
    maker.copy("rows", View("strided", (slice(0, 6, 2),)), View("filled", (slice(0, 3),)), after=["plain"])
    maker.fill("two", View("filled", (slice(3, 6), slice(2, 6))), 0x40000000, 4)
    return maker


def test_tensors_are_bound_in_place() -> None:
    tensors = {
        "x": GpuTensor([8], "f32"),
        "y": GpuTensor([8], "f32"),
        "plain": GpuTensor([8], "f32"),
        "strided": GpuTensor([6, 8], "f32"),
        "filled": GpuTensor([6, 8], "f32"),
    }
    start = np.arange(8, dtype=F32)
    with load(bound_plan().plan()).instantiate("cuda:0") as exe:
        fed(exe).replay().wait()
        own = exe.read("y")
        for round_ in range(3):  # to the tensors, back, and to the tensors again
            tensors["x"].array = start
            tensors["y"].array = start * 0
            tensors["filled"].array = np.arange(48, dtype=F32).reshape(6, 8)
            exe.bind(**tensors)
            exe.replay(a=1.0 + round_).wait()
            assert np.array_equal(tensors["y"].array, start * (2 + round_))
            assert np.array_equal(tensors["plain"].array, start * (2 + round_))
            wanted = np.arange(48, dtype=F32).reshape(6, 8)
            wanted[3:6, 2:6] = 2
            assert np.array_equal(tensors["filled"].array, wanted)
            assert np.array_equal(tensors["strided"].array[::2], wanted[:3])
            assert np.array_equal(exe.read("y"), tensors["y"].array)
            exe.bind(**dict.fromkeys(tensors))
            assert np.array_equal(exe.read("y"), own)
        exe.bind(y=tensors["y"])
        exe.write("y", start)
        assert np.array_equal(tensors["y"].array, start)


def test_misaligned_and_host_tensors_are_refused() -> None:
    with load(axpy_maker().plan()).instantiate("cuda:0") as exe:
        for value, code in (
            (GpuTensor([8], "f32", skew=4), "PLC705"),
            (GpuTensor([8], "f64"), "PLC702"),
            (np.zeros(8, F32), "PLC708"),
        ):
            with pytest.raises(ReplayError) as caught:
                exe.bind(x=value)
            assert caught.value.code == code
        both = GpuTensor([8], "f32")
        with pytest.raises(ReplayError) as caught:
            exe.bind(x=both, y=both)
        assert caught.value.code == "PLC709"


def test_a_bound_tensor_is_held() -> None:
    with load(axpy_maker().plan()).instantiate("cuda:0") as exe:
        fed(exe)
        tensor = GpuTensor([8], "f32")
        held = weakref.ref(tensor)
        exe.bind(x=tensor)
        del tensor
        gc.collect()
        assert held() is not None
        exe.replay().wait()
        exe.bind(x=None)
        gc.collect()
        assert held() is None


def counter() -> Maker:
    maker = Maker("counter")
    maker.buffer("n", "u32", [1], Role.STATE)
    maker.buffer("g", "u32", [2], Role.GLOBAL, symbol=(0, "total"))
    maker.module(BUMP)
    maker.function("bump", [("n", "u32", True)])
    maker.run("bump", "bump", {"n": "n"}, reads=["n"], writes=["n"])
    return maker


def test_state_and_globals() -> None:
    with load(counter().plan()).instantiate("cuda:0") as exe:
        for _ in range(3):
            exe.replay()
        assert exe.read("n").tolist() == [3] and exe.read("g").tolist() == [10, 0]
        exe.write("g", np.array([20, 5], np.uint32))
        exe.replay()
        assert exe.read("g").tolist() == [21, 5]
        exe.reset()
        assert exe.read("n").tolist() == [0] and exe.read("g").tolist() == [7, 0]
        exe.replay()
        assert exe.read("n").tolist() == [1] and exe.read("g").tolist() == [8, 0]


def test_reads_and_writes_are_ordered_with_launches() -> None:
    with load(counter().plan()).instantiate("cuda:0") as exe:
        for n in range(200):
            exe.replay()
            if n % 20 == 19:
                assert exe.read("n").tolist() == [n + 1]


@pytest.mark.parametrize("kilobytes", [16, 48, 100, 200])
def test_dynamic_shared_memory(kilobytes: int) -> None:
    """Above 48 KiB a kernel has to be allowed to have it; its last bytes are used."""
    maker = Maker("mirror")
    maker.buffer("x", "u32", [64])
    maker.module(SHARED)
    maker.function("mirror", [("x", "u32", True), ("last", "u32", False)])
    arguments = {"x": "x", "last": kilobytes * 1024 - 256}
    maker.run("go", "mirror", arguments, block=(64, 1, 1), shared=kilobytes * 1024, reads=["x"], writes=["x"])
    with load(maker.plan()).instantiate("cuda:0") as exe:
        exe.write("x", np.arange(64, dtype=np.uint32))
        exe.replay().wait()
        assert exe.read("x").tolist() == list(range(63, -1, -1))


def test_tickets() -> None:
    async def main(exe: Executable) -> int:
        return (await exe.replay()).number

    exe = fed(load(axpy_maker().plan()).instantiate("cuda:0"))
    tickets = [exe.replay(n=8) for _ in range(200)]
    assert tickets[-1].wait(timeout=30) is tickets[-1] and all(t.done for t in tickets)
    assert asyncio.run(main(exe)) == 201
    exe.close()
    exe.close()
    assert tickets[5].done and tickets[0].wait(timeout=0)


def test_programmatic_edges_are_accepted() -> None:
    """Without `griddepcontrol` in the kernels such an edge is a full one."""
    from planc.plan.program import EdgeType
    from planc.runtime.loaded import LoadedPlan

    maker = axpy_maker()
    schedule = maker.schedule()
    schedule.edges["type"] = EdgeType.PROGRAMMATIC
    with LoadedPlan(maker.plan(checked=False, schedules=[schedule])).instantiate("cuda:0") as exe:
        fed(exe).replay().wait()
        assert np.isfinite(exe.read("y")).all()


@pytest.mark.parametrize(("count", "lanes"), [(2048, 1), (2048, 16), (8192, 16)])
def test_large_graphs_under_either_loop(count: int, lanes: int) -> None:
    context = primary_context(0)
    plan, before = load(chain_plan(count, lanes)), context.loop
    try:
        for loop in (before, PythonLoop(context.entries)):
            context.loop = loop
            with plan.instantiate("cuda:0") as exe:
                for replay in (1, 2):
                    exe.replay().wait()
                    assert (exe.read("y") == replay * count // lanes).all()
    finally:
        context.loop = before


def test_no_such_device() -> None:
    with pytest.raises(DeviceError) as caught:
        load(axpy_maker().plan()).instantiate("cuda:99")
    assert caught.value.code == "PLC730" and 'device="cpu"' in str(caught.value)


def test_an_image_unlike_its_plan() -> None:
    maker = axpy_maker()
    function = maker.functions[0]
    maker.functions[0] = type(function)("axpy", "axpz", 0, function.parameters)
    with pytest.raises(ReplayError) as caught:
        load(maker.plan()).instantiate("cuda:0")
    assert caught.value.code == "PLC728"


FAULT = """
    import time
    import numpy as np
    from planc.diagnostics import DeviceError
    from planc.runtime import load
    from tests.runtime.kernels import WILD
    from tests.runtime.programs import Maker, axpy_maker

    maker = Maker("wild")
    maker.buffer("x", "u32", [4])
    maker.slot("distance", "u64", 0)
    maker.module(WILD)
    maker.function("wild", [("x", "u32", True), ("distance", "u64", False)])
    maker.run("store", "wild", {"x": "x", "distance": "$distance"}, writes=["x"])
    exe = load(maker.plan()).instantiate("cuda:0")
    other = load(axpy_maker().plan()).instantiate("cuda:0")
    exe.write("x", np.zeros(4, np.uint32))

    def code(call, *arguments):
        try:
            call(*arguments)
        except DeviceError as error:
            assert "wild" in str(error) or error.code == "PLC732", error
            return error.code
        return None

    good = exe.replay(distance=12).wait()
    assert exe.read("x").tolist() == [0, 0, 0, 1]
    found = [code(lambda: exe.replay(distance=1 << 46).wait())]
    start = time.perf_counter()
    found += [code(exe.replay), code(exe.read, "x"), code(other.reset)]
    assert good.done and good.wait() is good
    found += [code(exe.close), code(other.close), code(exe.close)]
    found += [code(load(axpy_maker().plan()).instantiate, "cuda:0")]
    assert time.perf_counter() - start < 1.0
    print(found)
"""


def test_a_fault_is_sticky_and_told_at_once() -> None:
    """In a process of its own: the driver is lost to it."""
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FAULT)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    lost = "PLC732"
    assert run.stdout.strip() == str(["PLC734", lost, lost, lost, None, None, None, lost])
