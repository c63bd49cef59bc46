#!/usr/bin/env python3
"""How long check and compile take, and how that grows with the nodes.

    tools/bench/check_compile.py [--output FILE.json] [--repeat N]

Two shapes of a chain of launches of one kernel, which is built once beforehand: ``listed`` has every
node written out, ``loop`` makes them with a ``for``. Each is checked and compiled through
``planc.compile`` and encoded to the bytes of a plan file; the fastest of several runs counts, since
nothing but noise makes one slower.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import planc
from planc.api import check
from planc.kernels import Cache
from planc.plan import encode

SIZES = (1_000, 10_000)
KERNEL = """extern "C" __global__ void step(const float* src, float* dst, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = src[i] + alpha;
}
"""
HEAD = """planc: 1
name: bench
targets: [sm_80, sm_90]
symbols: {n: 1024}
scalars:
  alpha: f32 slot = 0.1 in [0, 1]
buffers:
  u: f32[n] inout
  v: f32[n]
kernels:
  step:
    source: step.cu
    entry: step(in f32* src, out f32* dst, f32 alpha, i32 n)
    block: 128
    cover: n
nodes:
"""
VIEWS = (("u", "v"), ("v", "u"))


def listed(nodes: int) -> str:
    """Return a file in which each node is written out."""
    lines = [HEAD]
    for row in range(nodes):
        source, target = VIEWS[row % 2]
        lines.append(f"  - id: n{row}\n    run: step(src={source}, dst={target})\n")
        if row:
            lines.append(f"    after: n{row - 1}\n")
    return "".join(lines)


def loop(nodes: int) -> str:
    """Return a file in which a loop makes the nodes, two at a time."""
    return (
        f"{HEAD}  - for: t in range({nodes // 2})\n    nodes:\n"
        "      - id: fwd[t]\n        run: step(src=u, dst=v)\n        after: back[t-1]\n"
        "      - id: back[t]\n        run: step(src=v, dst=u)\n        after: fwd[t]\n"
    )


SHAPES: dict[str, Callable[[int], str]] = {"listed": listed, "loop": loop}


def fastest_ms(action: Callable[[], object], repeat: int) -> float:
    """Return the milliseconds of the fastest run of ``action``."""
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        start = time.perf_counter()
        action()
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def measure(shape: str, nodes: int, folder: Path, cache: Cache, repeat: int) -> dict[str, object]:
    """Write the file, then time its check and its compilation."""
    path = folder / f"{shape}_{nodes}.yaml"
    path.write_text(SHAPES[shape](nodes))
    plan = planc.compile(path, cache=cache)  # builds the kernel, or finds it
    if len(plan.programs[0].nodes) != nodes:
        raise SystemExit(f"{path.name} has {len(plan.programs[0].nodes)} nodes")
    checked = fastest_ms(lambda: check(path, cache=cache), repeat)
    compiled = fastest_ms(lambda: encode(planc.compile(path, cache=cache)), repeat)
    return {
        "shape": shape,
        "nodes": nodes,
        "file_bytes": path.stat().st_size,
        "plan_bytes": len(encode(plan)),
        "check_ms": round(checked, 2),
        "compile_ms": round(compiled, 2),
        "check_us_per_node": round(1e3 * checked / nodes, 3),
        "compile_us_per_node": round(1e3 * compiled / nodes, 3),
    }


def growth(rows: list[dict[str, object]], column: str) -> float:
    """Return the time per node of the larger file over that of the smaller."""
    small, large = (float(str(row[column])) for row in rows)
    return round(large / small, 3)


def main() -> int:
    """Measure all shapes and sizes; print and perhaps write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="write the result here, as JSON")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "step.cu").write_text(KERNEL)
        cache = Cache(folder / "cache")
        rows = {s: [measure(s, n, folder, cache, options.repeat) for n in SIZES] for s in SHAPES}
    result = {
        "benchmark": "check_compile",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "rows": [row for many in rows.values() for row in many],
        "growth_per_node_1k_to_10k": {
            shape: {
                "check": growth(many, "check_us_per_node"),
                "compile": growth(many, "compile_us_per_node"),
            }
            for shape, many in rows.items()
        },
    }
    text = json.dumps(result, indent=2) + "\n"
    print(text, end="")
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
