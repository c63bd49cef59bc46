"""Boxes cut to pieces, and what the pieces do, against NumPy."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from planc.runtime.boxes import MAX_PIECES, Box, TooManyPieces, Unlike, copy_pieces, fill_pieces
from planc.runtime.fake_memory import EXECUTE, FakeMemory, fault
from planc.runtime.fake_nodes import MemcpyNode, MemsetNode

PITCH = 2**31 - 1


def offsets(box: Box) -> np.ndarray:
    """Return the offset of every byte, in C order: the definition."""
    found = np.array([box.offset])
    for count, stride in (*box.axes, (box.item, 1)):
        found = np.add.outer(found, np.arange(count) * stride).reshape(-1)
    return found


def run_fill(box: Box, size: int, item: int, pattern: int) -> np.ndarray:
    memory = FakeMemory()
    base = memory.allocate(size)
    memory.bytes("x", base, size)[:] = 0
    for p in fill_pieces(box, PITCH):
        node = MemsetNode(base + p.offset, p.pitch, pattern, item, p.width // item, p.height)
        assert not fault(node)
        EXECUTE[node.kind](memory, node)
    return memory.bytes("x", base, size)


def run_copy(target: Box, source: Box, size: int, data: np.ndarray) -> np.ndarray:
    memory = FakeMemory()
    to, start = memory.allocate(size), memory.allocate(len(data))
    memory.bytes("x", to, size)[:] = 0
    memory.bytes("x", start, len(data))[:] = data
    for p in copy_pieces(target, source, PITCH):
        ends = (
            *(start + p.source.offset, p.source.pitch, p.source.rows),
            *(to + p.target.offset, p.target.pitch, p.target.rows),
        )
        node = MemcpyNode(*ends, p.width, p.height, p.depth)
        assert not fault(node)
        EXECUTE[node.kind](memory, node)
    return memory.bytes("x", to, size)


def random_view(rng: random.Random, item: int, shape: list[int] | None = None) -> tuple[Box, int]:
    """Return a view of an array (steps, reversals, axes in any order) and the array's size."""
    counts = shape if shape is not None else [rng.randint(1, 5) for _ in range(rng.randint(0, 4))]
    axes, stride, offset = [], item, 0
    order = list(range(len(counts)))
    if rng.random() < 0.3:
        rng.shuffle(order)
    for axis in sorted(order, reverse=True) if rng.random() < 0.5 else order:
        step = rng.choice((1, 1, 1, 2, 3))
        skip, room = rng.randint(0, 2), rng.randint(0, 2)
        length = skip + (counts[axis] - 1) * step + 1 + room
        sign = rng.choice((1, 1, -1))
        first = skip if sign > 0 else skip + (counts[axis] - 1) * step
        offset += first * stride
        axes.append((axis, sign * step * stride))
        stride *= length
    strides = dict(axes)
    return Box(offset, item, tuple((c, strides[i]) for i, c in enumerate(counts))), stride


