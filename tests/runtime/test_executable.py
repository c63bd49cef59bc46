"""What an executable refuses, and the legal neighbour of each refusal; on the fake device."""

from __future__ import annotations

from collections.abc import Iterator

import ml_dtypes
import numpy as np
import pytest

from planc.diagnostics import CATALOGUE, PlancError, ReplayError
from planc.plan.program import Role
from planc.runtime import Executable, FakeDevice, load
from planc.runtime.loaded import LoadedPlan
from tests.runtime.programs import Maker, View, axpy_maker

F32 = np.float32


def every_role() -> LoadedPlan:
    maker = Maker("roles")
    maker.buffer("x", "f32", [4, 2], Role.INPUT)
    maker.buffer("w", "f32", [4, 2], Role.INPUT)
    maker.buffer("y", "f32", [4, 2], Role.OUTPUT)
    maker.buffer("z", "f32", [4, 2], Role.INOUT)
    maker.buffer("b", "bf16", [3], Role.INOUT)
    maker.buffer("s", "i64", [2], Role.STATE)
    maker.buffer("t", "f32", [4, 2], Role.SCRATCH)
    maker.constant("c", np.arange(8, dtype=F32).reshape(4, 2), "f32")
    maker.copy("go", View("t"), View("x"))
    maker.copy("on", View("y"), View("t"), after=["go"])
    maker.copy("w", View("z"), View("w"))
    maker.fill("b", View("b"), 0x3F80, 2)
    maker.fill("s", View("s"), 1, 4)
    maker.may_alias.append((0, 3))
    return load(maker.plan())


@pytest.fixture
def device() -> FakeDevice:
    return FakeDevice()


@pytest.fixture
def exe(device: FakeDevice) -> Iterator[Executable]:
    with every_role().instantiate(device) as executable:
        yield executable


def refused(call, *arguments, **keywords) -> list[tuple[str, str]]:
    """Return (code, buffer or slot) of everything that a call is refused for."""
    with pytest.raises(ReplayError) as caught:
        call(*arguments, **keywords)
    assert all(d.code in CATALOGUE and d.message[0].islower() | (d.message[0] == "`") and d.help
               for d in caught.value.diagnostics)  # fmt: skip
    return [(d.code, str(d.facts.get("buffer", d.facts.get("slot")))) for d in caught.value.diagnostics]


def zeros(shape=(4, 2), dtype=F32) -> np.ndarray:
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("name", "array", "code"),
    [
        ("x", zeros(), None),
        ("z", zeros(), None),
        ("s", zeros(2, np.int64), None),
        ("b", zeros(3, ml_dtypes.bfloat16), None),
        ("x", zeros((2, 4)).T, None),
        ("x", np.broadcast_to(F32(1), (4, 2)), None),
        ("X", zeros(), "PLC701"),
        ("c", zeros(), "PLC706"),
        ("y", zeros(), "PLC706"),
        ("t", zeros(), "PLC706"),
        ("x", zeros(dtype=np.float64), "PLC702"),
        ("x", zeros(dtype=">f4"), "PLC702"),
        ("b", zeros(3, np.float16), "PLC702"),
        ("x", [[0.0] * 2] * 4, "PLC702"),
        ("x", zeros((4, 2, 1)), "PLC703"),
        ("x", zeros((8,)), "PLC703"),
        ("x", [[1], [2, 3]], "PLC707"),
    ],
)
def test_write(exe: Executable, name: str, array: object, code: str | None) -> None:
    if code is None:
        exe.write(name, array)
        assert np.array_equal(exe.read(name), np.asarray(array)) and exe.read(name).dtype == array.dtype
    else:
        assert refused(exe.write, name, array) == [(code, name)]


def test_write_copies(exe: Executable) -> None:
    array = zeros()
    exe.write("x", array)
    array[:] = 1
    assert not exe.read("x").any()


@pytest.mark.parametrize(
    ("name", "code"), [("t", "PLC706"), ("tt", "PLC701"), *((n, None) for n in "xyzbsc")]
)
def test_read(exe: Executable, name: str, code: str | None) -> None:
    if code is None:
        shape, dtype = exe.describe(name)
        array = exe.read(name)
        assert array.shape == shape and array.dtype == dtype
        array[...] = 1  # the caller's own
    else:
        assert refused(exe.read, name) == [(code, name)]


def test_fresh_storage_is_zero_or_the_plans(exe: Executable) -> None:
    assert not exe.read("y").any() and not exe.read("s").any()
    assert exe.read("c").tolist() == np.arange(8).reshape(4, 2).tolist()


