"""Executables: a schedule of a plan on one device, to be fed, replayed and read."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from types import MappingProxyType, TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Diagnostic, ReplayError
from planc.plan.dtypes import DTYPES
from planc.plan.program import Buffer, Program, Role
from planc.runtime.aliasing import Span, alias_diagnostics, covered, written_buffers
from planc.runtime.checks import (
    BINDABLE,
    READABLE,
    WRITABLE,
    find,
    host_array,
    no_tensor,
    tensor_faults,
    wrong_device,
)
from planc.runtime.device import Instance, Tensor
from planc.runtime.errors import did_you_mean, refuse
from planc.runtime.links import default_values
from planc.runtime.scalars import BadScalar, Scalar, encode
from planc.runtime.tensors import NotATensor, describe
from planc.runtime.ticket import Ticket

_FED = (Role.INPUT, Role.INOUT)


class Executable:
    """One schedule of a plan, instantiated on one device. A context manager; ``close`` is idempotent.

    What it owns and what it holds is in docs/runtime.md, "Ownership". Every method raises
    :class:`ReplayError` where the caller is refused, with every fault of the call, and
    :class:`DeviceError` where the device fails. Methods take turns under one lock.
    """

    def __init__(self, program: Program, instance: Instance) -> None:
        """Made by ``LoadedPlan.instantiate``."""
        self._program = program
        self._instance = instance
        self._lock = threading.RLock()
        self._closed = False
        self._rows = {b.name: i for i, b in enumerate(program.buffers)}
        self._slots = {s.name: i for i, s in enumerate(program.slots)}
        self._bound: dict[int, Tensor] = {}
        self._filled: set[int] = set()
        self._values = _defaults(program)

    @cached_property
    def _written(self) -> frozenset[int]:
        return written_buffers(self._program)

    @property
    def device(self) -> str:
        """The device's name, ``cuda:0``."""
        return self._instance.device

    @property
    def target(self) -> str:
        """The architecture whose code runs, ``sm_90``: on the CPU device, whose PTX."""
        return self._instance.target

    @property
    def schedule(self) -> str:
        """The name of the schedule."""
        return self._instance.schedule.name

    @property
    def inputs(self) -> Mapping[str, Buffer]:
        """The buffers that must be written or bound before a replay."""
        return self._by_role(Role.INPUT, Role.INOUT)

    @property
    def outputs(self) -> Mapping[str, Buffer]:
        """The buffers that hold a result after a replay."""
        return self._by_role(Role.OUTPUT, Role.INOUT)

    def _by_role(self, *roles: Role) -> Mapping[str, Buffer]:
        return MappingProxyType({b.name: b for b in self._program.buffers if b.role in roles})

    @property
    def arguments(self) -> Mapping[str, Scalar]:
        """The value of each scalar slot in force now, as its type holds it."""
        names = (s.name for s in self._program.slots)
        return MappingProxyType({n: v for n, (_, v) in zip(names, self._values, strict=True)})

    @property
    def binding_bytes(self) -> int:
        """Bytes of storage under all inputs, outputs and inouts; bytes that several share count once."""
        with self._open():
            rows = (i for i, b in enumerate(self._program.buffers) if b.role in BINDABLE)
            return covered(Span(row, *self._instance.region(row)) for row in rows)

    def describe(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return shape and NumPy dtype of a buffer."""
        refuse(filter(None, [find(self._program, self._rows, name, "read", frozenset(Role))]))
        buffer = self._program.buffers[self._rows[name]]
        return buffer.shape, DTYPES[buffer.dtype].numpy

    def bind(self, /, **tensors: object) -> None:
        """Let each name stand on the caller's tensor, with no copy; None goes back to the plan's own storage.

        On the CPU device a NumPy array, on a GPU a tensor with ``__dlpack__`` or
        ``__cuda_array_interface__``: of the buffer's dtype and shape, C-contiguous. It is held until it is
        replaced and no launch uses it, or close. Nothing is bound if one is refused.
        """
        with self._open():
            faults: list[Diagnostic] = []
            rows: dict[int, Tensor | None] = {}
            for name, value in tensors.items():
                wrong = find(self._program, self._rows, name, "bound", BINDABLE)
                found = [wrong] if wrong else self._tensor(name, value, rows)
                faults += found
            refuse(faults or self._aliases(rows))
            self._instance.bind(rows)
            for row, tensor in rows.items():
                self._bound.pop(row, None)
                if tensor is not None:
                    self._bound[row] = tensor

    def _tensor(self, name: str, value: object, rows: dict[int, Tensor | None]) -> list[Diagnostic]:
        """Describe one tensor into ``rows``; return its faults."""
        row = self._rows[name]
        rows[row] = None
        if value is None:
            return []
        try:
            tensor = describe(value)
        except NotATensor as reason:
            return [no_tensor(name, str(reason))]
        if not self._instance.accepts(tensor):
            return [wrong_device(name, tensor, self.device)]
        rows[row] = tensor
        buffer = self._program.buffers[row]
        align = self._instance.alignment(buffer)
        return tensor_faults(buffer, tensor, row in self._written, align)

    def _aliases(self, rows: Mapping[int, Tensor | None]) -> list[Diagnostic]:
        after = {**self._bound, **rows}
        storage = {row: (t.address, t.nbytes) for row, t in after.items() if t is not None}
        return alias_diagnostics(self._program, self._written, storage)

    def write(self, name: str, array: object) -> None:
        """Copy a host array into the storage that a name stands on: an input, inout, state or global.

        The array has the buffer's dtype and shape, in any memory order. It is copied on return, after all
        launches before.
        """
        with self._open():
            refuse(filter(None, [find(self._program, self._rows, name, "written", WRITABLE)]))
            row = self._rows[name]
            data = host_array(self._program.buffers[row], array)
            if isinstance(data, list):
                raise ReplayError(data)
            bound = self._bound.get(row)
            if bound is not None:
                refuse(tensor_faults(self._program.buffers[row], bound, True, 1))
            self._instance.write(row, data)
            if bound is None:
                self._filled.add(row)

    def read(self, name: str) -> NDArray[Any]:
        """Return a new host array with a buffer's elements, after all launches before; no scratch."""
        with self._open():
            refuse(filter(None, [find(self._program, self._rows, name, "read", READABLE)]))
            row = self._rows[name]
            shape, dtype = self.describe(name)
            return self._instance.read(row).view(dtype).reshape(shape)

    def replay(self, /, **scalars: object) -> Ticket:
        """Run the schedule once and return a ticket.

        Each scalar given keeps its value in later replays. A device that is asynchronous has only enqueued
        the work on return; the CPU device has done it, and raises what went wrong.
        """
        with self._open():
            changed: dict[int, tuple[bytes, Scalar]] = {}
            refuse([*self._set(scalars, changed), *self._unfed()])
            if changed:
                self._instance.patch({slot: octets for slot, (octets, _) in changed.items()})
                for slot, value in changed.items():
                    self._values[slot] = value
            return Ticket(self._instance, self._instance.launch())

    def _set(
        self, scalars: Mapping[str, object], changed: dict[int, tuple[bytes, Scalar]]
    ) -> list[Diagnostic]:
        """Put the slots whose bytes change into ``changed``; return the faults."""
        faults = []
        for name, value in scalars.items():
            if name not in self._slots:
                cure = did_you_mean(name, self._slots, "scalar slots")
                faults.append(
                    Diagnostic(
                        "PLC711", f"the plan has no scalar slot `{name}`", help=cure, facts={"slot": name}
                    )
                )
                continue
            row = self._slots[name]
            try:
                encoded = encode(self._program.slots[row], value)
            except BadScalar as error:
                faults.append(error.diagnostic)
                continue
            if encoded[0] != self._values[row][0]:
                changed[row] = encoded
        return faults

    def _unfed(self) -> list[Diagnostic]:
        """Return a PLC710 for each input that nobody wrote or bound."""
        return [
            Diagnostic(
                "PLC710",
                f"input `{b.name}` was never written or bound",
                help=f"`write({b.name!r}, array)` or `bind({b.name}=tensor)` before the first replay",
                facts={"buffer": b.name},
            )
            for row, b in enumerate(self._program.buffers)
            if b.role in _FED and row not in self._filled and row not in self._bound and b.nbytes
        ]

    def reset(self) -> None:
        """Give state and globals their initial bytes again, zeros where the plan gives none.

        A global without initial bytes in the plan gets those of its module.
        """
        with self._open():
            kept = (Role.STATE, Role.GLOBAL)
            self._instance.reset([i for i, b in enumerate(self._program.buffers) if b.role in kept])

    def close(self) -> None:
        """Wait for what is in flight, then free everything; later calls of other methods raise PLC714."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                self._instance.close()
            finally:
                self._bound.clear()

    @contextmanager
    def _open(self) -> Iterator[None]:
        """Take the lock, the executable being open."""
        with self._lock:
            if self._closed:
                raise ReplayError(
                    Diagnostic(
                        "PLC714",
                        f"the executable of `{self._program.name}` is closed",
                        help="instantiate the plan again",
                        facts={"plan": self._program.name},
                    )
                )
            yield

    def __enter__(self) -> Executable:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """Name plan, schedule and device."""
        state = " (closed)" if self._closed else ""
        return f"<Executable of {self._program.name}/{self.schedule} on {self.device}{state}>"


def _defaults(program: Program) -> list[tuple[bytes, Scalar]]:
    """Return each slot's value as compiled; a slot that feeds no node has its declared default."""
    patched = default_values(program)
    values: list[tuple[bytes, Scalar]] = []
    for row, slot in enumerate(program.slots):
        if row in patched:
            octets = patched[row]
            values.append((octets, np.frombuffer(octets, DTYPES[slot.dtype].numpy)[0].item()))
        else:
            values.append(encode(slot, slot.value))
    return values
