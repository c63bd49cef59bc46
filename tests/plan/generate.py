"""Random plans that are valid by construction, and that a device can replay.

``random_plan(random.Random(seed))`` gives the same plan for the same seed. Kernels are real PTX: each copies
one byte from its first pointer to its last one (when it has two), so that replays touch memory. Programs
may have races: ordering them is the business of other folders.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import prod
from random import Random
from typing import Any

import numpy as np

from planc.plan import program as tables
from planc.plan import sha256
from planc.plan.dtypes import DTYPES
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
from planc.plan.rules.arguments import slot_bytes

TARGETS = ("sm_80", "sm_90", "sm_90a", "sm_100")
WRITABLE = (Role.OUTPUT, Role.INOUT, Role.STATE, Role.SCRATCH, Role.GLOBAL)
_SPELLINGS = ("{}", "näme {}", "块{}", "a.b/{}", "x[{}]")

Axes = tuple[tuple[int, int], ...]
BoxKey = tuple[int, Axes, int]  # offset, axes, item


@dataclass
class _Draft:
    """A program while it grows."""

    rng: Random
    targets: tuple[str, ...]
    buffers: list[Buffer] = field(default_factory=list)
    constants: dict[str, bytes] = field(default_factory=dict)
    slots: list[Slot] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    boxes: dict[BoxKey, int] = field(default_factory=dict)
    rows: dict[str, list[Any]] = field(
        default_factory=lambda: {
            name: []
            for name in ("nodes", "kernel_ops", "fill_ops", "copy_ops", "effects", "relocations", "patches")
        }
    )
    arguments: bytearray = field(default_factory=bytearray)

    def box(self, key: BoxKey) -> int:
        return self.boxes.setdefault(key, len(self.boxes))

    def writable(self) -> list[int]:
        return [row for row, buffer in enumerate(self.buffers) if buffer.role in WRITABLE]

    def effect(
        self, buffer: int, kind: EffectKind, box: int, parameter: int = NONE, must: bool = False
    ) -> None:
        known = (Provenance.OPERATION, Provenance.OPERATION)
        if parameter != NONE:
            known = (Provenance.DECLARED, self.rng.choice((Provenance.ASSUMED, Provenance.PROVED)))
        node = len(self.rows["nodes"])
        must_rows = (box, 1) if must else (0, 0)
        self.rows["effects"].append((node, buffer, kind, *known, 0, parameter, box, 1, *must_rows))


def random_plan(rng: Random, nodes: int = 12) -> Plan:
    """Return a valid plan of one to three programs with up to ``nodes`` nodes each."""
    count = rng.choice((1, 1, 1, 2, 3))
    first = random_program(rng, nodes)
    programs = [first]
    for index in range(1, count):
        other = random_program(rng, nodes)
        programs.append(replace(other, name=f"{other.name} {index}"))
    schedules = tuple(random_schedules(rng, program) for program in programs)
    facts = tuple(f"fact {i}" for i in range(rng.randrange(3)))
    return Plan(tuple(programs), schedules, rng.choice(("", "no races")), facts, "planc tests")


def random_program(rng: Random, nodes: int = 12) -> Program:
    """Return a valid program with at most ``nodes`` nodes."""
    draft = _Draft(rng, tuple(sorted(rng.sample(TARGETS, rng.randint(1, 2)))))
    _modules(draft)
    _buffers(draft)
    _slots(draft)
    count = rng.randint(0, nodes)
    for _ in range(count):
        rng.choice((_join, _fill, _fill, _copy, _copy, _launch, _launch, _launch))(draft)
    names = rng.sample(range(10 * count + 1), count)
    boxes, axes = _box_tables(draft)
    writes = draft.writable()
    pairs = (
        {tuple(sorted(rng.sample(writes, 2))) for _ in range(rng.randrange(3))} if len(writes) > 1 else set()
    )
    return Program(
        name="random",
        targets=draft.targets,
        buffers=tuple(draft.buffers),
        slots=tuple(draft.slots),
        modules=tuple(draft.modules),
        functions=tuple(draft.functions),
        node_names=tuple(rng.choice(_SPELLINGS).format(name) for name in names),
        edges=_edges(rng, count),
        boxes=boxes,
        axes=axes,
        arguments=bytes(draft.arguments),
        constants=draft.constants,
        places=_places(rng, count),
        may_alias=tuple(sorted(pairs)),
        **{name: np.array(rows, getattr(tables, _TYPES[name])) for name, rows in draft.rows.items()},
    )


_TYPES = {
    "nodes": "NODE",
    "kernel_ops": "KERNEL_OP",
    "fill_ops": "FILL_OP",
    "copy_ops": "COPY_OP",
    "effects": "EFFECT",
    "relocations": "RELOCATION",
    "patches": "PATCH",
}


def _modules(draft: _Draft) -> None:
    rng = draft.rng
    for row in range(rng.randint(1, 2)):
        text = [".version 8.7", ".target sm_{}", ".address_size 64"]
        if rng.random() < 0.5:
            shape = (rng.randint(1, 6),)
            text.append(f".visible .global .align 16 .b8 g{row}[{4 * shape[0]}];")
            symbol = (row, f"g{row}")
            draft.buffers.append(
                Buffer(f"global {row}", "f32", shape, Role.GLOBAL, 4 * shape[0], symbol=symbol)
            )
        for _ in range(rng.randint(1, 2)):
            name = f"k{len(draft.functions)}"
            function = Function(f"kernel {name}", name, row, _parameters(rng))
            draft.functions.append(function)
            text.append(_entry(function))
        images = []
        for target in draft.targets:
            code = "\n".join(text).replace("sm_{}", target).encode() + b"\n"
            images.append(Image(target, "ptx", sha256(code), code))
        draft.modules.append(Module(f"k{row}.cu", tuple(images), rng.random() < 0.5))


def _parameters(rng: Random) -> tuple[FunctionParameter, ...]:
    parameters, offset = [], 0
    for index in range(rng.randint(0, 5)):
        pointer = rng.random() < 0.5
        dtype = rng.choice((None, *DTYPES))
        size = 8 if pointer else DTYPES[dtype].itemsize if dtype else 12
        align = 4 if size == 12 else size
        offset = -(-offset // align) * align
        parameters.append(
            FunctionParameter(f"p{index}", offset, size, align, pointer, None if pointer else dtype)
        )
        offset += size
    return tuple(parameters)


def _entry(function: Function) -> str:
    """Return an entry that copies a byte from its first pointer to its last, if it has two."""
    lines = []
    for index, parameter in enumerate(function.parameters):
        kind = {1: ".u8", 2: ".u16", 4: ".u32", 8: ".u64"}.get(parameter.size)
        declared = f".param {kind} p{index}" if kind else f".param .align 4 .b8 p{index}[{parameter.size}]"
        lines.append(declared)
    pointers = [i for i, p in enumerate(function.parameters) if p.pointer]
    body = ""
    if len(pointers) > 1:
        body = (
            f".reg .b64 %rd<3>; .reg .b16 %rs<2>;\n"
            f"ld.param.u64 %rd1, [p{pointers[0]}];\nld.param.u64 %rd2, [p{pointers[-1]}];\n"
            "ld.global.u8 %rs1, [%rd1];\nst.global.u8 [%rd2], %rs1;\n"
        )
    return f".visible .entry {function.symbol}({', '.join(lines)})\n{{\n{body}ret;\n}}"


def _buffers(draft: _Draft) -> None:
    rng = draft.rng
    roles = [Role.INPUT, Role.INOUT, *rng.choices([role for role in Role if role is not Role.GLOBAL], k=5)]
    for index, role in enumerate(roles):
        dtype = rng.choice(list(DTYPES.values()))
        shape = tuple(rng.randint(1, 5) for _ in range(rng.randint(0, 3)))
        nbytes = prod(shape) * dtype.itemsize
        data, embedded = None, True
        if role is Role.CONSTANT:
            content = rng.randbytes(nbytes)
            data, embedded = sha256(content), rng.random() < 0.8
            if embedded:
                draft.constants[data] = content
        align = rng.choice((8, 16, 256))
        draft.buffers.append(Buffer(f"b{index}", dtype.name, shape, role, nbytes, align, data, embedded))
    draft.constants = dict(sorted(draft.constants.items()))


def _slots(draft: _Draft) -> None:
    rng = draft.rng
    for index in range(rng.randrange(4)):
        dtype = rng.choice(list(DTYPES.values()))
        if dtype.kind == "b":
            draft.slots.append(Slot(f"s{index}", "bool", rng.random() < 0.5))
            continue
        value: Any = rng.randint(0, 100)
        if dtype.kind == "f":
            value = value / 4
        low, high = rng.choice(((None, None), (0, None), (value, value), (None, 127)))
        ends = [None if end is None else type(value)(end) for end in (low, high)]
        draft.slots.append(Slot(f"s{index}", dtype.name, value, *ends))


def _join(draft: _Draft) -> None:
    draft.rows["nodes"].append((NodeKind.JOIN, NONE, NONE, 0))


def _view(rng: Random, shape: tuple[int, ...], item: int, counts: tuple[int, ...]) -> BoxKey:
    """Return the box of a random view with ``counts`` of an array of ``shape`` (as many axes as counts)."""
    offset, axes, stride = 0, [], item
    for extent, count in zip(reversed(shape), reversed(counts), strict=True):
        step = rng.randint(1, max(1, (extent - 1) // max(count - 1, 1)))
        start = rng.randint(0, extent - 1 - (count - 1) * step)
        if rng.random() < 0.3:
            start, step = start + (count - 1) * step, -step
        offset += start * stride
        axes.append((count, step * stride))
        stride *= extent
    return (offset, tuple(reversed(axes)), item)


def _fill(draft: _Draft) -> None:
    rng = draft.rng
    row = rng.choice(draft.writable())
    buffer = draft.buffers[row]
    size = DTYPES[buffer.dtype].itemsize
    counts = tuple(rng.randint(1, extent) for extent in buffer.shape)
    offset, axes, _ = footprint = _view(rng, buffer.shape, size, counts)
    item = min(size, rng.choice((1, 2, 4)))
    box = footprint if item == size else (offset, (*axes, (size // item, item)), item)
    draft.effect(row, EffectKind.WRITE, draft.box(footprint), must=True)
    pattern = rng.randrange(1 << (8 * item))
    draft.rows["nodes"].append((NodeKind.FILL, len(draft.rows["fill_ops"]), NONE, 0))
    draft.rows["fill_ops"].append((row, draft.box(box), pattern, item))


def _copy(draft: _Draft) -> None:
    rng = draft.rng
    pairs = [
        (to, fro)
        for to in draft.writable()
        for fro, source in enumerate(draft.buffers)
        if to != fro and DTYPES[source.dtype].itemsize == DTYPES[draft.buffers[to].dtype].itemsize
    ]
    if not pairs:
        return
    to, fro = rng.choice(pairs)
    size = DTYPES[draft.buffers[to].dtype].itemsize
    shapes = [draft.buffers[row].shape for row in (to, fro)]
    rank = max(map(len, shapes))
    shapes = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    counts = tuple(rng.randint(1, min(extents)) for extents in zip(*shapes, strict=True))
    target, source = (draft.box(_view(rng, shape, size, counts)) for shape in shapes)
    draft.effect(to, EffectKind.WRITE, target, must=True)
    draft.effect(fro, EffectKind.READ, source)
    draft.rows["nodes"].append((NodeKind.COPY, len(draft.rows["copy_ops"]), NONE, 0))
    draft.rows["copy_ops"].append((to, target, fro, source))


def _launch(draft: _Draft) -> None:
    rng = draft.rng
    row = rng.randrange(len(draft.functions))
    function = draft.functions[row]
    node = len(draft.rows["nodes"])
    base = len(draft.arguments)
    last = function.parameters[-1] if function.parameters else None
    size = last.offset + last.size if last else 0
    block = bytearray(-(-size // 16) * 16)
    pointers = [i for i, p in enumerate(function.parameters) if p.pointer]
    for index, parameter in enumerate(function.parameters):
        if parameter.pointer:
            _pointer(draft, (node, index, base + parameter.offset), index == pointers[-1])
        else:
            block[parameter.offset :][: parameter.size] = rng.randbytes(parameter.size)
            value = _value(draft, parameter, (node, index, base + parameter.offset))
            block[parameter.offset : parameter.offset + parameter.size] = value
    draft.arguments += block
    grid, dims = (rng.randint(1, 2), 1, 1), (rng.choice((1, 2, 33)), rng.randint(1, 2), 1)
    draft.rows["nodes"].append((NodeKind.KERNEL, len(draft.rows["kernel_ops"]), NONE, 0))
    draft.rows["kernel_ops"].append((row, grid, dims, rng.choice((0, 1024)), size, base, 0))


def _pointer(draft: _Draft, at: tuple[int, int, int], written: bool) -> None:
    node, parameter, offset = at
    choices = draft.writable() if written else list(range(len(draft.buffers)))
    row = draft.rng.choice(choices)
    nbytes = draft.buffers[row].nbytes
    addend = draft.rng.randrange(nbytes)
    draft.rows["relocations"].append((offset, addend, row, RelocationKind.ADDRESS, node, parameter))
    kind = draft.rng.choice((EffectKind.WRITE, EffectKind.READ_WRITE)) if written else EffectKind.READ
    draft.effect(row, kind, draft.box((addend, (), nbytes - addend)), parameter)


def _value(draft: _Draft, parameter: FunctionParameter, at: tuple[int, int, int]) -> bytes:
    node, index, offset = at
    fitting = [i for i, s in enumerate(draft.slots) if DTYPES[s.dtype].itemsize == parameter.size]
    if not fitting or draft.rng.random() < 0.4:
        return draft.rng.randbytes(parameter.size)
    slot = draft.rng.choice(fitting)
    draft.rows["patches"].append((offset, slot, parameter.size, node, index))
    return slot_bytes(draft.slots[slot])[: parameter.size]


def _box_tables(draft: _Draft) -> tuple[Table, Table]:
    boxes, axes = [], []
    for offset, box_axes, item in draft.boxes:
        boxes.append((offset, item, len(axes), len(box_axes), 0))
        axes.extend(box_axes)
    return np.array(boxes, tables.BOX), np.array(axes, tables.AXIS)


def _edges(rng: Random, count: int) -> Table:
    """Return edges along a random order of the nodes, by their two nodes."""
    order = rng.sample(range(count), count)
    wanted = {
        (order[i], order[j]) for j in range(count) for i in rng.sample(range(j), min(j, rng.randint(0, 3)))
    }
    return np.array([(a, b, rng.choice(list(EdgeOrigin))) for a, b in sorted(wanted)], tables.EDGE)


def _places(rng: Random, count: int) -> tuple[Place, ...]:
    if rng.random() < 0.2:
        return ()
    files = rng.choice((("graph.yaml",), ("graph.yaml", "parts/b.yaml", "../shared/c.yaml")))
    return tuple(Place(rng.choice(files), rng.randint(1, 99), rng.randint(1, 40)) for _ in range(count))


def random_schedules(rng: Random, program: Program) -> tuple[Schedule, ...]:
    """Return the schedule `written`, and perhaps one without the edges that paths imply."""
    order = _order(rng, program)
    offset, rows = 0, []
    for row, buffer in enumerate(program.buffers):
        if buffer.role is Role.SCRATCH:
            offset = -(-offset // buffer.align) * buffer.align
            rows.append((row, 0, offset))
            offset += buffer.nbytes
    edges = [(a, b, 0) for a, b, _ in program.edges.tolist()]
    written = Schedule(
        name="written",
        targets=(),
        order=order,
        lanes=np.array([rng.randrange(min(4, len(order))) for _ in order], np.uint32),
        edges=np.array(edges, tables.EMITTED_EDGE),
        placements=np.array(rows, tables.PLACEMENT),
        arena_bytes=offset,
    )
    if rng.random() < 0.5:
        return (written,)
    reduced = np.array(_reduced(len(order), edges), tables.EMITTED_EDGE)
    return (written, replace(written, name="reduced", targets=program.targets[:1], edges=reduced))


def _order(rng: Random, program: Program) -> Table:
    waiting = np.bincount(program.edges["after"], minlength=len(program.nodes)).tolist()
    ready = [node for node, count in enumerate(waiting) if not count]
    order = []
    while ready:
        node = ready.pop(rng.randrange(len(ready)))
        order.append(node)
        for after in program.edges["after"][program.edges["before"] == node].tolist():
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return np.array(order, np.uint32)


def _reduced(count: int, edges: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Return the edges that no path of two or more edges implies."""
    reach = np.zeros((count, count), bool)
    for a, b, _ in edges:
        reach[a, b] = True
    direct = reach.copy()
    for middle in range(count):
        reach |= np.outer(reach[:, middle], reach[middle])
    return [(a, b, t) for a, b, t in edges if not (direct[a] & reach[:, b]).any()]
