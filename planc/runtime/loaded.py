"""Loaded plans: what a plan says of itself, before any device is touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from types import MappingProxyType

from planc.plan import decode, program_digest, read, validate
from planc.plan.program import Buffer, Bytes, Plan, Program, Role, Schedule, Slot
from planc.runtime.device import Device, Job, MemoryMode, Options
from planc.runtime.devices import open_device
from planc.runtime.executable import Executable
from planc.runtime.images import schedule_for
from planc.runtime.initial import initial_bytes
from planc.runtime.layout import bytes_by_role


class LoadedPlan:
    """A plan that was read and checked. Nothing of it changes; many executables may share it."""

    def __init__(self, plan: Plan) -> None:
        """Made by :func:`load`."""
        self.plan = plan

    @property
    def program(self) -> Program:
        """The plan's first program."""
        return self.plan.programs[0]

    @property
    def schedules(self) -> tuple[Schedule, ...]:
        """The schedules of the program, best first."""
        return self.plan.schedules[0]

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.program.name

    @property
    def inputs(self) -> Mapping[str, Buffer]:
        """The buffers that must be written or bound before a replay (roles input and inout)."""
        return self._by_role(Role.INPUT, Role.INOUT)

    @property
    def outputs(self) -> Mapping[str, Buffer]:
        """The buffers that hold a result after a replay (roles output and inout)."""
        return self._by_role(Role.OUTPUT, Role.INOUT)

    def _by_role(self, *roles: Role) -> Mapping[str, Buffer]:
        return MappingProxyType({b.name: b for b in self.program.buffers if b.role in roles})

    @property
    def slots(self) -> Mapping[str, Slot]:
        """The scalars that a replay may give a value."""
        return MappingProxyType({s.name: s for s in self.program.slots})

    @property
    def targets(self) -> tuple[str, ...]:
        """The architectures that the plan was compiled for."""
        return self.program.targets

    @property
    def verdict(self) -> str:
        """The sentence of the checks."""
        return self.plan.verdict

    @property
    def digest(self) -> str:
        """The digest of the program: graph, kernels, constants, effects."""
        return program_digest(self.program)

    def memory(self, schedule: str | None = None, memory: MemoryMode = "arena") -> Mapping[str, int]:
        """Return the bytes that an executable allocates, by role; no device is touched.

        Scratch counts as the arena of the schedule, or with ``separate`` as the sum of its buffers.
        Code, and what the driver needs for the graph itself, are not counted. Raises PLC718.
        """
        chosen = schedule_for(self.schedules, schedule, lambda target: True, "any")
        return MappingProxyType(bytes_by_role(self.program, chosen, memory))

    def instantiate(
        self,
        device: str | Device = "cuda:0",
        *,
        schedule: str | None = None,
        memory: MemoryMode = "arena",
        constants: Mapping[str, object] | None = None,
        target: str | None = None,
        stdout: Callable[[str], object] | None = None,
        budget: int | None = None,
    ) -> Executable:
        """Load, allocate and build on a device: ``cuda:0``, ``cpu``, ``fake``, or a device object.

        ``schedule`` names one; else the first that fits the device is taken. ``memory="separate"`` gives
        every buffer its own exact allocation. ``constants`` are the arrays that the plan names by digest.
        The CPU device alone takes ``target`` (whose PTX runs), ``stdout`` (a callable that takes the text of
        ``printf``; by default standard output) and ``budget`` (the most thread-instructions of one node).

        Raises :class:`planc.diagnostics.ReplayError` (PLC701, PLC715 to PLC718, PLC720, PLC725 to PLC728) or
        :class:`planc.diagnostics.DeviceError` (PLC730 to PLC736); then nothing is left behind.
        """
        options = Options(schedule, memory, target, stdout, budget)
        where = open_device(device)
        initial = initial_bytes(self.program, constants or {})
        instance = where.instantiate(Job(self.program, self.schedules, initial, options))
        return Executable(self.program, instance)

    def __repr__(self) -> str:
        """Name the plan."""
        return f"<LoadedPlan {self.name}: {len(self.program.nodes)} nodes for {', '.join(self.targets)}>"


def load(source: str | os.PathLike[str] | Bytes | bytearray | Plan) -> LoadedPlan:
    """Read and check a plan: the path of a file, its bytes, or a plan in memory.

    Raises :class:`planc.diagnostics.PlanError` (codes 6xx) with everything that is wrong.
    """
    if isinstance(source, Plan):
        validate(source)
        return LoadedPlan(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return LoadedPlan(decode(source))
    return LoadedPlan(read(source))
