"""The driver's side of the runtime on the fake device: what it builds, patches, and frees."""

from __future__ import annotations

import gc
import random
import weakref

import numpy as np
import pytest

from planc.diagnostics import DeviceError, PlancError, ReplayError
from planc.plan.program import EdgeType, Role
from planc.runtime import FakeDevice, load
from tests.runtime.mixed import feed, mixed_maker
from tests.runtime.programs import Maker, View, axpy_maker

F32 = np.float32


def test_fills_and_copies_reach_the_outputs() -> None:
    device = FakeDevice()
    grid = np.arange(48, dtype=F32).reshape(6, 8)
    with load(mixed_maker().plan()).instantiate(device) as exe:
        feed(exe)
        exe.write("grid", grid)
        exe.replay().wait()
        wanted = grid.copy()
        wanted[0:6:2, 1:4] = 1
        assert np.array_equal(exe.read("out"), wanted[:, ::-1])
        assert exe.read("count").tolist() == [7, 0, 0, 0]
        assert exe.read("table").tolist() == list(range(8))
        exe.reset()
        assert exe.read("count").tolist() == [0, 0, 0, 0]
    assert not device.live and device.driver.depth == 0


def test_kernels_get_their_arguments() -> None:
    device = FakeDevice()
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        exe.replay().wait()
        x, y = (exe._instance.region(row)[0] for row in (0, 1))
    first, second = device.launches
    assert first.symbol == "axpy" and first.grid == (2, 1, 1) and first.block == (4, 1, 1)
    pointers = [int.from_bytes(b, "little") for b in first.arguments[:2]]
    assert pointers == [x, y]
    assert np.frombuffer(first.arguments[2], F32)[0] == 2.0
    assert np.frombuffer(second.arguments[2], F32)[0] == 1.0


def test_a_scalar_patches_only_the_nodes_that_it_feeds_and_only_when_it_changes() -> None:
    device = FakeDevice()
    sets = "cuGraphExecKernelNodeSetParams"
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        exe.replay(a=2.0)  # the default
        assert device.calls.count(sets) == 0
        exe.replay(a=3.0)
        assert device.calls.count(sets) == 1  # `second` takes a number
        exe.replay(a=3.0)
        assert device.calls.count(sets) == 1
        exe.replay(n=4)
        assert device.calls.count(sets) == 3
        assert exe.arguments == {"a": 3.0, "n": 4}
        exe.replay()
    values = [np.frombuffer(launch.arguments[2], F32)[0] for launch in device.launches[::2]]
    assert values == [2, 3, 3, 3, 3]


def test_a_patch_affects_future_launches_only() -> None:
    device = FakeDevice(deferred=True)
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        tickets = [exe.replay(a=float(n)) for n in range(3)]
        assert not any(t.done for t in tickets) and device.launches == []
        tickets[2].wait()
        assert all(t.done for t in tickets)
    assert [np.frombuffer(x.arguments[2], F32)[0] for x in device.launches[::2]] == [0, 1, 2]


def test_bound_tensors_are_used_in_place() -> None:
    device = FakeDevice()
    with load(mixed_maker().plan()).instantiate(device) as exe:
        feed(exe)
        out, x = device.tensor((6, 8), "f32"), device.tensor((8,), "f32")
        exe.bind(out=out, x=x)
        exe.replay().wait()
        assert out.array.sum() == 9
        assert np.array_equal(exe.read("out"), out.array)
        address = x.__cuda_array_interface__["data"][0]
        assert int.from_bytes(device.launches[-1].arguments[0], "little") == address
        exe.bind(out=None, x=None)
        exe.replay().wait()
        assert int.from_bytes(device.launches[-1].arguments[0], "little") != address
    assert not device.live


def test_binding_a_strided_copy_builds_the_graph_anew() -> None:
    device = FakeDevice()
    with load(mixed_maker().plan()).instantiate(device) as exe:
        feed(exe)
        built = device.calls.count("cuGraphCreate")
        exe.bind(x=device.tensor((8,), "f32"))
        assert device.calls.count("cuGraphCreate") == built
        exe.bind(out=device.tensor((6, 8), "f32"))
        assert device.calls.count("cuGraphCreate") == built + 1
        assert device.live["graph"] == device.live["executable"] == 1


