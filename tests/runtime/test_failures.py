"""The fake driver fails at every call of a life: a named error, and nothing leaked."""

from __future__ import annotations

import pytest

from planc.diagnostics import DeviceError
from planc.plan.program import Plan
from planc.runtime import FakeDevice, load
from tests.runtime.mixed import feed, mixed_maker


def a_life(plan: Plan, device: FakeDevice) -> None:
    """Instantiate, feed, replay with and without patches, bind, read, reset, close."""
    with load(plan).instantiate(device) as exe:
        feed(exe)
        exe.replay().wait()
        exe.replay(a=4.0, n=5).wait()
        exe.bind(x=device.tensor((8,), "f32"), out=device.tensor((6, 8), "f32"))
        exe.replay().wait()
        exe.read("out")
        exe.reset()


RELEASES = {
    "cuMemFree",
    "cuLibraryUnload",
    "cuStreamDestroy",
    "cuEventDestroy",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return mixed_maker().plan()


@pytest.fixture(scope="module")
def calls(plan: Plan) -> list[str]:
    device = FakeDevice()
    a_life(plan, device)
    assert not device.live
    return device.calls


def test_every_failure_is_named_and_leaks_nothing(plan: Plan, calls: list[str]) -> None:
    for index, call in enumerate(calls):
        device = FakeDevice(fail_at=index, error="CUDA_ERROR_UNKNOWN")
        released = call in RELEASES
        try:
            a_life(plan, device)
            assert released, f"call {index}, {call}, failed unseen"
        except DeviceError as error:
            assert error.code == "PLC731" and call in str(error) and "CUDA_ERROR_UNKNOWN" in str(error)
        assert device.live.total() == released, f"call {index}, {call}: {device.live}"
        assert device.driver.depth == 0
        a_life(plan, device)  # a failure that is not sticky leaves the device usable
        assert device.live.total() == released


def test_every_sticky_failure_is_final_for_the_process(plan: Plan, calls: list[str]) -> None:
    for index in range(len(calls)):
        device = FakeDevice(fail_at=index, error="CUDA_ERROR_ILLEGAL_ADDRESS")
        with pytest.raises(DeviceError) as caught:
            a_life(plan, device)
        assert {d.code for d in caught.value.diagnostics} <= {"PLC734", "PLC732"}
        made = len(device.calls)
        with pytest.raises(DeviceError) as caught:
            a_life(plan, device)
        assert caught.value.code == "PLC732"
        assert len(device.calls) == made or calls[index].startswith(("cuInit", "cuDevice"))


def test_a_lost_device_lets_go_at_once(plan: Plan) -> None:
    device = FakeDevice(deferred=True, fail_on={})
    exe = load(plan).instantiate(device)
    other = load(plan).instantiate(device)
    feed(exe)
    ticket = exe.replay()
    device.driver.fail_on = {"cuEventSynchronize": "CUDA_ERROR_LAUNCH_FAILED"}
    with pytest.raises(DeviceError) as caught:
        ticket.wait()
    assert caught.value.code == "PLC734" and "replay 1" in str(caught.value)
    made = len(device.calls)
    for call in (exe.replay, exe.reset, lambda: other.read("out"), lambda: ticket.done):
        with pytest.raises(DeviceError) as caught:
            call()
        assert caught.value.code == "PLC732"
    exe.close()
    other.close()
    assert len(device.calls) == made


@pytest.mark.parametrize("error", ["CUDA_ERROR_NO_DEVICE", "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"])
def test_no_device_is_a_sentence_that_names_the_cpu(plan: Plan, error: str) -> None:
    with pytest.raises(DeviceError) as caught:
        load(plan).instantiate(FakeDevice(fail_at=0, error=error))
    assert caught.value.code == "PLC730" and 'device="cpu"' in str(caught.value)


def test_the_node_that_cannot_be_instantiated_is_named(plan: Plan) -> None:
    from planc.runtime.driver import DriverFailure

    device = FakeDevice()

    def refusing(graph: object) -> None:
        nodes = device.driver._handles[graph][1].nodes
        raise DriverFailure(
            "cuGraphInstantiateWithParams", "CUDA_ERROR_INVALID_VALUE", "x", handle=max(nodes)
        )

    device.driver.instantiate = refusing  # type: ignore[assignment,method-assign]
    with pytest.raises(DeviceError) as caught:
        load(plan).instantiate(device)
    assert caught.value.diagnostics[0].facts["node"] == "tick"
    assert not device.live
