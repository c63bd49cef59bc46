#!/usr/bin/env python3
"""From open() to the first launch complete: how long a load takes, stage by stage, beside the driver's floor.

    tools/bench/load.py [--output DIR] [--seconds N] [--rounds N] [--image cubin|ptx]

Graphs: a chain and 16 lanes of one-block kernels, 2,048 and 8,192 nodes, as plan files with a cubin
(``load_sm_90.cubin`` is the PTX of tests/runtime/programs.py through nvJitLink 13.0; ``--image ptx`` leaves
compiling to the driver). The context is there already. Warm: rounds in one process, in which the ways take
turns. Cold: the first load of a fresh process. What a warm replay takes is taken off the whole.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from load_ways import STAGES, WAYS, Case, Seconds, Unavailable

from planc.plan import sha256, write
from planc.plan.program import Image
from planc.runtime.cuda import primary_context
from planc.runtime.native import native
from tests.runtime.chains import chain_plan
from tests.runtime.programs import AXPY

GRAPHS = (("chain", 2048, 1), ("lanes", 2048, 16), ("chain", 8192, 1), ("lanes", 8192, 16))
COLD_RUNS = (
    *[("planc", "floor", "cuda.bindings", "cuda.core")] * 2,
    ("planc", "floor", "torch"),
    *[("planc", "floor", "planc, no compiler")] * 2,
)
"""The ways whose processes take turns, run by run."""
SHOWN = (*STAGES[:-1], "other")


def cases(folder: Path, form: str) -> list[Case]:
    """Write the plans."""
    cubin = Path(__file__).with_name("load_sm_90.cubin").read_bytes()
    data = cubin if form == "cubin" else AXPY.encode()
    images = (Image("sm_90", form, sha256(data), data),)
    found = []
    for shape, nodes, lanes in GRAPHS:
        case = Case(f"{shape} {nodes}", nodes, lanes, folder / f"{shape}{nodes}.plan")
        if not case.path.exists():
            write(case.path, chain_plan(nodes, lanes, images))
        found.append(case)
    return found


def whole(seconds: Seconds) -> float:
    """Return the seconds from open() to the first launch complete, less a warm replay."""
    return sum(s for name, s in seconds.items() if name != "warm") - seconds["warm"]


@dataclass
class Table:
    """The loads of one temperature: seconds by stage, for each graph and way."""

    loads: dict[str, dict[str, list[Seconds]]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)

    def add(self, graph: str, way: str, seconds: Seconds) -> None:
        """Note a load."""
        self.loads.setdefault(graph, {}).setdefault(way, []).append(seconds)

    def lines(self) -> Iterator[str]:
        """Yield a table: medians in µs a node, the whole in ms with quartiles, and its ratio to the floor."""
        for graph, ways in self.loads.items():
            nodes = int(graph.split()[1])
            yield f"{graph}: µs a node"
            yield (
                f"  {'':20}" + "".join(f"{s:>12}" for s in SHOWN) + "    whole, ms (quartiles)       / floor"
            )
            for way in (w for w in WAYS if w in ways):
                row = [statistics.median(s.get(n, 0.0) for s in ways[way]) for n in SHOWN]
                cells = "".join(f"{1e6 * s / nodes:12.3f}" for s in row)
                yield f"  {way:20}{cells}{self._whole(ways, way)}"

    def _whole(self, ways: dict[str, list[Seconds]], way: str) -> str:
        found = sorted(map(whole, ways[way]))
        low, high = found[len(found) // 4], found[-1 - len(found) // 4]
        middle = statistics.median(found)
        text = f"{1e3 * middle:9.2f} ({1e3 * low:.2f} to {1e3 * high:.2f}), n {len(found)}"
        if "floor" not in ways:
            return text
        return f"{text:40}{middle / statistics.median(map(whole, ways['floor'])):6.2f}"

    def content(self) -> dict[str, object]:
        """Return all of it."""
        return {"ratios": self.ratios(), "missing": self.missing, "seconds": self.loads}

    def ratios(self) -> dict[str, dict[str, float]]:
        """Return planc's medians over the floor's: the whole, and add and instantiate together."""
        found = {}
        for graph, ways in self.loads.items():
            if not {"planc", "floor"} <= set(ways):
                continue
            built = {
                w: statistics.median(s["add"] + s["instantiate"] for s in ways[w]) for w in ("planc", "floor")
            }
            wholes = {w: statistics.median(map(whole, loads)) for w, loads in ways.items()}
            found[graph] = {
                "add and instantiate, planc / floor": built["planc"] / built["floor"],
                **{f"whole, {w} / planc": s / wholes["planc"] for w, s in wholes.items() if w != "planc"},
                "whole, planc / floor": wholes["planc"] / wholes["floor"],
            }
        return found


def warm(found: list[Case], rounds: int, deadline: float) -> Table:
    """Let the ways take turns; the first round is not counted."""
    table = Table()
    for case in found:
        makers = {}
        for name, make in WAYS.items():
            try:
                makers[name] = make(case)
                makers[name].load()
            except Unavailable as reason:
                table.missing[name] = str(reason)
                makers.pop(name, None)
            except Exception as error:  # another version of another library: told, and left out
                table.missing[f"{name}, {case.name}"] = f"{type(error).__name__}: {error}"
                makers.pop(name, None)
        names = list(makers)
        for turn in range(rounds):
            if time.monotonic() > deadline:
                break
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                table.add(case.name, name, makers[name].load())
    return table


def cold(found: list[Case], form: str, folder: Path, deadline: float) -> Table:
    """Start a process for each load, the ways in turns, until the time is over."""
    table = Table()
    for run, ways in enumerate(COLD_RUNS):
        for way in ways:
            for case in found:
                if time.monotonic() > deadline:
                    table.missing["all that was planned"] = f"out of time in run {run + 1}"
                    return table
                _cold_one(table, way, case, form, folder)
    return table


def _cold_one(table: Table, way: str, case: Case, form: str, folder: Path) -> None:
    command = [sys.executable, __file__, "--one", way, "--case", case.name]
    command += ["--plans", str(folder), "--image", form]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode:
        table.missing[f"{way}, {case.name}"] = (done.stderr.strip().splitlines() or ["?"])[-1]
        return
    table.add(case.name, way, json.loads(done.stdout.splitlines()[-1]))


def one(way: str, case: Case) -> None:
    """Load once in this process and print the seconds."""
    primary_context(0)
    print(json.dumps(WAYS[way](case).load()))


def about() -> dict[str, str]:
    """Return what was measured on."""
    api = primary_context(0).api
    name = api.cuDeviceGetName(128, 0)[1].split(b"\0")[0].decode() if hasattr(api, "cuDeviceGetName") else "?"
    version = api.cuDriverGetVersion()[1]
    info = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    processor = next((line.split(":", 1)[1].strip() for line in info if line.startswith("model name")), "?")
    return {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "device": name or "?",
        "cuda_driver": f"{version // 1000}.{version % 1000 // 10}",
        "python": platform.python_version(),
        "processor": f"{processor}, {os.cpu_count()} cores",
    }


def compile_milliseconds() -> float:
    """Return how long the first use of the native loop took here: compiled, or found, and loaded."""
    start = time.perf_counter()
    native()
    return 1e3 * (time.perf_counter() - start)


def report(options: argparse.Namespace, folder: Path) -> None:
    """Measure, print, write."""
    start = time.monotonic()
    first = compile_milliseconds()
    found = cases(folder, options.image)
    facts = {**about(), "image": options.image, "loop": str(native().module and "native"), "native_ms": first}
    middle, end = start + 0.4 * options.seconds, start + options.seconds
    tables = {"warm": warm(found, options.rounds, middle)}
    tables["cold"] = cold(found, options.image, folder, end)
    for name, table in tables.items():
        missing = [f"  without {k}: {v}" for k, v in table.missing.items()]
        print(f"== {name}", *table.lines(), *missing, sep="\n")
        for graph, ratios in table.ratios().items():
            print(f"  {graph}: " + "; ".join(f"{k} {v:.2f}" for k, v in ratios.items()))
    if options.output:
        options.output.mkdir(parents=True, exist_ok=True)
        file = f"load-{facts['date']}-{facts['device'].lower().replace(' ', '-')}.json"
        parts = {temperature: table.content() for temperature, table in tables.items()}
        (options.output / file).write_text(json.dumps(_rounded({**facts, **parts})) + "\n")
        print(f"{options.output / file}, {time.monotonic() - start:.0f} s")


def _rounded(value: object) -> object:
    """Round seconds to 10 ns."""
    if isinstance(value, dict):
        return {name: _rounded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    return round(value, 8) if isinstance(value, float) else value


def main() -> int:
    """Run all, or one load of a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, metavar="DIR")
    parser.add_argument("--seconds", type=float, default=140, help="stop about then (140)")
    parser.add_argument("--rounds", type=int, default=15, help="warm loads of each (15)")
    parser.add_argument("--image", choices=("cubin", "ptx"), default="cubin")
    parser.add_argument("--one", choices=tuple(WAYS), help=argparse.SUPPRESS)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--plans", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one(options.one, next(c for c in cases(options.plans, options.image) if c.name == options.case))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        report(options, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
