"""A session: one program on the CPU device, replayed again and again from the same memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from planc.plan.program import Program, Schedule
from planc.runtime.cpu import CpuDevice, CpuInstance
from planc.runtime.cpu_nodes import Machine
from planc.runtime.device import Job, Options
from planc.runtime.executable import Executable
from planc.runtime.initial import initial_bytes
from planc.runtime.tracing.areas import Area, find_areas
from planc.runtime.tracing.watch import Watch
from planc.simt import Region, Site

Snapshot = tuple[NDArray[np.uint8], ...]
"""The bytes of every area."""


class Session:
    """An executable on the CPU device with its memory laid open."""

    def __init__(self, program: Program, instance: CpuInstance, relay: _Relay) -> None:
        """Made by :func:`open_session`."""
        self.program = program
        self.executable = Executable(program, instance)
        self.areas: tuple[Area, ...] = find_areas(instance.machine)
        self._instance = instance
        self._relay = relay

    @property
    def schedule(self) -> Schedule:
        """The schedule whose order a replay has unless it is given another."""
        return self._instance.schedule

    @property
    def starts(self) -> Mapping[int, int]:
        """The area of each region by the region's address."""
        return {a.region.start: a.index for a in self.areas if a.region.size}

    def save(self) -> Snapshot:
        """Return a copy of all memory."""
        return tuple(area.region.data.copy() for area in self.areas)

    def restore(self, snapshot: Snapshot) -> None:
        """Give all memory the bytes of a copy."""
        for area, held in zip(self.areas, snapshot, strict=True):
            if area.region.data.flags.writeable:
                area.region.data[:] = held

    def replay(
        self,
        arguments: Mapping[str, object],
        *,
        watch: Watch | None = None,
        order: Sequence[int] | None = None,
    ) -> None:
        """Replay once, in ``order`` (rows) where it is given. Raises what goes wrong in a node."""
        kept = self._instance.schedule
        if order is not None:
            self._instance.schedule = replace(kept, order=np.array(order, np.uint32))
        self._relay.watch = watch
        try:
            self.executable.replay(**arguments).wait()
        finally:
            self._relay.watch = None
            self._instance.schedule = kept


def open_session(
    program: Program,
    schedules: Sequence[Schedule],
    *,
    constants: Mapping[str, object] | None = None,
    target: str | None = None,
    budget: int | None = None,
) -> Session:
    """Instantiate a program on the CPU device; what kernels print is dropped.

    ``budget`` bounds the thread-instructions of one node. Raises what ``instantiate`` raises.
    """
    relay = _Relay()
    options = Options(target=target, stdout=_discard, budget=budget)
    job = Job(program, tuple(schedules), initial_bytes(program, constants or {}), options)
    instance = CpuDevice(relay).instantiate(job)
    assert isinstance(instance, CpuInstance)
    return Session(program, instance, relay)


def _discard(text: str) -> None:
    del text


class _Relay:
    """A watch that hands everything on to another, or to none."""

    def __init__(self) -> None:
        self.watch: Watch | None = None

    def start(self, machine: Machine) -> None:
        if self.watch is not None:
            self.watch.start(machine)

    def enter(self, node: int) -> None:
        if self.watch is not None:
            self.watch.enter(node)

    def leave(self, node: int, complete: bool) -> None:
        if self.watch is not None:
            self.watch.leave(node, complete)

    def access(
        self, site: Site, addresses: NDArray[np.uint64], size: int, region: Region, threads: NDArray[np.int64]
    ) -> None:
        if self.watch is not None:
            self.watch.access(site, addresses, size, region, threads)
