"""What a device must do: the Protocols between an executable and where it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, get_args

from numpy.typing import NDArray

from planc.plan.program import Buffer, Bytes, Program, Schedule

MemoryMode = Literal["arena", "separate"]
MEMORY_MODES: tuple[str, ...] = get_args(MemoryMode)
Octets = NDArray[Any]
"""A one-dimensional uint8 array."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller of ``instantiate`` chose.

    ``memory`` is ``arena`` (scratch shares one allocation by the schedule's placements) or
    ``separate`` (each buffer its own exact allocation). ``target``, ``stdout`` and ``budget`` are the
    CPU device's: whose PTX runs, where ``printf`` goes, and how many steps a launch may take.
    """

    schedule: str | None = None
    memory: MemoryMode = "arena"
    target: str | None = None
    stdout: Callable[[str], object] | None = None
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One program to instantiate. ``initial`` gives the bytes of constants and globals by buffer row."""

    program: Program
    schedules: tuple[Schedule, ...]
    initial: Mapping[int, Bytes]
    options: Options


@dataclass(frozen=True, slots=True)
class Tensor:
    """An array of the caller's, as its own protocol describes it.

    ``dtype`` is a planc element type, or the foreign name where planc has none. ``address`` and
    ``nbytes`` give its storage; ``contiguous`` is true in C order. ``place`` is ``cpu`` or ``cuda``,
    ``ordinal`` the CUDA device where the protocol tells it. ``octets`` is the storage itself on the CPU.
    ``owner`` keeps the storage alive.
    """

    dtype: str
    shape: tuple[int, ...]
    contiguous: bool
    writable: bool
    address: int
    nbytes: int
    place: str
    ordinal: int | None
    owner: object
    octets: Octets | None = None


class Instance(Protocol):
    """One schedule instantiated on one device. Buffers and slots are rows of the program's tables.

    Every method raises :class:`planc.diagnostics.DeviceError` where the device fails.
    """

    device: str
    target: str
    schedule: Schedule

    def region(self, buffer: int) -> tuple[int, int]:
        """Return (address, bytes) of the storage that a buffer stands on now."""
        ...

    def alignment(self, buffer: Buffer) -> int:
        """Return what the address of a tensor for this buffer must be a multiple of."""
        ...

    def accepts(self, tensor: Tensor) -> bool:
        """Whether the tensor's storage is on this device."""
        ...

    def bind(self, tensors: Mapping[int, Tensor | None]) -> None:
        """Let buffers stand on these tensors, None on their own storage; all or nothing."""
        ...

    def write(self, buffer: int, data: Octets) -> None:
        """Copy ``data`` to a buffer, after all launches before; complete on return."""
        ...

    def read(self, buffer: int) -> Octets:
        """Return a copy of a buffer's bytes, after all launches before."""
        ...

    def reset(self, buffers: Sequence[int]) -> None:
        """Give buffers of the plan's own storage their initial bytes."""
        ...

    def patch(self, values: Mapping[int, bytes]) -> None:
        """Give slots new bytes, for future launches; all or nothing."""
        ...

    def launch(self) -> int:
        """Start one replay and return its number (from 1)."""
        ...

    def done(self, replay: int) -> bool:
        """Whether a replay is complete; raises what went wrong in it."""
        ...

    def wait(self, replay: int, timeout: float | None) -> bool:
        """Wait at most ``timeout`` seconds; return whether the replay is complete."""
        ...

    def close(self) -> None:
        """Wait for what is in flight and free everything; idempotent."""
        ...


class Device(Protocol):
    """A place where plans can run."""

    name: str

    def instantiate(self, job: Job) -> Instance:
        """Allocate, load and build; what was made is freed again if this fails."""
        ...
