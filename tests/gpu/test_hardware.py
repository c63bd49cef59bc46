"""What only a real GPU shows: launches in flight, printf, frameworks' tensors, memory, the sample plans."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
import time
import weakref
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from planc.diagnostics import ReplayError
from planc.plan.program import Role
from planc.runtime import Executable, load
from planc.runtime.cuda import primary_context
from tests.gpu.tensors import GpuTensor
from tests.runtime.kernels import SPIN, WIDE
from tests.runtime.programs import Maker, axpy_maker
from tests.samples.references import SAMPLES, Sample

pytestmark = pytest.mark.gpu
F32 = np.float32
LONG = 400_000_000  # cycles: about a quarter of a second
ROOT = Path(__file__).parents[2]


def spinner() -> Maker:
    maker = Maker("spinner")
    maker.buffer("log", "u32", [64], Role.INOUT)
    maker.slot("cycles", "u64", 0)
    maker.slot("tag", "u32", 0)
    maker.module(SPIN)
    maker.function("spin", [("log", "u64", True), ("cycles", "u64", False), ("tag", "u32", False)])
    arguments = {"log": "log", "cycles": "$cycles", "tag": "$tag"}
    maker.run("spin", "spin", arguments, reads=["log"], writes=["log"])
    return maker


def spinning() -> Executable:
    exe = load(spinner().plan(checked=True)).instantiate("cuda:0")
    exe.write("log", np.zeros(64, np.uint32))
    return exe


def test_replay_enqueues_and_patches_affect_future_launches() -> None:
    with spinning() as exe:
        start = time.perf_counter()
        tickets = [exe.replay(cycles=LONG, tag=1), *(exe.replay(cycles=0, tag=n) for n in range(2, 9))]
        assert time.perf_counter() - start < 0.1
        assert not tickets[0].done and not tickets[-1].done
        with pytest.raises(ReplayError) as caught:
            tickets[-1].wait(timeout=0.001)
        assert caught.value.code == "PLC733"
        tickets[-1].wait(timeout=30)
        assert exe.read("log")[:9].tolist() == [8, 1, 2, 3, 4, 5, 6, 7, 8]


def test_a_read_waits_for_what_is_in_flight() -> None:
    with spinning() as exe:
        exe.replay(cycles=LONG, tag=5)
        assert exe.read("log")[:2].tolist() == [1, 5]
        exe.replay(cycles=LONG, tag=6)
        exe.write("log", np.zeros(64, np.uint32))
        assert exe.read("log")[:3].tolist() == [0, 0, 0]


def test_a_bound_tensor_lives_until_its_launches_are_complete() -> None:
    with spinning() as exe:
        first, second = GpuTensor([64], "u32"), GpuTensor([64], "u32")
        held = weakref.ref(first)
        exe.bind(log=first)
        ticket = exe.replay(cycles=LONG, tag=1)
        del first
        exe.bind(log=second)
        gc.collect()
        assert held() is not None and not ticket.done
        exe.replay(cycles=0, tag=2).wait()
        assert second.array[:2].tolist() == [1, 2]
        exe.bind(log=None)
        gc.collect()
        assert held() is None


def test_close_waits() -> None:
    exe = spinning()
    tensor = GpuTensor([64], "u32")
    exe.bind(log=tensor)
    ticket = exe.replay(cycles=LONG, tag=9)
    exe.close()
    assert ticket.done and tensor.array[:2].tolist() == [1, 9]


def test_waiting_threads_do_not_hold_others_up() -> None:
    import threading

    with spinning() as exe:
        first = exe.replay(cycles=LONG, tag=1)
        waiting = threading.Thread(target=first.wait)
        waiting.start()
        start = time.perf_counter()
        last = exe.replay(cycles=0, tag=2)
        assert time.perf_counter() - start < 0.1
        waiting.join()
        last.wait()
        assert exe.read("log")[:3].tolist() == [2, 1, 2]


def test_the_callers_context_is_left_as_it_was() -> None:
    driver = primary_context(0).api

    def current() -> int:
        return int(driver.cuCtxGetCurrent()[1])

    before = current()
    with load(axpy_maker().plan()).instantiate("cuda:0") as exe:
        assert current() == before
        exe.write("x", np.zeros(8, F32))
        exe.write("y", np.zeros(8, F32))
        exe.replay().wait()
        assert current() == before
    assert current() == before


def test_device_memory_is_given_back() -> None:
    """Free memory after 30 lives is what it was after 3."""
    context = primary_context(0)

    def free() -> int:
        context.call("cuCtxPushCurrent", context.handle)
        try:
            return int(context.call("cuMemGetInfo")[0])
        finally:
            context.call("cuCtxPopCurrent")

    plan = load(axpy_maker(length=1 << 20).plan())
    seen = []
    for n in range(30):
        with plan.instantiate("cuda:0", memory=("arena", "separate")[n % 2]) as exe:
            exe.write("x", np.zeros(1 << 20, F32))
            exe.write("y", np.zeros(1 << 20, F32))
            exe.replay().wait()
        seen.append(free())
    assert seen[-1] >= seen[2] - (2 << 20)


def test_every_width_of_argument_lands() -> None:
    maker = Maker("wide")
    slots = {"a": ("u8", 200), "b": ("i16", -3), "c": ("f32", 1.5), "d": ("f64", -2.25), "e": ("bool", True),
             "f": ("bf16", 0.5), "g": ("i64", -(2**40))}  # fmt: skip
    for name, (dtype, value) in slots.items():
        maker.slot(name, dtype, value)
    maker.buffer("out", "u64", [7], Role.OUTPUT)
    maker.module(WIDE)
    maker.function("wide", [("out", "u64", True), *((n, d, False) for n, (d, _) in slots.items())])
    maker.run("store", "wide", {"out": "out", **{n: f"${n}" for n in slots}}, writes=["out"])
    values = {"a": 1, "b": 2, "c": 3, "d": 4, "e": False, "f": ml_dtypes.bfloat16(5), "g": 6}
    plan = load(maker.plan())
    with plan.instantiate("cuda:0") as gpu, plan.instantiate("cpu") as cpu:
        for scalars in ({}, values):
            for exe in (gpu, cpu):
                exe.replay(**scalars).wait()
            assert gpu.read("out").tobytes() == cpu.read("out").tobytes()


def test_printf_reaches_standard_output() -> None:
    code = """
        from planc.runtime import load
        from tests.runtime.kernels import HELLO
        from tests.runtime.programs import Maker
        maker = Maker("hello")
        maker.slot("number", "u32", 42)
        maker.module(HELLO)
        maker.function("hello", [("number", "u32", False)])
        maker.run("say", "hello", {"number": "$number"})
        with load(maker.plan()).instantiate("cuda:0") as exe:
            for number in (1, 2, 3):
                exe.replay(number=number).wait()
                import time; time.sleep(0.05)
                exe.replay(number=number + 10)
                time.sleep(0.05)  # complete before anybody waits
                exe.replay(number=number + 20).wait()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    wanted = [n + tens for n in (1, 2, 3) for tens in (0, 10, 20)]
    assert done.stdout == "".join(f"the number is {n}\n" for n in wanted)


