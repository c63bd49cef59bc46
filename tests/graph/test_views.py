"""Views against NumPy's indexing."""

import random

import numpy as np
import pytest

from planc.diagnostics import Collector, Span
from planc.graph.names import KnownBuffer
from planc.graph.report import Reporter
from planc.graph.views import resolve_view
from planc.plan.dtypes import DTYPES
from planc.plan.program import Buffer, Role
from tests.graph.flat_builder import Flat, view


def resolve(text, shape, dtype="f32"):
    collector = Collector()
    item = DTYPES[dtype].itemsize
    buffer = Buffer("u", dtype, shape, Role.INOUT, int(np.prod(shape)) * item)
    known = KnownBuffer(0, buffer, DTYPES[dtype], Span("g"))
    found = resolve_view(view(text, Span("g")), known, Reporter(collector))
    return found, [d.code for d in collector.diagnostics]


def numpy_view(text, shape):
    base = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return eval(f"base{text[1:]}", {"base": base})  # NumPy itself is the reference


def assert_places(found, array, text):
    """Each element of the view lies where NumPy's does; ``array`` holds the numbers of the elements."""
    places = np.full(found.shape, found.box.offset)
    for axis, (count, stride) in enumerate(found.box.axes):
        steps = np.arange(count) * stride
        places = places + steps.reshape((-1,) + (1,) * (len(found.shape) - axis - 1))
    assert found.shape == np.shape(array), text
    assert np.array_equal(places // 4, array), text


TEXTS = [
    ("u", (3, 4)),
    ("u[1]", (3, 4)),
    ("u[-1]", (3, 4)),
    ("u[1, 2]", (3, 4)),
    ("u[1:3]", (3, 4)),
    ("u[:, 1:-1]", (3, 4)),
    ("u[::2, ::3]", (5, 7)),
    ("u[::-1]", (3, 4)),
    ("u[-1:0:-2, 1]", (5, 4)),
    ("u[2::-1]", (5, 4)),
    ("u[..., 0]", (2, 3, 4)),
    ("u[0, ...]", (2, 3, 4)),
    ("u[0, ..., 1]", (2, 3, 4)),
    ("u[...]", (2, 3)),
    ("u[0, 0, ...]", (2, 3)),
    ("u[0:3]", (3,)),
    ("u[-3:]", (3,)),
]


@pytest.mark.parametrize(("text", "shape"), TEXTS)
def test_a_view_is_what_numpy_makes_of_it(text, shape):
    found, codes = resolve(text, shape)
    assert codes == []
    assert_places(found, numpy_view(text, shape), text)


def test_random_views_have_numpys_places():
    rng = random.Random(1)
    for _ in range(1500):
        shape = tuple(rng.randint(1, 6) for _ in range(rng.randint(1, 3)))
        parts = []
        for n in shape:
            ends = [rng.choice([None, rng.randint(-n, n - 1)]) for _ in range(2)]
            step = rng.choice([None, 1, 2, -1, -3])
            choices = [
                str(rng.randrange(-n, n)),
                ":".join("" if e is None else str(e) for e in (*ends, step)),
            ]
            parts.append(rng.choice(choices))
        text = f"u[{', '.join(parts)}]"
        array = numpy_view(text, shape)
        found, codes = resolve(text, shape)
        if array.size == 0:
            assert codes == ["PLC303"], text
            continue
        assert codes == [], text
        assert_places(found, array, text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("u[4]", "PLC301"),
        ("u[-5]", "PLC301"),
        ("u[0:5]", "PLC302"),
        ("u[5:]", "PLC302"),
        ("u[-5:]", "PLC302"),
        ("u[4::-1]", "PLC302"),
        ("u[::0]", "PLC305"),
        ("u[2:2]", "PLC303"),
        ("u[3:1]", "PLC303"),
        ("u[4:]", "PLC303"),
        ("u[0, 0]", "PLC304"),
        ("u[..., ...]", "PLC306"),
    ],
)
def test_what_is_refused(text, code):
    assert resolve(text, (4,)) == (None, [code])


@pytest.mark.parametrize(
    "text", ["u[3]", "u[-4]", "u[0:4]", "u[-4:]", "u[3::-1]", "u[::1]", "u[2:3]", "u[...]"]
)
def test_the_legal_neighbour_of_each(text):
    found, codes = resolve(text, (4,))
    assert codes == [] and found is not None


def test_contiguous_views():
    def contiguous(text, shape):
        return resolve(text, shape)[0].contiguous

    assert contiguous("u", (3, 4)) and contiguous("u[1]", (3, 4)) and contiguous("u[1:3]", (3, 4))
    assert contiguous("u[1, 1:3]", (3, 4)) and contiguous("u[1:2, 1:3]", (3, 4))
    assert not contiguous("u[:, 1:3]", (3, 4)) and not contiguous("u[::-1]", (3, 4))


def test_a_fault_in_a_loop_is_reported_once():
    flat = Flat().buffer("u: f32[4] inout")
    flat.fill("u[4] = 0").fill("u[5] = 0")
    from dataclasses import replace

    first, second = flat.nodes
    target = replace(second.op.target, span=first.op.target.span)
    flat.nodes[1] = replace(second, op=replace(second.op, target=target))
    (bad,) = flat.found()
    assert "index 4" in bad.message