@pytest.mark.parametrize("error", ["CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_NOT_SUPPORTED"])
def test_a_rejected_pointer_of_a_fill_builds_the_graph_anew(error: str) -> None:
    device = FakeDevice(fail_on={"cuGraphExecMemsetNodeSetParams": error})
    maker = axpy_maker()
    maker.fill("zero", View("y"), 0, 4, after=["second"])
    with load(maker.plan()).instantiate(device) as exe:
        feed(exe)
        y = device.tensor((8,), "f32")
        y.array[:] = 5
        exe.bind(y=y)
        exe.replay().wait()
        assert not y.array.any()
    assert device.calls.count("cuGraphCreate") == 2 and not device.live


def test_a_failed_patch_changes_nothing() -> None:
    """The second of two nodes refuses; the first gets its old value back."""
    device = FakeDevice()
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        exe.replay(n=7)
        device.driver.fail_at = len(device.calls) + 2  # push, first node, second node
        with pytest.raises(DeviceError) as caught:
            exe.replay(n=3)
        assert caught.value.code == "PLC731"
        (found,) = caught.value.diagnostics
        assert found.facts["node"] == "second" and str(found.span) == "graph.yaml:11:5"
        assert exe.arguments["n"] == 7
        exe.replay()
    assert {int.from_bytes(x.arguments[3], "little") for x in device.launches} == {7}


def test_a_patch_that_cannot_be_undone_costs_the_executable() -> None:
    device = FakeDevice()
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        exe.replay(n=7)
        device.driver.fail_at = len(device.calls) + 2
        device.driver.fail_on = {}
        original = device.driver._set_node

        def failing(*arguments: object) -> None:
            original(*arguments)
            device.driver.fail_on = {"cuGraphExecKernelNodeSetParams": "CUDA_ERROR_UNKNOWN"}

        device.driver._set_node = failing  # type: ignore[method-assign]
        with pytest.raises(DeviceError):
            exe.replay(n=3)
        for call in (exe.replay, exe.reset, lambda: exe.read("y")):
            with pytest.raises(DeviceError) as caught:
                call()
            assert caught.value.code == "PLC735"
    assert not device.live
    with load(axpy_maker().plan()).instantiate(device) as exe:
        exe.read("y")


def test_a_rejected_bind_changes_nothing() -> None:
    device = FakeDevice()
    with load(mixed_maker().plan()).instantiate(device) as exe:
        feed(exe)
        exe.replay().wait()
        before = exe.read("out")
        device.driver.fail_at = len(device.calls) + 6  # in the graph that is built anew
        out = device.tensor((6, 8), "f32")
        with pytest.raises(DeviceError):
            exe.bind(out=out)
        assert device.live["graph"] == device.live["executable"] == 1
        exe.replay().wait()
        assert not out.array.any() and np.array_equal(exe.read("out"), before)
    assert not device.live


def test_a_replaced_tensor_is_held_until_its_launches_are_complete() -> None:
    device = FakeDevice(deferred=True)
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        first = device.tensor((8,), "f32")
        held = weakref.ref(first)
        exe.bind(x=first)
        del first
        ticket = exe.replay()
        exe.bind(x=device.tensor((8,), "f32"))
        gc.collect()
        assert held() is not None
        ticket.wait()
        exe.bind(x=None)
        gc.collect()
        assert held() is None


def test_tickets_outlive_their_executable() -> None:
    device = FakeDevice(deferred=True)
    exe = load(axpy_maker().plan()).instantiate(device)
    feed(exe)
    ticket = exe.replay()
    exe.close()
    exe.close()
    assert ticket.done and ticket.wait() is ticket
    assert len(device.launches) == 2 and not device.live


def test_waiting_has_an_end() -> None:
    device = FakeDevice(deferred=True)
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        ticket = exe.replay()
        with pytest.raises(ReplayError) as caught:
            ticket.wait(timeout=0.01)
        assert caught.value.code == "PLC733"
        device.run()
        assert ticket.wait(timeout=0.01).done


