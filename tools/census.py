#!/usr/bin/env python3
"""How much of real PTX the interpreter covers, form by form.

    tools/census.py tests/ptx/data/ptx_census.tsv [--own plans/*/graph.yaml] [--format text|json]

The census is a table of tabs: form, occurrences, programs that have it; its first line says of how many.
A form says nothing of which programs it shares with others, so how many programs are wholly covered cannot be
computed from it, only bounded: every program that lacks something has at least one missing form, so
at most the sum of the missing forms' program counts lack something, and at least the largest of these counts.
Programs of one's own (graph files, plans, PTX) are counted one by one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from planc.api import check  # noqa: E402
from planc.plan import read  # noqa: E402
from planc.ptx import parse  # noqa: E402
from planc.simt import supports  # noqa: E402

OFTEN = 3


@dataclass(frozen=True, slots=True)
class Form:
    """One row of the census; ``programs`` counts those that have the form at least once."""

    name: str
    occurrences: int
    programs: int
    covered: bool


@dataclass(frozen=True, slots=True)
class Census:
    """All rows, and of how many programs they were counted."""

    forms: tuple[Form, ...]
    programs: int


def read_census(path: Path) -> Census:
    """Read the table, whose first line names the number of programs; SystemExit for another file."""
    head, *lines = path.read_text(encoding="utf-8").splitlines()
    programs = re.search(r"(\d+)(?: \w+)* programs", head)
    if not head.startswith("#") or programs is None:
        raise SystemExit(f"{path}: the first line does not say of how many programs it is")
    rows = [line.split("\t") for line in lines if line.strip()]
    forms = [Form(name, int(count), int(having), supports(name)) for name, count, having in rows]
    return Census(tuple(forms), int(programs[1]))


def share(forms: Sequence[Form]) -> dict[str, int]:
    """Count forms and occurrences, all and covered."""
    return {
        "forms": len(forms),
        "forms_covered": sum(form.covered for form in forms),
        "occurrences": sum(form.occurrences for form in forms),
        "occurrences_covered": sum(form.occurrences for form in forms if form.covered),
    }


def program_bounds(census: Census) -> tuple[int, int]:
    """Return the least and the most programs that can be wholly covered."""
    lacking = [form.programs for form in census.forms if not form.covered]
    return max(0, census.programs - sum(lacking)), census.programs - max(lacking, default=0)


def ptx_of(path: Path) -> Iterator[str]:
    """Yield the PTX of a PTX file, a plan or a graph file."""
    if path.suffix == ".ptx":
        yield path.read_text(encoding="utf-8")
        return
    program = read(path).programs[0] if path.suffix == ".plan" else check(path).program
    if program is None:
        raise SystemExit(f"{path}: does not compile; run planc check")
    for module in program.modules:
        yield from (bytes(image.data).decode() for image in module.images if image.form == "ptx")


def missing_in(path: Path) -> list[str]:
    """Return the forms of one program of one's own that are not covered."""
    forms: set[str] = set()
    for text in ptx_of(path):
        for function in parse(text, str(path)).functions.values():
            forms.update(instruction.form for instruction in function.body)
    return sorted(form for form in forms if not supports(form))


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that is printed. ``own_missing`` maps a program to its forms that are not covered."""

    programs: int
    all: dict[str, int]
    often: dict[str, int]
    programs_covered_at_least: int
    programs_covered_at_most: int
    missing: list[Form]
    own_programs: int
    own_programs_covered: int
    own_missing: dict[str, list[str]]


def report(census: Census, own: Sequence[Path]) -> Report:
    """Count everything."""
    lacking = {str(path): missing_in(path) for path in own}
    return Report(
        census.programs,
        share(census.forms),
        share([form for form in census.forms if form.programs >= OFTEN]),
        *program_bounds(census),
        [form for form in census.forms if not form.covered],
        len(own),
        sum(not forms for forms in lacking.values()),
        {path: forms for path, forms in lacking.items() if forms},
    )


def _ratio(label: str, part: int, whole: int) -> str:
    return f"{label:<34}{part:>8} of {whole:>7}   {100 * part / max(whole, 1):6.2f} %"


def as_text(found: Report) -> str:
    """Return the report for people."""
    every, often = found.all, found.often
    least, most = found.programs_covered_at_least, found.programs_covered_at_most
    lines = [
        _ratio("forms", every["forms_covered"], every["forms"]),
        _ratio(f"forms in {OFTEN} programs or more", often["forms_covered"], often["forms"]),
        _ratio("occurrences", every["occurrences_covered"], every["occurrences"]),
        f"programs wholly covered: {least} to {most} of {found.programs}",
        "  (counts of forms do not say which forms share a program: this is all they can say)",
    ]
    if found.own_programs:
        lines.append(f"own programs wholly covered: {found.own_programs_covered} of {found.own_programs}")
    lines += ["missing:"] if found.missing else []
    lines += [f"  {f.name:<60} {f.occurrences:>6} in {f.programs:>3} programs" for f in found.missing]
    lines += [f"  {path}: {', '.join(forms)}" for path, forms in found.own_missing.items()]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("census", type=Path)
    parser.add_argument("--own", type=Path, nargs="*", default=[], help="graph files, plans or PTX")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    chosen = parser.parse_args(arguments)
    found = report(read_census(chosen.census), chosen.own)
    print(json.dumps(asdict(found), indent=1) if chosen.format == "json" else as_text(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
