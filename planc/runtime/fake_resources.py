"""Memory, modules, streams and events of the fake driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from planc.plan.program import Image
from planc.ptx import parse
from planc.ptx.syntax import Function, Module
from planc.runtime.device import Octets
from planc.runtime.driver import DriverFailure, Handle
from planc.runtime.fake_calls import FakeCalls
from planc.runtime.fake_memory import FakeMemory


@dataclass(slots=True)
class _Stream:
    pending: list[Callable[[], None]] = field(default_factory=list)
    enqueued: int = 0
    finished: int = 0


@dataclass(slots=True)
class _Module:
    text: Module | None
    variables: dict[str, tuple[int, int]]


class FakeResources(FakeCalls):
    """All handles but graphs. ``deferred`` leaves the work of streams pending until somebody waits."""

    def __init__(self, fail_at: int | None, error: str, fail_on: dict[str, str], deferred: bool) -> None:
        """Start without memory."""
        super().__init__(fail_at, error, fail_on)
        self.memory = FakeMemory()
        self._deferred = deferred

    def allocate(self, nbytes: int) -> int:
        """Allocate host bytes at a made-up address."""
        self._enter("cuMemAlloc")
        if nbytes < 1:
            self._fail("cuMemAlloc", "CUDA_ERROR_INVALID_VALUE", "bytesize 0")
        address = self.memory.allocate(nbytes)
        self._handles[address] = ("memory", None)
        return address

    def free(self, address: int) -> None:
        """Free an allocation."""
        self._drop("cuMemFree", "memory", address)
        self.memory.free(address)

    def device_of(self, address: int) -> int | None:
        """Return 0 for the fake's own memory."""
        self._enter("cuPointerGetAttribute")
        return 0 if self.memory.holds(address) else None

    def load_module(self, image: Image) -> Handle:
        """Parse PTX; a cubin is taken as it is."""
        self._enter("cuLibraryLoadData")
        text = parse(bytes(image.data).decode("utf-8", errors="replace")) if image.form == "ptx" else None
        variables: dict[str, tuple[int, int]] = {}
        for name, variable in (text.variables if text else {}).items():
            address = self.memory.allocate(variable.size)
            initial = np.frombuffer(variable.initial or bytes(variable.size), np.uint8)
            self.memory.bytes("cuLibraryLoadData", address, variable.size)[:] = initial
            variables[name] = (address, variable.size)
        return self._new("module", _Module(text, variables))

    def unload_module(self, module: Handle) -> None:
        """Unload, with the module's variables."""
        for address, _ in self._drop("cuLibraryUnload", "module", module).variables.values():
            self.memory.free(address)

    def function(self, module: Handle, symbol: str) -> Handle:
        """Return an entry of the parsed PTX."""
        self._enter("cuLibraryGetKernel")
        text = self._get("cuLibraryGetKernel", "module", module).text
        entry = text.functions.get(symbol) if text else None
        if text and (entry is None or not entry.is_entry):
            self._fail("cuLibraryGetKernel", "CUDA_ERROR_NOT_FOUND", f"no entry {symbol}")
        return self._new("function", (symbol, entry))

    def parameters(self, function: Handle) -> tuple[tuple[int, int], ...] | None:
        """Return the parameters of the parsed entry."""
        self._enter("cuFuncGetParamInfo")
        entry: Function | None = self._get("cuFuncGetParamInfo", "function", function)[1]
        return None if entry is None else tuple((p.offset, p.size) for p in entry.parameters)

    def allow_shared(self, function: Handle, nbytes: int) -> None:
        """Record the attribute."""
        self._enter("cuFuncSetAttribute")
        self._get("cuFuncSetAttribute", "function", function)

    def variable(self, module: Handle, symbol: str) -> tuple[int, int]:
        """Return a variable of the parsed PTX."""
        self._enter("cuLibraryGetGlobal")
        found = self._get("cuLibraryGetGlobal", "module", module).variables.get(symbol)
        if found is None:
            self._fail("cuLibraryGetGlobal", "CUDA_ERROR_NOT_FOUND", f"no variable {symbol}")
        address, nbytes = found
        return address, nbytes

    def create_stream(self) -> Handle:
        """Create a queue."""
        self._enter("cuStreamCreate")
        return self._new("stream", _Stream())

    def destroy_stream(self, stream: Handle) -> None:
        """Destroy a queue."""
        self._drop("cuStreamDestroy", "stream", stream)

    def synchronize(self, stream: Handle) -> None:
        """Run what the queue holds."""
        self._enter("cuStreamSynchronize")
        self._drain(self._get("cuStreamSynchronize", "stream", stream))

    def run(self) -> None:
        """Run what every queue holds."""
        for kind, payload in list(self._handles.values()):
            if kind == "stream":
                self._drain(payload)

    def _enqueue(self, stream: _Stream, work: Callable[[], None]) -> None:
        stream.enqueued += 1
        stream.pending.append(work)
        if not self._deferred:
            self._drain(stream)

    def _drain(self, stream: _Stream) -> None:
        while stream.pending:
            work = stream.pending.pop(0)
            try:
                work()
            except DriverFailure as failure:
                self._dead = failure if failure.sticky else self._dead
                raise
            stream.finished += 1

    def create_event(self) -> Handle:
        """Create an event that nobody recorded."""
        self._enter("cuEventCreate")
        return self._new("event", [None, 0])

    def destroy_event(self, event: Handle) -> None:
        """Destroy an event."""
        self._drop("cuEventDestroy", "event", event)

    def record(self, event: Handle, stream: Handle) -> None:
        """Note how far the queue has been filled."""
        self._enter("cuEventRecord")
        queue = self._get("cuEventRecord", "stream", stream)
        self._get("cuEventRecord", "event", event)[:] = [queue, queue.enqueued]

    def completed(self, event: Handle) -> bool:
        """Whether the queue has run that far."""
        self._enter("cuEventQuery")
        queue, count = self._get("cuEventQuery", "event", event)
        return queue is None or queue.finished >= count

    def wait_event(self, event: Handle) -> None:
        """Run the queue."""
        self._enter("cuEventSynchronize")
        queue, _ = self._get("cuEventSynchronize", "event", event)
        if queue is not None:
            self._drain(queue)

    def upload(self, address: int, data: Octets, stream: Handle) -> None:
        """Copy to the fake memory."""
        self._enter("cuMemcpyHtoDAsync")
        self._drain(self._get("cuMemcpyHtoDAsync", "stream", stream))
        self.memory.bytes("cuMemcpyHtoDAsync", address, data.size)[:] = data

    def download(self, data: Octets, address: int, stream: Handle) -> None:
        """Copy from the fake memory."""
        self._enter("cuMemcpyDtoHAsync")
        self._drain(self._get("cuMemcpyDtoHAsync", "stream", stream))
        data[:] = self.memory.bytes("cuMemcpyDtoHAsync", address, data.size)

    def clear(self, address: int, nbytes: int, stream: Handle) -> None:
        """Set bytes to zero."""
        self._enter("cuMemsetD8Async")
        queue = self._get("cuMemsetD8Async", "stream", stream)
        octets = self.memory.bytes("cuMemsetD8Async", address, nbytes)
        self._enqueue(queue, lambda: octets.fill(0))
