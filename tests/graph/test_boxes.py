"""Box algebra against sets of single bytes."""

import random
from itertools import product

import numpy as np
import pytest

from planc.plan.boxes import Box, boxes_meet, canonical
from planc.plan.regions import (
    Progression,
    meet_progressions,
    meet_regions,
    region_bytes,
    region_of,
    region_text,
)

STRIDES = [0, 1, 2, 3, 4, 6, 7, 8, 12, 16, 24, 30, 36, 60]


def byte_set(box):
    places = {box.offset}
    for count, stride in box.axes:
        places = {p + i * stride for p in places for i in range(count)}
    return {p + b for p in places for b in range(box.item)}


def random_box(rng):
    axes = tuple(
        (
            rng.randint(1, 5),
            rng.choice([-1, 1]) * rng.choice(STRIDES),
        )
        for _ in range(rng.randint(0, 4))
    )
    return Box(rng.randint(-40, 80), axes, rng.choice([1, 2, 4, 8]))


def test_thousands_of_random_boxes_meet_exactly_where_their_bytes_do():
    rng = random.Random(1)
    answers = {True: 0, False: 0}
    for _ in range(6000):
        first, second = random_box(rng), random_box(rng)
        want = bool(byte_set(first) & byte_set(second))
        assert boxes_meet(first, second) is want, (first, second)
        assert boxes_meet(second, first) is want
        answers[want] += 1
    assert min(answers.values()) > 1500


def test_the_interval_and_the_canonical_form_keep_the_bytes():
    rng = random.Random(2)
    for _ in range(3000):
        box = random_box(rng)
        points = byte_set(box)
        assert box.interval == (min(points), max(points) + 1)
        flat = canonical(box)
        assert byte_set(flat) == points
        assert all(count > 1 and stride > 0 for count, stride in flat.axes)


def view_box(shape, item, slices):
    """A box of ``array[slices]`` from NumPy's own strides."""
    base = np.zeros(shape, dtype=f"V{item}")
    view = base[slices]
    offset = view.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    return Box(offset, tuple(zip(view.shape, view.strides, strict=True)), item)


def random_slices(rng, shape):
    slices = []
    for extent in shape:
        step = rng.choice([1, 1, 1, 2, 3, -1, -2])
        low = rng.randrange(extent)
        high = rng.randint(low + 1, extent)
        if step > 0:
            slices.append(slice(low, high, step))
        else:
            slices.append(slice(high - 1, low - 1 if low else None, step))
    return tuple(slices)


@pytest.mark.parametrize("item", [1, 4, 8])
def test_views_of_one_buffer_meet_where_their_elements_do(item):
    rng = random.Random(item)
    met = 0
    for _ in range(1500):
        shape = tuple(rng.randint(1, 7) for _ in range(rng.randint(1, 4)))
        one, two = random_slices(rng, shape), random_slices(rng, shape)
        marks = np.zeros(shape, np.uint8)
        marks[one] += 1
        marks[two] += 1
        a, b = view_box(shape, item, one), view_box(shape, item, two)
        want = marks.max() == 2
        met += bool(want)
        assert boxes_meet(a, b) is bool(want)
        region_a, region_b = region_of(a, shape, item), region_of(b, shape, item)
        common = meet_regions(region_a, region_b)
        assert (common is not None) is bool(want)
        if common is not None:
            marked = set(zip(*np.nonzero(marks == 2), strict=True))
            listed = product(*(range(p.start, p.last + 1, p.step) for p in common))
            assert {tuple(int(i) for i in m) for m in marked} == set(listed)
            places = np.flatnonzero(marks == 2)
            assert region_bytes(common, shape, item) == (places[0] * item, (places[-1] + 1) * item)
    assert 300 < met < 1400


def test_a_region_is_found_from_the_merged_box_too():
    rng = random.Random(9)
    for _ in range(2000):
        shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 4)))
        slices = random_slices(rng, shape)
        region = region_of(canonical(view_box(shape, 4, slices)), shape, 4)
        marks = np.zeros(shape, bool)
        marks[slices] = True
        again = np.zeros(shape, bool)
        again[tuple(slice(p.start, p.last + 1, p.step) for p in region)] = True
        assert np.array_equal(marks, again)


def test_a_run_over_part_of_two_rows_is_no_region():
    assert region_of(Box(12, ((4, 4),), 4), (4, 5), 4) is None
    assert region_of(Box(0, ((5, 4),), 4), (4, 5), 4) is not None
    assert region_of(Box(2, ((5, 4),), 4), (4, 5), 4) is None
    assert region_of(Box(0, ((21, 4),), 4), (4, 5), 4) is None


def test_items_of_another_size_are_read_as_elements():
    whole_row = (Progression(1, 1, 1), Progression(0, 4, 1))
    assert region_of(Box(16, ((16, 1),), 1), (4, 4), 4) == whole_row
    assert region_of(Box(16, ((2, 8),), 8), (4, 4), 4) == whole_row
    assert region_of(Box(17, ((4, 1),), 1), (4, 4), 4) is None


def test_progressions_meet_like_ranges():
    rng = random.Random(4)
    for _ in range(5000):
        one = Progression(rng.randint(0, 30), rng.randint(1, 9), rng.randint(1, 9))
        two = Progression(rng.randint(0, 30), rng.randint(1, 9), rng.randint(1, 9))
        want = sorted(
            set(range(one.start, one.last + 1, one.step)) & set(range(two.start, two.last + 1, two.step))
        )
        got = meet_progressions(one, two)
        assert want == ([] if got is None else list(range(got.start, got.last + 1, got.step)))


def test_interleaved_columns_and_touching_rows_stay_apart():
    even = Box(0, ((1024, 64), (8, 8)), 4)
    odd = Box(4, ((1024, 64), (8, 8)), 4)
    assert not boxes_meet(even, odd)
    assert boxes_meet(even, Box(5, ((1024, 64), (8, 8)), 4))
    upper, lower = Box(0, ((4096, 4),), 4), Box(4096 * 4, ((4096, 4),), 4)
    assert not boxes_meet(upper, lower)
    assert boxes_meet(upper, Box(4096 * 4 - 1, ((1, 1),), 1))


def test_large_views_with_other_steps_are_decided_without_search():
    row = 1 << 20
    shape = [(1 << 12, 3 * row), (1 << 12, 8)]
    other = [(1 << 12, 5 * row), (1 << 12, 16)]
    assert boxes_meet(Box(0, tuple(shape), 4), Box(0, tuple(other), 4))
    assert not boxes_meet(Box(0, tuple(shape), 4), Box(4, tuple(other), 4))


def test_the_text_of_a_region_is_the_view_a_person_writes():
    assert region_text("u", (Progression(0, 4, 1), Progression(0, 8, 1)), (4, 8)) == "u"
    assert region_text("u", (Progression(3, 1, 1), Progression(0, 8, 1)), (4, 8)) == "u[3, :]"
    assert region_text("u", (Progression(1, 2, 2), Progression(2, 3, 1)), (4, 8)) == "u[1:4:2, 2:5]"
