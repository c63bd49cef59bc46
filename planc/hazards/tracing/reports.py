"""Findings of a trace as diagnostics: nodes, bytes, what was declared, the first thread, the cure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from planc.diagnostics import Diagnostic, Fact, Related, Span
from planc.hazards.tracing.claims import Claims
from planc.hazards.tracing.findings import Finding
from planc.hazards.tracing.words import beside, bytes_text, elements_text, span_of
from planc.plan.program import Program, Provenance
from planc.runtime.tracing import Area, Hit, Wanted

SHOWN = 20
"""How many findings are reported at most; the last report counts the others."""
_VERBS: Mapping[str, str] = MappingProxyType({"read": "reads", "write": "writes", "reduce": "reduces into"})
_CODES: Mapping[tuple[str, bool], str] = MappingProxyType(
    {
        ("range", False): "PLC510",
        ("kind", False): "PLC511",
        ("foreign", False): "PLC512",
        ("race", False): "PLC513",
        ("unwritten", False): "PLC514",
        ("wide-range", False): "PLC515",
        ("wide-kind", False): "PLC515",
        ("range", True): "PLC905",
        ("kind", True): "PLC905",
        ("foreign", True): "PLC905",
        ("must", True): "PLC906",
    }
)
_OPERATION_FAULT = "PLC907"
_KNOWN: Mapping[Provenance, str] = MappingProxyType(
    {
        Provenance.OPERATION: "as its operation gives it",
        Provenance.PROVED: "as planc proved from the PTX",
        Provenance.DECLARED: "as declared",
        Provenance.ASSUMED: "as assumed",
        Provenance.UNKNOWN: "of unknown effect",
    }
)


def shown(program: Program, findings: Sequence[Finding]) -> list[Finding]:
    """Return the first of each group: the same deed by the same kernel at one place of the text."""
    groups: dict[object, Finding] = {}
    claims = Claims(program)
    for each in findings:
        nodes = [each.node] if each.other < 0 else [each.node, each.other]
        if each.what == "unwritten":
            nodes = []  # the first reader of a buffer is the one to mend
        places = tuple((_place(program, node), claims.function(node)) for node in nodes)
        key = (each.what, each.deed, each.other_deed, each.area, each.fault, places)
        known = groups.get(key)
        groups[key] = each if known is None else replace(known, count=known.count + each.count)
    return list(groups.values())


def _place(program: Program, node: int) -> object:
    return program.places[node] if node < len(program.places) else node


def witnesses(program: Program, findings: Sequence[Finding]) -> list[Wanted]:
    """Return the accesses whose threads the reports will name."""
    wanted = []
    for each in shown(program, findings)[:SHOWN]:
        wanted += [w for w in (_wanted(each, later=False), _wanted(each, later=True)) if w is not None]
    return wanted


def _wanted(finding: Finding, later: bool) -> Wanted | None:
    if later:
        if finding.other < 0 or finding.area != finding.other_area:
            return None
        return Wanted(finding.other, finding.other_area, finding.other_deed, finding.held)
    if not finding.deed or finding.what == "must":
        return None
    return Wanted(finding.node, finding.area, finding.deed, finding.held)


def report(
    program: Program,
    areas: Sequence[Area],
    findings: Sequence[Finding],
    hits: Mapping[Wanted, Hit],
    folder: str,
) -> list[Diagnostic]:
    """Return the diagnostics of a trace: PLC510 to PLC515, PLC905 to PLC907.

    ``hits`` are the first accesses that were found for :func:`witnesses`; ``folder`` is that of the graph
    file, as the person types it.
    """
    kept = shown(program, findings)
    writer = _Writer(program, areas, {(w.node, w.area, w.deed, w.held): h for w, h in hits.items()}, folder)
    left = sum(each.count for each in kept[SHOWN:])
    found = [writer.diagnostic(each) for each in kept[:SHOWN]]
    if left:
        found[-1] = replace(found[-1], notes=(*found[-1].notes, f"{left} more findings are not shown"))
    return found


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a report of one kind says."""

    message: str
    help: str
    notes: tuple[str, ...] = ()


