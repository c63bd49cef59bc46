"""Differential test of PTX arithmetic: planc's functions against a GPU, bit by bit.

    python -m tools.fuzz.straight_line --programs 5000 --seed 1 --output out
    python -m tools.fuzz.straight_line --forms --output out
    python -m tools.fuzz.straight_line --approximate --output out

The first runs random straight-line programs, the second every single form on hard cases and random
operands, the third the approximate forms against the bounds of the PTX ISA. ``--cpu-only`` puts planc's
interpreter, which parses and runs the same text, in the GPU's place. A report is written to
``report-<mode>.json``.

An instruction of a program that differs runs again by itself, its operands all in registers. If it agrees
then, the assembler's optimiser made the difference (``in_context``). The exit status is 1 if an instruction
differs by itself in more than the payload of a NaN, which the ISA leaves open.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from planc.simt.arith import APPROXIMATE, OPCODES, Form, forms, violations
from tests.simt_arith.hard_cases import cases as hard_cases
from tools.fuzz.compare import EXAMPLES, Difference, Report, difference, judge, record
from tools.fuzz.emit import TABLES, Case, entry, form_case, input_registers, module
from tools.fuzz.engines import Engine, Job, Words, engine
from tools.fuzz.evaluate import Registers, from_words, register_dtype, run_case, to_words
from tools.fuzz.programs import Program, divides, exact_forms, programs

Rows = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class FormRun:
    """One instruction to run by itself: its case, and the operands."""

    case: Case
    registers: Registers

    @property
    def form(self) -> Form:
        """The form; only a mov of vectors has none."""
        assert self.case.form is not None
        return self.case.form

    @property
    def names(self) -> list[str]:
        """The registers that are loaded."""
        return input_registers(self.case)


def form_run(form: Form, limit: int, *, pair: bool = False, table: int = 0) -> FormRun:
    """A form with ``limit`` rows of hard cases and a quarter more of random ones."""
    case = form_case(form, pair=pair, table=table)
    columns = hard_cases(form.operands, limit, seed=11)
    held = {s: c for s, c in zip(case.sources, columns, strict=True) if s.startswith("%")}
    words = to_words(held, list(held))
    return FormRun(case, from_words(words, list(held)))


def _variants(form: Form) -> list[dict[str, int | bool]]:
    """The ways in which a form is written: with one result or two, with several tables."""
    if form.opcode == "lop3":
        return [{"table": t, "pair": bool(form.pair)} for t in TABLES]
    if form.pair and form.pair != form.results:
        return [{"pair": False}, {"pair": True}]
    return [{}]


def _form_modules(runs: Sequence[FormRun], size: int) -> list[tuple[str, list[Job]]]:
    made = []
    for start in range(0, len(runs), size):
        some = runs[start : start + size]
        texts = [entry(f"form_{i}", r.names, [r.case], r.case.targets) for i, r in enumerate(some)]
        jobs = [
            Job(f"form_{i}", to_words(r.registers, r.names), len(r.case.targets)) for i, r in enumerate(some)
        ]
        made.append((module(texts), jobs))
    return made


def _counted(run: FormRun, threads: int) -> Rows:
    """Rows on which the ISA fixes the result: not those that divide an integer by 0."""
    if not divides(run.form):
        return np.ones(threads, np.bool_)
    divisor = run.registers[run.case.sources[1]]
    result: Rows = divisor != 0
    return result


def run_forms(engine_: Engine, chosen: Sequence[Form], limit: int, per_module: int) -> Report:
    """Every form by itself on hard cases and random operands."""
    runs = [form_run(f, limit, **v) for f in chosen for v in _variants(f)]  # type: ignore[arg-type]
    report = Report(engine_.name, facts={"mode": "forms", "limit": limit})
    for run, words in zip(runs, engine_.run(_form_modules(runs, per_module)), strict=True):
        theirs = run.registers | from_words(words, run.case.targets)
        judge(report, run.case, theirs, _counted(run, len(words)))
    return report


def program_inputs(program: Program, threads: int, seed: int) -> Words:
    """Hard cases, three in four threads, and random patterns, each column in an order of its own."""
    chance = np.random.default_rng(seed)
    columns = []
    for _, kind in program.inputs:
        (pool,) = hard_cases((kind,), 400, seed=3)
        columns.append(chance.choice(pool, threads).astype(np.uint64))
    return np.stack(columns, axis=1)


def _program_modules(
    made: Sequence[Program], inputs: Sequence[Words], per_module: int
) -> Iterator[tuple[str, list[Job]]]:
    for start in range(0, len(made), per_module):
        some = range(start, min(start + per_module, len(made)))
        texts = [entry(made[i].name, made[i].input_names, made[i].cases, made[i].outputs) for i in some]
        yield module(texts), [Job(made[i].name, inputs[i], len(made[i].outputs)) for i in some]


def run_programs(engine_: Engine, count: int, seed: int, threads: int, per_module: int) -> Report:
    """Random straight-line programs, every instruction judged on the operands it really had."""
    made = programs(count, seed)
    inputs = [program_inputs(p, threads, seed + i) for i, p in enumerate(made)]
    facts = {"mode": "programs", "programs": count, "seed": seed, "threads": threads}
    report = Report(engine_.name, facts=facts)
    results = engine_.run([*_program_modules(made, inputs, per_module)])
    suspects: list[tuple[Difference, str]] = []
    for program, given, words in zip(made, inputs, results, strict=True):
        theirs = from_words(given, program.input_names) | from_words(words, program.outputs)
        for case in program.cases:
            found = difference(case, theirs, np.ones(threads, np.bool_))
            if found.in_value.any():
                suspects.append((found, program.name))
            else:
                record(report, found, where=program.name)
    for (found, name), context in zip(suspects, _in_context(engine_, suspects, per_module), strict=True):
        record(report, found, context, name)
    return report


def _alone(found: Difference) -> FormRun:
    """The instruction by itself, on the operands with which it differed, all of them in registers."""
    case = single = found.case
    if case.form is not None:
        table = int(case.sources[3]) if case.form.opcode == "lop3" else 0
        single = form_case(case.form, pair=len(case.targets) != len(case.form.results), table=table)
    registers: Registers = {}
    for source, own in zip(case.sources, single.sources, strict=True):
        if own.startswith("%"):
            registers[own] = _values(found, source, register_dtype(own))
    return FormRun(single, registers)


def _values(found: Difference, source: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """An operand on the rows that differ in value; an immediate is repeated."""
    if source.startswith("%"):
        return found.theirs[source][found.in_value]
    bits = int(source) & ((1 << (8 * dtype.itemsize)) - 1)
    return np.full(int(found.in_value.sum()), bits, dtype)


def _in_context(
    engine_: Engine, suspects: Sequence[tuple[Difference, str]], per_module: int
) -> Iterator[Rows]:
    """For each suspect, the rows on which its instruction by itself gives what planc gives."""
    runs = [_alone(found) for found, _ in suspects]
    results = engine_.run(_form_modules(runs, per_module))
    for (found, _), run, words in zip(suspects, runs, results, strict=True):
        ours, theirs = run_case(run.case, run.registers, len(words)), from_words(words, run.case.targets)
        same = np.logical_and.reduce([ours[t] == theirs[t] for t in run.case.targets])
        context = np.zeros_like(found.differ)
        context[np.flatnonzero(found.in_value)[same]] = True
        yield context


def run_approximate(engine_: Engine, limit: int, per_module: int) -> Report:
    """The approximate forms against the ISA's bounds and tables of special values."""
    # Their errors show on ordinary numbers: most of the rows are random.
    limit = 10 * limit
    runs = [form_run(f, limit) for o in OPCODES for f in forms(o) if f.text in APPROXIMATE]
    report = Report(engine_.name, facts={"mode": "approximate", "limit": limit})
    for run, words in zip(runs, engine_.run(_form_modules(runs, per_module)), strict=True):
        operands = tuple(run.registers[s] for s in run.case.sources)
        (target,) = run.case.targets
        result = from_words(words, [target])[target]
        broken = violations(run.form.text, operands, result)
        tally = report.tally(run.form.text)
        tally.cases, tally.mismatches = len(broken), int(broken.sum())
        lanes = len(broken) // len(result)
        places = np.flatnonzero(broken)
        for place in places[:: max(1, len(places) // EXAMPLES)][:EXAMPLES]:
            row = int(place) // lanes
            shown = {"operands": [hex(int(x[row])) for x in operands], "other": [hex(int(result[row]))]}
            tally.examples.append(shown | {"lane": int(place) % lanes})
    return report


def _arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz.straight_line", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--programs", type=int, default=200, help="number of random programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=128, help="rows of operands for each program")
    parser.add_argument("--forms", action="store_true", help="each form by itself")
    parser.add_argument("--approximate", action="store_true", help="approximate forms against their bounds")
    parser.add_argument("--opcodes", default="", help="with --forms: only these, divided by commas")
    parser.add_argument("--limit", type=int, default=2000, help="rows of hard cases for each form")
    parser.add_argument("--per-module", type=int, default=50, help="entries in one PTX module")
    parser.add_argument("--cpu-only", action="store_true", help="planc's interpreter in place of a GPU")
    parser.add_argument(
        "--optimise", type=int, default=4, choices=range(5), help="level of the GPU's assembler"
    )
    parser.add_argument("--output", type=Path, help="folder for the report")
    return parser.parse_args(words)


def _chosen(opcodes: str) -> list[Form]:
    names = opcodes.split(",") if opcodes else OPCODES
    return [f for name in names for f in exact_forms(name)]


def _run(options: argparse.Namespace, engine_: Engine) -> Report:
    if options.approximate:
        return run_approximate(engine_, options.limit, options.per_module)
    if options.forms:
        return run_forms(engine_, _chosen(options.opcodes), options.limit, options.per_module)
    return run_programs(engine_, options.programs, options.seed, options.threads, options.per_module)


def _summary(report: Report, seconds: float) -> str:
    totals = report.as_json()["totals"]
    lines = [f"{report.facts['mode']} on {report.engine}: {totals} in {seconds:.1f} s"]
    for row in report.as_json()["forms"]:
        if row["mismatches"]:
            counts = f"{row['mismatches']} of {row['cases']}, {row['payload_only']} in a NaN's payload alone"
            counts += f", {row['in_context']} in context alone"
            lines.append(f"  {row['form']}: {counts}; {json.dumps(row['examples'][:1])}")
    return "\n".join(lines[:200])


def main(words: Sequence[str] | None = None) -> int:
    """Run one mode; 0 if all agree, 1 if an instruction differs by itself in value, 2 without a GPU."""
    options = _arguments(words)
    started = time.perf_counter()
    try:
        with engine(options.cpu_only, options.optimise) as running:
            report = _run(options, running)
    except (ImportError, RuntimeError) as error:
        print(f"no comparison: {error}", file=sys.stderr)
        return 2
    print(_summary(report, time.perf_counter() - started))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        path = options.output / f"report-{report.facts['mode']}-O{options.optimise}.json"
        path.write_text(report.text())
    return 1 if report.real else 0


if __name__ == "__main__":
    raise SystemExit(main())
