"""A schedule instantiated on a driver: CUDA's, or the fake one."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from planc.plan.program import Buffer, Bytes, Role, Schedule
from planc.runtime.built import build_graph, destroy, naming
from planc.runtime.device import Job, Octets, Tensor
from planc.runtime.driver import Driver, DriverFailure, DriverNodeKind
from planc.runtime.failures import broken_error, device_error, lost_error
from planc.runtime.flight import Flight
from planc.runtime.images import Architecture, schedule_for, targets_of
from planc.runtime.layout import blocks
from planc.runtime.links import ArgumentBlob, Links
from planc.runtime.lowering import Lowering
from planc.runtime.modules import load_modules
from planc.runtime.nodes import Indices
from planc.runtime.stages import Stages

_LOG = logging.getLogger("planc.runtime")
_REJECTED = frozenset(
    {"CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE"}
)
"""What the driver says when a node of an executable graph cannot take a new pointer."""


class DrivenInstance:
    """Owns a stream, modules, memory, a graph and its executable (docs/runtime.md, "Ownership")."""

    def __init__(self, driver: Driver, job: Job) -> None:
        """Build everything; what was made is freed again if a step fails."""
        self.device = driver.name
        self._driver = driver
        self._program = job.program
        self._lock = threading.RLock()
        self._undo: list[Callable[[], None]] = []
        self._closed = False
        self._settled = 0
        self._lost: DriverFailure | None = None
        self.stages = Stages()
        try:
            with self._calls("instantiate"):
                self._load(job)
        except BaseException:
            self._abandon()
            raise

    def _load(self, job: Job) -> None:
        driver, program, stages = self._driver, job.program, self.stages
        self.schedule = _choose(driver, job)
        self._stream = driver.create_stream()
        self._undo.append(lambda: driver.destroy_stream(self._stream))
        self._flight = Flight(driver, self._stream, self._lock)
        self._undo.append(self._destroy_events)
        loaded = load_modules(driver, program, self._undo.append)
        self.target = targets_of(program, loaded.images)
        stages.end("modules")
        self._own = self._allocate(job, self.schedule, loaded.globals)
        self._initial = self._first_bytes(job.initial)
        stages.end("memory")
        self._addresses = self._own.copy()
        self._owners: dict[int, Tensor] = {}
        self._blob = ArgumentBlob(program)
        self._blob.relocate(slice(None), self._addresses)
        functions, pitch = loaded.functions, driver.max_pitch
        self._lowering = Lowering(program, self.schedule, functions, self._addresses, self._blob, pitch)
        stages.end("tables")
        self._built = build_graph(driver, self._lowering.tables, stages)
        self._undo.append(lambda: destroy(driver, self._built))
        driver.upload_graph(self._built.executable, self._stream)
        driver.synchronize(self._stream)
        stages.end("upload")
        _LOG.debug("loaded `%s` on %s: %s", program.name, self.device, stages)

    def _allocate(
        self, job: Job, schedule: Schedule, variables: Mapping[int, tuple[int, int]]
    ) -> NDArray[np.uint64]:
        addresses = np.zeros(len(job.program.buffers), np.uint64)
        for block in blocks(job.program, schedule, job.options.memory):
            base = self._driver.allocate(max(block.nbytes, 1))
            self._undo.append(partial(self._driver.free, base))
            for row, offset in block.holds:
                addresses[row] = base + offset
        for row, (address, _) in variables.items():
            addresses[row] = address
        return addresses

    def _first_bytes(self, initial: Mapping[int, Bytes]) -> dict[int, Bytes]:
        """Fill what has first bytes, zero the rest but scratch; keep a global's bytes of its image."""
        kept = dict(initial)
        for row, buffer in enumerate(self._program.buffers):
            if buffer.role is Role.GLOBAL and row not in kept:
                octets = np.empty(buffer.nbytes, np.uint8)
                self._driver.download(octets, int(self._own[row]), self._stream)
                kept[row] = octets.tobytes()
            elif buffer.role is not Role.SCRATCH:
                self._restore(row, kept.get(row))
        return kept

    def _restore(self, row: int, data: Bytes | None) -> None:
        address, nbytes = int(self._own[row]), self._program.buffers[row].nbytes
        if data is not None:
            self._driver.upload(address, np.frombuffer(data, np.uint8), self._stream)
        elif nbytes:
            self._driver.clear(address, nbytes, self._stream)

    @contextmanager
    def _calls(self, doing: str) -> Iterator[None]:
        """Take the lock, make the context current, and turn what the driver says into a DeviceError."""
        with self._lock, self._told(doing):
            yield

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        lost = self._driver.dead
        if lost is not None:
            raise lost_error(self.device, lost)
        if self._lost is not None:
            raise broken_error(self._program, self.device, self._lost)
        try:
            with self._driver.current():
                yield
        except DriverFailure as failure:
            raise device_error(self._program, self.device, failure, doing) from None

    @cached_property
    def _links(self) -> Links:
        return Links(self._program)

    def region(self, buffer: int) -> tuple[int, int]:
        """Return (address, bytes) of the storage that a buffer stands on now."""
        return int(self._addresses[buffer]), self._program.buffers[buffer].nbytes

    def alignment(self, buffer: Buffer) -> int:
        """Return what the address of a tensor for this buffer must be a multiple of."""
        return buffer.align

    def accepts(self, tensor: Tensor) -> bool:
        """Whether the tensor's storage is on this device."""
        if tensor.place != "cuda":
            return False
        if not tensor.nbytes:
            return tensor.ordinal in (None, self._driver.ordinal)
        with self._calls("bind"):
            return self._driver.device_of(tensor.address) == self._driver.ordinal

    def bind(self, tensors: Mapping[int, Tensor | None]) -> None:
        """Let buffers stand on these tensors, None on their own storage; all or nothing."""
        with self._calls("bind"):
            new = {row: t.address if t else int(self._own[row]) for row, t in tensors.items()}
            changed = [row for row, address in new.items() if address != int(self._addresses[row])]
            old = self._addresses[changed].copy()
            self._patch_nodes(
                self._links.nodes_of_buffers(changed),
                lambda: self._point(changed, [new[row] for row in changed]),
                lambda: self._point(changed, old.tolist()),
            )
            for row, tensor in tensors.items():
                self._hold(row, tensor)

    def _point(self, buffers: Sequence[int], addresses: Sequence[int]) -> None:
        self._addresses[list(buffers)] = np.array(addresses, np.uint64)
        self._blob.relocate(self._links.relocations(buffers), self._addresses)
        self._lowering.point(self._addresses)

    def _hold(self, row: int, tensor: Tensor | None) -> None:
        """Hold a tensor; the one that it replaces until the launches so far are complete."""
        replaced = self._owners.pop(row, None)
        if replaced is not None:
            self._flight.keep(replaced)
        if tensor is not None:
            self._owners[row] = tensor

    def patch(self, values: Mapping[int, bytes]) -> None:
        """Give slots new bytes, for future launches; all or nothing."""
        with self._calls("replay"):
            old = {slot: self._value(slot) for slot in values}
            self._patch_nodes(
                self._links.nodes_of_slots(values),
                lambda: self._set_slots(values),
                lambda: self._set_slots(old),
            )

    def _value(self, slot: int) -> bytes:
        rows = self._links.patches(slot)
        if not len(rows):
            return b""
        row = self._program.patches[rows[0]]
        start = int(row["offset"])
        return self._blob.octets[start : start + int(row["size"])].tobytes()

    def _set_slots(self, values: Mapping[int, bytes]) -> None:
        for slot, value in values.items():
            self._blob.patch(self._links.patches(slot), value)

    def _patch_nodes(
        self, nodes: Sequence[int], change: Callable[[], None], restore: Callable[[], None]
    ) -> None:
        """Change the tables and bring these nodes in line; on failure, both are as before."""
        indices = self._lowering.tables.indices(nodes)
        reached = indices[:0]
        try:
            change()
            if self._lowering.rigid[indices].any():
                self._rebuild()
                return
            reached = indices
            if not self._set_nodes(indices):
                self._rebuild()
        except BaseException as error:
            restore()
            self._roll_back(reached, error)
            raise

    def _set_nodes(self, indices: Indices) -> bool:
        """Patch nodes of the executable graph; False where the driver rejects a fill's or copy's pointer."""
        tables = self._lowering.tables
        try:
            with naming(tables):
                self._driver.set_nodes(self._built.executable, self._built.handles, tables, indices)
        except DriverFailure as failure:
            kernel = failure.index is None or tables.kinds[failure.index] == DriverNodeKind.KERNEL
            if kernel or failure.error not in _REJECTED:
                raise
            return False
        return True

    def _rebuild(self) -> None:
        """Build the graph anew with the tables as they are, then let the old one go.

        The driver frees an executable graph that is in flight when its launches are complete.
        """
        old = self._built
        built = build_graph(self._driver, self._lowering.tables, Stages())
        self._built = built
        with suppress(DriverFailure):  # the new graph is in force; a loss of the context shows in `dead`
            destroy(self._driver, old)

    def _roll_back(self, indices: Indices, error: BaseException) -> None:
        """Give these nodes the old parameters again, whether or not they had got new ones."""
        if self._driver.dead is not None:
            return
        built, tables = self._built, self._lowering.tables
        try:
            self._driver.set_nodes(built.executable, built.handles, tables, indices)
        except DriverFailure as failure:
            self._lost = error if isinstance(error, DriverFailure) else failure

    def write(self, buffer: int, data: Octets) -> None:
        """Copy ``data`` to a buffer, after all launches before; complete on return."""
        with self._calls("write"):
            if data.size:
                self._driver.upload(int(self._addresses[buffer]), data, self._stream)

    def read(self, buffer: int) -> Octets:
        """Return a copy of a buffer's bytes, after all launches before."""
        address, nbytes = self.region(buffer)
        data = np.empty(nbytes, np.uint8)
        with self._calls("read"):
            if nbytes:
                self._driver.download(data, address, self._stream)
        return data

    def reset(self, buffers: Sequence[int]) -> None:
        """Give buffers of the plan's own storage their initial bytes."""
        with self._calls("reset"):
            for row in buffers:
                self._restore(row, self._initial.get(row))
            self._driver.synchronize(self._stream)

    def launch(self) -> int:
        """Start one replay and return its number (from 1)."""
        with self._calls("replay"):
            self._driver.launch(self._built.executable, self._stream)
            return self._flight.launched()

    def done(self, replay: int) -> bool:
        """Whether a replay is complete; raises what went wrong in it."""
        if replay <= self._settled:
            return True
        with self._calls(f"replay {replay}"):
            return self._complete(replay, self._flight.done(replay))

    def wait(self, replay: int, timeout: float | None) -> bool:
        """Wait at most ``timeout`` seconds; return whether the replay is complete."""
        if replay <= self._settled:
            return True
        with self._told(f"replay {replay}"):
            return self._complete(replay, self._flight.wait(replay, timeout))

    def _complete(self, replay: int, complete: bool) -> bool:
        """Remember that a replay is complete: it stays so, whatever happens to the device."""
        if complete:
            with self._lock:
                self._settled = max(self._settled, replay)
        return complete

    def close(self) -> None:
        """Wait for what is in flight and free everything; idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._driver.dead is not None:
                return
            self._lost = None
            try:
                with self._told("close"):
                    self._close()
            finally:
                self._abandon()

    def _close(self) -> None:
        first: DriverFailure | None = None
        try:
            self._driver.synchronize(self._stream)
            self._settled = self._flight.last
        except DriverFailure as error:
            first = error
        unfreed = self._unwind()
        self._owners.clear()
        failure = first or unfreed
        if failure is not None:
            raise failure

    def _abandon(self) -> None:
        """Free what is left on the way out of a failure, whose error is the one to tell."""
        if self._undo and self._driver.dead is None:
            with suppress(DriverFailure), self._driver.current():
                self._unwind()

    def _destroy_events(self) -> None:
        for event in self._flight.take_events():
            self._undo.append(partial(self._driver.destroy_event, event))

    def _unwind(self) -> DriverFailure | None:
        """Free everything in reverse, past failures; return the first."""
        first: DriverFailure | None = None
        while self._undo and self._driver.dead is None:
            try:
                self._undo.pop()()
            except DriverFailure as failure:
                first = first or failure
        return first


def _choose(driver: Driver, job: Job) -> Schedule:
    own = Architecture.parse(driver.architecture)

    def fits(target: str) -> bool:
        made = Architecture.parse(target)
        return made is not None and own is not None and made.number == own.number

    return schedule_for(job.schedules, job.options.schedule, fits, driver.architecture)
