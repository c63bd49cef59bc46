"""Observers of a pipeline: verify, time, dump. None of them is known to any pass."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from planc.passes.pipeline import Observer, Step
from planc.plan.program import Program, Schedule


def together(*observers: Observer) -> Observer:
    """Return an observer that calls each of ``observers`` in turn."""

    def observe(step: Step) -> None:
        for observer in observers:
            observer(step)

    return observe


@dataclass(frozen=True, slots=True)
class Verify:
    """Calls ``check`` (see :func:`planc.checker.check_schedule`) on the schedule after each step."""

    check: Callable[[Program, Schedule], None]

    def __call__(self, step: Step) -> None:
        """Check one schedule; what ``check`` raises ends the pipeline."""
        self.check(step.program, step.after)


@dataclass(slots=True)
class Timing:
    """Collects (pass, seconds) in ``rows``."""

    rows: list[tuple[str, float]] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        """Keep the time of one pass."""
        if step.item:
            self.rows.append((step.name, step.seconds))


@dataclass(frozen=True, slots=True)
class Dump:
    """Hands the text of the schedule after each pass in ``after`` to ``sink``; empty: after every step."""

    sink: Callable[[str], None]
    after: Collection[str] = ()

    def __call__(self, step: Step) -> None:
        """Dump one schedule, if its pass was asked for."""
        if not self.after or step.name in self.after:
            self.sink(f"after {step.number} {step.name}\n{text_of(step.program, step.after)}")


def text_of(program: Program, schedule: Schedule) -> str:
    """Return a schedule as lines: nodes in order with their lane and what they come after, then places."""
    names = program.node_names
    before: dict[int, list[str]] = {}
    for edge in schedule.edges:
        before.setdefault(int(edge["after"]), []).append(names[int(edge["before"])])
    lines = [f"schedule {schedule.name}"]
    for node, lane in zip(schedule.order.tolist(), schedule.lanes.tolist(), strict=True):
        after = f" after {', '.join(before[node])}" if node in before else ""
        lines.append(f"  lane {lane}: {names[node]}{after}")
    for row, _, offset in schedule.placements.tolist():
        buffer = program.buffers[row]
        lines.append(f"  {buffer.name} at {offset}, {buffer.nbytes} bytes")
    return "\n".join([*lines, f"  arena of {schedule.arena_bytes} bytes", ""])
