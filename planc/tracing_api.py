"""Trace and shuffle: checks that replay a graph on the CPU device and look at what it really does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from planc.api import CheckReport, Progress, check, check_plan, plan_of
from planc.diagnostics import CATALOGUE, Diagnostic, InternalFault, PlancError, Severity
from planc.hazards.tracing import (
    Difference,
    find_all,
    find_difference,
    float_reduced,
    random_orders,
    report,
    shuffle_diagnostics,
    witnesses,
)
from planc.hazards.tracing.exactness import count_exact
from planc.hazards.tracing.orders import Order
from planc.hazards.tracing.shuffling import Change, changes, commutes_only
from planc.kernels import Cache
from planc.plan import read
from planc.plan.program import Plan, Role
from planc.runtime.tracing import Recorder, Session, Witness, feed, open_session
from planc.source import Graph
from planc.source.syntax.text import label_of

BUDGET = 1_000_000_000
"""Thread-instructions that one node may take unless ``budget`` says otherwise."""
Source = str | Path | Graph | Plan
_FAULTS = "PLC9"


@dataclass(frozen=True, slots=True)
class Feed:
    """What a replay on the CPU device starts from.

    ``inputs`` are arrays by buffer name; other inputs and inouts get random numbers from ``seed``: floating
    ones uniform from -1 to 1, integers small (:func:`planc.runtime.tracing.random_inputs`). ``arguments`` are
    values of scalar slots, ``constants`` arrays that a plan names by digest. ``budget`` bounds the
    thread-instructions of each node.
    """

    inputs: Mapping[str, object] | None = None
    arguments: Mapping[str, object] | None = None
    constants: Mapping[str, object] | None = None
    seed: int = 0
    budget: int | None = BUDGET


def trace(
    source: Source,
    *,
    feed: Feed | None = None,
    settings: Mapping[str, int | float] | None = None,
    allow_outside: bool = False,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Check a graph, replay it once on the CPU device, and compare what each node touched with its effects.

    ``source`` is a graph file, a plan file, a :class:`planc.Graph` or a plan; the other arguments are those
    of :func:`planc.check`. Reports PLC510 to PLC515 and what the replay raises (7xx). Raises
    :class:`planc.diagnostics.InternalFault` (PLC905 to PLC907) where planc's own analysis is shown wrong.
    """
    ready = _prepare(source, settings, allow_outside, cache, progress)
    if isinstance(ready, CheckReport):
        return ready
    return _guarded(ready, lambda: _traced(ready, feed or Feed(), progress))


