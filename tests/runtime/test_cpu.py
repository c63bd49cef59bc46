"""The CPU reference device: kernels, fills, copies, state, printf, faults with their node."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from planc.diagnostics import DeviceError, PlancError, ReplayError
from planc.plan.program import Image, Module, Role
from planc.runtime import Executable, load
from planc.runtime.cpu import POISON
from planc.runtime.loaded import LoadedPlan
from tests.runtime.kernels import BUMP, HELLO, LOOP, WIDE
from tests.runtime.programs import AXPY, Maker, View, axpy_maker
from tests.runtime.views import random_case

F32 = np.float32


def axpy_exe(**options: object) -> Executable:
    exe = load(axpy_maker().plan()).instantiate("cpu", **options)
    exe.write("x", np.arange(8, dtype=F32))
    exe.write("y", np.ones(8, F32))
    return exe


def test_kernels_run_in_order_with_their_scalars() -> None:
    with axpy_exe() as exe:
        ticket = exe.replay(a=3.0, n=6)
        assert ticket.done and ticket.wait(timeout=0).number == 1
        x = np.arange(8, dtype=F32)
        wanted = np.where(x < 6, 1 + 4 * x, 1)
        assert np.array_equal(exe.read("y"), wanted)
        exe.replay(n=8).wait()  # `a` stays
        assert np.array_equal(exe.read("y"), wanted + 4 * x)
        assert exe.target == "sm_90" and exe.device == "cpu"


def test_tickets_can_be_awaited() -> None:
    import asyncio

    async def main(exe: Executable) -> int:
        return (await exe.replay()).number

    with axpy_exe() as exe:
        assert asyncio.run(main(exe)) == 1


def test_arrays_are_bound_without_a_copy() -> None:
    x, y = np.arange(8, dtype=F32), np.zeros(8, F32)
    with axpy_exe() as exe:
        exe.bind(x=x, y=y)
        exe.replay(a=1.0).wait()
        assert np.array_equal(y, 2 * x)
        x += 1
        exe.replay().wait()
        assert np.array_equal(y, 2 * (x - 1) + 2 * x)
        exe.bind(y=None)
        exe.replay().wait()
        assert np.array_equal(exe.read("y"), 1 + 2 * x)
        assert exe.binding_bytes == 64
    assert np.array_equal(y, 2 * (x - 1) + 2 * x)


def test_unaligned_and_read_only_arrays_can_be_inputs() -> None:
    store = np.zeros(33, np.uint8)
    x = store[1:].view(F32)
    x[:] = 2
    x.flags.writeable = False
    y = np.zeros(8, F32)
    with axpy_exe() as exe:
        exe.bind(x=x, y=y)
        exe.replay(a=1.0).wait()
        assert y.tolist() == [4] * 8
        with pytest.raises(ReplayError) as caught:
            exe.write("x", np.zeros(8, F32))
        assert caught.value.code == "PLC719"
        with pytest.raises(ReplayError) as caught:
            exe.bind(y=np.zeros((8, 2), F32)[:, 1])
        assert caught.value.code == "PLC704"
        with pytest.raises(ReplayError) as caught:
            exe.bind(y=x)
        assert {d.code for d in caught.value.diagnostics} == {"PLC719"}
        with pytest.raises(ReplayError) as caught:
            exe.bind(x=y)
        assert caught.value.code == "PLC709"


@pytest.mark.parametrize("memory", ["arena", "separate"])
def test_an_overrun_is_caught_with_its_node_even_in_an_arena(memory: str) -> None:
    maker = axpy_maker(length=8)
    maker.buffers[1] = type(maker.buffers[1])("y", "f32", (8,), Role.SCRATCH, 32)
    maker.buffer("z", "f32", [8], Role.SCRATCH)
    maker.fill("zero", View("z"), 0, 4)
    with LoadedPlan(maker.plan(checked=False)).instantiate("cpu", memory=memory) as exe:
        exe.write("x", np.zeros(8, F32))
        exe.replay(n=9).wait()  # the grid covers 8 elements
    maker.rows["kernel_ops"][1] = (0, (3, 1, 1), (4, 1, 1), 0, 24, maker.rows["kernel_ops"][1][5], 0)
    with LoadedPlan(maker.plan(checked=False)).instantiate("cpu", memory=memory) as exe:
        exe.write("x", np.zeros(8, F32))
        with pytest.raises(ReplayError) as caught:
            exe.replay(n=9)
        (found,) = caught.value.diagnostics
        assert found.code == "PLC754" and found.facts["node"] == "second" and found.facts["buffer"] == "x"
        assert "node `second`" in found.message and str(found.span) == "graph.yaml:11:5"
        exe.replay(n=8).wait()  # the executable is as good as before


@pytest.mark.parametrize("seed", range(80))
def test_fills_and_copies_against_numpy(seed: int) -> None:
    """Random views of random arrays, on the CPU device and on the fake one."""
    case = random_case(seed)
    plan = load(case.plan)
    for device in ("cpu", "fake"):
        with plan.instantiate(device) as exe:
            exe.write("u", case.u)
            exe.write("v", case.v)
            exe.replay().wait()
            assert exe.read("u").tobytes() == case.wanted.tobytes(), device
            assert exe.read("v").tobytes() == case.v.tobytes()


def test_state_is_kept_and_reset() -> None:
    maker = Maker("counter")
    maker.buffer("n", "u32", [1], Role.STATE)
    maker.buffer("g", "u32", [2], Role.GLOBAL, symbol=(0, "total"))
    maker.module(BUMP)
    maker.function("bump", [("n", "u32", True)])
    maker.run("bump", "bump", {"n": "n"}, reads=["n"], writes=["n"])
    with load(maker.plan()).instantiate("cpu") as exe:
        for _ in range(3):
            exe.replay().wait()
        assert exe.read("n").tolist() == [3] and exe.read("g").tolist() == [7 + 3, 0]
        exe.write("n", np.array([10], np.uint32))
        exe.write("g", np.array([20, 5], np.uint32))
        exe.replay().wait()
        assert exe.read("n").tolist() == [11] and exe.read("g").tolist() == [21, 5]
        exe.reset()
        assert exe.read("n").tolist() == [0] and exe.read("g").tolist() == [7, 0]
        exe.replay().wait()
        assert exe.read("g").tolist() == [8, 0]


def test_globals_with_bytes_of_the_plan() -> None:
    maker = Maker("counter")
    maker.buffer("n", "u32", [1], Role.STATE)
    first = np.array([100, 3], np.uint32)
    from planc.plan import sha256

    maker.constants[sha256(first.tobytes())] = first.tobytes()
    maker.buffer("g", "u32", [2], Role.GLOBAL, symbol=(0, "total"), data=sha256(first.tobytes()))
    maker.module(BUMP)
    maker.function("bump", [("n", "u32", True)])
    maker.run("bump", "bump", {"n": "n"}, reads=["n"], writes=["n"])
    plan = load(maker.plan())
    for device in ("cpu", "fake"):
        with plan.instantiate(device) as exe:
            assert exe.read("g").tolist() == [100, 3]
            exe.write("g", np.zeros(2, np.uint32))
            exe.reset()
            assert exe.read("g").tolist() == [100, 3]


@pytest.mark.parametrize("device", ["cpu", "fake"])
@pytest.mark.parametrize(("symbol", "shape"), [("totals", [2]), ("total", [3])])
def test_globals_unlike_their_image(device: str, symbol: str, shape: list[int]) -> None:
    maker = Maker("counter")
    maker.buffer("n", "u32", [1], Role.STATE)
    maker.buffer("g", "u32", shape, Role.GLOBAL, symbol=(0, symbol))
    maker.module(BUMP)
    maker.function("bump", [("n", "u32", True)])
    maker.run("bump", "bump", {"n": "n"}, reads=["n"], writes=["n"])
    with pytest.raises(ReplayError) as caught:
        load(maker.plan()).instantiate(device)
    assert caught.value.code == "PLC728"


def test_printf_goes_where_it_is_sent(capsys: pytest.CaptureFixture[str]) -> None:
    maker = Maker("hello")
    maker.slot("number", "u32", 42)
    maker.module(HELLO)
    maker.function("hello", [("number", "u32", False)])
    maker.run("say", "hello", {"number": "$number"})
    plan = load(maker.plan())
    said: list[str] = []
    with plan.instantiate("cpu", stdout=said.append) as exe:
        exe.replay().wait()
        exe.replay(number=7).wait()
    assert "".join(said) == "the number is 42\nthe number is 7\n"
    with plan.instantiate("cpu") as exe:
        exe.replay().wait()
    assert capsys.readouterr().out == "the number is 42\n"


def test_scratch_is_poisoned_before_every_replay() -> None:
    maker = Maker("scratch")
    maker.buffer("t", "u8", [4], Role.SCRATCH)
    maker.buffer("y", "u8", [4], Role.OUTPUT)
    maker.copy("out", View("y"), View("t"))
    maker.fill("late", View("t"), 1, 1, after=["out"])
    with LoadedPlan(maker.plan(checked=False)).instantiate("cpu") as exe:
        for _ in range(2):
            exe.replay().wait()
            assert exe.read("y").tolist() == [POISON] * 4


def test_a_budget_ends_a_loop() -> None:
    maker = Maker("loop")
    maker.slot("n", "u32", 5)
    maker.module(LOOP)
    maker.function("loop", [("n", "u32", False)])
    maker.run("spin", "loop", {"n": "$n"})
    with load(maker.plan()).instantiate("cpu", budget=1000) as exe:
        exe.replay().wait()
        with pytest.raises(ReplayError) as caught:
            exe.replay(n=10**6)
        assert caught.value.diagnostics[0].facts["node"] == "spin"
        assert "PLC750" <= caught.value.code <= "PLC799"
        exe.replay(n=3).wait()


def test_every_width_of_argument_lands() -> None:
    """A kernel that stores each of its arguments: 1, 2, 4 and 8 bytes, bf16 and bool among them."""
    maker = Maker("wide")
    slots = {"a": ("u8", 200), "b": ("i16", -3), "c": ("f32", 1.5), "d": ("f64", -2.25), "e": ("bool", True),
             "f": ("bf16", 0.5), "g": ("i64", -(2**40))}  # fmt: skip
    for name, (dtype, value) in slots.items():
        maker.slot(name, dtype, value)
    maker.buffer("out", "u64", [7], Role.OUTPUT)
    maker.module(WIDE)
    parameters = [("out", "u64", True), *((n, d, False) for n, (d, _) in slots.items())]
    maker.function("wide", parameters)
    maker.run("store", "wide", {"out": "out", **{n: f"${n}" for n in slots}}, writes=["out"])
    with load(maker.plan()).instantiate("cpu") as exe:

        def stored() -> list[object]:
            types = (np.uint8, np.int16, F32, np.float64, np.uint8, ml_dtypes.bfloat16, np.int64)
            return [
                word.tobytes()[: np.dtype(t).itemsize] for word, t in zip(exe.read("out"), types, strict=True)
            ]

        exe.replay().wait()
        assert stored() == [
            np.uint8(200).tobytes(), np.int16(-3).tobytes(), F32(1.5).tobytes(), np.float64(-2.25).tobytes(),
            b"\1", ml_dtypes.bfloat16(0.5).tobytes(), np.int64(-(2**40)).tobytes(),
        ]  # fmt: skip
        exe.replay(a=1, b=2, c=3, d=4, e=False, f=5, g=6).wait()
        assert stored() == [
            np.uint8(1).tobytes(), np.int16(2).tobytes(), F32(3).tobytes(), np.float64(4).tobytes(),
            b"\0", ml_dtypes.bfloat16(5).tobytes(), np.int64(6).tobytes(),
        ]  # fmt: skip


def test_the_newest_target_is_interpreted() -> None:
    maker = axpy_maker()
    images = []
    from planc.plan import sha256

    for target in ("sm_80", "sm_90"):
        data = AXPY.replace("sm_90", target).encode()
        images.append(Image(target, "ptx", sha256(data), data))
    maker.targets = ("sm_80", "sm_90")
    maker.modules = [Module("k.ptx", tuple(images))]
    plan = load(maker.plan())
    for target, wanted in ((None, "sm_90"), ("sm_80", "sm_80")):
        with plan.instantiate("cpu", target=target) as exe:
            assert exe.target == wanted
    with pytest.raises(PlancError) as caught:
        plan.instantiate("cpu", target="sm_75")
    assert caught.value.code == "PLC725"


def test_parameters_of_the_image_are_compared() -> None:
    maker = axpy_maker()
    maker.modules[0] = Module(
        "k.ptx", tuple(Image(i.target, i.form, i.digest, i.data.replace(b".param .u32 n", b".param .u64 n")
                             .replace(b"ld.param.u32 %r1, [n]", b"mov.u32 %r1, 3"))
                       for i in maker.modules[0].images)
    )  # fmt: skip
    with pytest.raises(ReplayError) as caught:
        LoadedPlan(maker.plan(checked=False)).instantiate("cpu")
    assert caught.value.code == "PLC728"


def test_too_large_for_the_host() -> None:
    maker = Maker("huge")
    maker.buffer("u", "u8", [2**46])
    maker.join("nothing")
    with pytest.raises(DeviceError) as caught:
        LoadedPlan(maker.plan(checked=False)).instantiate("cpu")
    assert caught.value.code == "PLC736"


def test_empty_buffers() -> None:
    maker = Maker("empty")
    maker.buffer("u", "f32", [0, 4], Role.INPUT)
    maker.buffer("y", "f32", [2], Role.OUTPUT)
    maker.fill("one", View("y"), 0x3F800000, 4)
    plan = LoadedPlan(maker.plan(checked=False))
    for device in ("cpu", "fake"):
        with plan.instantiate(device) as exe:
            exe.write("u", np.zeros((0, 4), F32))
            exe.replay().wait()
            assert exe.read("u").shape == (0, 4) and exe.read("y").tolist() == [1, 1]
    with plan.instantiate("cpu") as exe:
        exe.bind(u=np.zeros((0, 4), F32))
        exe.replay().wait()
