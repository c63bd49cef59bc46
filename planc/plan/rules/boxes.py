"""Boxes: well formed, inside their buffers at every corner, without overlap where they are written.

No product or sum here can overflow: every axis is bounded first, and at most sixteen are added.
"""

from __future__ import annotations

import numpy as np

from planc.plan import limits
from planc.plan.program import EffectKind, Program
from planc.plan.rules.corners import Column, axis_by_axis
from planc.plan.rules.scope import Scope


def boxes(scope: Scope) -> None:
    """PLC644 for a box outside its buffer, PLC646 for one that would write a byte twice."""
    low, high = scope.corners
    _effects(scope, low, high)
    program = scope.program
    twice = self_overlapping(program)
    for name, box, buffer, node in (
        ("fill_ops", "box", "buffer", scope.fill),
        ("copy_ops", "target_box", "target", scope.copy),
        ("copy_ops", "source_box", "source", scope.copy),
    ):
        rows = getattr(program, name)
        outside = (low[rows[box]] < 0) | (high[rows[box]] > scope.nbytes[rows[buffer]])
        scope.found.rows("PLC644", name, outside, f"{{row}} has its {buffer} box outside the buffer", node)
        if buffer != "source":
            scope.found.rows("PLC646", name, twice[rows[box]], "{row} writes a byte twice", node)


def well_formed(scope: Scope) -> None:
    """PLC645 for a box or an axis with a count, an item or a distance that no buffer has."""
    program, found = scope.program, scope.found
    axes, rows = program.axes, program.boxes
    most = np.uint64(limits.BUFFER_BYTES)
    count = axes["count"]
    reach = magnitude(axes["stride"])
    bad = (count == 0) | (count > most) | (reach > most)
    far = ~bad & (count > 1) & (count - np.uint64(1) > most // np.maximum(reach, np.uint64(1)))
    message = "row {row} of `axes` has a count or a stride out of bounds"
    found.rows("PLC645", "axes", bad | far, message)
    bad = (rows["item"] == 0) | (rows["axes"] > limits.BOX_AXES) | (magnitude(rows["offset"]) > most)
    found.rows("PLC645", "boxes", bad, "row {row} of `boxes` is malformed")


def magnitude(values: Column) -> Column:
    """Return the absolute values of int64 as uint64; the least int64 has one too."""
    return np.where(values < 0, np.uint64(0) - values.view(np.uint64), values.view(np.uint64))


def self_overlapping(program: Program) -> Column:
    """Return whether a box may count a byte twice (bool).

    It does not if, by rising stride, each axis steps at least over all that the axes before it
    span; that holds for every view of an array. A box that fails this and still counts no byte twice is
    refused as well.
    """
    depth = int(program.boxes["axes"].max(initial=0))
    count = np.ones((len(program.boxes), depth), np.int64)
    stride = np.zeros((len(program.boxes), depth), np.int64)
    for position, (rows, axis) in enumerate(axis_by_axis(program)):
        count[rows, position] = program.axes["count"][axis]
        stride[rows, position] = np.abs(program.axes["stride"][axis])
    stride[count == 1] = 0
    order = np.argsort(stride, axis=1, kind="stable")
    count = np.take_along_axis(count, order, axis=1)
    stride = np.take_along_axis(stride, order, axis=1)
    span = program.boxes["item"].astype(np.int64)
    overlapping = np.zeros(len(program.boxes), np.bool_)
    for position in range(depth):
        overlapping |= (count[:, position] > 1) & (stride[:, position] < span)
        span = span + (count[:, position] - 1) * stride[:, position]
    return overlapping


def _effects(scope: Scope, low: Column, high: Column) -> None:
    effects = scope.program.effects
    inside = effects["kind"] != EffectKind.EXTERNAL
    nbytes = scope.nbytes[effects["buffer"][inside]]
    for kind in ("may", "must"):
        count = effects[f"{kind}_count"]
        none = ~inside & (count != 0)
        message = f"row {{row}} of `effects` is external and has `{kind}` boxes"
        scope.found.rows("PLC668", "effects", none, message)
        first, rows = effects[kind][inside].astype(np.int64), count[inside].astype(np.int64)
        least = least_of_runs(low, first, rows)
        most = -least_of_runs(-high, first, rows)
        outside = np.zeros(len(effects), np.bool_)
        outside[inside] = (rows > 0) & ((least < 0) | (most > nbytes))
        message = f"row {{row}} of `effects` has a `{kind}` box outside its buffer"
        scope.found.rows("PLC644", "effects", outside, message)


def least_of_runs(values: Column, first: Column, count: Column) -> Column:
    """Return the least of ``values[first : first + count]`` for each run; 0 for empty runs.

    Windows of 1, 2, 4, … rows answer all runs in O((rows + runs) log rows), however much runs overlap.
    """
    result = np.zeros(len(first), np.int64)
    window, width = values, 1
    left = np.flatnonzero(count > 0)
    while len(left):
        now = left[count[left] < 2 * width]
        start = first[now]
        result[now] = np.minimum(window[start], window[start + count[now] - width])
        left = left[count[left] >= 2 * width]
        if len(left):
            window = np.minimum(window[:-width], window[width:])
            width *= 2
    return result
