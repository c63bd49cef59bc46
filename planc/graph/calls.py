"""Kernel runs resolved once per distinct run: argument bytes, relocations, patches, launch, effects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planc.effects import DECLARED_ACCESSES, GLOBAL_ACCESSES, Access
from planc.graph.binding import Bound, bind
from planc.graph.footprints import Aliases, check_arguments
from planc.graph.launch import Launch, build_launch
from planc.graph.names import KnownBuffer, Names, find_kernel
from planc.graph.report import Reporter
from planc.graph.signature import Signature
from planc.graph.tables import BoxTable
from planc.plan.boxes import Box
from planc.plan.program import NONE
from planc.source.flat import Argument, RunOp

EffectRow = tuple[int, int, int, int, int, int, bool]
"""(buffer, kind, kind provenance, range provenance, parameter, box row, must)."""


@dataclass(frozen=True, slots=True)
class Call:
    """A run without its place in the argument blob; offsets count from the node's own bytes.

    ``relocations`` are (offset, addend, buffer, parameter), ``patches`` (offset, slot, size, parameter).
    """

    function: int
    launch: Launch
    arguments: bytes
    relocations: tuple[tuple[int, int, int, int], ...]
    patches: tuple[tuple[int, int, int, int], ...]
    effects: tuple[EffectRow, ...]


def effect_row(buffer: int, access: Access, box: int, parameter: int = NONE) -> EffectRow:
    """Return one effect of a node."""
    return (
        buffer,
        int(access.kind),
        int(access.kind_provenance),
        int(access.range_provenance),
        parameter,
        box,
        access.must,
    )


@dataclass(frozen=True, slots=True)
class KernelTable:
    """What runs need to know of kernels: settled signatures (absent: already reported) and rows."""

    signatures: Mapping[str, Signature]
    functions: Mapping[str, int]
    modules: Mapping[str, int]
    globals: Mapping[int, tuple[KnownBuffer, ...]]
    targets: tuple[str, ...]


class Calls:
    """Resolves runs, each distinct one once; ``scalars`` are the names of the scalars that they use."""

    def __init__(
        self, kernels: KernelTable, names: Names, aliases: Aliases, boxes: BoxTable, reporter: Reporter
    ) -> None:
        """Resolve against these tables; boxes of effects are interned in ``boxes``."""
        self._kernels = kernels
        self._names = names
        self._aliases = aliases
        self._boxes = boxes
        self._reporter = reporter
        self._known: dict[object, Call] = {}
        self.scalars: set[str] = set()

    def resolve(self, op: RunOp) -> Call | None:
        """Return the call of a run, or None after a report."""
        key = _key(op)
        call = self._known.get(key)
        if call is None:
            call = self._resolve(op)
            if call is not None:
                self._known[key] = call
        return call

    def _resolve(self, op: RunOp) -> Call | None:
        if find_kernel(self._names, op.kernel, op.kernel_span, self._reporter) is None:
            return None
        signature = self._kernels.signatures.get(op.kernel)
        if signature is None:
            return None
        bound = bind(op, signature, self._names, self._reporter)
        launch = build_launch(op, signature, self._kernels.targets, self._reporter)
        if bound is None:
            return None
        self.scalars.update(b.scalar for b in bound if b.scalar is not None)
        inplace = signature.kernel.inplace
        fine = check_arguments(op, bound, inplace, self._aliases, self._reporter)
        if launch is None or not fine:
            return None
        return Call(
            self._kernels.functions[op.kernel],
            launch,
            _argument_bytes(signature.blob_size, bound),
            tuple(
                (b.parameter.offset, b.view.box.offset, b.view.known.row, b.parameter.index)
                for b in bound
                if b.view is not None
            ),
            tuple(
                (b.parameter.offset, b.slot, b.parameter.size, b.parameter.index)
                for b in bound
                if b.slot is not None
            ),
            (*self._declared(bound), *self._globals(op.kernel)),
        )

    def _declared(self, bound: tuple[Bound, ...]) -> list[EffectRow]:
        return [
            effect_row(
                b.view.known.row,
                DECLARED_ACCESSES[b.parameter.effect],
                self._boxes.row(b.view.footprint),
                b.parameter.index,
            )
            for b in bound
            if b.view is not None and b.parameter.effect is not None
        ]

    def _globals(self, kernel: str) -> list[EffectRow]:
        rows = []
        for known in self._kernels.globals.get(self._kernels.modules[kernel], ()):
            item = known.dtype.itemsize
            count = known.buffer.nbytes // item
            box = self._boxes.row(Box(0, ((count, item),) if count > 1 else (), item))
            rows.append(effect_row(known.row, GLOBAL_ACCESSES[known.space], box))
        return rows


def _argument_bytes(size: int, bound: tuple[Bound, ...]) -> bytes:
    block = bytearray(size)
    for b in bound:
        block[b.parameter.offset : b.parameter.offset + len(b.data)] = b.data
    return bytes(block)


def _key(op: RunOp) -> object:
    """Return what a run is, without the places of its text."""
    return (
        op.kernel,
        tuple(map(_argument_key, op.arguments)),
        op.grid and op.grid.values,
        op.cover and op.cover.values,
        op.block and op.block.values,
        op.shared,
    )


def _argument_key(argument: Argument) -> object:
    value = argument.value
    view = getattr(value, "buffer", None)
    if view is not None:
        return argument.name, view, getattr(value, "indices", None)
    literal = getattr(value, "value", None)
    # 1, 1.0 and True are equal and hash alike, so are 0.0 and -0.0, and all are different arguments.
    exact = literal.hex() if isinstance(literal, float) else literal
    return argument.name, getattr(value, "name", None), exact, type(literal)
