"""Differences between planc's results and another engine's, instruction by instruction, as JSON.

Every instruction is judged on the operands that the other engine itself had, so that one difference does not
show again in all that follows from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from tools.fuzz.emit import Case, instruction_text
from tools.fuzz.evaluate import Bits, Registers, run_case

_FIELDS = {"f16": (0x7C00, 0x7FFF), "bf16": (0x7F80, 0x7FFF), "f32": (0x7F800000, 0x7FFFFFFF)}
_FIELDS |= {"f64": (0x7FF0000000000000, 0x7FFFFFFFFFFFFFFF), "tf32": _FIELDS["f32"]}
EXAMPLES = 5
"""Differences of one form that a report shows in full."""


@dataclass(slots=True)
class Tally:
    """What is known of one form: rows compared, rows that differ, of these only in the payload of a NaN."""

    form: str
    cases: int = 0
    mismatches: int = 0
    payload_only: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """The tallies of a run by form, and what was run."""

    engine: str
    tallies: dict[str, Tally] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def tally(self, form: str) -> Tally:
        """The tally of one form, empty at first."""
        return self.tallies.setdefault(form, Tally(form))

    @property
    def mismatches(self) -> int:
        """Rows that differ, over all forms."""
        return sum(t.mismatches for t in self.tallies.values())

    @property
    def payload_only(self) -> int:
        """Rows that differ in the payload of a NaN alone."""
        return sum(t.payload_only for t in self.tallies.values())

    def as_json(self) -> dict[str, Any]:
        """Plain data, the forms with differences first."""
        ordered = sorted(self.tallies.values(), key=lambda t: (-t.mismatches, t.form))
        totals = {
            "forms": len(ordered),
            "cases": sum(t.cases for t in ordered),
            "mismatches": self.mismatches,
            "payload_only": self.payload_only,
            "forms_with_mismatches": sum(t.mismatches > 0 for t in ordered),
        }
        return {"engine": self.engine, **self.facts, "totals": totals, "forms": [asdict(t) for t in ordered]}


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


def judge(
    report: Report, case: Case, theirs: Mapping[str, Bits], rows: npt.NDArray[np.bool_], where: str = ""
) -> None:
    """Compare one case on the rows of registers that another engine ended with.

    ``theirs`` has the operands and the results of all threads; ``rows`` are those that count.
    """
    threads = len(rows)
    ours = run_case(case, theirs, threads)
    differ, only_payload = np.zeros(threads, np.bool_), np.ones(threads, np.bool_)
    for target, name in zip(case.targets, _result_types(case), strict=True):
        unlike = ours[target] != theirs[target]
        differ |= unlike
        alike = _same_but_for_payload(ours[target], theirs[target], name) if _is_float(name) else ~unlike
        only_payload &= alike
    tally = report.tally(case.form.text if case.form is not None else case.instruction.form + " vector")
    differ &= rows
    tally.cases += int(rows.sum())
    tally.mismatches += int(differ.sum())
    tally.payload_only += int((differ & only_payload).sum())
    # Differences in value come before those in payload alone.
    order = np.argsort(only_payload[differ], kind="stable")
    for row in np.flatnonzero(differ)[order][: EXAMPLES - len(tally.examples)]:
        kind = {"payload_only": bool(only_payload[row]), "thread": int(row), "program": where}
        tally.examples.append(_shown(case, int(row), ours, theirs) | kind)
