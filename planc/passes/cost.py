"""What nodes and edges cost in a replay: a model to compare schedules by, not to foretell times.

The numbers are medians on an NVIDIA H200 with driver 580. A chain of kernels of one block takes 0.8 µs a
node; however many chains there are, the device starts no more than one node in 0.17 µs; each edge
between chains takes about 0.02 µs of that; each chain takes 1.4 µs of the host at every launch.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from planc.plan.program import NONE, NodeKind, Program, Table


@dataclass(frozen=True, slots=True)
class CostModel:
    """Times in µs. ``block`` is for each block of a grid, ``byte`` for each byte of an effect.

    ``thread_bytes`` bounds what one thread is taken to touch, since a declared view is often far more.
    """

    slot: float = 0.17
    edge: float = 0.02
    head: float = 1.4
    kernel: float = 0.8
    block: float = 0.0013
    fill: float = 1.08
    copy: float = 0.8
    byte: float = 1 / 3_000_000
    thread_bytes: int = 256


DEFAULT_COSTS = CostModel()


def durations(program: Program, model: CostModel = DEFAULT_COSTS) -> list[float]:
    """Return how long each node is taken to run, in µs, from its start to that of a node behind it."""
    touched = _bytes(program)
    kinds = program.nodes["kind"]
    found = np.zeros(len(kinds))
    for kind, base in ((NodeKind.FILL, model.fill), (NodeKind.COPY, model.copy)):
        found[kinds == kind] = base + touched[kinds == kind] * model.byte
    kernels = np.flatnonzero((kinds == NodeKind.KERNEL) & (program.nodes["op"] != NONE))
    ops = program.kernel_ops[program.nodes["op"][kernels]]
    blocks = ops["grid"].astype(np.float64).prod(axis=1)
    threads = blocks * ops["block"].astype(np.float64).prod(axis=1)
    moved = np.minimum(touched[kernels], threads * model.thread_bytes)
    found[kernels] = model.kernel + np.maximum((blocks - 1) * model.block, moved * model.byte)
    result: list[float] = found.tolist()
    return result


def _bytes(program: Program) -> Table:
    """Return how many bytes the effects of each node are over."""
    boxes, effects = program.boxes, program.effects
    counts = np.append(program.axes["count"].astype(np.float64), 1.0)
    sizes = boxes["item"].astype(np.float64)
    for axis in range(int(boxes["axes"].max(initial=0))):
        has = boxes["axes"] > axis
        sizes[has] *= counts[boxes["axis"][has].astype(np.int64) + axis]
    until = np.concatenate([[0.0], np.cumsum(sizes)])
    first = np.where(effects["may_count"] > 0, effects["may"], 0).astype(np.int64)
    total = until[first + effects["may_count"]] - until[first]
    found: Table = np.bincount(effects["node"], weights=total, minlength=len(program.nodes))
    return found


def levels(after: list[list[int]], costs: list[float]) -> list[float]:
    """Return the longest time from the start of each position to the end of all."""
    found = [0.0] * len(costs)
    for position in range(len(costs) - 1, -1, -1):
        found[position] = costs[position] + max((found[a] for a in after[position]), default=0.0)
    return found