@pytest.mark.parametrize("name", ["x", "y", "z"])
def test_bind(exe: Executable, device: FakeDevice, name: str) -> None:
    tensor = device.tensor((4, 2), "f32")
    tensor.array[:] = 3
    exe.bind(**{name: tensor})
    assert exe.read(name).tolist() == tensor.array.tolist()
    exe.bind(**{name: None})
    assert not exe.read(name).any()


@pytest.mark.parametrize("name", ["s", "c", "t"])
def test_bind_by_role(exe: Executable, device: FakeDevice, name: str) -> None:
    assert refused(exe.bind, **{name: device.tensor((2,), "i64")}) == [("PLC706", name)]


class Edited:
    """A tensor whose interface says something else."""

    def __init__(self, tensor: object, **changes: object) -> None:
        self.tensor = tensor
        self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **changes}  # type: ignore[attr-defined]


def test_bind_faults(exe: Executable, device: FakeDevice) -> None:
    tensor = device.tensor((4, 2), "f32")
    address = tensor.__cuda_array_interface__["data"][0]
    cases = [
        (Edited(tensor, strides=(8, 4)), None),
        (Edited(tensor, typestr="<f8"), "PLC702"),
        (Edited(tensor, shape=(2, 4)), "PLC703"),
        (Edited(tensor, strides=(16, 8)), "PLC704"),
        (Edited(tensor, strides=(4, 16)), "PLC704"),
        (Edited(tensor, data=(address + 4, False)), "PLC705"),
        (Edited(tensor, data=(4096, False)), "PLC708"),
        (Edited(tensor, data=(address, True)), "PLC719"),
        (Edited(tensor, typestr=7), "PLC707"),
        (zeros(), "PLC708"),
        (5, "PLC707"),
        ([1.0], "PLC707"),
    ]
    for value, code in cases:
        if code is None:
            exe.bind(y=value)
        else:
            assert refused(exe.bind, y=value) == [(code, "y")]
    exe.bind(x=Edited(tensor, data=(address, True)), y=None)  # read-only is enough for an input


def test_all_faults_are_told_at_once_and_nothing_changes(exe: Executable, device: FakeDevice) -> None:
    good = device.tensor((4, 2), "f32")
    good.array[:] = 1
    bad = Edited(device.tensor((4, 2), "f32"), typestr="<f8", shape=(8,), strides=(16,))
    found = refused(exe.bind, x=good, y=bad, nope=good, c=good)
    assert found == [("PLC702", "y"), ("PLC703", "y"), ("PLC704", "y"), ("PLC701", "nope"), ("PLC706", "c")]
    assert not exe.read("x").any()


@pytest.mark.parametrize(
    ("names", "shift", "legal"),
    [
        (("x", "w"), 0, True),  # both only read
        (("x", "y"), 0, False),
        (("x", "y"), 16, False),
        (("x", "y"), 32, True),  # neighbours
        (("y", "z"), 31, False),
        (("x", "z"), 0, True),  # the plan says that these may alias
        (("w", "z"), 0, False),
    ],
)
def test_overlaps(device: FakeDevice, names: tuple[str, str], shift: int, legal: bool) -> None:
    maker = Maker("roles")
    for name, role in zip("xwyz", (Role.INPUT, Role.INPUT, Role.OUTPUT, Role.INOUT), strict=True):
        maker.buffer(name, "f32", [4, 2], role, align=1)
    maker.copy("go", View("y"), View("x"))
    maker.copy("on", View("z"), View("w"))
    maker.may_alias.append((0, 3))
    store = device.tensor((100,), "u8")
    address = store.__cuda_array_interface__["data"][0]
    tensors = {
        n: Edited(store, shape=(4, 2), typestr="<f4", data=(address + s, False))
        for n, s in zip(names, (0, shift), strict=True)
    }
    from planc.runtime.loaded import LoadedPlan

    with LoadedPlan(maker.plan(checked=False)).instantiate(device) as exe:
        if legal:
            exe.bind(**tensors)
            return
        assert refused(exe.bind, **tensors) == [("PLC709", "None")]
        exe.bind(**{names[0]: tensors[names[0]]})
        assert refused(exe.bind, **{names[1]: tensors[names[1]]}) == [("PLC709", "None")]
        exe.bind(**{names[0]: None, names[1]: tensors[names[1]]})


def test_binding_bytes_count_storage_once(exe: Executable, device: FakeDevice) -> None:
    own = 4 * 32 + 6  # x, w, y, z and b
    assert exe.binding_bytes == own
    tensor = device.tensor((4, 2), "f32")
    exe.bind(x=tensor)
    assert exe.binding_bytes == own
    exe.bind(w=tensor)
    assert exe.binding_bytes == own - 32