def test_tickets_can_be_awaited() -> None:
    import asyncio

    device = FakeDevice(deferred=True)

    async def main() -> int:
        with load(axpy_maker().plan()).instantiate(device) as exe:
            feed(exe)
            ticket = exe.replay()
            asyncio.get_running_loop().call_later(0.01, device.run)
            return (await ticket).number

    assert asyncio.run(main()) == 1


def test_events_are_used_again() -> None:
    device = FakeDevice()
    with load(axpy_maker().plan()).instantiate(device) as exe:
        feed(exe)
        for _ in range(300):
            exe.replay()
        assert device.live["event"] <= 65
        exe.replay().wait()


@pytest.mark.parametrize("memory", ["arena", "separate"])
def test_allocations_by_memory_mode(memory: str) -> None:
    maker = mixed_maker()
    maker.buffer("s", "f32", [3], Role.SCRATCH)
    maker.fill("s0", View("s"), 0, 4)
    device = FakeDevice()
    with load(maker.plan()).instantiate(device, memory=memory) as exe:
        assert device.live["memory"] == {"arena": 7, "separate": 8}[memory]
        t, s = exe._rows["t"], exe._rows["s"]
        gap = exe._instance.region(s)[0] - exe._instance.region(t)[0]
        assert (gap == 256) == (memory == "arena")


# Order ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_edges_order_the_pieces_of_nodes(seed: int) -> None:
    """Random chains over one buffer: the fake runs nodes in a random order that the edges allow."""
    rng = random.Random(seed)
    maker = Maker("chain")
    maker.buffer("u", "i32", [5, 6, 7])
    wanted = np.zeros((5, 6, 7), np.int32)
    last: list[str] = []
    for n in range(8):
        index = tuple(slice(rng.randint(0, 2), None, rng.randint(1, 3)) for _ in range(3))
        maker.fill(f"f{n}", View("u", index), n + 1, 4, after=last)
        wanted[index] = n + 1
        last = [f"f{n}"]
    with load(maker.plan()).instantiate("fake") as exe:
        feed(exe)
        exe.replay().wait()
        assert np.array_equal(exe.read("u"), wanted)


def test_programmatic_edges_reach_the_driver() -> None:
    maker = axpy_maker()
    schedule = maker.schedule()
    schedule.edges["type"] = EdgeType.PROGRAMMATIC
    device = FakeDevice()
    plan = maker.plan(checked=False, schedules=[schedule])
    from planc.runtime.loaded import LoadedPlan

    with LoadedPlan(plan).instantiate(device):
        graph = next(p for kind, p in device.driver._handles.values() if kind == "graph")
        assert list(graph.edges.values()) == [EdgeType.PROGRAMMATIC]


# Images -----------------------------------------------------------------------------------------


def test_parameters_of_the_image_are_compared() -> None:
    maker = axpy_maker()
    maker.functions[0] = type(maker.functions[0])(
        "axpy", "axpy", 0, (*maker.functions[0].parameters[:3], maker.functions[0].parameters[2])
    )
    from planc.runtime.loaded import LoadedPlan

    device = FakeDevice()
    with pytest.raises(ReplayError) as caught:
        LoadedPlan(maker.plan(checked=False)).instantiate(device)
    assert caught.value.code == "PLC728" and not device.live


def test_a_missing_kernel_is_named() -> None:
    maker = axpy_maker()
    function = maker.functions[0]
    maker.functions[0] = type(function)("axpy", "axpz", 0, function.parameters)
    device = FakeDevice()
    with pytest.raises(PlancError) as caught:
        load(maker.plan()).instantiate(device)
    assert caught.value.code == "PLC728" and "`axpz`" in str(caught.value) and not device.live


def test_no_image_for_the_architecture() -> None:
    device = FakeDevice(architecture="sm_80")
    with pytest.raises(ReplayError) as caught:
        load(axpy_maker().plan()).instantiate(device)
    assert caught.value.code == "PLC725" and not device.live
    with load(axpy_maker().plan()).instantiate(FakeDevice(architecture="sm_100")) as exe:
        assert exe.target == "sm_90"
