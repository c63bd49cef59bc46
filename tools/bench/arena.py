"""The arena search on the instances of tests/data/minimalloc, each known to fit in the capacity in its name.

    python tools/bench/arena.py [--seconds 60] [--processes 2] [--json FILE] [INSTANCE ...]

For each instance: blocks, capacity, the bound (most bytes live at once), first fit by size, the height
reached and its ratio to the capacity, and the seconds until it was. Processes search with different seeds,
and the first that reaches the bound or the capacity ends the others.
"""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import time
from pathlib import Path

from planc.passes import Problem, interval_problem
from planc.passes.fit import by_size
from planc.passes.packing import pack
from planc.passes.search import search

INSTANCES = Path(__file__).parents[2] / "tests" / "data" / "minimalloc"
ENDLESS = 1 << 60


def read_instance(path: Path) -> tuple[Problem, int]:
    """Return the problem of a file and its capacity."""
    rows = list(csv.DictReader(path.read_text().splitlines()))
    columns = [[int(row[name]) for row in rows] for name in ("size", "lower", "upper")]
    return interval_problem(*columns), int(path.suffixes[0][1:])


def verified(path: Path, offsets: list[int]) -> int:
    """Return the height of a placement, after comparing every pair of blocks of the file."""
    rows = [
        (int(r["lower"]), int(r["upper"]), int(r["size"]))
        for r in csv.DictReader(path.read_text().splitlines())
    ]
    for one, (low, high, size) in enumerate(rows):
        for two in range(one):
            other = rows[two]
            apart = offsets[one] + size <= offsets[two] or offsets[two] + other[2] <= offsets[one]
            if low < other[1] and other[0] < high and not apart:
                raise SystemExit(f"{path.name}: blocks {one} and {two} overlap")
    return max(offset + row[2] for offset, row in zip(offsets, rows, strict=True))


def hunt(path: Path, seed: int, seconds: float, answers: multiprocessing.Queue) -> None:
    """Put (offsets, seconds) of a placement within the capacity, or None."""
    begin = time.monotonic()
    problem, capacity = read_instance(path)
    unit = 1024
    scaled = Problem(
        [size // unit for size in problem.sizes],
        problem.aligns,
        problem.neighbours,
        problem.cliques,
        problem.bound // unit,
    )
    found = search(scaled, capacity // unit, ENDLESS, lambda: time.monotonic() - begin < seconds, seed)
    offsets = [offset * unit for offset in found.offsets] if found else None
    answers.put((offsets, time.monotonic() - begin))


def measure(path: Path, seconds: float, processes: int) -> dict[str, object]:
    """Return one row."""
    problem, capacity = read_instance(path)
    first = by_size(problem).height
    answers: multiprocessing.Queue = multiprocessing.Queue()
    hunters = [
        multiprocessing.Process(target=hunt, args=(path, seed, seconds, answers)) for seed in range(processes)
    ]
    for hunter in hunters:
        hunter.start()
    offsets, took = None, 0.0
    for _ in hunters:
        offsets, took = answers.get()
        if offsets:
            break
    for hunter in hunters:
        hunter.terminate()
        hunter.join()
    if offsets is None:
        offsets = pack(problem, 50_000).offsets
    height = verified(path, offsets)
    return {
        "instance": path.name,
        "blocks": len(problem.sizes),
        "capacity": capacity,
        "bound": problem.bound,
        "first_fit": first,
        "height": height,
        "ratio": round(height / capacity, 4),
        "first_fit_ratio": round(first / capacity, 4),
        "seconds": round(took, 2),
    }


def main() -> None:
    """Print a row for each instance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("instances", nargs="*", help="letters or names of files; all without any")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    paths = [
        path
        for path in sorted(INSTANCES.glob("*.csv"))
        if not options.instances or any(path.name.startswith(name) for name in options.instances)
    ]
    rows = []
    for path in paths:
        rows.append(measure(path, options.seconds, options.processes))
        print("  ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    if options.json:
        options.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
