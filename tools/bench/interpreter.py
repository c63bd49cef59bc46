"""How many thread-instructions per second the interpreter runs.

    python tools/bench/interpreter.py [OUTPUT.json] [--threads N] [--repeats R]

Each kernel runs R times on N threads; the report has the best and the median rate and, as the noise, the
spread of the middle half of the times relative to their median. Rates count every instruction for every
thread that reached it.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planc.ptx import parse
from planc.simt import Memory, PreparedKernel, prepare

PTX = Path(__file__).with_suffix(".ptx")


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel with its launch; ``check`` raises where the result is wrong."""

    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    parameters: bytes
    memory: Memory
    check: Callable[[], None]


def _mapped(memory: Memory, *arrays: NDArray[np.generic]) -> list[int]:
    return [memory.map(f"array{k}", a.reshape(-1).view(np.uint8)) for k, a in enumerate(arrays)]


def _floats(n: int) -> NDArray[np.float32]:
    return np.random.default_rng(1).random(n, np.float32)


def saxpy(n: int) -> Case:
    """One multiply-add per thread, one element per thread."""
    memory, x, y = Memory(), _floats(n), np.zeros(n, np.float32)
    px, py = _mapped(memory, x, y)
    data = struct.pack("<fxxxxQQi", 2.0, px, py, n)

    def check() -> None:
        assert y[7] > 0

    return Case("saxpy", (n // 256, 1, 1), (256, 1, 1), data, memory, check)


def polynomial(n: int) -> Case:
    """A loop of f32 arithmetic in registers."""
    memory, x, y = Memory(), _floats(n), np.zeros(n, np.float32)
    data = struct.pack("<QQi", *_mapped(memory, x, y), n)

    def check() -> None:
        assert (y != 0).all()

    return Case("polynomial", (n // 256, 1, 1), (256, 1, 1), data, memory, check)


def stencil(n: int) -> Case:
    """Five points in two dimensions; rim threads leave early."""
    side = int(n**0.5) // 32 * 32
    memory, u, v = Memory(), _floats(side * side), np.zeros(side * side, np.float32)
    data = struct.pack("<QQii", *_mapped(memory, u, v), side, side)

    def check() -> None:
        assert v.reshape(side, side)[1:-1, 1:-1].all() and not v[:side].any()

    return Case("stencil", (side // 32, side // 8, 1), (32, 8, 1), data, memory, check)


def reduction(n: int) -> Case:
    """A tree in shared memory with barriers, 256 threads per block."""
    memory, x, out = Memory(), _floats(n), np.zeros(n // 256, np.float32)
    data = struct.pack("<QQ", *_mapped(memory, x, out))

    def check() -> None:
        np.testing.assert_allclose(out, x.reshape(-1, 256).sum(axis=1), rtol=1e-5)

    return Case("reduction", (n // 256, 1, 1), (256, 1, 1), data, memory, check)


def divergent(n: int) -> Case:
    """A loop whose count differs per thread (0 to 63) with a branch inside."""
    memory, out = Memory(), np.zeros(n, np.int32)
    trips = np.random.default_rng(2).integers(0, 64, n).astype(np.int32)
    data = struct.pack("<QQ", *_mapped(memory, trips, out))

    def check() -> None:
        value = 777
        for _ in range(trips[777]):
            value = 3 * value + 1 if value & 1 else value >> 1
        assert out[777] == value

    return Case("divergent", (n // 256, 1, 1), (256, 1, 1), data, memory, check)


CASES = (saxpy, polynomial, stencil, reduction, divergent)


def measure(kernel: PreparedKernel, case: Case, repeats: int) -> dict[str, float | int | str]:
    """Time a kernel, after one run to warm up."""
    times = []
    for _ in range(repeats + 1):
        start = time.perf_counter()
        stats = kernel.run(case.grid, case.block, 0, case.parameters, case.memory)
        times.append(time.perf_counter() - start)
    case.check()
    times = sorted(times[1:])
    median = statistics.median(times)
    low, _, high = statistics.quantiles(times, n=4) if len(times) > 1 else (median, median, median)
    return {
        "kernel": case.name,
        "threads": stats.threads,
        "thread_instructions": stats.thread_instructions,
        "dispatches": stats.dispatches,
        "best_per_second": round(stats.thread_instructions / times[0]),
        "median_per_second": round(stats.thread_instructions / median),
        "noise_percent": round(100 * (high - low) / median, 1),
        "milliseconds": round(1000 * median, 2),
    }


def main() -> None:
    """Run all cases and write the report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", nargs="?", type=Path)
    parser.add_argument("--threads", type=int, default=1 << 16)
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()
    module = parse(PTX.read_text(encoding="utf-8"), PTX.name)
    rows = []
    for make in CASES:
        case = make(options.threads)
        rows.append(measure(prepare(module, case.name), case, options.repeats))
        line = "{kernel:12} {median_per_second:>14,} per second  ± {noise_percent} %  {milliseconds} ms"
        print(line.format(**rows[-1]))
    report = {
        "benchmark": "interpreter",
        "unit": "thread-instructions per second",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cases": rows,
    }
    if options.output is not None:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
