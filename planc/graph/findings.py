"""What the analysis of a kernel has against its declaration and its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from planc.diagnostics import Related, Span
from planc.effects import WRITES, AccessRange, Finding, KernelEffects
from planc.graph.report import Reporter
from planc.graph.signature import Signature
from planc.graph.uses import DEEDS, Deeds, Pointer, kinds_of
from planc.plan.boxes import Box, boxes_meet
from planc.plan.program import Provenance
from planc.plan.regions import meet_regions, region_of
from planc.source.flat import RunOp

_VERBS: Mapping[str, str] = MappingProxyType(
    {"read": "reads", "write": "writes", "read-write": "reads and writes", "reduce": "reduces into"}
)
_DEFINITE: Mapping[str, str] = MappingProxyType(
    {"out-of-bounds": "PLC483", "misaligned": "PLC484", "cached-load-of-written": "PLC485"}
)
_NOT_SHOWN = ("not-shown", "alignment-not-shown")


@dataclass(slots=True)
class _Claim:
    """A declared word and what all runs so far do through its parameter."""

    signature: Signature
    index: int
    word: str
    done: set[str]
    is_known: bool = True


class Findings:
    """Reports PLC480 to PLC486; what concerns a kernel and not a run, once for the kernel."""

    def __init__(self, folder: str, reporter: Reporter) -> None:
        """``folder`` is the graph file's as a person types it, for places in sources."""
        self._folder = folder
        self._reporter = reporter
        self._claims: dict[tuple[str, int], _Claim] = {}
        self._seen: set[tuple[object, ...]] = set()

    def look(self, op: RunOp, signature: Signature, done: Deeds, results: Sequence[KernelEffects]) -> None:
        """Report what one run shows."""
        for pointer in done.pointers:
            self._declaration(signature, pointer)
        if done.is_lost or any(p.unknown for p in done.pointers):
            self._lost(op, signature, done)
        self._cached(op, signature, done.pointers)
        pointers = {p.bound.parameter.offset: p for p in done.pointers}
        for finding in (f for r in results for f in r.findings):
            target = pointers.get(finding.target) if isinstance(finding.target, int) else None
            self._finding(op, signature, target, finding)
        for pointer in done.pointers:
            self._gaps(op, signature, pointer)

    def finish(self) -> None:
        """Report declarations wider than everything that the runs do (PLC481)."""
        for claim in self._claims.values():
            if claim.is_known and claim.done < kinds_of(claim.word) and not _same(claim):
                self._wider(claim)

    # Declarations

    def _declaration(self, signature: Signature, pointer: Pointer) -> None:
        parameter = pointer.bound.parameter
        word = parameter.effect
        if word is None:
            return
        key = (signature.kernel.name, parameter.index)
        claim = self._claims.setdefault(key, _Claim(signature, parameter.index, word, set()))
        if not _is_proved(pointer):
            claim.is_known = False
            return
        if pointer.kind is None:
            return
        claim.done |= DEEDS[pointer.kind]
        excess = DEEDS[pointer.kind] - kinds_of(word)
        if excess:
            self._contradiction(signature, pointer, word, excess)

    def _contradiction(
        self, signature: Signature, pointer: Pointer, word: str, excess: frozenset[str]
    ) -> None:
        parameter, kernel = pointer.bound.parameter, signature.kernel.name
        access = _first(pointer.accesses, excess)
        deed = " and ".join(_VERBS[d] for d in sorted(excess))
        self._reporter.add(
            "PLC480",
            f"`{parameter.name}` of kernel `{kernel}` is declared `{word}`, and the kernel {deed} it",
            self._declared_at(signature, parameter.index),
            help=f"write `{pointer.word}`, or no word at all: the PTX says it",
            related=self._accessed(signature, access, "here"),
            kernel=kernel,
            parameter=parameter.name,
            declared=word,
            found=pointer.word,
        )

    def _wider(self, claim: _Claim) -> None:
        parameter, kernel = claim.signature.parameters[claim.index], claim.signature.kernel.name
        deeds = " and ".join(_VERBS[d] for d in sorted(claim.done))
        found = f"only {deeds} it" if claim.done else "does not touch it"
        self._reporter.add(
            "PLC481",
            f"`{parameter.name}` of kernel `{kernel}` is declared `{claim.word}`, and the kernel {found}",
            self._declared_at(claim.signature, claim.index),
            help=f"leave `{claim.word}` out: the PTX says it",
            kernel=kernel,
            parameter=parameter.name,
            declared=claim.word,
        )

    def _declared_at(self, signature: Signature, index: int) -> Span:
        declared = signature.kernel.parameters
        return signature.kernel.entry_span if declared is None else declared[index].span

    # What is not known

    def _lost(self, op: RunOp, signature: Signature, done: Deeds) -> None:
        kernel = op.kernel
        if not self._once("PLC482", kernel):
            return
        lost = next((p for p in done.pointers if p.unknown), None)
        reason = done.wild or (lost.unknown if lost is not None else "")
        through = "" if lost is None or done.wild else f" through `{lost.bound.parameter.name}`"
        self._reporter.add(
            "PLC482",
            f"what kernel `{kernel}` touches{through} cannot be told: {reason}",
            op.kernel_span,
            help=(
                "write `in`, `out`, `inout` or `reduce` before each of its pointers, and declare the "
                "variables that it changes under `globals:`"
            ),
            notes=("it is taken to touch anything, and so needs an order with every other node",),
            kernel=kernel,
            reason=reason,
        )

    def _finding(self, op: RunOp, signature: Signature, pointer: Pointer | None, finding: Finding) -> None:
        if pointer is not None and _is_allowed(pointer, finding):
            if pointer.accesses:
                return
            finding = replace(
                finding, kind="not-shown", message="may lie outside the view, which runs backwards"
            )
        code = _DEFINITE.get(finding.kind)
        name = str(finding.target) if pointer is None else pointer.bound.parameter.name
        if code is not None and self._once(code, op.kernel, name, finding.access.line):
            self._definite(code, op, signature, pointer, name, finding)
        elif finding.kind in _NOT_SHOWN and self._once("PLC486", op.kernel, name):
            what = "stay inside its view" if finding.kind == "not-shown" else "be aligned"
            self._not_shown(op, signature, pointer, name, f"cannot be shown to {what}", finding)

    def _definite(
        self,
        code: str,
        op: RunOp,
        signature: Signature,
        pointer: Pointer | None,
        name: str,
        finding: Finding,
    ) -> None:
        place = self._place(signature, finding.access)
        buffer = name if pointer is None else pointer.view.known.buffer.name
        related = (
            ()
            if pointer is None
            else (Related(f"`{op.kernel}` is run with `{buffer}` here", pointer.bound.span),)
        )
        witness = finding.witness
        self._reporter.add(
            code,
            _MESSAGES[code].format(
                kernel=op.kernel, name=name, buffer=buffer, what=finding.message + _element(pointer, finding)
            ),
            place or (op.kernel_span if pointer is None else pointer.bound.span),
            help=_CURES[code].format(guard=finding.guard or "the index is inside"),
            related=related if place is not None else (),
            notes=() if place is not None else (f"PTX line {finding.access.line}",),
            kernel=op.kernel,
            parameter=name,
            buffer=buffer,
            thread=None if witness is None else list(witness.thread),
            block=None if witness is None else list(witness.block),
            offset=None if witness is None else witness.offset,
        )

    def _not_shown(
        self,
        op: RunOp,
        signature: Signature,
        pointer: Pointer | None,
        name: str,
        what: str,
        finding: Finding,
    ) -> None:
        self._reporter.add(
            "PLC486",
            f"what `{op.kernel}` touches through `{name}` {what}",
            op.kernel_span if pointer is None else pointer.bound.span,
            help="guard the index, or give the slots that it depends on a range",
            related=self._accessed(signature, finding.access, finding.message),
            kernel=op.kernel,
            parameter=name,
        )

    def _gaps(self, op: RunOp, signature: Signature, pointer: Pointer) -> None:
        """Report a strided view between whose elements the kernel may reach (PLC486)."""
        if not pointer.accesses or pointer.view.contiguous or _covered(pointer):
            return
        if self._once("PLC486", op.kernel, pointer.bound.parameter.name):
            finding = Finding("not-shown", 0, pointer.accesses[0], "may lie between the elements of the view")
            what = "cannot be shown to stay on the elements of its view"
            self._not_shown(op, signature, pointer, pointer.bound.parameter.name, what, finding)

    def _cached(self, op: RunOp, signature: Signature, pointers: Sequence[Pointer]) -> None:
        """Report cached loads of bytes that the node writes through another pointer (PLC485)."""
        for reader in pointers:
            for access in (a for a in reader.accesses if a.is_cached):
                writer = next((w for w in pointers if w is not reader and _writes(w, reader, access)), None)
                name = reader.bound.parameter.name
                if writer is not None and self._once("PLC485", op.kernel, name, access.line):
                    through = writer.bound.parameter.name
                    text = f"goes through the read-only cache, and `{through}` writes these bytes"
                    self._definite("PLC485", op, signature, reader, name, Finding("", 0, access, text))

    # Places

    def _accessed(self, signature: Signature, access: AccessRange | None, text: str) -> tuple[Related, ...]:
        place = None if access is None else self._place(signature, access)
        return () if place is None else (Related(text, place),)

    def _place(self, signature: Signature, access: AccessRange) -> Span | None:
        """Return the line of the source, or of the author's PTX file; None where neither is known."""
        if access.file and access.source_line:
            return Span((Path(self._folder) / access.file).as_posix(), access.source_line, 1)
        if signature.kernel.form == "ptx":
            return Span((Path(self._folder) / signature.kernel.path_label).as_posix(), access.line, 1)
        return None

    def _once(self, *key: object) -> bool:
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new


_MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "PLC483": "kernel `{kernel}` leaves `{buffer}` through `{name}`: {what}",
        "PLC484": "kernel `{kernel}` misses the alignment of `{buffer}` through `{name}`: {what}",
        "PLC485": "kernel `{kernel}` loads from `{name}` what it writes: the load {what}",
    }
)
_CURES: Mapping[str, str] = MappingProxyType(
    {
        "PLC483": "guard it: `if ({guard})`; or give a larger view, or launch fewer threads",
        "PLC484": "let each thread start at a multiple of the width, or use narrower accesses",
        "PLC485": "drop `__restrict__`, `const` or `__ldg`, or give another buffer",
    }
)


def _is_allowed(pointer: Pointer, finding: Finding) -> bool:
    """Return whether a view that runs backwards holds what the analysis takes to lie before it."""
    low, high = (end - pointer.view.box.offset for end in pointer.view.footprint.interval)
    if low == 0 or finding.kind not in ("out-of-bounds", "not-shown"):
        return False
    if finding.witness is None:
        return bool(pointer.accesses)
    first = finding.witness.offset
    return low <= first and first + finding.access.width <= high


def _element(pointer: Pointer | None, finding: Finding) -> str:
    """Return which element of the view a witness of a bad range touches, where it is a whole one."""
    if pointer is None or finding.witness is None or finding.kind != "out-of-bounds":
        return ""
    low, high = pointer.view.footprint.interval
    item = pointer.view.known.dtype.itemsize
    index, rest = divmod(finding.witness.offset, item)
    return "" if rest else f": element {index}, and the view has {(high - low) // item}"