class _Writer:
    def __init__(
        self,
        program: Program,
        areas: Sequence[Area],
        hits: Mapping[object, Hit],
        folder: str,
    ) -> None:
        self._program = program
        self._areas = areas
        self._claims = Claims(program)
        self._hits = hits
        self._folder = folder

    def diagnostic(self, finding: Finding) -> Diagnostic:
        """Return the report of one finding."""
        parts = _WORDING[finding.what](self, finding)
        seen = self._seen(finding)
        related = tuple(Related(text, span) for text, span in self._places(finding, seen))
        notes = [*parts.notes, *(self._thread(name, hit) for name, hit in seen)]
        if finding.count > 1:
            what = "pairs of nodes" if finding.other >= 0 else "nodes"
            notes.append(f"{finding.count - 1} more {what} in this trace do the same")
        main = finding.node if finding.other < 0 else finding.other
        return Diagnostic(
            self._code(finding),
            parts.message,
            span_of(self._program, main, self._folder),
            help=parts.help,
            related=related,
            notes=tuple(notes),
            facts=self._facts(finding, seen),
        )

    def _code(self, finding: Finding) -> str:
        if finding.fault and self._claims.operates(finding.node) and finding.what != "must":
            return _OPERATION_FAULT
        return _CODES[finding.what, finding.fault]

    def _seen(self, finding: Finding) -> list[tuple[str, Hit]]:
        """Return the first threads that did it, each with the name of its node."""
        wanted = [_wanted(finding, later=False), _wanted(finding, later=True)]
        found = []
        for each in wanted:
            hit = self._hits.get((each.node, each.area, each.deed, each.held)) if each else None
            if each is not None and hit is not None:
                found.append((self.name(each.node), hit))
        return found

    def _places(self, finding: Finding, seen: Sequence[tuple[str, Hit]]) -> list[tuple[str, Span | None]]:
        found: list[tuple[str, Span | None]] = []
        if finding.other >= 0:
            span = span_of(self._program, finding.node, self._folder)
            found.append((f"`{self.name(finding.node)}` is here, and no path joins the two", span))
        for name, hit in seen:
            if hit.span is not None:
                line = Span(beside(hit.span.file, self._folder), hit.span.line, hit.span.column)
                found.append((f"`{name}` does it here", line))
        return found

    def _thread(self, name: str, hit: Hit) -> str:
        thread, block = (", ".join(map(str, each)) for each in (hit.thread, hit.block))
        return (
            f"first by thread ({thread}) of block ({block}) of `{name}`: `{hit.form}` of {hit.nbytes} bytes "
            f"at byte {hit.offset}, PTX line {hit.ptx_line}"
        )

    def name(self, node: int) -> str:
        """Return the name of a node."""
        return self._program.node_names[node]

    def where(self, finding: Finding) -> str:
        """Return ``bytes 0 to 15 of `u`, `u[0:4]```."""
        area = self._areas[finding.area]
        elements = elements_text(self._program, area, finding.held)
        return f"{bytes_text(finding.held)} of `{area.name}`" + (f", `{elements}`" if elements else "")

    def claimed(self, effects: Sequence[int]) -> tuple[str, ...]:
        """Return a note for each effect: its parameter, kind, view, and how they are known."""
        notes = []
        for effect in effects[:4]:
            row = self._program.effects[effect]
            area = self._areas[int(row["buffer"])]
            parameter = self._claims.parameter(effect)
            who = f"parameter `{parameter}`" if parameter else f"`{area.name}`"
            may = self._claims.may([effect])
            view = elements_text(self._program, area, may) if may else "nothing"
            kind = _KNOWN[Provenance(int(row["kind_provenance"]))]
            span = _KNOWN[Provenance(int(row["range_provenance"]))]
            known = kind if kind == span else f"{kind}, its range {span}"
            notes.append(f"{who} is `{self._claims.word(effect)}` on `{view}`, {known}")
        return tuple(notes)

    def parameters(self, finding: Finding) -> list[str]:
        """Return the names of the parameters that a finding speaks of."""
        names = [self._claims.parameter(effect) for effect in finding.effects]
        return list(dict.fromkeys(name for name in names if name is not None))

    def _facts(self, finding: Finding, seen: Sequence[tuple[str, Hit]]) -> dict[str, Fact]:
        area = self._areas[finding.area]
        nodes: list[Fact] = [self.name(finding.node)]
        if finding.other >= 0:
            nodes.append(self.name(finding.other))
        facts: dict[str, Fact] = {
            "nodes": nodes,
            "count": finding.count,
            "buffer": area.name,
            "bytes": [finding.held.first, finding.held.last + 1] if finding.held else [],
            "byte_count": finding.held.nbytes,
            "elements": elements_text(self._program, area, finding.held) if finding.held else None,
            "deeds": [d for d in (finding.deed, finding.other_deed) if d],
            "parameters": list[Fact](self.parameters(finding)),
            "declared": [self._claims.word(effect) for effect in finding.effects],
        }
        if seen:
            facts |= _hit_facts(seen[0][1])
        return facts

    def function(self, finding: Finding) -> str:
        """Return the name of the kernel of a finding."""
        return self._program.functions[self._claims.function(finding.node)].name

    def wanted_word(self, finding: Finding) -> str:
        """Return the word that allows the deed and what was declared."""
        kinds = {self._claims.word(effect) for effect in finding.effects}
        alone = {"read": "in", "write": "out", "reduce": "reduce"}[finding.deed]
        return alone if kinds <= {alone} else "inout"


