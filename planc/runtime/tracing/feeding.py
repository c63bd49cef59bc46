"""First bytes for a replay that nobody has given data: random, and equal for equal seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.plan.dtypes import DTYPES
from planc.plan.program import Buffer, Program, Role
from planc.runtime.executable import Executable

SMALL = 8
"""Random integers are from 0 to before this, or before the least extent above 1 of any buffer."""
_FED = (Role.INPUT, Role.INOUT)


def random_inputs(program: Program, seed: int, given: Mapping[str, object]) -> dict[str, NDArray[Any]]:
    """Return arrays for the inputs and inouts that ``given`` lacks.

    Floating numbers are uniform from -1 to 1, bools even. Integers are small and not negative, so that they
    can be indices: from 0 to before :data:`SMALL` and to before the least extent above 1 that any buffer has.
    """
    rng = np.random.default_rng(seed)
    extents = [extent for buffer in program.buffers for extent in buffer.shape if extent > 1]
    bound = min([SMALL, *extents])
    return {b.name: _array(rng, b, bound) for b in program.buffers if b.role in _FED and b.name not in given}


def _array(rng: np.random.Generator, buffer: Buffer, bound: int) -> NDArray[Any]:
    dtype = DTYPES[buffer.dtype]
    if dtype.kind == "f":
        return rng.uniform(-1, 1, buffer.shape).astype(dtype.numpy)
    return rng.integers(0, 2 if dtype.kind == "b" else bound, buffer.shape).astype(dtype.numpy)


def feed(executable: Executable, program: Program, inputs: Mapping[str, object], seed: int) -> None:
    """Write every input and inout: what is given, else random numbers. Raises what ``write`` raises."""
    for name, array in {**random_inputs(program, seed, inputs), **inputs}.items():
        executable.write(name, array)
