"""Random chains of fills and copies over views of random arrays, with what NumPy makes of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from planc.plan.program import Plan, Role
from tests.runtime.programs import Maker, View

_TYPES = [("u8", np.uint8), ("i16", np.int16), ("f32", np.float32), ("f64", np.float64)]


@dataclass(frozen=True)
class Case:
    """A plan over ``u`` (inout) and ``v`` (input), their first values, and ``u`` afterwards."""

    plan: Plan
    u: np.ndarray
    v: np.ndarray
    wanted: np.ndarray


def random_case(seed: int, *, longest: int = 6, nodes: int = 6) -> Case:
    """Make a case of at most four axes of at most ``longest`` elements."""
    rng = random.Random(seed)
    dtype, numpy = rng.choice(_TYPES)
    size = np.dtype(numpy).itemsize
    rank = rng.randint(1, 4)
    shapes = [[rng.randint(1, longest) for _ in range(rank)] for _ in range(2)]
    maker = Maker("views")
    maker.buffer("u", dtype, shapes[0])
    maker.buffer("v", dtype, shapes[1], Role.INPUT)
    octets = np.random.default_rng(seed)
    u, v = (octets.integers(0, 256, (*s, size), np.uint8).view(numpy)[..., 0] for s in shapes)
    wanted, after = u.copy(), []
    for n in range(nodes):
        name, index = f"n{n}", tuple(random_slice(rng, count) for count in shapes[0])
        part = wanted[index]
        fits = all(a <= b for a, b in zip(part.shape, shapes[1], strict=True))
        if fits and rng.random() < 0.5:
            source = tuple(_place(rng, a, b) for a, b in zip(part.shape, shapes[1], strict=True))
            maker.copy(name, View("u", index), View("v", source), after=after)
            part[...] = v[source]
        else:
            item = rng.choice([i for i in (1, 2, 4) if i <= size])
            pattern = rng.getrandbits(8 * item)
            maker.fill(name, View("u", index), pattern, item, after=after)
            part[...] = np.frombuffer(pattern.to_bytes(item, "little") * (size // item), numpy)[0]
        maker.join(f"j{n}", after=[name])
        after = [f"j{n}"]
    return Case(maker.plan(), u, v, wanted)


def random_slice(rng: random.Random, count: int) -> slice:
    """Return a slice of at least one of ``count`` elements, of any step."""
    start = rng.randint(0, count - 1)
    stop = rng.randint(start + 1, count)
    step = rng.choice((1, 1, 2, 3))
    if rng.random() < 0.25:
        return slice(stop - 1, start - 1 if start else None, -step)
    return slice(start, stop, step)


def _place(rng: random.Random, length: int, room: int) -> slice:
    start = rng.randint(0, room - length)
    return slice(start, start + length)
