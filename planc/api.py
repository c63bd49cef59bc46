"""Check and compile: the whole author side behind two functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from planc import __version__
from planc.checker import check_schedule
from planc.diagnostics import (
    CATALOGUE,
    Collector,
    Diagnostic,
    GraphError,
    InternalFault,
    PlancError,
    Severity,
)
from planc.hazards import check_graph, rests_on
from planc.kernels import Cache, build_kernels
from planc.passes import written
from planc.plan import read
from planc.plan.program import Plan, Program
from planc.source import Graph, load_graph

if TYPE_CHECKING:
    from planc.source.flat import FlatGraph

Progress = Callable[[str, int, int], None]
STAGES = ("reading", "kernels", "checking")


@dataclass(frozen=True, slots=True)
class CheckReport:
    """What a check found. ``program`` is None after errors; ``verdict`` is one sentence."""

    diagnostics: tuple[Diagnostic, ...]
    program: Program | None
    verdict: str

    @property
    def ok(self) -> bool:
        """Whether no diagnostic is an error."""
        return not any(CATALOGUE[d.code].severity is Severity.ERROR for d in self.diagnostics)

    def raise_errors(self) -> None:
        """Raise :class:`GraphError` with all diagnostics, if one is an error."""
        if not self.ok:
            raise GraphError(self.diagnostics)


def check(
    source: str | Path | Graph,
    *,
    settings: Mapping[str, int | float] | None = None,
    allow_outside: bool = False,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Check a graph file, or a :class:`planc.Graph`, and return everything found at once.

    ``settings`` give symbols other values; nothing outside the project's folder is read unless
    ``allow_outside``; built kernels are kept in ``cache`` (the user's, by default). Never raises for a
    mistake in a file; a fault of planc itself raises :class:`planc.diagnostics.InternalFault`.
    """
    report = progress or _silent
    collector = Collector()
    report(STAGES[0], 0, len(STAGES))
    flat = _flat(source, settings, allow_outside, collector)
    if flat is None:
        return _report(collector, None)
    report(STAGES[1], 1, len(STAGES))
    artifacts = build_kernels(
        flat.kernels,
        flat.targets,
        root=flat.root,
        collector=collector,
        allow_outside=allow_outside,
        cache=cache,
        progress=progress,
    )
    report(STAGES[2], 2, len(STAGES))
    return _report(collector, check_graph(flat, artifacts, collector))


def check_plan(path: Path) -> CheckReport:
    """Check a plan file as its reader would; refusals become diagnostics."""
    try:
        plan = read(path)
    except PlancError as refusal:
        return CheckReport(refusal.diagnostics, None, "refused")
    return CheckReport((), plan.programs[0], plan.verdict)


def compile(
    source: str | Path | Graph,
    *,
    settings: Mapping[str, int | float] | None = None,
    allow_outside: bool = False,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Plan:
    """Check and compile a graph file or a :class:`planc.Graph`; the arguments are those of :func:`check`.

    Raises :class:`planc.diagnostics.GraphError` with all diagnostics if one is an error.
    """
    return plan_of(
        check(source, settings=settings, allow_outside=allow_outside, cache=cache, progress=progress)
    )


def plan_of(report: CheckReport) -> Plan:
    """Schedule a checked program. Raises GraphError if the check found errors."""
    if report.program is None:
        if report.ok:
            raise InternalFault(Diagnostic("PLC900", "a graph without errors gave no program"))
        raise GraphError(report.diagnostics)
    schedule = written(report.program)
    check_schedule(report.program, schedule)
    return Plan(
        programs=(report.program,),
        schedules=((schedule,),),
        verdict=report.verdict,
        facts=rests_on(report.program),
        producer=f"planc {__version__}",
    )


def _silent(stage: str, done: int, total: int) -> None:
    del stage, done, total


def _flat(
    source: str | Path | Graph,
    settings: Mapping[str, int | float] | None,
    allow_outside: bool,
    collector: Collector,
) -> FlatGraph | None:
    if isinstance(source, Graph):
        return source.flatten(settings=settings, allow_outside=allow_outside, collector=collector)
    return load_graph(Path(source), settings=settings, allow_outside=allow_outside, collector=collector)


def _report(collector: Collector, program: Program | None) -> CheckReport:
    found = collector.diagnostics
    if program is not None:
        return CheckReport(found, program, _verdict(program, rests_on(program)))
    counts = {s: sum(CATALOGUE[d.code].severity is s for d in found) for s in Severity}
    words = [f"{n} {s}{'s' if n > 1 else ''}" for s, n in counts.items() if n]
    return CheckReport(found, None, ", ".join(words) or "nothing to check")


def _verdict(program: Program, rests: Sequence[str]) -> str:
    """Say what the absence of races rests on: proofs alone, or how many things of each kind."""
    if not rests:
        effects, nodes = _count(len(program.effects), "effect"), _count(len(program.nodes), "node")
        return f"race-free: proved ({effects} of {nodes})"
    return f"race-free if: {'; '.join(rests)}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