def shuffle(
    source: Source,
    orders: int,
    *,
    feed: Feed | None = None,
    settings: Mapping[str, int | float] | None = None,
    allow_outside: bool = False,
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> CheckReport:
    """Check a graph, and replay it in ``orders`` random legal orders from equal memory.

    What differs afterwards in an output, inout, state, global or module variable is a hidden race (PLC516),
    or the order of floating sums (PLC517, a hint). Equal memory proves nothing. The arguments are those of
    :func:`trace`.
    """
    ready = _prepare(source, settings, allow_outside, cache, progress)
    if isinstance(ready, CheckReport):
        return ready
    return _guarded(ready, lambda: _Shuffle(ready, feed or Feed(), progress).report(orders))


@dataclass(frozen=True, slots=True)
class _Ready:
    """A plan without errors, what its check found, and the folder of its graph file."""

    plan: Plan
    found: tuple[Diagnostic, ...]
    folder: str

    def session(self, feed_with: Feed) -> Session:
        """Return a session that has its inputs."""
        session = open_session(
            self.plan.programs[0],
            self.plan.schedules[0],
            constants=feed_with.constants,
            budget=feed_with.budget,
        )
        feed(session.executable, session.program, feed_with.inputs or {}, feed_with.seed)
        return session


def _prepare(
    source: Source,
    settings: Mapping[str, int | float] | None,
    allow_outside: bool,
    cache: Cache | None,
    progress: Progress | None,
) -> _Ready | CheckReport:
    if isinstance(source, Plan):
        return _Ready(source, (), "")
    if not isinstance(source, Graph) and Path(source).suffix == ".plan":
        checked = check_plan(Path(source))
        plan = read(Path(source)) if checked.program is not None else None
        return checked if plan is None else _Ready(plan, (), _folder(Path(source)))
    checked = check(source, settings=settings, allow_outside=allow_outside, cache=cache, progress=progress)
    if checked.program is None:
        return checked
    file = source.file if isinstance(source, Graph) else source
    return _Ready(plan_of(checked), checked.diagnostics, _folder(Path(file)))


def _folder(file: Path) -> str:
    """Return the folder of a file as a person types it."""
    return PurePosixPath(label_of(file)).parent.as_posix()


def _guarded(ready: _Ready, work: Callable[[], CheckReport]) -> CheckReport:
    """Return the report of ``work``; what it raises for a mistake of the person becomes part of a report."""
    try:
        return work()
    except InternalFault:
        raise
    except PlancError as refused:
        return _report(ready, refused.diagnostics, "")


def _report(ready: _Ready, found: Sequence[Diagnostic], sentence: str) -> CheckReport:
    faults = [d for d in found if d.code.startswith(_FAULTS)]
    if faults:
        raise InternalFault([*faults, *(d for d in found if d not in faults)])
    every = (*ready.found, *found)
    errors = sum(CATALOGUE[d.code].severity is Severity.ERROR for d in every)
    verdict = f"{errors} error{'s' if errors > 1 else ''}" if errors else f"{ready.plan.verdict}; {sentence}"
    return CheckReport(every, None if errors else ready.plan.programs[0], verdict)


class _Reporter(Recorder):
    """A recorder that says how far the replay is."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        super().__init__()
        self._total = total
        self._progress = progress

    def enter(self, node: int) -> None:
        if self._progress is not None:
            self._progress("tracing", len(self.nodes), self._total)
        super().enter(node)


def _traced(ready: _Ready, feed_with: Feed, progress: Progress | None) -> CheckReport:
    session = ready.session(feed_with)
    start = session.save()
    recorder = _Reporter(len(session.program.nodes), progress)
    failed: tuple[Diagnostic, ...] = ()
    try:
        session.replay(feed_with.arguments or {}, watch=recorder)
    except PlancError as error:
        if not recorder.nodes:
            raise
        failed = error.diagnostics
    program = session.program
    findings = find_all(program, recorder.areas, recorder.nodes)
    watch = Witness(witnesses(program, findings), session.starts)
    if findings:
        session.restore(start)
        _again(session, feed_with, watch)
    found = report(program, recorder.areas, findings, watch.hits, ready.folder)
    equal, all_ = count_exact(program, recorder.nodes)
    sentence = (
        f"traced once: {_count(len(recorder.nodes), 'node')} touched nothing outside the effects; the boxes "
        f"of {equal} of {_count(all_, 'effect')} are exactly the bytes touched"
    )
    return _report(ready, (*found, *failed), sentence)


def _again(session: Session, feed_with: Feed, watch: Witness) -> None:
    """Replay once more to find the threads; it fails where the first replay failed."""
    try:
        session.replay(feed_with.arguments or {}, watch=watch)
    except PlancError:
        return


class _Shuffle:
    """Replays of one program in many orders."""

    def __init__(self, ready: _Ready, feed_with: Feed, progress: Progress | None) -> None:
        self._ready = ready
        self._arguments = feed_with.arguments or {}
        self._seed = feed_with.seed
        self._progress = progress
        self._session = ready.session(feed_with)
        self._start = self._session.save()
        self._known: Order = tuple(self._session.schedule.order.tolist())
        recorder = Recorder()
        self._session.replay(self._arguments, watch=recorder)
        self._nodes = {trace.node: trace for trace in recorder.nodes}
        self._reduced = float_reduced(recorder.nodes)
        self._memory = self._results()

    def _results(self) -> Mapping[int, NDArray[np.uint8]]:
        """Return the bytes of everything that outlives a replay."""
        buffers = self._session.program.buffers
        return {
            area.index: area.region.data.copy()
            for area in self._session.areas
            if area.buffer is None or buffers[area.buffer].role is not Role.SCRATCH
        }

    def _changes(self, order: Order) -> list[Change]:
        """Return what an order leaves different."""
        self._session.restore(self._start)
        self._session.replay(self._arguments, order=order)
        program, areas = self._session.program, self._session.areas
        return changes(program, areas, self._memory, self._results(), self._reduced)

    def report(self, wanted: int) -> CheckReport:
        """Replay ``wanted`` orders and report the first hidden race, or that there was none to see."""
        schedule = self._session.schedule
        tried, sums = 0, None
        orders = random_orders(schedule.edges, len(self._known), self._seed, wanted, self._known)
        for order in orders:
            if self._progress is not None:
                self._progress("shuffling", tried, wanted)
            tried += 1
            changed = self._changes(order)
            if not changed:
                continue
            found, is_race = self._judge(order, changed)
            if is_race:
                return _report(self._ready, (found,), "")
            sums = sums or found
        return _report(self._ready, (sums,) if sums else (), self._sentence(tried, sums is not None))

    def _judge(self, order: Order, changed: Sequence[Change]) -> tuple[Diagnostic, bool]:
        """Return the report of a difference, and whether it is a race."""
        difference: Difference | None = None
        floating = all(change.close for change in changed)
        if not floating:
            difference = find_difference(self._known, order, lambda other: not self._changes(other))
            floating = commutes_only(self._nodes, difference)
        program, folder = self._session.program, self._ready.folder
        return shuffle_diagnostics(program, changed, difference, floating, folder), not floating

    def _sentence(self, tried: int, sums: bool) -> str:
        if not tried:
            return "its edges allow one order only, so there is none to compare"
        equal = "memory that differs in floating sums only" if sums else "equal memory"
        return f"{_count(tried, 'other order')} gave {equal}, which proves nothing about the rest"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