def _hit_facts(hit: Hit) -> dict[str, Fact]:
    facts: dict[str, Fact] = {
        "thread": list[Fact](hit.thread),
        "block": list[Fact](hit.block),
        "offset": hit.offset,
        "form": hit.form,
        "ptx_line": hit.ptx_line,
    }
    if hit.span is not None:
        facts |= {"cuda_file": hit.span.file, "cuda_line": hit.span.line}
    return facts


def _fault(writer: _Writer, finding: Finding) -> str:
    return "report this with the graph and its kernels: an analysis of planc is wrong"


def _range(writer: _Writer, finding: Finding) -> _Parts:
    name, verb = writer.name(finding.node), _VERBS[finding.deed]
    message = f"`{name}` {verb} {writer.where(finding)}, outside the view that it was given"
    cure = f"guard the access in the kernel, or give `{name}` a view that holds these elements"
    cure = _fault(writer, finding) if finding.fault else cure
    return _Parts(message, cure, writer.claimed(finding.effects))


def _kind(writer: _Writer, finding: Finding) -> _Parts:
    name, verb = writer.name(finding.node), _VERBS[finding.deed]
    parameters = writer.parameters(finding)
    words = " and ".join(f"`{writer._claims.word(effect)}`" for effect in finding.effects)
    message = f"`{name}` {verb} {writer.where(finding)}, which it has as {words}"
    through = " or ".join(f"`{p}`" for p in parameters) or f"`{writer._areas[finding.area].name}`"
    cure = f"declare {through} `{writer.wanted_word(finding)}`, or mend the kernel"
    cure = _fault(writer, finding) if finding.fault else cure
    return _Parts(message, cure, writer.claimed(finding.effects))


def _foreign(writer: _Writer, finding: Finding) -> _Parts:
    name, verb = writer.name(finding.node), _VERBS[finding.deed]
    message = f"`{name}` {verb} {writer.where(finding)}, a buffer that it was not given"
    cure = "pass the buffer as an argument, or keep pointers to it out of the kernel's data"
    return _Parts(message, _fault(writer, finding) if finding.fault else cure)


def _must(writer: _Writer, finding: Finding) -> _Parts:
    message = (
        f"`{writer.name(finding.node)}` does not write {writer.where(finding)}, which planc says it does"
    )
    return _Parts(message, _fault(writer, finding), writer.claimed(finding.effects))


def _race(writer: _Writer, finding: Finding) -> _Parts:
    first, second = writer.name(finding.node), writer.name(finding.other)
    one, two = _VERBS[finding.deed], _VERBS[finding.other_deed]
    deeds = f"both {finding.deed}" if one == two else f"the first {one} and the second {two}"
    where = writer.where(finding)
    if finding.area != finding.other_area:
        where += f", which may share memory with `{writer._areas[finding.other_area].name}`"
    message = f"`{first}` and `{second}` race in this trace: {deeds} {where}"
    notes = "it happened in this trace, whatever the declarations say"
    return _Parts(message, f"let `{second}` come after `{first}`, or the other way round", (notes,))


def _unwritten(writer: _Writer, finding: Finding) -> _Parts:
    name, area = writer.name(finding.node), writer._areas[finding.area]
    message = f"`{name}` reads {writer.where(finding)}, which no node before it has written"
    cure = f"write all of `{area.name}` first, with a fill, a copy or a kernel, or do not read these elements"
    return _Parts(message, cure)


def _wide_range(writer: _Writer, finding: Finding) -> _Parts:
    (effect,) = finding.effects
    parameter = writer._claims.parameter(effect)
    what = f"`{parameter}`" if parameter else f"`{writer._areas[finding.area].name}`"
    message = (
        f"{what} of `{writer.function(finding)}` is wider than what it touches: in this trace no node "
        f"touches all of it, and `{writer.name(finding.node)}` leaves {writer.where(finding)}"
    )
    return _Parts(message, "give it a narrower view, if no data makes the kernel touch these elements")


def _wide_kind(writer: _Writer, finding: Finding) -> _Parts:
    (effect,) = finding.effects
    parameter = writer._claims.parameter(effect)
    what = f"`{parameter}`" if parameter else f"`{writer._areas[finding.area].name}`"
    message = (
        f"{what} of `{writer.function(finding)}` is `inout`, and in this trace it is used in one way only"
    )
    return _Parts(message, "declare it `in` or `out`, if no data makes the kernel use it both ways")


_WORDING = MappingProxyType(
    {
        "range": _range,
        "kind": _kind,
        "foreign": _foreign,
        "must": _must,
        "race": _race,
        "unwritten": _unwritten,
        "wide-range": _wide_range,
        "wide-kind": _wide_kind,
    }
)
