"""A tiny plan that uses a little of everything, and helpers to make variations of it.

The manual pages, the golden file and the tests start from it.It computes ``y = x * scale + bias``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from planc.plan import program as tables
from planc.plan.digests import sha256
from planc.plan.program import (
    NONE,
    Buffer,
    EdgeOrigin,
    EffectKind,
    Function,
    FunctionParameter,
    Image,
    Module,
    NodeKind,
    Place,
    Plan,
    Program,
    Provenance,
    RelocationKind,
    Role,
    Schedule,
    Slot,
    Table,
)

PTX = b"""\
.version 7.0
.target sm_80
.address_size 64

.visible .entry scale(
    .param .u64 scale_param_0,
    .param .u64 scale_param_1,
    .param .u64 scale_param_2,
    .param .f32 scale_param_3
)
{
    .reg .f32 %f<6>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<8>;

    ld.param.u64 %rd1, [scale_param_0];
    ld.param.u64 %rd2, [scale_param_1];
    ld.param.u64 %rd3, [scale_param_2];
    ld.param.f32 %f1, [scale_param_3];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd4, %r1, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f2, [%rd5];
    ld.global.f32 %f3, [%rd6];
    mul.rn.f32 %f4, %f2, %f1;
    add.rn.f32 %f5, %f4, %f3;
    st.global.f32 [%rd7], %f5;
    ret;
}
"""

_ELEMENTS = 8
_OPERATION = (Provenance.OPERATION, Provenance.OPERATION)
_DECLARED = (Provenance.DECLARED, Provenance.ASSUMED)


def example_plan() -> Plan:
    """Return the plan: ``clear`` fills ``t``, ``load`` copies ``x[:6]`` into it, ``run`` reads it.

    ``run`` stores ``t * scale + bias`` in ``y``; all buffers are f32[8], ``bias``is a constant.
    """
    program = _program()
    schedule = Schedule(
        name="written",
        targets=(),
        order=np.arange(4, dtype=np.uint32),
        lanes=np.zeros(4, np.uint32),
        edges=np.array([(0, 1, 0), (1, 2, 0), (2, 3, 0)], tables.EMITTED_EDGE),
        placements=np.array([(3, 0, 0)], tables.PLACEMENT),
        arena_bytes=32,
    )
    return Plan((program,), ((schedule,),), "no races: 4 nodes, 3 edges", (), "planc 0.1.0")


def _program() -> Program:
    bias = np.arange(_ELEMENTS, dtype="<f4").tobytes()
    digest = sha256(bias)
    return Program(
        name="example",
        targets=("sm_80",),
        buffers=(
            Buffer("x", "f32", (_ELEMENTS,), Role.INPUT, 32),
            Buffer("y", "f32", (_ELEMENTS,), Role.OUTPUT, 32),
            Buffer("bias", "f32", (_ELEMENTS,), Role.CONSTANT, 32, data=digest),
            Buffer("t", "f32", (_ELEMENTS,), Role.SCRATCH, 32),
        ),
        slots=(Slot("scale", "f32", 2.0, 0.0, 10.0),),
        modules=(Module("scale.ptx", (Image("sm_80", "ptx", sha256(PTX), PTX),)),),
        functions=(Function("scale", "scale", 0, _parameters()),),
        node_names=("clear", "load", "run", "end"),
        arguments=bytes(24) + np.float32(2.0).tobytes(),
        constants={digest: bias},
        places=tuple(Place("graph.yaml", line, 7) for line in (11, 13, 15, 17)),
        **_tables(),
    )


def _parameters() -> tuple[FunctionParameter, ...]:
    pointers = [FunctionParameter(n, 8 * i, 8, 8, True, "f32") for i, n in enumerate(("src", "bias", "dst"))]
    return (*pointers, FunctionParameter("scale", 24, 4, 4, False, "f32"))


def _tables() -> dict[str, Any]:
    none, author, address = NONE, EdgeOrigin.AUTHOR, RelocationKind.ADDRESS
    rows: dict[str, list[Any]] = {
        "nodes": [(NodeKind.FILL, 0), (NodeKind.COPY, 0), (NodeKind.KERNEL, 0), (NodeKind.JOIN, none)],
        "kernel_ops": [(0, (1, 1, 1), (_ELEMENTS, 1, 1), 0, 28, 0, 0)],
        "fill_ops": [(3, 0, 0, 4)],
        "copy_ops": [(3, 1, 0, 1)],
        "edges": [(0, 1, author), (1, 2, author), (2, 3, author)],
        "boxes": [(0, 4, 0, 1, 0), (0, 4, 1, 1, 0)],
        "axes": [(_ELEMENTS, 4), (6, 4)],
        "relocations": [(0, 0, 3, address, 2, 0), (8, 0, 2, address, 2, 1), (16, 0, 1, address, 2, 2)],
        "patches": [(24, 0, 4, 2, 3)],
    }
    rows["nodes"] = [(kind, op, none, 0) for kind, op in rows["nodes"]]
    rows["effects"] = [
        (0, 3, EffectKind.WRITE, *_OPERATION, 0, none, 0, 1, 0, 1),
        (1, 0, EffectKind.READ, *_OPERATION, 0, none, 1, 1, 0, 0),
        (1, 3, EffectKind.WRITE, *_OPERATION, 0, none, 1, 1, 1, 1),
        (2, 3, EffectKind.READ, *_DECLARED, 0, 0, 0, 1, 0, 0),
        (2, 2, EffectKind.READ, *_DECLARED, 0, 1, 0, 1, 0, 0),
        (2, 1, EffectKind.WRITE, *_DECLARED, 0, 2, 0, 1, 0, 1),
    ]
    return {name: np.array(values, _TYPES[name]) for name, values in rows.items()}


_TYPES = {
    "nodes": tables.NODE,
    "kernel_ops": tables.KERNEL_OP,
    "fill_ops": tables.FILL_OP,
    "copy_ops": tables.COPY_OP,
    "edges": tables.EDGE,
    "boxes": tables.BOX,
    "axes": tables.AXIS,
    "effects": tables.EFFECT,
    "relocations": tables.RELOCATION,
    "patches": tables.PATCH,
}


def with_cells(table: Table, row: int, **cells: Any) -> Table:
    """Return a copy of a table in which one row has other values."""
    table = table.copy()
    for name, value in cells.items():
        table[name][row] = value
    return table


def with_program(plan: Plan, **fields: Any) -> Plan:
    """Return the plan with other fields in its first program."""
    return replace(plan, programs=(replace(plan.programs[0], **fields), *plan.programs[1:]))


def with_schedule(plan: Plan, **fields: Any) -> Plan:
    """Return the plan with other fields in the first schedule of its first program."""
    first = (replace(plan.schedules[0][0], **fields), *plan.schedules[0][1:])
    return replace(plan, schedules=(first, *plan.schedules[1:]))


def with_row(plan: Plan, table: str, row: int, **cells: Any) -> Plan:
    """Return the plan with other values in one row of a table of its first program or schedule.

    ``table`` is a field of the program (``edges``), or of the schedule behind ``schedule.``.
    """
    owner, _, name = table.rpartition(".")
    if owner:
        return with_schedule(plan, **{name: with_cells(getattr(plan.schedules[0][0], name), row, **cells)})
    return with_program(plan, **{name: with_cells(getattr(plan.programs[0], name), row, **cells)})
