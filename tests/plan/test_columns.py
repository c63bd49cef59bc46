"""The vectorised columns against plain loops over the same rows."""

from __future__ import annotations

import itertools
from random import Random

import numpy as np
import pytest

from planc.plan import program as tables
from planc.plan.program import Program
from planc.plan.rules.boxes import least_of_runs, magnitude, self_overlapping
from planc.plan.rules.corners import corners, elements
from planc.plan.rules.order import find_cycle
from planc.plan.rules.schedules import _reached, positions
from planc.plan.rules.scope import strictly_rising
from tests.plan.generate import random_plan


class _Boxes:
    """A stand-in with the two tables that footprints need."""

    def __init__(self, boxes: list[tuple[int, int, list[tuple[int, int]]]]) -> None:
        rows, axes = [], []
        for offset, item, box_axes in boxes:
            rows.append((offset, item, len(axes), len(box_axes), 0))
            axes.extend(box_axes)
        self.boxes = np.array(rows, tables.BOX)
        self.axes = np.array(axes, tables.AXIS)


def _bytes_of(offset: int, item: int, axes: list[tuple[int, int]]) -> list[int]:
    """Return every byte of a box, as often as the box counts it."""
    found = []
    for index in itertools.product(*(range(count) for count, _ in axes)):
        start = offset + sum(i * stride for i, (_, stride) in zip(index, axes, strict=True))
        found.extend(range(start, start + item))
    return found


def _random_boxes(seed: int, count: int) -> list[tuple[int, int, list[tuple[int, int]]]]:
    rng = Random(seed)
    return [
        (
            rng.randint(-20, 20),
            rng.randint(1, 4),
            [(rng.randint(1, 4), rng.randint(-9, 9)) for _ in range(rng.randint(0, 3))],
        )
        for _ in range(count)
    ]


def test_corners_and_elements_against_enumeration() -> None:
    boxes = _random_boxes(1, 400)
    program: Program = _Boxes(boxes)  # type: ignore[assignment]
    low, high = corners(program)
    items = elements(program)
    for row, (offset, item, axes) in enumerate(boxes):
        touched = _bytes_of(offset, item, axes)
        assert (low[row], high[row]) == (min(touched), max(touched) + 1)
        assert items[row] * item == len(touched)


def test_self_overlap_is_never_missed() -> None:
    boxes = _random_boxes(2, 600)
    flags = self_overlapping(_Boxes(boxes))  # type: ignore[arg-type]
    really = [len(set(touched)) < len(touched) for touched in (_bytes_of(*box) for box in boxes)]
    assert all(flag for flag, overlaps in zip(flags, really, strict=True) if overlaps)
    assert any(really) and not all(flags)


def test_views_never_overlap_themselves() -> None:
    for seed in range(40):
        for program in random_plan(Random(seed)).programs:
            assert not self_overlapping(program)[program.copy_ops["target_box"]].any()


def test_extreme_axes_do_not_overflow() -> None:
    most = 1 << 46
    program = _Boxes([(-most, 1, [(most // 4, 4)] * 16), (most, 4, [(2, -most)] * 16)])
    low, high = corners(program)  # type: ignore[arg-type]
    assert high[0] == -most + 16 * (most // 4 - 1) * 4 + 1
    assert low[1] == most - 16 * most


@pytest.mark.parametrize("seed", range(5))
def test_least_of_runs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-100, 100, 57)
    first = rng.integers(0, 57, 200)
    count = np.array([rng.integers(0, 57 - start + 1) for start in first])
    found = least_of_runs(values, first, count)
    for answer, start, length in zip(found, first, count, strict=True):
        assert answer == (values[start : start + length].min() if length else 0)
    assert not len(least_of_runs(values[:0], first[:0], count[:0]))


def test_magnitude_of_the_least_integer() -> None:
    values = np.array([-(2**63), -1, 0, 2**63 - 1], np.int64)
    assert magnitude(values).tolist() == [2**63, 1, 0, 2**63 - 1]


def test_strictly_rising() -> None:
    first, second = np.array([0, 0, 1, 1, 0]), np.array([1, 2, 0, 0, 9])
    assert strictly_rising(first, second).tolist() == [True, True, False, False]
    assert not len(strictly_rising(first[:1])) and not len(strictly_rising(first[:0]))


def test_find_cycle_against_search() -> None:
    rng = Random(3)
    cyclic = 0
    for _ in range(300):
        count = rng.randint(1, 7)
        pairs = {(rng.randrange(count), rng.randrange(count)) for _ in range(rng.randint(0, 9))}
        rows = np.array([(a, b, 1) for a, b in sorted(pairs) if a != b], tables.EDGE)
        reach = np.zeros((count, count), bool)
        reach[rows["before"], rows["after"]] = True
        for middle in range(count):
            reach |= np.outer(reach[:, middle], reach[middle])
        cycle = find_cycle(count, rows)
        assert bool(cycle) == bool(reach.diagonal().any())
        edges = set(zip(rows["before"].tolist(), rows["after"].tolist(), strict=True))
        assert all(pair in edges for pair in zip(cycle, cycle[1:] + cycle[:1], strict=True))
        cyclic += bool(cycle)
    assert 50 < cyclic < 250


def test_reached_against_search() -> None:
    for seed in range(60):
        plan = random_plan(Random(seed), nodes=20)
        for program, schedules in zip(plan.programs, plan.schedules, strict=True):
            count = len(program.nodes)
            sources = list(range(0, count, 2))
            for schedule in schedules:
                paths = np.zeros((count, count), bool)
                paths[schedule.edges["before"], schedule.edges["after"]] = True
                for middle in range(count):
                    paths |= np.outer(paths[:, middle], paths[middle])
                reach = _reached(schedule, sources)
                for node in range(count):
                    for bit, source in enumerate(sources):
                        assert bool(reach[node] >> bit & 1) == paths[source, node]


def test_positions_invert_an_order() -> None:
    order = np.array([2, 0, 3, 1], np.uint32)
    assert positions(order).tolist() == [1, 3, 0, 2]
