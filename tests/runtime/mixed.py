"""A plan with a little of everything, for the driver's side."""

from __future__ import annotations

import numpy as np

from planc.plan.program import Role
from planc.runtime import Executable
from tests.runtime.programs import Maker, View, axpy_maker

F32 = np.float32


def mixed_maker() -> Maker:
    """Fills, copies of one and more dimensions, a join, kernels, a constant, state and scratch."""
    maker = axpy_maker()
    maker.buffer("grid", "f32", [6, 8])
    maker.buffer("out", "f32", [6, 8], Role.OUTPUT)
    maker.buffer("count", "i32", [4], Role.STATE)
    maker.buffer("t", "f32", [8], Role.SCRATCH)
    maker.constant("table", np.arange(8, dtype=F32), "f32")
    maker.fill("one", View("grid", (slice(0, 6, 2), slice(1, 4))), 0x3F800000, 4)
    maker.copy("move", View("out", (slice(None), slice(None, None, -1))), View("grid"), after=["one"])
    maker.copy("keep", View("t"), View("table"))
    maker.join("meet", after=["move", "keep", "second"])
    maker.fill("tick", View("count", (slice(0, 1),)), 7, 4, after=["meet"])
    return maker


def feed(exe: Executable) -> None:
    """Write zeros to every input."""
    for name in exe.inputs:
        shape, dtype = exe.describe(name)
        exe.write(name, np.zeros(shape, dtype))
