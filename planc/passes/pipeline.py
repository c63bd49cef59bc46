"""Runs a pipeline: from a program to a schedule, with one hook between passes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from planc.diagnostics import Diagnostic, GraphError, InternalFault, PlancError
from planc.passes.base import Pass
from planc.passes.spec import parse, render
from planc.passes.table import LEVELS, PASSES
from planc.passes.written import written
from planc.plan.program import Program, Schedule


@dataclass(frozen=True, slots=True)
class Step:
    """What an observer sees: the pass that ran (None: the schedule as written), and what it made of what.

    ``number`` counts passes from 1; ``seconds`` is the time of the pass alone.
    """

    program: Program
    item: Pass | None
    number: int
    before: Schedule
    after: Schedule
    seconds: float

    @property
    def name(self) -> str:
        """The name of the pass, or ``written``."""
        return self.item.name if self.item else "written"


Observer = Callable[[Step], None]


def read_pipeline(text: str) -> tuple[Pass, ...]:
    """Return the passes of a level (``O0``, ``O2``, also with a dash) or of a text of passes.

    Raises :class:`planc.diagnostics.GraphError` (PLC590 to PLC594).
    """
    level = text.strip().removeprefix("-")
    if level in LEVELS:
        return LEVELS[level]
    if level[:1] == "O" and level[1:].isalnum() and len(level) < 4:
        cure = "the levels are " + ", ".join(f"`{name}`" for name in LEVELS)
        raise GraphError(
            Diagnostic("PLC594", f"there is no level `{level}`", help=cure, facts={"level": level})
        )
    return parse(text, PASSES)


def run_pipeline(
    program: Program,
    pipeline: str | Sequence[Pass] = "O2",
    observer: Observer | None = None,
    *,
    name: str | None = None,
) -> Schedule:
    """Return a schedule of ``program``: written, then changed by each pass of ``pipeline`` in turn.

    ``pipeline`` is a level, a text such as ``reduce,lanes{width=16}``, or the passes themselves. The schedule
    is called ``name``; without one, ``written`` when there is no pass, else as the text of its passes.
    ``observer`` is called with the schedule as written and after each pass; it may raise. The program's edges
    must have no cycle. Raises :class:`planc.diagnostics.GraphError` (PLC590 to PLC594) for a text, and
    :class:`planc.diagnostics.InternalFault` (PLC910) with the pass named when one fails.
    """
    passes = read_pipeline(pipeline) if isinstance(pipeline, str) else tuple(pipeline)
    schedule = written(program)
    if passes or name:
        schedule = replace(schedule, name=name or render(passes))
    if observer:
        observer(Step(program, None, 0, schedule, schedule, 0.0))
    for number, item in enumerate(passes, 1):
        before, start = schedule, time.perf_counter()
        schedule = _run(item, program, before, passes)
        if observer:
            observer(Step(program, item, number, before, schedule, time.perf_counter() - start))
    return schedule


def _run(item: Pass, program: Program, schedule: Schedule, passes: Sequence[Pass]) -> Schedule:
    try:
        return item.run(program, schedule)
    except PlancError:
        raise
    except Exception as error:
        pipeline = render(tuple(passes))
        raise InternalFault(
            Diagnostic(
                "PLC910",
                f"pass `{item.name}` failed on graph `{program.name}`: {type(error).__name__}: {error}",
                help="this is a fault of planc; please report it with the graph file",
                notes=(f"the passes were `{pipeline}`",),
                facts={"pass": item.name, "pipeline": pipeline, "graph": program.name},
            )
        ) from error
