#!/usr/bin/env python3
"""Mutated plans against the reader, and what passes it against the CPU device.

    tools/fuzz/plans.py [--plan FILE]... [--count 10000] [--seed 1] [--format text|json] [--output FILE]

Half of the mutants are damaged bytes, which must be refused. The other half are changed and sealed again:
each must be refused with a code, or be a valid plan that the CPU device replays to the end or stops with a
code. Any other exception, a mutant whose bytes changed and passed unsealed, or a replay that takes too
long is a failure, and the exit status is 1. Without ``--plan`` the example of planc and random plans are
used.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from planc.diagnostics import PlancError, PlanError
from planc.plan import decode, decode_header, encode, inspection, render_inspection
from planc.plan.example import example_plan
from planc.plan.program import Plan
from tools.fuzz.plan_mutations import raw_mutant, sealed_mutant

STEPS = 20_000_000
"""The most thread-instructions of one node in a replay."""
MOST_BYTES = 1 << 26
"""Plans with more memory than this are not replayed here."""
MOST_SECONDS = 60
"""The longest that one mutant may take."""


class TooSlow(BaseException):
    """A mutant took longer than MOST_SECONDS. No handler in between may take it for an error of the plan."""


@dataclass
class Summary:
    """What became of all mutants. ``failures`` must be empty; each says how to get the mutant again."""

    plans: list[str]
    seed: int
    mutants: int = 0
    unsealed: int = 0
    sealed: int = 0
    refused: int = 0
    refused_by_code: Counter[str] = field(default_factory=Counter)
    valid: int = 0
    replays: Counter[str] = field(default_factory=Counter)
    accepted_wrongly: int = 0
    foreign_exceptions: int = 0
    failures: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return plain values, codes in order."""
        plain = asdict(self)
        plain["refused_by_code"] = dict(sorted(self.refused_by_code.items()))
        plain["replays"] = dict(sorted(self.replays.items()))
        return plain


@dataclass(frozen=True)
class Mutant:
    """Bytes to try: ``sealed`` where all digests were made anew; ``name`` finds it again."""

    name: str
    data: bytes
    sealed: bool


def mutants(plans: Sequence[tuple[str, bytes]], count: int, seed: int) -> Iterator[Mutant]:
    """Yield ``count`` mutants, in turn unsealed and sealed; each has its own generator."""
    for index in range(count):
        label, data = plans[index // 2 % len(plans)]
        rng = Random(f"{seed}/{index}")
        sealed = index % 2 == 1
        changed = (sealed_mutant if sealed else raw_mutant)(rng, data)
        yield Mutant(f"{label}, seed {seed}, mutant {index}", changed, sealed)


def run(plans: Sequence[tuple[str, bytes]], count: int, seed: int, *, replay: bool = True) -> Summary:
    """Try ``count`` mutants of the plans and return what became of them."""
    summary = Summary([label for label, _ in plans], seed)
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for mutant in mutants(plans, count, seed):
            _count(mutant, summary)
            try:
                with _time_limit(MOST_SECONDS):
                    _try(mutant, summary, replay)
            except (Exception, TooSlow) as error:
                summary.foreign_exceptions += 1
                summary.failures.append(f"{mutant.name}: {_words(error)}")
    summary.seconds = round(time.monotonic() - start, 2)
    return summary


def _words(error: BaseException) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:200]} ({Path(where.filename).name}:{where.lineno})"


def _count(mutant: Mutant, summary: Summary) -> None:
    summary.mutants += 1
    summary.sealed += mutant.sealed
    summary.unsealed += not mutant.sealed


def _try(mutant: Mutant, summary: Summary, replay: bool) -> None:
    try:
        plan = decode(mutant.data)
    except PlanError as error:
        summary.refused += 1
        summary.refused_by_code[error.code] += 1
        return
    summary.valid += 1
    if not mutant.sealed:
        summary.accepted_wrongly += 1
        summary.failures.append(f"{mutant.name}: changed bytes were accepted")
        return
    _use(plan, mutant, summary)
    if replay:
        summary.replays[replay_outcome(plan)] += 1


def _use(plan: Plan, mutant: Mutant, summary: Summary) -> None:
    """A valid plan can be written again, byte for byte, and described."""
    if encode(plan) != mutant.data:
        summary.accepted_wrongly += 1
        summary.failures.append(f"{mutant.name}: accepted, and written otherwise")
    render_inspection(inspection(plan, decode_header(mutant.data)))


def replay_outcome(plan: Plan) -> str:
    """Replay on the CPU device: ``ok``, the code that stopped it, or why it was not tried."""
    from planc.runtime import load

    size = sum(b.nbytes for p in plan.programs for b in p.buffers)
    arena = max(schedule.arena_bytes for many in plan.schedules for schedule in many)
    if size + arena > MOST_BYTES:
        return "not tried: too much memory"
    try:
        with load(plan).instantiate("cpu", budget=STEPS, stdout=lambda text: None) as executable:
            for name in executable.inputs:
                executable.write(name, _zeros(executable.describe(name)))
            executable.replay().wait()
            for name in executable.outputs:
                executable.read(name)
    except PlancError as error:
        if error.code.startswith("PLC9"):
            raise
        return error.code
    return "ok"


def _zeros(description: Any) -> Any:
    import numpy as np

    shape, dtype = description
    return np.zeros(shape, dtype)


@contextmanager
def _time_limit(seconds: int) -> Iterator[None]:
    """Raise :class:`TooSlow` in this thread after ``seconds``, where the system has alarms."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def stop(signum: int, frame: object) -> None:
        raise TooSlow(f"over {seconds} s")

    old = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)


def text(summary: Summary) -> str:
    """Return the summary for people."""
    lines = [
        f"{summary.mutants} mutants of {', '.join(summary.plans)} (seed {summary.seed}), "
        f"{summary.sealed} sealed again, in {summary.seconds} s",
        f"refused  {summary.refused}",
        *(f"  {code} {count}" for code, count in sorted(summary.refused_by_code.items())),
        f"valid    {summary.valid}",
        *(f"  replay {outcome}: {count}" for outcome, count in sorted(summary.replays.items())),
        f"accepted wrongly {summary.accepted_wrongly}, foreign exceptions {summary.foreign_exceptions}",
        *summary.failures[:20],
    ]
    return "\n".join(lines)


def default_plans() -> list[tuple[str, bytes]]:
    """Return the example of planc and a few random plans."""
    from tests.plan.generate import random_plan

    random = [(f"random {seed}", encode(random_plan(Random(seed)))) for seed in range(8)]
    return [("example", encode(example_plan())), *random]


def main() -> int:
    """Run; print the summary."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--plan", type=Path, action="append", metavar="FILE")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--output", type=Path, help="write the summary here too, as JSON")
    parser.add_argument("--no-replay", action="store_true", help="only read")
    options = parser.parse_args()
    plans = [(path.name, path.read_bytes()) for path in options.plan or ()] or default_plans()
    summary = run(plans, options.count, options.seed, replay=not options.no_replay)
    plain = json.dumps(summary.to_json(), indent=2)
    print(plain if options.format == "json" else text(summary))
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(plain + "\n")
    return 1 if summary.failures else 0


if __name__ == "__main__":
    sys.exit(main())
