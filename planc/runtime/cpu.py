"""The CPU reference device: every node in the order of the schedule, kernels by the PTX interpreter."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from planc.diagnostics import DeviceError, Diagnostic, PlancError
from planc.plan.program import Buffer, Function, Image, NodeKind, Program, Role
from planc.ptx import parse
from planc.ptx.syntax import Module
from planc.runtime.cpu_nodes import RUN, Machine
from planc.runtime.device import Instance, Job, Octets, Tensor
from planc.runtime.devices import check_options
from planc.runtime.images import image_for_interpreter, schedule_for, targets_of
from planc.runtime.links import ArgumentBlob, Links
from planc.runtime.modules import compare_parameters, compare_sizes, symbol_of
from planc.simt import Memory, PreparedKernel, load_variables, prepare

if TYPE_CHECKING:
    from planc.runtime.tracing import Watch

POISON = 0xA5
"""What every byte of scratch holds before a replay."""
_MOST = 4  # a virtual machine may be given more memory than it reports at first
_READ_ONLY = (Role.INPUT, Role.CONSTANT)


class CpuDevice:
    """The host, as the reference for what a plan means. Slow and exact."""

    name = "cpu"

    def __init__(self, watch: Watch | None = None) -> None:
        """``watch`` sees every node and access of every replay."""
        self._watch = watch

    def instantiate(self, job: Job) -> Instance:
        """Parse the PTX, map every buffer, and prepare the kernels."""
        check_options(job.options, interpreted=True)
        if sum(b.nbytes for b in job.program.buffers) > _MOST * _physical_memory():
            raise _no_memory(job.program)
        try:
            return CpuInstance(job, self._watch)
        except MemoryError:
            raise _no_memory(job.program) from None


class CpuInstance:
    """Owns a simulated memory. A buffer's storage is one NumPy array, its own or the caller's."""

    device = "cpu"

    def __init__(self, job: Job, watch: Watch | None = None) -> None:
        """Map every buffer as a region of its own, whatever the memory mode."""
        program, options = job.program, job.options
        self._program = program
        self._links = Links(program)
        self._initial = dict(job.initial)
        self._replays = 0
        self._watch = watch
        self._owners: dict[int, Tensor] = {}
        self._lock = threading.RLock()
        images = [image_for_interpreter(m, options.target) for m in program.modules]
        self.target = targets_of(program, images)
        self.schedule = schedule_for(
            job.schedules, options.schedule, lambda t: t in {i.target for i in images} or not images, "cpu"
        )
        modules = [parse_image(image, m.name) for image, m in zip(images, program.modules, strict=True)]
        memory = Memory()
        variables = [load_variables(module, memory) for module in modules]
        self._machine = Machine(
            program=program,
            memory=memory,
            blob=ArgumentBlob(program),
            arrays=[np.empty(0, np.uint8)] * len(program.buffers),
            kernels=[_kernel(modules[f.module], f) for f in program.functions],
            variables=variables,
            stdout=_sink(options.stdout),
            budget=options.budget,
            observer=watch.access if watch is not None else None,
        )
        self._addresses = np.zeros(len(program.buffers), np.uint64)
        for row, buffer in enumerate(program.buffers):
            self._place(row, buffer)
        self._own = list(self._machine.arrays)
        self._machine.blob.relocate(np.arange(len(program.relocations)), self._addresses)

    @property
    def machine(self) -> Machine:
        """What the nodes work on."""
        return self._machine

    def _place(self, row: int, buffer: Buffer) -> None:
        """Give a buffer its storage with its first bytes."""
        if buffer.role is Role.GLOBAL:
            self._place_global(row, buffer)
            return
        first = self._initial.get(row)
        array = np.zeros(buffer.nbytes, np.uint8) if first is None else np.frombuffer(first, np.uint8)
        self._map(row, array)

    def _place_global(self, row: int, buffer: Buffer) -> None:
        module, symbol = symbol_of(buffer)
        address = self._machine.variables[module].addresses.get(symbol, 0)
        region = self._machine.memory.find(address)
        compare_sizes(buffer, region.size if region else None)
        assert region is not None
        self._addresses[row] = address
        self._machine.arrays[row] = region.data
        if row in self._initial:
            region.data[:] = np.frombuffer(self._initial[row], np.uint8)
        self._initial[row] = region.data.tobytes()

    def _map(self, row: int, array: Octets) -> None:
        buffer = self._program.buffers[row]
        writable = buffer.role not in _READ_ONLY
        self._addresses[row] = self._machine.memory.map(buffer.name, array, writable=writable)
        self._machine.arrays[row] = array

    def region(self, buffer: int) -> tuple[int, int]:
        """Return (host address, bytes) of the storage that a buffer stands on now."""
        array = self._machine.arrays[buffer]
        return array.ctypes.data, array.size

    def alignment(self, buffer: Buffer) -> int:
        """Return 1: simulated addresses are aligned whatever the array's is."""
        return 1

    def accepts(self, tensor: Tensor) -> bool:
        """Whether the tensor's storage is on the host."""
        return tensor.place == "cpu"

    def bind(self, tensors: Mapping[int, Tensor | None]) -> None:
        """Let buffers stand on these arrays, None on their own."""
        with self._lock:
            for row, tensor in tensors.items():
                self._machine.memory.unmap(int(self._addresses[row]))
                octets = tensor.octets if tensor is not None else self._own[row]
                assert octets is not None
                self._map(row, octets)
                self._owners.pop(row, None)
                if tensor is not None:
                    self._owners[row] = tensor
            self._machine.blob.relocate(self._links.relocations(tensors), self._addresses)

    def write(self, buffer: int, data: Octets) -> None:
        """Copy ``data`` to a buffer."""
        with self._lock:
            self._machine.arrays[buffer][:] = data

    def read(self, buffer: int) -> Octets:
        """Return a copy of a buffer's bytes."""
        with self._lock:
            return self._machine.arrays[buffer].copy()

    def reset(self, buffers: Sequence[int]) -> None:
        """Give buffers of the plan's own storage their initial bytes."""
        with self._lock:
            for row in buffers:
                first = self._initial.get(row)
                self._machine.arrays[row][:] = 0 if first is None else np.frombuffer(first, np.uint8)

    def patch(self, values: Mapping[int, bytes]) -> None:
        """Give slots new bytes."""
        with self._lock:
            for slot, value in values.items():
                self._machine.blob.patch(self._links.patches(slot), value)

    def launch(self) -> int:
        """Run every node; raises what went wrong, with the node's name and place."""
        with self._lock:
            for row, buffer in enumerate(self._program.buffers):
                if buffer.role is Role.SCRATCH:
                    self._machine.arrays[row].fill(POISON)
            run = self._run if self._watch is None else self._run_watched
            if self._watch is not None:
                self._watch.start(self._machine)
            for row in self.schedule.order.tolist():
                run(row)
            self._replays += 1
            return self._replays

    def _run(self, row: int) -> None:
        RUN[NodeKind(int(self._program.nodes["kind"][row]))](self._machine, row)

    def _run_watched(self, row: int) -> None:
        assert self._watch is not None
        self._watch.enter(row)
        try:
            self._run(row)
        except PlancError:
            self._watch.leave(row, complete=False)
            raise
        self._watch.leave(row, complete=True)

    def done(self, replay: int) -> bool:
        """Return True: a launch returns when it is complete."""
        return True

    def wait(self, replay: int, timeout: float | None) -> bool:
        """Return True: a launch returns when it is complete."""
        return True

    def close(self) -> None:
        """Let go of every array."""
        with self._lock:
            self._machine.arrays.clear()
            self._owners.clear()
            self._own.clear()


def parse_image(image: Image, name: str) -> Module:
    """Parse the PTX of an image; bytes that are no UTF-8 are for the parser to refuse."""
    return parse(bytes(image.data).rstrip(b"\0").decode("utf-8", errors="replace"), name)


def _physical_memory() -> int:
    """Return the machine's memory in bytes: where the system promises more than it has, NumPy cannot tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def _kernel(module: Module, function: Function) -> PreparedKernel:
    """Prepare a kernel whose parameters are the plan's."""
    prepared = prepare(module, function.symbol)
    found = module.functions[function.symbol].parameters
    compare_parameters(function, tuple((p.offset, p.size) for p in found))
    return prepared


def _sink(write: Callable[[str], object] | None) -> Callable[[str], None]:
    """Return what takes the text of printf; without ``write``, what standard output is at that moment."""

    def sink(text: str) -> None:
        (write or sys.stdout.write)(text)

    return sink


def _no_memory(program: Program) -> DeviceError:
    total = sum(b.nbytes for b in program.buffers)
    return DeviceError(
        Diagnostic(
            "PLC736",
            f"the host has no memory for the buffers of `{program.name}`, {total} bytes",
            help="use smaller sizes (`--set`), or a machine with more memory",
            facts={"bytes": total},
        )
    )
