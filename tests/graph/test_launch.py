"""Launch configurations at and beyond each limit."""

import pytest

from planc.kernels.artifact import Resources
from tests.graph.flat_builder import Flat


def launch(*, targets=("sm_90",), grid=1, cover=None, block=32, shared=0, resources=None, **run):
    flat = Flat(targets=targets)
    flat.kernel("k()", grid=grid, cover=cover, block=block, shared=shared, resources=resources)
    return flat.run("k()", **run)


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ({"block": (1024,)}, None),
        ({"block": (1025,)}, ["PLC469", "PLC470"]),
        ({"block": (32, 32)}, None),
        ({"block": (32, 33)}, ["PLC469"]),
        ({"block": (1, 1, 64)}, None),
        ({"block": (1, 1, 65)}, ["PLC470"]),
        ({"block": 0}, ["PLC468"]),
        ({"grid": 0}, ["PLC468"]),
        ({"grid": (1, -1)}, ["PLC468"]),
        ({"grid": None, "cover": 0}, ["PLC468"]),
        ({"grid": (2**31 - 1,)}, None),
        ({"grid": (2**31,)}, ["PLC471"]),
        ({"grid": (1, 65535, 65535)}, None),
        ({"grid": (1, 65536)}, ["PLC471"]),
        ({"grid": None}, ["PLC466"]),
        ({"block": None}, ["PLC467"]),
        ({"cover": 5}, ["PLC476"]),
        ({"shared": 227 * 1024}, None),
        ({"shared": 227 * 1024 + 1}, ["PLC472"]),
        ({"shared": -1}, ["PLC472"]),
        ({"resources": Resources(1024, 0, 0, 1024), "shared": 226 * 1024}, None),
        ({"resources": Resources(1024, 0, 0, 1024), "shared": 226 * 1024 + 1}, ["PLC472"]),
        ({"resources": Resources(0, 0, 0, 256), "block": 256}, None),
        ({"resources": Resources(0, 0, 0, 256), "block": 257}, ["PLC474"]),
        ({"resources": Resources(0, 0, 0, 1024, 64), "block": 1024}, None),
        ({"resources": Resources(0, 0, 0, 1024, 65), "block": 1024}, ["PLC478"]),
        ({"resources": Resources(0, 0, 0, 64, None, (8, 8, 1)), "block": (8, 8)}, None),
        ({"resources": Resources(0, 0, 0, 64, None, (8, 8, 1)), "block": (64,)}, ["PLC475"]),
        ({"resources": Resources(0, 0, 0, 64, None, (8, 8, 1)), "block": None}, None),
    ],
)
def test_limits(what, code):
    assert launch(**what).codes() == (code or [])


def test_the_limits_are_those_of_each_target():
    assert launch(targets=("sm_90",), shared=200 * 1024).codes() == []
    (bad,) = launch(targets=("sm_90", "sm_80", "sm_86"), shared=200 * 1024).found()
    assert bad.code == "PLC472" and "`sm_80`" in bad.message


def grid_of(**what):
    op = launch(**what).program().kernel_ops[0]
    return op["grid"].tolist(), op["block"].tolist(), int(op["shared"])


def test_cover_is_rounded_up_to_blocks():
    assert grid_of(grid=None, cover=(65, 48), block=(32, 8))[0] == [3, 6, 1]
    assert grid_of(grid=None, cover=(64, 48), block=(32, 8))[0] == [2, 6, 1]


def test_a_run_overrides_its_kernel():
    flat = Flat().kernel("k()", grid=5, block=32, shared=64).run("k()", cover=100, block=(10,), shared=0)
    op = flat.program().kernel_ops[0]
    assert (op["grid"].tolist(), op["block"].tolist(), op["shared"]) == ([10, 1, 1], [10, 1, 1], 0)
    flat = Flat().kernel("k()", grid=None, cover=64).run("k()", grid=(2, 2))
    assert flat.program().kernel_ops[0]["grid"].tolist() == [2, 2, 1]


def test_a_required_block_is_the_default():
    assert grid_of(resources=Resources(0, 0, 0, 64, None, (8, 8, 1)), block=None)[1] == [8, 8, 1]
