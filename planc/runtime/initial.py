"""The first bytes of constants and globals: from the plan, or supplied at load and checked by digest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from planc.diagnostics import Diagnostic, ReplayError
from planc.plan.digests import sha256
from planc.plan.dtypes import DTYPES
from planc.plan.program import Buffer, Bytes, Program
from planc.runtime.errors import did_you_mean
from planc.runtime.tensors import dtype_name


def initial_bytes(program: Program, supplied: Mapping[str, object]) -> dict[int, Bytes]:
    """Return the first bytes of every buffer that has a digest, by row.

    Raises :class:`ReplayError` with everything that is wrong: PLC701 a name that no buffer has,
    PLC715 a constant that is missing, PLC716 one that is not the one the plan was compiled with.
    """
    found: dict[int, Bytes] = {}
    wrong: list[Diagnostic] = []
    takes = {b.name: i for i, b in enumerate(program.buffers) if b.data is not None}
    for name in supplied:
        if name not in takes:
            cure = did_you_mean(name, takes, "constants")
            wrong.append(
                Diagnostic("PLC701", f"the plan has no constant `{name}`", help=cure, facts={"buffer": name})
            )
    for name, row in takes.items():
        buffer = program.buffers[row]
        given = name in supplied
        value = _checked(buffer, supplied[name]) if given else _embedded(program, buffer)
        if isinstance(value, Diagnostic):
            wrong.append(value)
        else:
            found[row] = value
    if wrong:
        raise ReplayError(wrong)
    return found


def _embedded(program: Program, buffer: Buffer) -> Bytes | Diagnostic:
    if buffer.embedded and buffer.data is not None and buffer.data in program.constants:
        return program.constants[buffer.data]
    return Diagnostic(
        "PLC715",
        f"constant `{buffer.name}` ({buffer.nbytes} bytes) is not in the plan and was not supplied",
        help=f'pass it: `instantiate(constants={{"{buffer.name}": array}})`',
        facts={"buffer": buffer.name, "bytes": buffer.nbytes, "sha256": buffer.data},
    )


def _checked(buffer: Buffer, value: object) -> Bytes | Diagnostic:
    array = np.asarray(value)
    if array.dtype != DTYPES[buffer.dtype].numpy or array.shape != buffer.shape:
        has = f"{dtype_name(array.dtype)}{list(array.shape)}"
        return _other(buffer, f"is {has}; the plan has {buffer.dtype}{list(buffer.shape)}")
    octets = np.ascontiguousarray(array).tobytes()
    digest = sha256(octets)
    if digest != buffer.data:
        return _other(buffer, f"has SHA-256 {digest[:16]}…; the plan has {str(buffer.data)[:16]}…")
    return octets


def _other(buffer: Buffer, difference: str) -> Diagnostic:
    return Diagnostic(
        "PLC716",
        f"constant `{buffer.name}` as supplied {difference}",
        help="supply the array that the plan was compiled with, or compile the plan again",
        facts={"buffer": buffer.name, "sha256": buffer.data},
    )
