"""What a program declares: buffers, slots, kernels, names, each wrong thing beside its legal neighbour."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from planc.plan import encode, limits, sha256, validate
from planc.plan.example import PTX, example_plan, with_program, with_schedule
from planc.plan.names import is_absolute, well_formed
from planc.plan.program import (
    Buffer,
    FunctionParameter,
    Image,
    Module,
    Place,
    Plan,
    Program,
    Role,
    Slot,
)
from tests.plan.refusals import codes

PLAN = example_plan()
PROGRAM = PLAN.programs[0]
BIAS = PROGRAM.buffers[2]


def _judge(plan: Plan, code: str | None) -> None:
    if code is None:
        validate(plan)
        encode(plan)
    else:
        assert codes(lambda: validate(plan)) == set(code.split())


def _with_buffer(row: int, **fields: Any) -> Plan:
    buffers = list(PROGRAM.buffers)
    buffers[row] = replace(buffers[row], **fields)
    return with_program(PLAN, buffers=tuple(buffers))


@pytest.mark.parametrize(
    ("row", "fields", "code"),
    [
        (0, {"shape": (2, 4)}, None),
        (0, {"shape": (2, 2, 2)}, None),
        (0, {"shape": ()}, "PLC638"),
        (0, {"shape": (9,)}, "PLC638"),
        (0, {"dtype": "i32"}, None),
        (0, {"dtype": "f16"}, "PLC638"),
        (0, {"dtype": "f64", "shape": (4,)}, "PLC649"),
        (0, {"align": 4}, None),
        (0, {"align": 2}, "PLC639"),
        (0, {"align": 12}, "PLC639"),
        (0, {"align": limits.BUFFER_ALIGN}, None),
        (0, {"data": BIAS.data}, "PLC640"),
        (0, {"embedded": False}, "PLC640"),
        (0, {"symbol": (0, "g")}, "PLC640"),
        (0, {"role": Role.CONSTANT}, "PLC640"),
        (0, {"role": Role.CONSTANT, "data": BIAS.data}, None),
        (0, {"role": Role.GLOBAL, "symbol": (0, "g")}, None),
        (0, {"role": Role.GLOBAL, "symbol": (0, "g"), "data": BIAS.data}, None),
        (0, {"role": Role.GLOBAL, "symbol": (1, "g")}, "PLC636"),
        (0, {"role": Role.GLOBAL}, "PLC640"),
        (0, {"role": Role.SCRATCH}, "PLC664"),
        (3, {"role": Role.STATE}, "PLC664"),
        (1, {"role": Role.INPUT}, "PLC670"),
        (1, {"role": Role.STATE}, None),
        (2, {"data": None}, "PLC640"),
        (2, {"data": "z" * 64}, "PLC640"),
        (2, {"data": "0" * 64}, "PLC640"),
        (2, {"data": "0" * 64, "embedded": False}, None),
        (2, {"name": "x"}, "PLC631"),
        (2, {"name": ""}, "PLC630"),
        (2, {"name": "a\u202eb"}, "PLC630"),
        (2, {"name": "a\ud800"}, "PLC630"),
        (2, {"name": "é" * 512}, None),
        (2, {"name": "é" * 513}, "PLC630"),
    ],
)
def test_buffers(row: int, fields: dict[str, Any], code: str | None) -> None:
    plan = _with_buffer(row, **fields)
    needs = BIAS.data if any(b.data == BIAS.data and b.embedded for b in plan.programs[0].buffers) else None
    if needs is None:
        plan = with_program(plan, constants={})
    _judge(plan, code)


def test_constants_have_their_length_and_digest() -> None:
    short = bytes(28)
    plan = _with_buffer(2, data=sha256(short))
    _judge(with_program(plan, constants={sha256(short): short}), "PLC640")
    _judge(with_program(PLAN, constants={BIAS.data: short}), "PLC641")
    extra = {**PROGRAM.constants, sha256(short): short}
    _judge(with_program(PLAN, constants=extra), "PLC642")


@pytest.mark.parametrize(
    ("slot", "code"),
    [
        (Slot("s", "i8", 127), None),
        (Slot("s", "i8", 128), "PLC643"),
        (Slot("s", "i8", -128), None),
        (Slot("s", "i8", -129), "PLC643"),
        (Slot("s", "u64", 2**64 - 1), None),
        (Slot("s", "u64", -1), "PLC643"),
        (Slot("s", "i64", 2**63), "PLC643"),
        (Slot("s", "i32", 5, 5, 5), None),
        (Slot("s", "i32", 5, 6, None), "PLC643"),
        (Slot("s", "i32", 5, None, 4), "PLC643"),
        (Slot("s", "i32", 5, None, 2**31), "PLC643"),
        (Slot("s", "i32", 5.0), "PLC643"),
        (Slot("s", "i32", True), "PLC643"),
        (Slot("s", "bool", True), None),
        (Slot("s", "bool", 1), "PLC643"),
        (Slot("s", "bool", True, False, True), "PLC643"),
        (Slot("s", "f32", 1.5), None),
        (Slot("s", "f32", 3.4e38), None),
        (Slot("s", "f32", 3.5e38), "PLC643"),
        (Slot("s", "f32", float("inf")), None),
        (Slot("s", "f32", float("nan")), "PLC643"),
        (Slot("s", "f32", 1.0, float("nan"), None), "PLC643"),
        (Slot("s", "f16", 65504.0), None),
        (Slot("s", "f16", 65520.0), "PLC643"),
        (Slot("s", "bf16", 3.3e38), None),
        (Slot("s", "f64", 1e308), None),
        (Slot("s", "f64", "1"), "PLC643"),
    ],
)
def test_slots(slot: Slot, code: str | None) -> None:
    _judge(with_program(PLAN, slots=(*PROGRAM.slots, slot)), code)


def test_a_whole_number_in_a_float_slot_is_written_as_a_float() -> None:
    plan = with_program(PLAN, slots=(Slot("scale", "f32", 2, 0, 10),))
    assert encode(plan) == encode(PLAN)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"offset": 1}, "PLC652"),
        ({"align": 3}, "PLC652"),
        ({"size": 4}, "PLC652"),
        ({"pointer": False}, "PLC652"),
        ({"pointer": False, "dtype": "u64"}, "PLC653"),
        ({"dtype": None}, None),
        ({"dtype": "f64"}, None),
        ({"name": "bias"}, "PLC631"),
        ({"name": ""}, "PLC630"),
    ],
)
def test_parameters(change: dict[str, Any], code: str | None) -> None:
    function = PROGRAM.functions[0]
    first, *others = function.parameters
    changed = replace(function, parameters=(replace(first, **change), *others))
    _judge(with_program(PLAN, functions=(changed,)), code)


def test_parameters_do_not_overlap_and_are_in_order() -> None:
    function = PROGRAM.functions[0]
    first, second, *others = function.parameters
    for parameters in ((second, first, *others), (first, replace(second, offset=0), *others)):
        _judge(with_program(PLAN, functions=(replace(function, parameters=parameters),)), "PLC652")
    big = FunctionParameter("big", 32, limits.PARAMETER_BYTES - 32 + 1, 4, False)
    spare = replace(function, name="spare", parameters=(*function.parameters, big))
    _judge(with_program(PLAN, functions=(function, spare)), "PLC652")
    fits = replace(big, size=big.size - 1)
    spare = replace(spare, parameters=(*function.parameters, fits))
    _judge(with_program(PLAN, functions=(function, spare)), None)


def test_functions_and_modules() -> None:
    (function,), (module,) = PROGRAM.functions, PROGRAM.modules
    image = module.images[0]
    _judge(with_program(PLAN, functions=(replace(function, module=1),)), "PLC636 PLC669")
    _judge(with_program(PLAN, functions=(function, function)), "PLC631")
    _judge(with_program(PLAN, functions=(replace(function, symbol=""),)), "PLC630")
    _judge(with_program(PLAN, modules=(module, module)), "PLC669")
    _judge(with_program(PLAN, modules=(replace(module, images=()),)), "PLC669")
    empty = Image("sm_80", "ptx", sha256(b""), b"")
    _judge(with_program(PLAN, modules=(replace(module, images=(empty,)),)), "PLC669")
    _judge(with_program(PLAN, modules=(replace(module, images=(image, image)),)), "PLC631")
    for target, code in (("sm_90", "PLC633"), ("sm_80", None)):
        other = Image(target, "cubin", sha256(b"\x7fELF"), b"\x7fELF")
        _judge(with_program(PLAN, modules=(replace(module, images=(image, other)),)), code)
    wrong = replace(image, data=PTX + b" ")
    _judge(with_program(PLAN, modules=(replace(module, images=(wrong,)),)), "PLC641")
    _judge(with_program(PLAN, modules=(replace(module, name="/tmp/scale.ptx"),)), "PLC632")
    _judge(with_program(PLAN, modules=(replace(module, name="../scale.ptx"),)), None)


@pytest.mark.parametrize(
    ("target", "code"),
    [
        ("sm_75", None),
        ("sm_100", None),
        ("sm_90a", None),
        ("sm_9", "PLC633"),
        ("sm_09", "PLC633"),
        ("sm_90b", "PLC633"),
        ("compute_90", "PLC633"),
        ("SM_90", "PLC633"),
        ("sm_80", "PLC631"),
    ],
)
def test_targets(target: str, code: str | None) -> None:
    _judge(with_program(PLAN, targets=("sm_80", target)), code)


def test_schedules_are_for_targets_of_their_program() -> None:
    _judge(with_schedule(PLAN, targets=("sm_80",)), None)
    _judge(with_schedule(PLAN, targets=("sm_90",)), "PLC633")
    _judge(with_schedule(PLAN, name="fast"), "PLC667")
    first = PLAN.schedules[0][0]
    _judge(replace(PLAN, schedules=((first, replace(first, name="fast")),)), None)
    _judge(replace(PLAN, schedules=((first, first),)), "PLC631")


def test_the_whole() -> None:
    _judge(Plan((), ()), "PLC628")
    _judge(replace(PLAN, schedules=()), "PLC628")
    _judge(replace(PLAN, schedules=((),)), "PLC667")
    _judge(replace(PLAN, verdict="a\nb"), "PLC630")
    _judge(replace(PLAN, facts=("x and y are disjoint",)), None)
    _judge(replace(PLAN, programs=PLAN.programs * 2, schedules=PLAN.schedules * 2), "PLC631")


def test_empty_program() -> None:
    """A program without a node is legal; so is one without buffers."""
    empty = {
        name: getattr(PROGRAM, name)[:0]
        for name in (
            *("nodes", "kernel_ops", "fill_ops", "copy_ops", "edges"),
            *("boxes", "axes", "effects", "relocations", "patches"),
        )
    }
    program = Program("nothing", (), (), (), (), (), (), arguments=b"", constants={}, **empty)
    schedule = PLAN.schedules[0][0]
    tables: Any = {name: getattr(schedule, name)[:0] for name in ("order", "lanes", "edges", "placements")}
    plan = Plan((program,), ((replace(schedule, arena_bytes=0, **tables),),))
    _judge(plan, None)


@pytest.mark.parametrize(
    ("file", "code"),
    [
        ("graph.yaml", None),
        ("../up/graph.yaml", None),
        ("/home/graph.yaml", "PLC632"),
        ("C:\\graph.yaml", "PLC632"),
        ("\\\\host\\graph.yaml", "PLC632"),
        ("~/graph.yaml", "PLC632"),
        ("file:///graph.yaml", "PLC632"),
        ("", "PLC630"),
        ("a\nb", "PLC630"),
    ],
)
def test_files_of_places(file: str, code: str | None) -> None:
    _judge(with_program(PLAN, places=(Place(file, 1, 1),) * 4), code)


def test_places_are_for_all_nodes_or_none() -> None:
    _judge(with_program(PLAN, places=()), None)
    _judge(with_program(PLAN, places=PROGRAM.places[:3]), "PLC628")
    _judge(with_program(PLAN, node_names=PROGRAM.node_names[:3]), "PLC628")


def test_aliases() -> None:
    _judge(with_program(PLAN, may_alias=((0, 1),)), None)
    _judge(with_program(PLAN, may_alias=((0, 4),)), "PLC636")
    _judge(with_program(PLAN, may_alias=((1, 1),)), "PLC636")


def test_tables_of_another_type_are_refused() -> None:
    wide = PROGRAM.edges.astype([("before", "<u8"), ("after", "<u4"), ("origin", "<u4")])
    _judge(with_program(PLAN, edges=wide), "PLC628")
    _judge(with_program(PLAN, edges=PROGRAM.edges.reshape(1, 3)), "PLC628")


def test_placements_side_by_side_and_overlapping() -> None:
    import numpy as np

    from planc.plan.program import PLACEMENT

    spare = Buffer("spare", "f32", (8,), Role.SCRATCH, 32, align=32)
    plan = with_program(PLAN, buffers=(*PROGRAM.buffers, spare))
    for offset, arena, code in (
        (32, 64, None),
        (32, 63, "PLC665"),
        (0, 64, "PLC666"),
        (16, 64, "PLC665"),
        (64, 96, None),
    ):
        rows = np.array([(3, 0, 0), (4, 0, offset)], PLACEMENT)
        _judge(with_schedule(plan, placements=rows, arena_bytes=arena), code)
    _judge(with_schedule(plan, arena_bytes=512), "PLC664")


def test_module_is_kept_for_a_global_alone() -> None:
    code = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .global .align 4 .b8 g[4];\n"
    module = Module("g.ptx", (Image("sm_80", "ptx", sha256(code), code),))
    buffer = Buffer("g", "f32", (), Role.GLOBAL, 4, symbol=(1, "g"))
    plan = with_program(PLAN, modules=(*PROGRAM.modules, module), buffers=(*PROGRAM.buffers, buffer))
    _judge(plan, None)
    _judge(with_program(plan, buffers=PROGRAM.buffers), "PLC669")


@pytest.mark.parametrize("text", ["a b", "x[3]", "näme", "块", "a/b.c", "`'\""])
def test_printable_names_are_well_formed(text: str) -> None:
    assert well_formed(text) and not is_absolute(text)
