"""Plans built by hand, one call per buffer and node."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from planc.plan import program as tables
from planc.plan import sha256, validate
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
    Role,
    Schedule,
    Slot,
)

_OPERATION, _DECLARED = int(Provenance.OPERATION), int(Provenance.DECLARED)
Index = tuple[int | slice, ...]


@dataclass(frozen=True)
class View:
    """A NumPy-like view of a buffer."""

    buffer: str
    index: Index = ()


@dataclass
class Maker:
    """Collects a program row by row; ``plan()`` validates it by the reader's own rules."""

    name: str = "made"
    targets: tuple[str, ...] = ("sm_90",)
    buffers: list[Buffer] = field(default_factory=list)
    slots: list[Slot] = field(default_factory=list)
    modules: list[Module] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    rows: dict[str, list[tuple]] = field(default_factory=lambda: {n: [] for n in _TABLES})
    arguments: bytearray = field(default_factory=bytearray)
    constants: dict[str, bytes] = field(default_factory=dict)
    may_alias: list[tuple[int, int]] = field(default_factory=list)

    def buffer(self, name: str, dtype: str, shape: Sequence[int], role: Role = Role.INOUT, **more) -> str:
        nbytes = math.prod(shape) * DTYPES[dtype].itemsize
        self.buffers.append(Buffer(name, dtype, tuple(shape), role, nbytes, **more))
        return name

    def constant(self, name: str, array: np.ndarray, dtype: str, *, embedded: bool = True) -> str:
        data = np.ascontiguousarray(array).tobytes()
        if embedded:
            self.constants[sha256(data)] = data
        return self.buffer(name, dtype, array.shape, Role.CONSTANT, data=sha256(data), embedded=embedded)

    def slot(self, name: str, dtype: str, value, low=None, high=None) -> str:
        self.slots.append(Slot(name, dtype, value, low, high))
        return name

    def module(self, ptx: str, target: str = "sm_90", *, form: str = "ptx") -> int:
        data = ptx.encode()
        self.modules.append(Module("k.ptx", (Image(target, form, sha256(data), data),)))
        return len(self.modules) - 1

    def function(self, symbol: str, parameters: Sequence[tuple[str, str, bool]], module: int = 0) -> str:
        """``parameters`` are (name, dtype, pointer)."""
        made, end = [], 0
        for name, dtype, pointer in parameters:
            size = 8 if pointer else DTYPES[dtype].itemsize
            offset = -(-end // size) * size
            made.append(FunctionParameter(name, offset, size, size, pointer, dtype))
            end = offset + size
        self.functions.append(Function(symbol, symbol, module, tuple(made)))
        return symbol

    def row(self, name: str) -> int:
        return next(i for i, b in enumerate(self.buffers) if b.name == name)

    def fill(self, name: str, view: View, pattern: int, item: int, after: Sequence[str] = ()) -> str:
        box = self._box(view)
        op = self._add("fill_ops", (self.row(view.buffer), box, pattern, item))
        node = self._node(name, NodeKind.FILL, op, after)
        self._effect(node, view.buffer, EffectKind.WRITE, box, _OPERATION, True)
        return name

    def copy(self, name: str, target: View, source: View, after: Sequence[str] = ()) -> str:
        boxes = self._box(target), self._box(source)
        op = self._add("copy_ops", (self.row(target.buffer), boxes[0], self.row(source.buffer), boxes[1]))
        node = self._node(name, NodeKind.COPY, op, after)
        self._effect(node, source.buffer, EffectKind.READ, boxes[1], _OPERATION, False)
        self._effect(node, target.buffer, EffectKind.WRITE, boxes[0], _OPERATION, True)
        return name

    def join(self, name: str, after: Sequence[str] = ()) -> str:
        self._node(name, NodeKind.JOIN, NONE, after)
        return name

    def run(
        self,
        name: str,
        function: str,
        arguments: Mapping[str, object],
        *,
        grid=(1, 1, 1),
        block=(1, 1, 1),
        shared: int = 0,
        reads: Sequence[str] = (),
        writes: Sequence[str] = (),
        after: Sequence[str] = (),
    ) -> str:
        """Arguments: a buffer or (buffer, byte offset) for a pointer, ``$slot`` or a number for a value."""
        index = next(i for i, f in enumerate(self.functions) if f.symbol == function)
        parameters = self.functions[index].parameters
        start = -(-len(self.arguments) // 16) * 16
        size = max((p.offset + p.size for p in parameters), default=0)
        self.arguments.extend(bytes(start + size - len(self.arguments)))
        op = self._add("kernel_ops", (index, grid, block, shared, size, start, 0))
        node = self._node(name, NodeKind.KERNEL, op, after)
        for position, parameter in enumerate(parameters):
            self._argument(node, position, parameter, start + parameter.offset, arguments[parameter.name])
        self._kernel_effects(node, parameters, arguments, reads, writes)
        return name

    def _argument(self, node, position, parameter, offset, value) -> None:
        if parameter.pointer:
            buffer, addend = value if isinstance(value, tuple) else (value, 0)
            self._add("relocations", (offset, addend, self.row(buffer), 1, node, position))
            return
        if isinstance(value, str):
            slot = next(i for i, s in enumerate(self.slots) if s.name == value.removeprefix("$"))
            self._add("patches", (offset, slot, parameter.size, node, position))
            value = self.slots[slot].value
        octets = np.array(value).astype(DTYPES[parameter.dtype].numpy).tobytes()
        self.arguments[offset : offset + len(octets)] = octets

    def _kernel_effects(self, node, parameters, arguments, reads, writes) -> None:
        for position, parameter in enumerate(parameters):
            if not parameter.pointer:
                continue
            value = arguments[parameter.name]
            buffer = value[0] if isinstance(value, tuple) else value
            kind = _KINDS[parameter.name in reads, parameter.name in writes]
            box = self._box(View(buffer))
            self._effect(node, buffer, kind, box, _DECLARED, False, position)

    def _effect(self, node, buffer, kind, box, provenance, must, parameter=NONE) -> None:
        tail = (box, 1, box if must else 0, int(must))
        row = (node, self.row(buffer), int(kind), provenance, provenance, 0, parameter)
        self._add("effects", (*row, *tail))

    def _box(self, view: View) -> int:
        buffer = self.buffers[self.row(view.buffer)]
        dtype = DTYPES[buffer.dtype].numpy
        probe = np.lib.stride_tricks.as_strided(
            np.empty(1, dtype), buffer.shape, _strides(buffer.shape, dtype)
        )
        part = probe[view.index] if view.index else probe
        offset = part.__array_interface__["data"][0] - probe.__array_interface__["data"][0]
        if not isinstance(part, np.ndarray):
            raise TypeError("give slices, not only integers")
        first = len(self.rows["axes"])
        for count, stride in zip(part.shape, part.strides, strict=True):
            self._add("axes", (count, stride))
        return self._add("boxes", (offset, dtype.itemsize, first, part.ndim, 0))

    def _node(self, name: str, kind: NodeKind, op: int, after: Sequence[str]) -> int:
        node = self._add("nodes", (kind, op, NONE, 0))
        self.names.append(name)
        for before in after:
            self._add("edges", (self.names.index(before), node, EdgeOrigin.AUTHOR))
        return node

    def _add(self, table: str, row: tuple) -> int:
        self.rows[table].append(row)
        return len(self.rows[table]) - 1

    def program(self) -> Program:
        return Program(
            name=self.name,
            targets=self.targets,
            buffers=tuple(self.buffers),
            slots=tuple(self.slots),
            modules=tuple(self.modules),
            functions=tuple(self.functions),
            node_names=tuple(self.names),
            arguments=bytes(self.arguments),
            constants=self.constants,
            places=tuple(Place("graph.yaml", 10 + i, 5) for i in range(len(self.names))),
            may_alias=tuple(self.may_alias),
            **{name: np.array(_sorted(name, rows), _TABLES[name]) for name, rows in self.rows.items()},
        )

    def schedule(self, name: str = "written", targets: tuple[str, ...] = ()) -> Schedule:
        count = len(self.names)
        placements, end = [], 0
        for row, buffer in enumerate(self.buffers):
            if buffer.role is Role.SCRATCH:
                end = -(-end // 256) * 256
                placements.append((row, 0, end))
                end += buffer.nbytes
        return Schedule(
            name=name,
            targets=targets,
            order=np.arange(count, dtype=np.uint32),
            lanes=np.zeros(count, np.uint32),
            edges=np.array([(b, a, 0) for b, a, _ in sorted(self.rows["edges"])], tables.EMITTED_EDGE),
            placements=np.array(placements, tables.PLACEMENT),
            arena_bytes=end,
        )

    def plan(self, *, checked: bool = True, schedules: Sequence[Schedule] = ()) -> Plan:
        plan = Plan((self.program(),), (tuple(schedules) or (self.schedule(),),), "made by hand", (), "tests")
        if checked:
            validate(plan)
        return plan


def with_buffer(plan: Plan, name: str, **fields: object) -> Plan:
    """Return the plan with other fields in one buffer."""
    program = plan.programs[0]
    buffers = tuple(replace(b, **fields) if b.name == name else b for b in program.buffers)
    return replace(plan, programs=(replace(program, buffers=buffers),))


def _sorted(name: str, rows: list[tuple]) -> list[tuple]:
    return sorted(rows) if name == "edges" else rows


def _strides(shape: Sequence[int], dtype: np.dtype) -> tuple[int, ...]:
    steps = [dtype.itemsize]
    for count in reversed(shape[1:]):
        steps.insert(0, steps[0] * count)
    return tuple(steps[: len(shape)])


_KINDS = {
    (True, False): EffectKind.READ,
    (False, True): EffectKind.WRITE,
    (True, True): EffectKind.READ_WRITE,
}
_TABLES = {
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

AXPY = """
.version 7.8
.target sm_90
.address_size 64

.visible .entry axpy(
  .param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n
)
{
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra done;
  mul.wide.u32 %rd3, %r5, 4;
  add.u64 %rd4, %rd1, %rd3;
  add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  ld.global.f32 %f3, [%rd5];
  fma.rn.f32 %f3, %f1, %f2, %f3;
  st.global.f32 [%rd5], %f3;
done:
  ret;
}
"""
"""``y[i] += a * x[i]`` for i < n."""


def axpy_maker(n: int = 8, length: int = 8) -> Maker:
    """Two steps of axpy on ``y`` with slots ``a`` and ``n``; the arrays have ``length`` elements."""
    maker = Maker("axpy")
    maker.buffer("x", "f32", [length], Role.INPUT)
    maker.buffer("y", "f32", [length], Role.INOUT)
    maker.slot("a", "f32", 2.0, 0.0, 10.0)
    maker.slot("n", "u32", n)
    maker.module(AXPY)
    maker.function("axpy", [("x", "f32", True), ("y", "f32", True), ("a", "f32", False), ("n", "u32", False)])
    arguments = {"x": "x", "y": "y", "a": "$a", "n": "$n"}
    more = {"block": (4, 1, 1), "grid": (-(-length // 4), 1, 1), "reads": ("x", "y"), "writes": ("y",)}
    maker.run("first", "axpy", arguments, **more)
    maker.run("second", "axpy", {**arguments, "a": 1.0}, after=["first"], **more)
    return maker