@pytest.mark.parametrize("seed", range(150))
def test_fill_sets_these_bytes_and_no_others(seed: int) -> None:
    rng = random.Random(seed)
    item = rng.choice((1, 2, 4))
    box, size = random_view(rng, item * rng.choice((1, 2)))
    pattern = rng.getrandbits(8 * item)
    wanted = np.zeros(size, np.uint8)
    octets = np.frombuffer(pattern.to_bytes(item, "little"), np.uint8)
    where = offsets(box)
    wanted[where] = np.tile(octets, len(where) // item)
    assert np.array_equal(run_fill(box, size, item, pattern), wanted)


@pytest.mark.parametrize("seed", range(250))
def test_copy_moves_each_byte_to_its_place(seed: int) -> None:
    rng = random.Random(seed)
    item = rng.choice((1, 2, 4, 8, 3))
    target, size = random_view(rng, item)
    source, length = random_view(rng, item, [c for c, _ in target.axes])
    data = np.random.default_rng(seed).integers(1, 256, length, np.uint8)
    wanted = np.zeros(size, np.uint8)
    wanted[offsets(target)] = data[offsets(source)]
    assert np.array_equal(run_copy(target, source, size, data), wanted)


@pytest.mark.parametrize(
    ("target", "source"),
    [
        (Box(0, 4, ((4, 24), (6, 4))), Box(0, 4, ((6, 64), (4, 8)))),  # neither grouping refines the other
        (Box(0, 4, ((24, 4),)), Box(0, 4, ((4, 64), (6, 8)))),  # one side merged
        (Box(0, 4, ((3, 12), (3, 4))), Box(0, 4, ((3, 0), (3, 4)))),  # a row broadcast
        (Box(0, 4, ((3, 12), (3, 4))), Box(8, 4, ((3, 0), (3, 0)))),  # one element broadcast
        (Box(0, 4, ((5, 4),)), Box(0, 8, ((5, 2),))),  # unequal items are unlike
    ],
)
def test_copies_whose_axes_differ(target: Box, source: Box) -> None:
    data = np.random.default_rng(0).integers(1, 256, 1024, np.uint8)
    if target.nbytes != source.nbytes:
        with pytest.raises(Unlike):
            copy_pieces(target, source, PITCH)
        return
    wanted = np.zeros(1024, np.uint8)
    wanted[offsets(target)] = data[offsets(source)]
    assert np.array_equal(run_copy(target, source, 1024, data), wanted)


@pytest.mark.parametrize(
    ("box", "pieces"),
    [
        (Box(0, 4, ((8, 16), (4, 4))), 1),  # a whole array
        (Box(0, 4, ((8, 32), (4, 4))), 1),  # a column block
        (Box(0, 4, ((8, 64), (4, 8))), 4),  # every other element of every other row: the shorter axis is cut
        (Box(96, 4, ((4, -32), (8, 4))), 1),  # rows backwards
        (Box(0, 4, ((2, 640), (3, 160), (5, 32), (4, 4))), 2),  # rows and planes join to one axis
        (Box(0, 4, ((2, 1024), (3, 160), (5, 20), (4, 4))), 6),
        (Box(0, 4, ((7, 0),)), 1),  # the same four bytes again and again
        (Box(0, 4, ((0, 4),)), 0),
    ],
)
def test_fills_take_the_fewest_pieces(box: Box, pieces: int) -> None:
    assert len(fill_pieces(box, PITCH)) == pieces


@pytest.mark.parametrize(
    ("target", "source", "pieces"),
    [
        (((8, 16), (4, 4)), ((8, 16), (4, 4)), 1),
        (((8, 32), (4, 4)), ((8, 16), (4, 4)), 1),
        (((8, 4), (4, 32)), ((8, 16), (4, 4)), 4),  # a transposition: one piece a column
        (((3, 320), (8, 32), (4, 4)), ((3, 512), (8, 16), (4, 4)), 1),  # three dimensions
        (
            ((3, 328), (8, 32), (4, 4)),
            ((3, 512), (8, 16), (4, 4)),
            3,
        ),  # planes are no whole number of rows apart
        (((2, 4096), (3, 320), (8, 32), (4, 4)), ((2, 2048), (3, 512), (8, 16), (4, 4)), 2),
        (((8, -16), (4, 4)), ((8, 16), (4, 4)), 8),  # one side backwards: row by row
    ],
)
def test_copies_take_the_fewest_pieces(target: tuple, source: tuple, pieces: int) -> None:
    start = 16 * 7 if target[0][1] < 0 else 0
    assert len(copy_pieces(Box(start, 4, target), Box(0, 4, source), PITCH)) == pieces


def test_a_long_stride_is_no_pitch() -> None:
    box = Box(0, 4, ((3, 2**31), (2, 4)))
    assert [p.height for p in fill_pieces(box, PITCH)] == [1, 1, 1]
    box = Box(0, 4, ((3, 2**31 - 4), (2, 4)))
    assert [p.height for p in fill_pieces(box, PITCH)] == [3]


@pytest.mark.parametrize(("rows", "fits"), [(MAX_PIECES, True), (MAX_PIECES + 1, False)])
def test_the_number_of_pieces_is_bounded(rows: int, fits: bool) -> None:
    box = Box(0, 4, ((rows, 8 * (rows + 2)), (rows + 1, 8)))
    if fits:
        assert len(fill_pieces(box, PITCH)) == rows
    else:
        with pytest.raises(TooManyPieces) as caught:
            fill_pieces(box, PITCH)
        assert caught.value.count == rows


def test_byte_counts() -> None:
    assert Box(0, 4, ((3, 8), (2, 4))).nbytes == 24 == len(offsets(Box(0, 4, ((3, 8), (2, 4)))))
    assert math.prod(()) == 1 and Box(5, 2, ()).nbytes == 2
