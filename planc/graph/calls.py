"""Kernel runs resolved once per distinct run: argument bytes, relocations, patches, launch, effects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planc.effects import Access
from planc.graph.analysis import Analyses, launch_facts
from planc.graph.binding import Bound, bind
from planc.graph.findings import Findings
from planc.graph.footprints import Aliases, check_pointers
from planc.graph.launch import Launch, build_launch
from planc.graph.names import KnownBuffer, Names, find_kernel
from planc.graph.report import Reporter
from planc.graph.signature import Signature
from planc.graph.tables import BoxTable
from planc.graph.uses import Deeds, Use, deeds
from planc.plan.program import NONE, EffectKind, Provenance
from planc.source.flat import Argument, RunOp

EffectRow = tuple[int, int, int, int, int, int, int, int, int, str]
"""(buffer, kind, kind and range provenance, parameter, may row and count, must row and count, operator)."""


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


def effect_row(buffer: int, access: Access, box: int) -> EffectRow:
    """Return the effect of a fill or a copy, which its operation gives."""
    known = int(access.kind_provenance), int(access.range_provenance)
    return buffer, int(access.kind), *known, NONE, box, 1, box if access.must else 0, int(access.must), ""


_PROVED = int(Provenance.PROVED)
EXTERNAL: EffectRow = (NONE, int(EffectKind.EXTERNAL), _PROVED, _PROVED, NONE, 0, 0, 0, 0, "")
"""A kernel that prints or asserts."""


@dataclass(frozen=True, slots=True)
class KernelTable:
    """What runs need to know of kernels: settled signatures (absent: already reported) and rows."""

    signatures: Mapping[str, Signature]
    functions: Mapping[str, int]
    modules: Mapping[str, int]
    globals: Mapping[int, tuple[KnownBuffer, ...]]
    targets: tuple[str, ...]
    folder: str = "."


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
        self._analyses = Analyses()
        self._findings = Findings(kernels.folder, reporter)
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
        done = self._deeds(op, signature, bound, launch)
        fine = check_pointers(op, signature.kernel, done.pointers, launch, self._aliases, self._reporter)
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
            tuple(self._rows(done)),
        )

    def _deeds(
        self, op: RunOp, signature: Signature, bound: tuple[Bound, ...], launch: Launch | None
    ) -> Deeds:
        """Return what a run does to memory, as declared where it has no launch; report what is wrong."""
        if launch is None:
            return deeds(bound, (), (), ())
        facts = launch_facts(bound, launch, self._names.scalars)
        results = self._analyses.of(signature.artifact, facts)
        known = self._kernels.globals.get(self._kernels.modules[op.kernel], ())
        done = deeds(bound, known, results, signature.artifact.module.globals)
        self._findings.look(op, signature, done, results)
        return done

    def finish(self) -> None:
        """Report what only all runs together show."""
        self._findings.finish()

    def _rows(self, done: Deeds) -> Iterator[EffectRow]:
        for pointer in done.pointers:
            for use in pointer.uses:
                yield self._row(pointer.view.known.row, use, pointer.bound.parameter.index)
        for known, uses in done.globals:
            for use in uses:
                yield self._row(known.row, use, NONE)
        if done.is_lost:
            yield self._anything()
        if done.external:
            yield EXTERNAL

    def _row(self, buffer: int, use: Use, parameter: int) -> EffectRow:
        known = int(use.kind_known), int(use.range_known)
        boxes = *self._boxes.run(use.may), *self._boxes.run(use.must)
        return buffer, int(use.kind), *known, parameter, *boxes, use.operator

    def _anything(self) -> EffectRow:
        """Return the effect of a run that may touch anything: it stands at some buffer, and holds for all."""
        unknown = int(Provenance.UNKNOWN), int(Provenance.UNKNOWN)
        writable = [k.row for k in self._names.buffers.values() if not k.read_only]
        if not writable:
            return NONE, int(EffectKind.EXTERNAL), *unknown, NONE, 0, 0, 0, 0, ""
        return writable[0], int(EffectKind.READ_WRITE), *unknown, NONE, 0, 0, 0, 0, ""


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
