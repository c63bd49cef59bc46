"""Differences between planc's results and another engine's, instruction by instruction, as JSON.

Every instruction is judged on the operands that the other engine itself had, so that one difference does not
show again in all that follows from it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.fuzz.emit import Case, instruction_text
from tools.fuzz.evaluate import Bits, Registers, run_case

_FIELDS = {"f16": (0x7C00, 0x7FFF), "bf16": (0x7F80, 0x7FFF), "f32": (0x7F800000, 0x7FFFFFFF)}
_FIELDS |= {"f64": (0x7FF0000000000000, 0x7FFFFFFFFFFFFFFF), "tf32": _FIELDS["f32"]}
EXAMPLES = 12
"""Differences of one form that a report shows in full."""
PER_PROGRAM = 3
"""Of these, from one program, so that several are seen."""
LARGEST = 1_900_000
"""Characters of a report; examples are left out where it would be longer."""

Rows = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Tally:
    """What is known of one form: rows compared and rows that differ.

    Of those that differ, ``payload_only`` differ in the payload of a NaN alone, which the ISA leaves open;
    ``in_context`` agree once the instruction runs by itself on the same operands, all of them in
    registers: the assembler's optimiser made the difference, from a neighbour or a constant.
    """

    form: str
    cases: int = 0
    mismatches: int = 0
    payload_only: int = 0
    in_context: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)

    @property
    def real(self) -> int:
        """Rows on which planc and the engine disagree about the instruction."""
        return self.mismatches - self.payload_only - self.in_context

    def as_json(self, examples: int) -> dict[str, Any]:
        """Plain data with at most that many examples."""
        names = ("form", "cases", "mismatches", "payload_only", "in_context", "real")
        return {n: getattr(self, n) for n in names} | {"examples": self.examples[:examples]}


@dataclass(slots=True)
class Report:
    """The tallies of a run by form, and what was run."""

    engine: str
    tallies: dict[str, Tally] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def tally(self, form: str) -> Tally:
        """The tally of one form, empty at first."""
        return self.tallies.setdefault(form, Tally(form))

    def total(self, name: str) -> int:
        """A count of :class:`Tally`, over all forms."""
        return sum(int(getattr(t, name)) for t in self.tallies.values())

    @property
    def mismatches(self) -> int:
        """Rows that differ in any way."""
        return self.total("mismatches")

    @property
    def payload_only(self) -> int:
        """Rows that differ in the payload of a NaN alone."""
        return self.total("payload_only")

    @property
    def real(self) -> int:
        """Rows that differ in value, however the instruction is run."""
        return self.total("real")

    def as_json(self, examples: int = EXAMPLES) -> dict[str, Any]:
        """Plain data: the forms with differences, worst first, and the rows compared of all others."""
        differing = [t for t in self.tallies.values() if t.mismatches]
        differing.sort(key=lambda t: (-t.real, -t.mismatches, t.form))
        totals = {"forms": len(self.tallies)}
        totals |= {n: self.total(n) for n in ("cases", "mismatches", "payload_only", "in_context", "real")}
        totals |= {"forms_with_mismatches": len(differing)}
        rows = [t.as_json(examples) for t in differing]
        agreeing = {t.form: t.cases for t in self.tallies.values() if not t.mismatches}
        return {"engine": self.engine, **self.facts, "totals": totals, "forms": rows, "agreeing": agreeing}

    def text(self) -> str:
        """The report as a JSON file of at most :data:`LARGEST` characters, one line for each form."""
        for count in (EXAMPLES, EXAMPLES // 2, EXAMPLES // 4, 1, 0):
            whole = _one_line_each(self.as_json(count))
            if len(whole) <= LARGEST:
                break
        return whole


def _one_line_each(report: dict[str, Any]) -> str:
    """JSON whose forms stand one on a line."""
    forms = ",\n  ".join(json.dumps(row) for row in report["forms"])
    rest = [f" {json.dumps(k)}: {json.dumps(v)}" for k, v in report.items() if k != "forms"]
    return "{\n" + ",\n".join([*rest, f' "forms": [\n  {forms}\n ]']) + "\n}\n"


def _lanes(bits: Bits, name: str) -> Bits:
    """The numbers in registers of type ``name``: (rows, lanes)."""
    return bits.view(np.uint16).reshape(-1, 2) if name.endswith("x2") else bits.reshape(-1, 1)


def _nan_lanes(bits: Bits, name: str) -> npt.NDArray[np.bool_]:
    """Which lanes are NaN: (rows, lanes)."""
    infinity, magnitude = _FIELDS[name.removesuffix("x2")]
    lanes = _lanes(bits, name)
    kind = lanes.dtype.type
    nan: npt.NDArray[np.bool_] = (lanes & kind(magnitude)) > kind(infinity)
    return nan


def _same_but_for_payload(ours: Bits, theirs: Bits, name: str) -> npt.NDArray[np.bool_]:
    """Rows where every lane is equal, or NaN on both sides."""
    both = _nan_lanes(ours, name) & _nan_lanes(theirs, name)
    result: npt.NDArray[np.bool_] = ((_lanes(ours, name) == _lanes(theirs, name)) | both).all(axis=1)
    return result


def _is_float(name: str) -> bool:
    return name.removesuffix("x2") in _FIELDS


def _hex(value: Any) -> str:
    return hex(int(value))


def _shown(case: Case, row: int, ours: Registers, theirs: Mapping[str, Bits]) -> dict[str, Any]:
    return {
        "instruction": instruction_text(case.instruction),
        "operands": [_hex(theirs[s][row]) if s.startswith("%") else s for s in case.sources],
        "planc": [_hex(ours[t][row]) for t in case.targets],
        "other": [_hex(theirs[t][row]) for t in case.targets],
    }


def _result_types(case: Case) -> Sequence[str]:
    if case.form is None:
        return ["b64"] * len(case.targets)
    return case.form.results if len(case.form.results) == len(case.targets) else case.form.pair


@dataclass(frozen=True, slots=True)
class Difference:
    """One case compared: planc's results, the rows that differ, and those that do in payloads alone."""

    case: Case
    ours: Registers
    theirs: Mapping[str, Bits]
    compared: int
    differ: Rows
    payload: Rows

    @property
    def in_value(self) -> Rows:
        """Rows that differ in more than the payload of a NaN."""
        result: Rows = self.differ & ~self.payload
        return result


