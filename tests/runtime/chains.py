"""Large graphs: kernels of one block as chains side by side, at once without a call per node."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planc.plan import program as tables
from planc.plan import sha256
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
    Plan,
    Program,
    Provenance,
    Role,
    Schedule,
)
from tests.runtime.programs import AXPY

THREADS = 8
"""Elements of a lane, and threads of a block."""
_PARAMETERS = (("x", 0, 8), ("y", 8, 8), ("a", 16, 4), ("n", 20, 4))
_ARGS = 32  # bytes from one node's arguments to the next one's
_SIZE = 24


def chain_plan(count: int, lanes: int, images: tuple[Image, ...] = ()) -> Plan:
    """Return ``count`` kernels as ``lanes`` chains; each replay adds the length of a chain to all of ``y``.

    ``count`` is a multiple of ``lanes``. Node ``i`` comes after node ``i - lanes``; every eighth node of a
    chain also after the node before it in the next lane. ``images`` replace the PTX.
    """
    nodes = np.arange(count, dtype=np.uint32)
    before, after = nodes[:-lanes], nodes[lanes:]
    if lanes > 1:
        crossing = nodes[(nodes // lanes % 8 == 7)]
        other = crossing - lanes + 1
        other -= np.where(crossing % lanes == lanes - 1, lanes, 0).astype(np.uint32)
        before, after = np.concatenate([before, other]), np.concatenate([after, crossing])
    order = np.lexsort((after, before))
    program = _program(f"chain{count}x{lanes}", count, lanes, images or _ptx())
    edges = _table(
        tables.EDGE, len(order), before=before[order], after=after[order], origin=int(EdgeOrigin.AUTHOR)
    )
    emitted = _table(tables.EMITTED_EDGE, len(order), before=before[order], after=after[order])
    program = replace(program, edges=edges)
    schedule = Schedule(
        name="written",
        targets=(),
        order=nodes,
        lanes=nodes % lanes,
        edges=emitted,
        placements=np.zeros(0, tables.PLACEMENT),
        arena_bytes=0,
    )
    return Plan((program,), ((schedule,),), "made by hand", (), "chains")


def _ptx() -> tuple[Image, ...]:
    data = AXPY.encode()
    return (Image("sm_90", "ptx", sha256(data), data),)


def _table(dtype: np.dtype, count: int, **columns: object) -> np.ndarray:
    made = np.zeros(count, dtype)
    for name, values in columns.items():
        made[name] = values
    return made


def _program(name: str, count: int, lanes: int, images: tuple[Image, ...]) -> Program:
    nodes = np.arange(count)
    ones = np.ones(THREADS, np.float32).tobytes()
    x = Buffer("x", "f32", (THREADS,), Role.CONSTANT, 4 * THREADS, data=sha256(ones))
    y = Buffer("y", "f32", (lanes, THREADS), Role.STATE, 4 * THREADS * lanes)
    parameters = tuple(
        FunctionParameter(n, offset, size, size, size == 8, "f32" if n != "n" else "u32")
        for n, offset, size in _PARAMETERS
    )
    blob = np.zeros((count, _ARGS), np.uint8)
    blob[:, 16:20] = np.frombuffer(np.float32(1).tobytes(), np.uint8)
    blob[:, 20:24] = np.frombuffer(np.uint32(THREADS).tobytes(), np.uint8)
    return Program(
        name=name,
        targets=("sm_90",),
        buffers=(x, y),
        slots=(),
        modules=(Module("k.ptx", images),),
        functions=(Function("axpy", "axpy", 0, parameters),),
        node_names=tuple(f"n{i}" for i in range(count)),
        nodes=_table(tables.NODE, count, kind=int(NodeKind.KERNEL), op=nodes, body=NONE),
        kernel_ops=_table(
            tables.KERNEL_OP,
            count,
            grid=1,
            block=(THREADS, 1, 1),
            args_size=_SIZE,
            args_offset=_ARGS * nodes,
        ),
        fill_ops=np.zeros(0, tables.FILL_OP),
        copy_ops=np.zeros(0, tables.COPY_OP),
        edges=np.zeros(0, tables.EDGE),
        boxes=_boxes(lanes),
        axes=np.array([(THREADS, 4)], tables.AXIS),
        effects=_effects(nodes, lanes),
        relocations=_relocations(nodes, lanes),
        patches=np.zeros(0, tables.PATCH),
        arguments=blob.tobytes()[: _ARGS * (count - 1) + _SIZE],
        constants={sha256(ones): ones},
    )


def _boxes(lanes: int) -> np.ndarray:
    """The elements of ``x``, then of each lane of ``y``."""
    rows = [(0, 4, 0, 1, 0), *((4 * THREADS * lane, 4, 0, 1, 0) for lane in range(lanes))]
    return np.array(rows, tables.BOX)


def _effects(nodes: np.ndarray, lanes: int) -> np.ndarray:
    declared = int(Provenance.DECLARED)
    made = _table(
        tables.EFFECT, 2 * len(nodes), node=np.repeat(nodes, 2), kind_provenance=declared, may_count=1
    )
    made["range_provenance"] = declared
    made["kind"][0::2], made["kind"][1::2] = int(EffectKind.READ), int(EffectKind.READ_WRITE)
    made["buffer"][1::2] = made["parameter"][1::2] = 1
    made["may"][1::2] = 1 + nodes % lanes
    return made


def _relocations(nodes: np.ndarray, lanes: int) -> np.ndarray:
    made = _table(tables.RELOCATION, 2 * len(nodes), kind=1, node=np.repeat(nodes, 2))
    made["offset"][0::2], made["offset"][1::2] = _ARGS * nodes, _ARGS * nodes + 8
    made["buffer"][1::2] = made["parameter"][1::2] = 1
    made["addend"][1::2] = 4 * THREADS * (nodes % lanes)
    return made
