#!/usr/bin/env python3
"""How long it takes to read a plan, and how that grows with the nodes.

    tools/bench/plan_reading.py [--output FILE.json] [--repeat N]

Writes plans of 1,000, 10,000 and 20,000 kernel nodes with four pointers each into a temporary
folder, reads each several times (every digest and every rule checked), and reports the medians.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from planc.plan import program as tables
from planc.plan import read, read_header, write
from planc.plan.digests import sha256
from planc.plan.program import (
    NONE,
    Buffer,
    EdgeOrigin,
    EffectKind,
    Function,
    FunctionParameter,
    Image,
    Module,
    NodeKind,
    Place,
    Plan,
    Program,
    Provenance,
    RelocationKind,
    Role,
    Schedule,
)

SIZES = (1_000, 10_000, 20_000)
POINTERS = 4
BUFFERS = 64
ELEMENTS = 1_024
CODE = b"// no device runs this plan\n"
BLOCK = 48  # four pointers and a float, to the next multiple of 16


def columns(rows: int, dtype: np.dtype, /, **values: object) -> np.ndarray:
    """Return a table of ``rows`` rows; a column is an array or one value for all rows."""
    table = np.zeros(rows, dtype)
    for name, value in values.items():
        table[name] = value
    return table


def plan_of(nodes: int) -> Plan:
    """Return a plan of ``nodes`` kernels in eight chains, each with an edge across to the next chain."""
    row = np.arange(nodes)
    pointer = np.repeat(row, POINTERS)
    parameter = np.tile(np.arange(POINTERS), nodes)
    buffer = (pointer * 7 + parameter * 13) % BUFFERS
    before = np.concatenate([row[:-8], row[:-9]])
    after = np.concatenate([row[8:], row[9:]])
    order = np.lexsort([after, before])
    edges = columns(len(before), tables.EDGE, origin=EdgeOrigin.AUTHOR)
    edges["before"], edges["after"] = before[order], after[order]
    emitted = columns(len(edges), tables.EMITTED_EDGE, before=edges["before"], after=edges["after"])
    digest = sha256(CODE)
    names = [FunctionParameter(f"p{i}", 8 * i, 8, 8, True, "f32") for i in range(POINTERS)]
    program = Program(
        name="reading",
        targets=("sm_90",),
        buffers=tuple(Buffer(f"b{i}", "f32", (ELEMENTS,), Role.INOUT, 4 * ELEMENTS) for i in range(BUFFERS)),
        slots=(),
        modules=(Module("reading.ptx", (Image("sm_90", "ptx", digest, CODE),)),),
        functions=(Function("k", "k", 0, (*names, FunctionParameter("a", 32, 4, 4, False, "f32"))),),
        node_names=tuple(f"step[{i}]" for i in range(nodes)),
        nodes=columns(nodes, tables.NODE, kind=NodeKind.KERNEL, op=row, body=NONE),
        kernel_ops=columns(
            nodes, tables.KERNEL_OP, grid=(4, 1, 1), block=(256, 1, 1), args_size=36, args_offset=row * BLOCK
        ),
        fill_ops=columns(0, tables.FILL_OP),
        copy_ops=columns(0, tables.COPY_OP),
        edges=edges,
        boxes=columns(1, tables.BOX, item=4, axes=1),
        axes=columns(1, tables.AXIS, count=ELEMENTS, stride=4),
        effects=columns(
            nodes * POINTERS,
            tables.EFFECT,
            node=pointer,
            buffer=buffer,
            kind=np.where(parameter == POINTERS - 1, EffectKind.WRITE, EffectKind.READ),
            kind_provenance=Provenance.DECLARED,
            range_provenance=Provenance.ASSUMED,
            parameter=parameter,
            may_count=1,
        ),
        relocations=columns(
            nodes * POINTERS,
            tables.RELOCATION,
            offset=pointer * BLOCK + 8 * parameter,
            buffer=buffer,
            kind=RelocationKind.ADDRESS,
            node=pointer,
            parameter=parameter,
        ),
        patches=columns(0, tables.PATCH),
        arguments=bytes(nodes * BLOCK),
        constants={},
        places=tuple(Place("graph.yaml", 10 + i, 5) for i in range(nodes)),
    )
    schedule = Schedule(
        name="written",
        targets=(),
        order=row.astype(np.uint32),
        lanes=(row % 8).astype(np.uint32),
        edges=emitted,
        placements=columns(0, tables.PLACEMENT),
        arena_bytes=0,
    )
    return Plan((program,), ((schedule,),), "not checked", (), "tools/bench/plan_reading.py")


def median_ms(action: object, path: Path, repeat: int) -> float:
    """Return the median milliseconds of ``action(path)``."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        action(path)  # type: ignore[operator]
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def measure(nodes: int, folder: Path, repeat: int) -> dict[str, object]:
    """Write a plan of ``nodes`` nodes and time how it is read."""
    path = folder / f"{nodes}.plan"
    plan = plan_of(nodes)
    start = time.perf_counter()
    write(path, plan)
    written = time.perf_counter() - start
    milliseconds = median_ms(read, path, repeat)
    return {
        "nodes": nodes,
        "pointers": nodes * POINTERS,
        "edges": len(plan.programs[0].edges),
        "bytes": path.stat().st_size,
        "read_ms": round(milliseconds, 3),
        "read_us_per_node": round(1e3 * milliseconds / nodes, 4),
        "header_ms": round(median_ms(read_header, path, repeat), 3),
        "write_ms": round(1e3 * written, 3),
    }


def main() -> int:
    """Measure all sizes; print and perhaps write the result."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="write the result here, as JSON")
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [measure(nodes, Path(folder), options.repeat) for nodes in SIZES]
    per_node = [row["read_us_per_node"] for row in rows]
    result = {
        "benchmark": "plan_reading",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "rows": rows,
        "growth_per_node_1k_to_10k": round(per_node[1] / per_node[0], 3),
        "growth_per_node_10k_to_20k": round(per_node[2] / per_node[1], 3),
    }
    text = json.dumps(result, indent=2) + "\n"
    print(text, end="")
    if options.output:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