def test_inputs_must_be_fed(exe: Executable, device: FakeDevice) -> None:
    found = refused(exe.replay)
    assert found == [("PLC710", n) for n in "xwzb"]
    exe.write("x", zeros())
    exe.bind(w=device.tensor((4, 2), "f32"), z=device.tensor((4, 2), "f32"))
    exe.write("b", zeros(3, ml_dtypes.bfloat16))
    exe.replay().wait()
    exe.bind(w=None)
    assert refused(exe.replay) == [("PLC710", "w")]
    exe.write("w", zeros())
    exe.replay().wait()
    exe.bind(w=device.tensor((4, 2), "f32"))
    exe.bind(w=None)  # what was written to the plan's own storage is still there
    exe.replay().wait()


def test_write_reaches_bound_storage(exe: Executable, device: FakeDevice) -> None:
    tensor = device.tensor((4, 2), "f32")
    exe.bind(x=tensor)
    exe.write("x", zeros() + 2)
    assert tensor.array.tolist() == (zeros() + 2).tolist()
    frozen = Edited(tensor, data=(tensor.__cuda_array_interface__["data"][0], True))
    exe.bind(x=frozen)
    assert refused(exe.write, "x", zeros()) == [("PLC719", "x")]


def test_everything_ends_with_close(device: FakeDevice) -> None:
    exe = every_role().instantiate(device)
    exe.close()
    exe.close()
    calls = [
        (exe.replay, ()),
        (exe.bind, ()),
        (exe.reset, ()),
        (exe.read, ("x",)),
        (exe.write, ("x", zeros())),
        (lambda: exe.binding_bytes, ()),
    ]
    for call, arguments in calls:
        assert refused(call, *arguments) == [("PLC714", "None")]
    assert "closed" in repr(exe) and exe.schedule == "written"


def test_scalars(device: FakeDevice) -> None:
    with load(axpy_maker().plan()).instantiate(device) as exe:
        exe.write("x", np.zeros(8, F32))
        exe.write("y", np.zeros(8, F32))
        assert exe.arguments == {"a": 2.0, "n": 8}
        assert refused(exe.replay, a=11, n=-1, m=3) == [("PLC713", "a"), ("PLC713", "n"), ("PLC711", "m")]
        assert refused(exe.replay, a="1", n=1.5) == [("PLC712", "a"), ("PLC712", "n")]
        assert exe.arguments == {"a": 2.0, "n": 8}
        exe.replay(a=np.float64(0.1), n=np.int8(3))
        assert exe.arguments == {"a": float(F32(0.1)), "n": 3}


def test_a_scalar_may_have_any_name(device: FakeDevice) -> None:
    maker = axpy_maker()
    maker.slots[0] = type(maker.slots[0])("self", "f32", 2.0)
    with load(maker.plan()).instantiate(device) as exe:
        exe.write("x", np.zeros(8, F32))
        exe.write("y", np.zeros(8, F32))
        exe.replay(**{"self": 3.0})
        assert exe.arguments["self"] == 3.0


def test_a_slot_that_feeds_nothing_is_kept(device: FakeDevice) -> None:
    maker = axpy_maker()
    maker.slot("idle", "bool", True)
    plan = maker.plan(checked=False)
    with LoadedPlan(plan).instantiate(device) as exe:
        exe.write("x", np.zeros(8, F32))
        exe.write("y", np.zeros(8, F32))
        exe.replay(idle=False)
        assert exe.arguments["idle"] is False


def test_names_that_are_close_are_proposed(exe: Executable) -> None:
    with pytest.raises(ReplayError, match="the buffers that can be written are `x`, `w`, `z`, `b`, `s`"):
        exe.write("q", zeros())
    with load(axpy_maker().plan()).instantiate("fake") as other, pytest.raises(PlancError) as caught:
        other.replay(nn=3)
    assert "closest name is `n`" in caught.value.diagnostics[0].help


def test_options_of_the_cpu_are_refused_elsewhere() -> None:
    plan = every_role()
    for option in ({"target": "sm_80"}, {"budget": 5}, {"stdout": print}, {"memory": "heap"}):
        assert refused(plan.instantiate, "fake", **option) == [("PLC720", "None")]
    plan.instantiate("fake", memory="separate").close()


@pytest.mark.parametrize("name", ["gpu", "cpu:1", "cuda:x", "CPU", "", "cuda:", 7, None])
def test_unknown_devices(name: object) -> None:
    assert refused(every_role().instantiate, name) == [("PLC717", "None")]


def test_threads_take_turns(device: FakeDevice) -> None:
    import threading

    with load(axpy_maker().plan()).instantiate(device) as exe:
        exe.write("x", np.zeros(8, F32))
        exe.write("y", np.zeros(8, F32))
        failures: list[BaseException] = []

        def work(a: float) -> None:
            try:
                for _ in range(50):
                    exe.replay(a=a).wait()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(float(n),)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures and len(device.launches) == 4 * 50 * 2
