"""The sample graphs: what to feed each, and what NumPy says must come out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

PLANS = Path(__file__).resolve().parents[2] / "plans"
Arrays = dict[str, NDArray]


@dataclass(frozen=True)
class Sample:
    """A sample: inputs by name, scalar values, and the expected outputs.

    ``tolerance`` is relative: 0 where the arithmetic must agree bit for bit with NumPy's.
    """

    name: str
    inputs: Callable[[], Arrays]
    expected: Callable[[Arrays], Arrays]
    scalars: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0

    @property
    def graph(self) -> Path:
        """The graph file."""
        return PLANS / self.name / "graph.yaml"

    @property
    def golden(self) -> Path:
        """The plan that the repository holds."""
        return PLANS / self.name / f"{self.name}.plan"


def _heat(given: Arrays) -> Arrays:
    u = given["u"].astype(np.float64)
    for _ in range(16):
        new = u.copy()
        around = (u[1:-1, :-2] + u[1:-1, 2:]) + (u[:-2, 1:-1] + u[2:, 1:-1])
        new[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.2 * (around - 4 * u[1:-1, 1:-1])
        u = new
    return {"u": u.astype(np.float32)}


def _euler(steps: int) -> Callable[[Arrays], Arrays]:
    def expected(given: Arrays) -> Arrays:
        y = given["y"].astype(np.float64)
        for _ in range(steps):
            y = y + 0.02 * (2.0 - y * y)
        return {"y": y.astype(np.float32)}

    return expected


def _digits(given: Arrays) -> Arrays:
    w = np.load(PLANS / "digits" / "weights.npz")
    hidden = np.maximum(given["images"] / np.float32(16) @ w["w1"] + w["b1"], 0)
    return {"labels": (hidden @ w["w2"] + w["b2"]).argmax(axis=1).astype(np.int32)}


def _random(name: str, shape: tuple[int, ...]) -> Callable[[], Arrays]:
    return lambda: {name: np.random.default_rng(7).random(shape, dtype=np.float32)}


SAMPLES = (
    Sample(
        "fill_chain",
        dict,
        lambda given: {"x": np.repeat(np.arange(1, 129, dtype=np.uint32)[:, None], 64, axis=1)},
    ),
    Sample("heat2d", _random("u", (48, 64)), _heat, {"alpha": 0.2}, 1e-5),
    Sample("euler_chain", _random("y", (1024,)), _euler(32), {"h": 0.02}, 1e-5),
    Sample("euler_independent", _random("y", (32, 1024)), _euler(1), {"h": 0.02}, 1e-6),
    Sample("digits", lambda: {"images": np.load(PLANS / "digits" / "digits.npz")["images"][:599]}, _digits),
    Sample("hello", dict, lambda given: {}, {"number": 42}),
)
