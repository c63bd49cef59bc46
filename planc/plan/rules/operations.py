"""Fills, copies and launches: what the driver and the devices accept."""

from __future__ import annotations

import numpy as np

from planc.plan import limits
from planc.plan.program import Program
from planc.plan.rules.boxes import magnitude
from planc.plan.rules.corners import Column
from planc.plan.rules.scope import Scope

# cuMemsetD8, D16 and D32 nodes: CUDA driver API, CUDA_MEMSET_NODE_PARAMS, elementSize.
_FILL_ITEMS = (1, 2, 4)


def operations(scope: Scope) -> None:
    """PLC647 for fills, PLC648 for copies, PLC649 for their alignment, PLC650 for launch dimensions."""
    _fills(scope)
    _copies(scope)
    _launches(scope)


def _fills(scope: Scope) -> None:
    program, found = scope.program, scope.found
    fills = program.fill_ops
    item = fills["item"].astype(np.int64)
    known = np.isin(item, _FILL_ITEMS)
    found.rows("PLC647", "fill_ops", ~known, "{row} fills items that are not 1, 2 or 4 bytes", scope.fill)
    item = np.where(known, item, 1)
    wide = (fills["pattern"].astype(np.int64) >> (8 * item)) != 0
    found.rows("PLC647", "fill_ops", known & wide, "the pattern of {row} is wider than its items", scope.fill)
    parts = program.boxes["item"][fills["box"]] % item != 0
    found.rows("PLC647", "fill_ops", parts, "{row} fills parts of its box's items", scope.fill)
    skew = misaligned(program, fills["box"], item) | (scope.align[fills["buffer"]] % item != 0)
    found.rows("PLC649", "fill_ops", skew, "{row} fills where its items are not aligned", scope.fill)


def _copies(scope: Scope) -> None:
    program, found = scope.program, scope.found
    copies = program.copy_ops
    item = program.boxes["item"]
    unequal = item[copies["target_box"]] != item[copies["source_box"]]
    found.rows("PLC648", "copy_ops", unequal, "{row} copies items of two sizes", scope.copy)
    count = scope.elements
    unequal = count[copies["target_box"]] != count[copies["source_box"]]
    found.rows("PLC648", "copy_ops", unequal, "{row} copies between two numbers of items", scope.copy)
    for side in ("target", "source"):
        size = scope.itemsize[copies[side]]
        box = copies[f"{side}_box"]
        skew = misaligned(program, box, size) | (item[box] % size != 0)
        message = f"the {side} of {{row}} is not aligned to its elements"
        found.rows("PLC649", "copy_ops", skew, message, scope.copy)


def misaligned(program: Program, box: Column, size: Column) -> Column:
    """Return whether a corner or a step of each box is no multiple of ``size`` bytes (bool)."""
    rows = program.boxes[box]
    result: Column = rows["offset"] % size != 0
    for position in range(int(rows["axes"].max(initial=0))):
        has = np.flatnonzero(rows["axes"] > position)
        axis = program.axes[rows["axis"][has].astype(np.int64) + position]
        steps = magnitude(axis["stride"]) % size[has].astype(np.uint64) != 0
        result[has] |= steps & (axis["count"] > 1)
    return result


def _launches(scope: Scope) -> None:
    ops, found = scope.program.kernel_ops, scope.found
    for name, most in (("grid", limits.GRID), ("block", limits.BLOCK)):
        dims = ops[name]
        bad = ((dims == 0) | (dims > np.array(most, np.uint32))).any(axis=1)
        found.rows("PLC650", "kernel_ops", bad, f"{{row}} has a {name} that no device takes", scope.launch)
    threads = ops["block"].astype(np.float64).prod(axis=1)
    found.rows(
        "PLC650",
        "kernel_ops",
        threads > limits.BLOCK_THREADS,
        f"{{row}} has more than {limits.BLOCK_THREADS} threads in a block",
        scope.launch,
    )
    found.rows(
        "PLC650",
        "kernel_ops",
        ops["shared"] > limits.SHARED_BYTES,
        f"{{row}} asks for more than {limits.SHARED_BYTES} bytes of shared memory",
        scope.launch,
    )