def test_torch_tensors_are_bound_through_dlpack() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(8, dtype=torch.float32, device="cuda")
    y = torch.zeros(8, dtype=torch.float32, device="cuda")
    torch.cuda.synchronize()
    with load(axpy_maker().plan()).instantiate("cuda:0") as exe:
        exe.bind(x=x, y=y)
        exe.replay(a=1.0).wait()
        assert torch.equal(y, 2 * x)
        for wrong, code in ((x[::2], "PLC703"), (torch.zeros(8, 2, device="cuda")[:, 0], "PLC704"),
                            (x.to(torch.bfloat16), "PLC702"), (x.cpu(), "PLC708")):  # fmt: skip
            with pytest.raises(ReplayError) as caught:
                exe.bind(x=wrong)
            assert code in {d.code for d in caught.value.diagnostics}
        exe.replay(a=1.0).wait()
        assert torch.equal(y, 4 * x)


def test_cupy_arrays_are_bound() -> None:
    cupy = pytest.importorskip("cupy")
    x, y = cupy.arange(8, dtype=F32), cupy.zeros(8, dtype=F32)
    cupy.cuda.Device().synchronize()
    with load(axpy_maker().plan()).instantiate("cuda:0") as exe:
        exe.bind(x=x, y=y)
        exe.replay(a=1.0).wait()
        assert np.array_equal(y.get(), 2 * x.get())


@pytest.mark.parametrize("memory", ["arena", "separate"])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_samples_as_on_the_cpu_device(sample: Sample, memory: str) -> None:
    """Bit for bit where every kernel is ``exact``, within the sample's bound elsewhere."""
    plan = load(sample.golden)
    given = sample.inputs()
    exact = all(module.exact for module in plan.program.modules)
    results = []
    for device in ("cuda:0", "cpu"):
        with plan.instantiate(device, memory=memory) as exe:
            for name, array in given.items():
                exe.write(name, array)
            exe.replay(**sample.scalars).wait()
            results.append({name: exe.read(name) for name in exe.outputs})
    for name, array in results[0].items():
        if exact:
            assert array.tobytes() == results[1][name].tobytes()
        else:
            np.testing.assert_allclose(array, results[1][name], rtol=max(sample.tolerance, 1e-6), atol=1e-6)
    for name, wanted in sample.expected(given).items():
        np.testing.assert_allclose(results[0][name], wanted, rtol=max(sample.tolerance, 1e-6), atol=1e-6)