def difference(case: Case, theirs: Mapping[str, Bits], rows: Rows) -> Difference:
    """Compare one case on the registers that another engine ended with.

    ``theirs`` has the operands and the results of all threads; ``rows`` are those that count.
    """
    threads = len(rows)
    ours = run_case(case, theirs, threads)
    differ, payload = np.zeros(threads, np.bool_), np.ones(threads, np.bool_)
    for target, name in zip(case.targets, _result_types(case), strict=True):
        unlike = ours[target] != theirs[target]
        differ |= unlike
        payload &= _same_but_for_payload(ours[target], theirs[target], name) if _is_float(name) else ~unlike
    return Difference(case, ours, theirs, int(rows.sum()), differ & rows, payload & differ & rows)


def record(report: Report, found: Difference, context: Rows | None = None, where: str = "") -> None:
    """Count one difference; ``context`` are the rows on which the instruction by itself agrees."""
    case, context = found.case, np.zeros_like(found.differ) if context is None else context
    tally = report.tally(case.form.text if case.form is not None else case.instruction.form + " vector")
    tally.cases += found.compared
    tally.mismatches += int(found.differ.sum())
    tally.payload_only += int(found.payload.sum())
    tally.in_context += int(context.sum())
    limit = EXAMPLES - len(tally.examples)
    for row in _diverse(found, context)[: min(limit, PER_PROGRAM) if where else limit]:
        kind = {"payload_only": bool(found.payload[row]), "in_context": bool(context[row])}
        shown = _shown(case, row, found.ours, found.theirs)
        tally.examples.append(shown | kind | {"thread": row, "program": where})


def _diverse(found: Difference, context: Rows) -> list[int]:
    """The differing rows, real ones first, and of these first one for each pattern of differing bits."""
    rows = np.flatnonzero(found.differ)
    if not len(rows):
        return []
    unlike = [
        found.ours[t][rows].astype(np.uint64) ^ found.theirs[t][rows].astype(np.uint64)
        for t in found.case.targets
    ]
    kind = found.payload[rows].astype(np.uint64) * 2 + context[rows]
    _, first = np.unique(np.stack([kind, *unlike], axis=1), axis=0, return_index=True)
    again = np.ones(len(rows), np.bool_)
    again[first] = False
    return [int(r) for r in rows[np.lexsort((np.arange(len(rows)), again, kind))]]


def judge(report: Report, case: Case, theirs: Mapping[str, Bits], rows: Rows) -> None:
    """Compare one case that ran by itself, and count what differs."""
    record(report, difference(case, theirs, rows))
