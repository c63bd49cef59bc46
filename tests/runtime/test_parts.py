"""The small parts: scalars, tensors, images, schedules, constants, layout, links, tables, imports."""

from __future__ import annotations

import ctypes
import math
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from planc.diagnostics import PlancError, ReplayError
from planc.plan.program import Image, Module, NodeKind, Role, Slot
from planc.runtime import FakeDevice, load
from planc.runtime.aliasing import Span, covered, overlaps
from planc.runtime.driver import ADD_CALLS, EDGES_CALL, SET_CALLS, DriverNodeKind
from planc.runtime.fake_memory import EXECUTE
from planc.runtime.images import Architecture, image_for_gpu, image_for_interpreter, runs, schedule_for
from planc.runtime.layout import bytes_by_role
from planc.runtime.links import ArgumentBlob, Links
from planc.runtime.loops import ENTRIES
from planc.runtime.scalars import BadScalar, encode
from tests.runtime.programs import Maker, View, axpy_maker

# Tables -------------------------------------------------------------------------------------------


def test_every_node_kind_has_a_row_on_every_device() -> None:
    from planc.runtime.cpu_nodes import RUN

    assert set(RUN) == set(NodeKind)
    # The tables of driver nodes take the kinds of a program's nodes as they are.
    alike = {
        NodeKind.KERNEL: "KERNEL",
        NodeKind.FILL: "MEMSET",
        NodeKind.COPY: "MEMCPY",
        NodeKind.JOIN: "EMPTY",
    }
    assert {int(kind): name for kind, name in alike.items()} == {int(k): k.name for k in DriverNodeKind}


def test_every_driver_node_kind_has_its_calls() -> None:
    assert set(ADD_CALLS) == set(EXECUTE) == set(DriverNodeKind)
    assert set(SET_CALLS) == set(DriverNodeKind) - {DriverNodeKind.EMPTY}
    assert (*ADD_CALLS.values(), EDGES_CALL, *SET_CALLS.values()) == ENTRIES


