"""Sets of bytes against Python's sets."""

import random

import numpy as np
import pytest

from planc.hazards.tracing import neighbours
from planc.hazards.tracing.words import box_of_bytes
from planc.plan.boxes import Box
from planc.runtime.tracing import EMPTY, ByteSet
from planc.runtime.tracing.bytesets import from_box, from_mask, from_runs, interval
from planc.runtime.tracing.marks import Marks, spot


def members(held: ByteSet) -> set[int]:
    return {
        b
        for low, high in zip(held.starts.tolist(), held.ends.tolist(), strict=True)
        for b in range(low, high)
    }


def of(wanted: set[int], size: int = 64) -> ByteSet:
    flags = np.zeros(size, bool)
    flags[list(wanted)] = True
    return from_mask(flags, 0)


def is_normal(held: ByteSet) -> bool:
    flat = np.stack([held.starts, held.ends], 1).reshape(-1)
    return bool((np.diff(flat) > 0).all())


def random_set(rng: random.Random) -> set[int]:
    found: set[int] = set()
    for _ in range(rng.randrange(5)):
        low = rng.randrange(60)
        found |= set(range(low, min(64, low + rng.randint(1, 12)), rng.choice([1, 1, 2, 3])))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_operations(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(300):
        one, two = random_set(rng), random_set(rng)
        a, b = of(one), of(two)
        for got, want in ((a | b, one | two), (a & b, one & two), (a - b, one - two)):
            assert members(got) == want and is_normal(got)
            assert got == of(want) and hash(got) == hash(of(want))
        assert a.meets(b) == bool(one & two)
        assert a.nbytes == len(one) and bool(a) == bool(one)
        if one:
            assert (a.first, a.last) == (min(one), max(one))
        low, high = sorted(rng.sample(range(65), 2))
        assert np.flatnonzero(a.mask(low, high)).tolist() == sorted(x - low for x in one if low <= x < high)


@pytest.mark.parametrize("seed", range(3))
def test_boxes(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(400):
        item = rng.choice([1, 2, 4, 8])
        axes = [
            (rng.randint(1, 5), rng.choice([-24, -8, -3, 0, 1, 4, 5, 8, 16, 40]))
            for _ in range(rng.randrange(4))
        ]
        want = {500}
        for count, stride in axes:
            want = {b + i * stride for b in want for i in range(count)}
        want = {b + k for b in want for k in range(item)}
        got = from_box(500, item, axes)
        assert members(got) == want and is_normal(got), (item, axes)
        back = box_of_bytes(got)
        if back is not None:
            assert members(from_box(back.offset, back.item, back.axes)) == want


def test_a_regular_view_is_one_box_again() -> None:
    box = Box(132, ((6, 128), (30, 4)), 4)
    assert box_of_bytes(from_box(box.offset, box.item, box.axes)) == Box(132, ((6, 128),), 120)
    columns = from_box(4, 4, [(3, 64), (5, 8)])
    assert box_of_bytes(columns) == Box(4, ((3, 64), (5, 8)), 4)
    assert box_of_bytes(interval(0, 4) | interval(8, 16)) is None
    assert box_of_bytes(EMPTY) is None


def test_runs_may_overlap_and_come_in_any_order() -> None:
    assert members(from_runs(np.array([8, 0, 2, 8, 12]), 4)) == {*range(6), *range(8, 16)}
    assert from_runs(np.array([], np.int64), 4) == EMPTY
    assert interval(3, 3) == EMPTY


@pytest.mark.parametrize("seed", range(4))
def test_marks(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.choice([64, 96, 100])
    marks, other = Marks(size), Marks(size)
    want: set[int] = set()
    held: set[int] = set()
    for _ in range(40):
        width = rng.choice([1, 2, 4, 8, 16, 32])
        places = [width * rng.randrange(size // width) for _ in range(rng.randint(1, 6))]
        where = spot(np.array(places, np.uint64) + np.uint64(4096), width, 4096)
        touched = {p + k for p in places for k in range(width)}
        choice = rng.randrange(4)
        if choice == 0:
            marks.set(where)
            want |= touched
        elif choice == 1:
            other.set(where)
            held |= touched
        elif choice == 2:
            marks.set_absent(where, other)
            want |= touched - held
        else:
            assert members(marks.bytes()) == want
    full = other.first_gap(0, size)
    assert full == next((b for b in range(size) if b not in held), size)
    marks.add(other)
    assert members(marks.take()) == want | held
    assert not marks and marks.take() == EMPTY


@pytest.mark.parametrize("most", [1 << 20, 40, 0])
def test_neighbours(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(neighbours, "_MOST", most)
    rng = random.Random(most)
    for _ in range(120):
        wanted = [s for s in (random_set(rng) for _ in range(rng.randint(1, 14))) if s]
        sets = [of(s) for s in wanted]
        near = neighbours.Neighbours(sets)
        for place, held in enumerate(sets):
            assert near.index(held) == place
            assert near.of(held) == [o for o, other in enumerate(wanted) if wanted[place] & other]