def _is_proved(pointer: Pointer) -> bool:
    return all(use.kind_known is Provenance.PROVED for use in pointer.uses)


def _same(claim: _Claim) -> bool:
    """Return whether a claim is as narrow as the words allow: `inout` covers a reduction by design."""
    return kinds_of(claim.word) - {"reduce"} == claim.done


def _first(accesses: Iterable[AccessRange], deeds: frozenset[str]) -> AccessRange | None:
    """Return the first access that does one of these deeds."""
    for access in accesses:
        if access.kind in deeds or (access.kind == "read-write" and deeds & {"read", "write"}):
            return access
    return next(iter(accesses), None)


def _covered(pointer: Pointer) -> bool:
    """Return whether every byte that may be touched is shown to be one of the view's elements."""
    known = pointer.view.known
    shape, item = known.buffer.shape, known.dtype.itemsize
    view = region_of(pointer.view.footprint, shape, item)
    touched = [region_of(box, shape, item) for use in pointer.uses for box in use.may]
    return view is not None and all(t is not None and meet_regions(t, view) == t for t in touched)


def _writes(writer: Pointer, reader: Pointer, access: AccessRange) -> bool:
    """Return whether ``writer`` may write bytes that ``access`` of ``reader`` reads."""
    if writer.view.known.row != reader.view.known.row or access.may is None:
        return False
    read = Box(access.may.offset + reader.view.box.offset, access.may.axes, access.may.item)
    return any(boxes_meet(read, box) for box in writer.boxes(WRITES))
