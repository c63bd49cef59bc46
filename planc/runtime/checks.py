"""What may be bound, written and read: names, roles, types, shapes. Every check gives a diagnostic."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Diagnostic
from planc.plan.dtypes import DTYPES
from planc.plan.program import Buffer, Program, Role
from planc.runtime.device import Octets, Tensor
from planc.runtime.errors import did_you_mean
from planc.runtime.tensors import cuda_interface, dtype_name

BINDABLE = frozenset({Role.INPUT, Role.OUTPUT, Role.INOUT})
WRITABLE = frozenset({Role.INPUT, Role.INOUT, Role.STATE, Role.GLOBAL})
READABLE = frozenset(set(Role) - {Role.SCRATCH})
_CURES: Mapping[tuple[str, Role], str] = MappingProxyType(
    {
        (
            "bound",
            Role.CONSTANT,
        ): "pass another array to `instantiate(constants=…)`, or compile the plan again",
        ("bound", Role.STATE): "`write` it; state lives in the plan's own storage",
        ("bound", Role.GLOBAL): "`write` it; a global lives in its module",
        ("bound", Role.SCRATCH): "give it the role `inout` in the graph",
        ("written", Role.CONSTANT): "give it the role `input` in the graph if it changes",
        ("written", Role.OUTPUT): "give it the role `inout` in the graph if its old values matter",
        ("written", Role.SCRATCH): "give it the role `state` or `input` in the graph",
        ("read", Role.SCRATCH): "give it the role `output` in the graph",
    }
)


def find(
    program: Program, rows: Mapping[str, int], name: str, verb: str, roles: frozenset[Role]
) -> Diagnostic | None:
    """Return what is wrong with doing ``verb`` (bound, written, read) to a name, or None."""
    if name not in rows:
        possible = [b.name for b in program.buffers if b.role in roles]
        return Diagnostic(
            "PLC701",
            f"the plan has no buffer `{name}`",
            help=did_you_mean(name, possible, f"buffers that can be {verb}"),
            facts={"buffer": name},
        )
    buffer = program.buffers[rows[name]]
    if buffer.role in roles:
        return None
    role = buffer.role.name.lower()
    return Diagnostic(
        "PLC706",
        f"`{name}` has the role {role} and cannot be {verb}",
        help=_CURES[verb, buffer.role],
        facts={"buffer": name, "role": role},
    )


def likeness(buffer: Buffer, dtype: str, shape: tuple[int, ...]) -> list[Diagnostic]:
    """Return what is wrong with an array's element type and shape."""
    found = []
    if dtype != buffer.dtype:
        wanted = DTYPES[buffer.dtype].numpy.name
        found.append(
            Diagnostic(
                "PLC702",
                f"`{buffer.name}` takes {buffer.dtype}, and the array has {dtype}",
                help=f"convert it, in NumPy with `array.astype({wanted!r})`",
                facts={"buffer": buffer.name, "wanted": buffer.dtype, "given": dtype},
            )
        )
    if shape != buffer.shape:
        found.append(
            Diagnostic(
                "PLC703",
                f"`{buffer.name}` has shape {list(buffer.shape)}, and the array {list(shape)}",
                help=f"give an array of shape {list(buffer.shape)}",
                facts={"buffer": buffer.name, "wanted": list(buffer.shape), "given": list(shape)},
            )
        )
    return found


def tensor_faults(buffer: Buffer, tensor: Tensor, written: bool, align: int) -> list[Diagnostic]:
    """Return what is wrong with binding a tensor: type, shape, strides, address, read-only storage."""
    found = likeness(buffer, tensor.dtype, tensor.shape)
    facts = {"buffer": buffer.name}
    if not tensor.contiguous:
        found.append(
            Diagnostic(
                "PLC704",
                f"the tensor for `{buffer.name}` is not contiguous in C order",
                help="bind a contiguous copy, or `write` it (which copies)",
                facts=facts,
            )
        )
    if tensor.nbytes and tensor.address % align:
        found.append(
            Diagnostic(
                "PLC705",
                f"the tensor for `{buffer.name}` starts at an address that is no multiple of {align}",
                help="bind a tensor with an allocation of its own, or `write` it (which copies)",
                facts={**facts, "align": align, "address": tensor.address},
            )
        )
    if written and not tensor.writable:
        found.append(
            Diagnostic(
                "PLC719",
                f"the tensor for `{buffer.name}` is read-only, and the plan writes it",
                help="bind a writable copy",
                facts=facts,
            )
        )
    return found


def no_tensor(name: str, reason: str) -> Diagnostic:
    """Return PLC707: the object is no array that planc can read."""
    return Diagnostic(
        "PLC707",
        f"what is given for `{name}` is no array: {reason}",
        help="give a NumPy array, or on a GPU a tensor with `__dlpack__` or `__cuda_array_interface__`",
        facts={"buffer": name},
    )


def wrong_device(name: str, tensor: Tensor, device: str) -> Diagnostic:
    """Return PLC708: the tensor lies elsewhere."""
    where = "the host" if tensor.place == "cpu" else "a GPU"
    if tensor.place == "cuda" and tensor.ordinal is not None:
        where = f"`cuda:{tensor.ordinal}`"
    return Diagnostic(
        "PLC708",
        f"the tensor for `{name}` is on {where}, and the executable on `{device}`",
        help=f"move it to `{device}`" + (", or `write` it (which copies)" if tensor.place == "cpu" else ""),
        facts={"buffer": name, "device": device},
    )


def host_array(buffer: Buffer, value: object) -> Octets | list[Diagnostic]:
    """Return the bytes of a host array for a buffer, copied where it is not contiguous, or the faults."""
    if not isinstance(value, np.ndarray) and cuda_interface(value) is not None:
        return [no_tensor(buffer.name, "it lies on a GPU; `bind` it")]
    try:
        array: NDArray[np.generic] = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as error:
        return [no_tensor(buffer.name, str(error))]
    faults = likeness(buffer, dtype_name(array.dtype), array.shape)
    if faults:
        return faults
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