def test_imports_stay_small() -> None:
    """Loading a plan needs no author's package, and CUDA's bindings only for a CUDA device."""
    code = (
        "import sys, planc.runtime; planc.runtime.FakeDevice; "
        "print([m for m in ('pydantic', 'networkx', 'yaml', 'typer', 'rich', 'cuda.bindings', "
        "'planc.source', 'planc.model', 'planc.kernels', 'planc.api') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out == "[]\n"


# Scalars ------------------------------------------------------------------------------------------

BIG = 2**63


@pytest.mark.parametrize(
    ("slot", "value", "wanted"),
    [
        (Slot("s", "i8", 0), 127, 127),
        (Slot("s", "i8", 0), 128, "PLC713"),
        (Slot("s", "i8", 0), -128, -128),
        (Slot("s", "i8", 0), -129, "PLC713"),
        (Slot("s", "u64", 0), 2 * BIG - 1, 2 * BIG - 1),
        (Slot("s", "u64", 0), 2 * BIG, "PLC713"),
        (Slot("s", "u64", 0), -1, "PLC713"),
        (Slot("s", "i64", 0), np.uint64(BIG - 1), BIG - 1),
        (Slot("s", "i64", 0), np.uint64(BIG), "PLC713"),
        (Slot("s", "i32", 0, 2, 5), 2, 2),
        (Slot("s", "i32", 0, 2, 5), 1, "PLC713"),
        (Slot("s", "i32", 0, 2, 5), 5, 5),
        (Slot("s", "i32", 0, 2, 5), 6, "PLC713"),
        (Slot("s", "i32", 0, None, 5), -7, -7),
        (Slot("s", "i32", 0), 1.0, "PLC712"),
        (Slot("s", "i32", 0), True, "PLC712"),
        (Slot("s", "i32", 0), np.bool_(True), "PLC712"),
        (Slot("s", "i32", 0), np.array([1]), "PLC712"),
        (Slot("s", "bool", False), True, True),
        (Slot("s", "bool", False), np.bool_(False), False),
        (Slot("s", "bool", False), 1, "PLC712"),
        (Slot("s", "f32", 0.0), 0.1, float(np.float32(0.1))),
        (Slot("s", "f32", 0.0), 3, 3.0),
        (Slot("s", "f32", 0.0), 3.4028235e38, float(np.finfo(np.float32).max)),
        (Slot("s", "f32", 0.0), 3.5e38, "PLC713"),
        (Slot("s", "f32", 0.0), math.inf, math.inf),
        (Slot("s", "f32", 0.0, 0.0, 1.0), math.nan, "PLC713"),
        (Slot("s", "f32", 0.0, 0.0, 0.1), 0.1, float(np.float32(0.1))),
        (Slot("s", "f32", 0.0, 0.0, 0.1), 0.11, "PLC713"),
        (Slot("s", "f32", 0.0), True, "PLC712"),
        (Slot("s", "f32", 0.0), "1", "PLC712"),
        (Slot("s", "f32", 0.0), 1j, "PLC712"),
        (Slot("s", "f32", 0.0), 10**400, "PLC713"),
        (Slot("s", "f16", 0.0), 65504, 65504.0),
        (Slot("s", "f16", 0.0), 65520, "PLC713"),
        (Slot("s", "bf16", 0.0), ml_dtypes.bfloat16(1.5), 1.5),
        (Slot("s", "bf16", 0.0), 3.4e38, "PLC713"),
        (Slot("s", "f64", 0.0), np.float32(0.5), 0.5),
        (Slot("s", "f64", 0.0), np.float16(0.5), 0.5),
    ],
)
def test_scalars(slot: Slot, value: object, wanted: object) -> None:
    if isinstance(wanted, str):
        with pytest.raises(BadScalar) as caught:
            encode(slot, value)
        assert caught.value.diagnostic.code == wanted
    else:
        octets, stored = encode(slot, value)
        assert stored == wanted and type(stored) is type(wanted)
        from planc.plan.dtypes import DTYPES

        assert np.frombuffer(octets, DTYPES[slot.dtype].numpy)[0] == wanted


def test_nan_without_a_range() -> None:
    assert math.isnan(encode(Slot("s", "f32", 0.0), math.nan)[1])


# Aliasing -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(50))
def test_overlaps_against_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    spans = [Span(i, int(a), int(n)) for i, (a, n) in enumerate(rng.integers(0, 30, (8, 2)))]
    found = {frozenset((a.buffer, b.buffer)) for a, b in overlaps(spans)}
    sets = [set(range(s.address, s.address + s.nbytes)) for s in spans]
    wanted = {frozenset((i, j)) for i in range(8) for j in range(i) if sets[i] & sets[j]}
    assert found == wanted
    assert covered(spans) == len(set().union(*sets))


# Images and schedules -----------------------------------------------------------------------------


def image(form: str, target: str) -> Image:
    return Image(target, form, "", b"x")


@pytest.mark.parametrize(
    ("form", "target", "device", "wanted"),
    [
        ("cubin", "sm_90", "sm_90", True),
        ("cubin", "sm_90a", "sm_90", True),
        ("cubin", "sm_80", "sm_86", True),
        ("cubin", "sm_86", "sm_80", False),
        ("cubin", "sm_80", "sm_90", False),
        ("ptx", "sm_80", "sm_90", True),
        ("ptx", "sm_90", "sm_80", False),
        ("ptx", "sm_90a", "sm_90", True),
        ("ptx", "sm_90a", "sm_100", False),
        ("ptx", "sm_100f", "sm_103", True),
        ("ptx", "sm_100f", "sm_120", False),
        ("ptx", "compute_80", "sm_90", False),
    ],
)
def test_which_images_run(form: str, target: str, device: str, wanted: bool) -> None:
    architecture = Architecture.parse(device)
    assert architecture and runs(image(form, target), architecture) is wanted


def test_the_best_image_is_taken() -> None:
    images = [("ptx", "sm_75"), ("ptx", "sm_80"), ("cubin", "sm_80"), ("cubin", "sm_86"), ("cubin", "sm_90")]
    module = Module("m", tuple(image(*i) for i in images))
    wanted = {"sm_86": 3, "sm_87": 3, "sm_80": 2, "sm_90": 4, "sm_100": 1, "sm_75": 0}
    for device, index in wanted.items():
        assert image_for_gpu(module, device) is module.images[index]
    with pytest.raises(ReplayError) as caught:
        image_for_gpu(module, "sm_70")
    assert caught.value.code == "PLC725"


def test_the_interpreter_takes_the_newest_ptx_or_the_one_asked_for() -> None:
    module = Module("m", tuple(image(*i) for i in [("ptx", "sm_100"), ("ptx", "sm_90"), ("cubin", "sm_120")]))
    assert image_for_interpreter(module, None).target == "sm_100"
    assert image_for_interpreter(module, "sm_90").target == "sm_90"
    for target, images, code in (
        ("sm_80", module.images, "PLC725"),
        (None, module.images[2:], "PLC726"),
    ):
        with pytest.raises(ReplayError) as caught:
            image_for_interpreter(Module("m", images), target)
        assert caught.value.code == code


def test_schedules() -> None:
    maker = axpy_maker()
    hopper, plain = maker.schedule("fast", ("sm_90",)), maker.schedule()
    plan = load(maker.plan(schedules=[hopper, plain]))
    with plan.instantiate("fake") as exe:
        assert exe.schedule == "fast"
    with plan.instantiate("fake", schedule="written") as exe:
        assert exe.schedule == "written"
    with plan.instantiate(FakeDevice(architecture="sm_100")) as exe:
        assert exe.schedule == "written"
    for options in ({"schedule": "fast"}, {"schedule": "slow"}):
        with pytest.raises(ReplayError) as caught:
            plan.instantiate(FakeDevice(architecture="sm_100"), **options)
        assert caught.value.code == "PLC718"
    assert schedule_for([plain], None, lambda target: False, "x") is plain


# Constants ----------------------------------------------------------------------------------------


def test_constants_by_digest() -> None:
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    maker = Maker("by_digest")
    maker.constant("table", table, "f32", embedded=False)
    maker.constant("inside", table + 1, "f32")
    maker.buffer("y", "f32", [2, 3], Role.OUTPUT)
    maker.copy("go", View("y"), View("table"))
    plan = load(maker.plan())
    with plan.instantiate("fake", constants={"table": np.asfortranarray(table)}) as exe:
        exe.replay().wait()
        assert np.array_equal(exe.read("y"), table)
    plan.instantiate("fake", constants={"table": table, "inside": table + 1}).close()
    for constants, codes in (
        ({}, ["PLC715"]),
        ({"table": table + 1}, ["PLC716"]),
        ({"table": table.astype(np.float64)}, ["PLC716"]),
        ({"table": table.reshape(3, 2)}, ["PLC716"]),
        ({"table": table, "inside": table}, ["PLC716"]),
        ({"tabel": table}, ["PLC701", "PLC715"]),
    ):
        with pytest.raises(PlancError) as caught:
            plan.instantiate("fake", constants=constants)
        assert [d.code for d in caught.value.diagnostics] == codes


# Layout and links ---------------------------------------------------------------------------------


def test_memory_is_told_without_a_device() -> None:
    maker = axpy_maker(length=100)
    maker.buffer("t", "f32", [10], Role.SCRATCH)
    maker.buffer("s", "f32", [20], Role.SCRATCH)
    maker.fill("t0", View("t"), 0, 4)
    maker.fill("s0", View("s"), 0, 4)
    plan = load(maker.plan())
    assert plan.memory() == {
        "input": 400, "output": 0, "inout": 400, "constant": 0, "state": 0, "scratch": 256 + 80, "global": 0
    }  # fmt: skip
    assert plan.memory(memory="separate")["scratch"] == 120
    with pytest.raises(ReplayError):
        plan.memory("none")
    program = plan.program
    assert bytes_by_role(program, plan.schedules[0], "arena") == plan.memory()


def test_links() -> None:
    maker = axpy_maker()
    maker.fill("f", View("y"), 0, 4)
    maker.copy("c", View("y"), View("x"))
    program = maker.plan(checked=False).programs[0]
    links = Links(program)
    assert links.nodes_of_buffers([0]) == [0, 1, 3]
    assert links.nodes_of_buffers([1]) == [0, 1, 2, 3]
    assert links.nodes_of_buffers([]) == []
    assert links.nodes_of_slots([0]) == [0] and links.nodes_of_slots([1]) == [0, 1]
    blob = ArgumentBlob(program)
    addresses = np.array([0x1234_5678_9ABC, 0xFFFF_0000_0000], np.uint64)
    blob.relocate(links.relocations([0, 1]), addresses)
    blob.patch(links.patches(1), (7).to_bytes(4, "little"))
    for op in (0, 1):
        data = blob.arguments(op)
        assert np.frombuffer(data[:16], "<u8").tolist() == addresses.tolist()
        assert int.from_bytes(data[20:24], "little") == 7
        places, counts = blob.pointer_arrays(np.array([op]))
        pointers = (ctypes.c_uint64 * int(counts[0])).from_address(int(places[0]))
        assert [ctypes.string_at(p, 4) for p in pointers] == [data[0:4], data[8:12], data[16:20], data[20:24]]
    assert program.arguments[:16] == bytes(16)


def test_a_loaded_plan_answers_without_a_device(tmp_path) -> None:
    from planc.plan import encode, program_digest, write

    made = axpy_maker().plan()
    write(tmp_path / "a.plan", made)
    for source in (made, encode(made), tmp_path / "a.plan", str(tmp_path / "a.plan")):
        plan = load(source)
        assert plan.name == "axpy" and list(plan.inputs) == ["x", "y"] and list(plan.outputs) == ["y"]
        assert list(plan.slots) == ["a", "n"] and plan.targets == ("sm_90",)
        assert plan.verdict == "made by hand" and plan.digest == program_digest(made.programs[0])
        assert "axpy" in repr(plan)
    broken = encode(made)[:-1] + b"!"
    with pytest.raises(PlancError):
        load(broken)


def test_many_executables_of_one_plan_do_not_meet() -> None:
    plan, device = load(axpy_maker().plan()), FakeDevice()
    with plan.instantiate(device) as one, plan.instantiate(device) as two:
        for exe in (one, two):
            exe.write("x", np.zeros(8, np.float32))
            exe.write("y", np.zeros(8, np.float32))
        one.replay(a=5.0).wait()
        two.replay().wait()
        assert two.arguments["a"] == 2.0
        one.write("x", np.ones(8, np.float32))
        assert not two.read("x").any()
    assert [np.frombuffer(k.arguments[2], np.float32)[0] for k in device.launches[::2]] == [5, 2]


def test_a_first_load_and_replay_import_nothing_more() -> None:
    """What a load imports, a service pays for in its first one; numpy.ma alone takes longer than reading."""
    code = (
        "import sys, planc.runtime, planc.runtime.fake; from planc.runtime import load\n"
        "from tests.runtime.mixed import feed, mixed_maker; from planc.plan import encode\n"
        "plan = mixed_maker().plan(checked=False); data = encode(plan); had = set(sys.modules)\n"
        "with load(data).instantiate('fake') as exe:\n"
        "    feed(exe); exe.replay(a=3.0).wait()\n"
        "print(sorted(set(sys.modules) - had))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
