"""The `program` digest: equal for equal programs, different for different ones, blind to the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planc.plan import decode, decode_header, encode, file_digest, program_digest, sha256
from planc.plan.example import example_plan, with_program, with_row, with_schedule
from planc.plan.program import Image, Place, Plan, Slot

PLAN = example_plan()
PROGRAM = PLAN.programs[0]


def _both(plan: Plan) -> tuple[str, str]:
    data = encode(plan)
    header = decode_header(data)
    assert header.program_digest == program_digest(plan.programs[0])
    assert program_digest(decode(data).programs[0]) == header.program_digest
    return header.program_digest, file_digest(data)


BASE = _both(PLAN)


@pytest.mark.parametrize(
    "plan",
    [
        with_program(PLAN, places=()),
        with_program(PLAN, places=(Place("other.json", 1, 1),) * 4),
        replace(PLAN, producer="planc 9"),
        replace(PLAN, verdict="checked twice"),
        replace(PLAN, facts=("x and y are disjoint",)),
        with_schedule(PLAN, lanes=np.array([0, 1, 2, 3], np.uint32)),
        replace(PLAN, schedules=((PLAN.schedules[0][0], replace(PLAN.schedules[0][0], name="fast")),)),
    ],
)
def test_program_is_blind_to_debug_producer_and_schedules(plan: Plan) -> None:
    program, file = _both(plan)
    assert program == BASE[0]
    assert file != BASE[1]


@pytest.mark.parametrize(
    "plan",
    [
        with_program(PLAN, name="other"),
        with_program(PLAN, node_names=("clear", "load", "run", "stop")),
        with_program(PLAN, targets=("sm_80", "sm_90")),
        with_program(PLAN, may_alias=((0, 1),)),
        with_program(PLAN, slots=(replace(PROGRAM.slots[0], high=11.0),)),
        with_program(PLAN, slots=(*PROGRAM.slots, Slot("spare", "i32", 0))),
        with_row(PLAN, "edges", 0, origin=2),
        with_row(PLAN, "fill_ops", 0, pattern=1),
        with_row(PLAN, "effects", 5, kind=3),
        with_row(PLAN, "relocations", 0, addend=4),
        with_row(PLAN, "kernel_ops", 0, grid=(2, 1, 1)),
    ],
)
def test_program_sees_every_part_of_the_graph(plan: Plan) -> None:
    program, file = _both(plan)
    assert program != BASE[0]
    assert file != BASE[1]


def test_program_sees_code_and_constants() -> None:
    (module,) = PROGRAM.modules
    code = bytes(module.images[0].data) + b"\n"
    other = replace(module, images=(Image("sm_80", "ptx", sha256(code), code),))
    assert _both(with_program(PLAN, modules=(other,)))[0] != BASE[0]
    content = bytes(32)
    buffers = list(PROGRAM.buffers)
    buffers[2] = replace(buffers[2], data=sha256(content))
    plan = with_program(PLAN, buffers=tuple(buffers), constants={sha256(content): content})
    assert _both(plan)[0] != BASE[0]


def test_digest_of_several_programs() -> None:
    other = replace(PROGRAM, name="other")
    two = Plan((PROGRAM, other), PLAN.schedules * 2)
    turned = Plan((other, PROGRAM), PLAN.schedules * 2)
    header = decode_header(encode(two))
    assert [program.digest for program in header.programs] == [program_digest(PROGRAM), program_digest(other)]
    assert header.program_digest not in [program.digest for program in header.programs]
    assert decode_header(encode(turned)).program_digest != header.program_digest


def test_a_program_has_one_digest_wherever_it_stands() -> None:
    other = replace(PROGRAM, name="other")
    header = decode_header(encode(Plan((other, PROGRAM), PLAN.schedules * 2)))
    assert header.programs[1].digest == BASE[0]


def test_digest_of_a_file_is_not_given_for_a_damaged_header() -> None:
    data = encode(PLAN)
    with pytest.raises(Exception, match="PLC607"):
        file_digest(data[:70] + b"\0" + data[71:])
