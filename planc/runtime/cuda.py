"""CUDA devices: the driver's calls through cuda-python's bindings (``cuda.bindings.driver``)."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from planc.plan.program import Image
from planc.runtime.device import Instance, Job, Octets
from planc.runtime.devices import check_options
from planc.runtime.driven import DrivenInstance
from planc.runtime.driver import ADD_CALLS, EDGES_CALL, SET_CALLS, DriverFailure, DriverNodeKind, Handle
from planc.runtime.failures import NO_DRIVER, open_error
from planc.runtime.loops import ENTRIES, ENTRY_VERSION, graph_loop
from planc.runtime.nodes import Handles, Indices, NodeTables

_DEFAULT_SHARED = 48 * 1024  # what a block may have without asking (programming guide, "Shared memory")


class CudaDevice:
    """GPU ``ordinal`` of this machine, as the driver counts them."""

    def __init__(self, ordinal: int) -> None:
        """Touch nothing yet."""
        self.ordinal = ordinal
        self.name = f"cuda:{ordinal}"

    def instantiate(self, job: Job) -> Instance:
        """Load, allocate and build. Raises :class:`DeviceError`, PLC730 where there is no such device."""
        check_options(job.options, interpreted=False)
        try:
            context = primary_context(self.ordinal)
        except DriverFailure as failure:
            raise open_error(self.name, failure) from None
        return DrivenInstance(CudaDriver(context), job)


class PrimaryContext:
    """A device's primary context, retained for as long as the process lives, never reset.

    ``dead`` is the fault that cost it: the driver answers every later call of the process with it.
    """

    def __init__(self, ordinal: int) -> None:
        """Initialise the driver and retain the context. Raises :class:`DriverFailure`."""
        self.api = _bindings()
        self.ordinal = ordinal
        self.dead: DriverFailure | None = None
        self.call("cuInit", 0)
        self.device = self.call("cuDeviceGet", ordinal)
        self.handle = self.call("cuDevicePrimaryCtxRetain", self.device)
        attribute = self.api.CUdevice_attribute
        major = self.attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
        minor = self.attribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
        self.architecture = f"sm_{major}{minor}"
        self.max_pitch = self.attribute(attribute.CU_DEVICE_ATTRIBUTE_MAX_PITCH)
        self.entries = tuple(map(self._entry, ENTRIES))
        self.loop = graph_loop(self.entries)

    def _entry(self, name: str) -> int:
        """Return the address of a driver function (cuGetProcAddress)."""
        address, _ = self.call("cuGetProcAddress", name.encode(), ENTRY_VERSION, 0)
        if not address:
            raise DriverFailure("cuGetProcAddress", "CUDA_ERROR_NOT_FOUND", f"the driver has no {name}")
        return int(address)

    def attribute(self, which: Any) -> int:
        """Return an attribute of the device."""
        return int(self.call("cuDeviceGetAttribute", which, self.device))

    def call(self, name: str, *arguments: Any) -> Any:
        """Make a driver call and return what it returns besides its status. Raises :class:`DriverFailure`."""
        status, *values = getattr(self.api, name)(*arguments)
        if int(status):
            raise self.failure(name, status)
        return values[0] if len(values) == 1 else tuple(values)

    def failure(
        self, name: str, status: Any, *, handle: Handle = None, index: int | None = None
    ) -> DriverFailure:
        """Return the failure for a status, and note it where it costs the context."""
        result = self.api.CUresult(int(status))
        text = self.api.cuGetErrorString(result)[1] or b""
        words = text.decode() if isinstance(text, bytes) else text
        failure = DriverFailure(name, result.name, words, handle=handle, index=index)
        if failure.sticky:
            self.dead = failure
        return failure


@functools.cache
def primary_context(ordinal: int) -> PrimaryContext:
    """Return the process's context of a device; the driver has one. Raises :class:`DriverFailure`."""
    return PrimaryContext(ordinal)


def _bindings() -> Any:
    """Import the bindings and make sure that they find a driver. Raises :class:`DriverFailure`."""
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise DriverFailure(NO_DRIVER, "CUDA_ERROR_NO_DEVICE", f"cuda-bindings: {error}") from None
    try:
        driver.cuDriverGetVersion()
    except Exception as error:  # each version of the bindings raises another type where libcuda is missing
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DriverFailure(NO_DRIVER, "CUDA_ERROR_NO_DEVICE", text) from None
    return driver


class CudaDriver:
    """Implements :class:`planc.runtime.driver.Driver` for one primary context."""

    def __init__(self, context: PrimaryContext) -> None:
        """Keep the context."""
        self._context = context
        self._api = context.api
        self._call = context.call
        self.ordinal = context.ordinal
        self.name = f"cuda:{context.ordinal}"
        self.architecture: str = context.architecture
        self.max_pitch: int = context.max_pitch

    @property
    def dead(self) -> DriverFailure | None:
        """The fault that cost the context."""
        return self._context.dead

    @contextmanager
    def current(self) -> Iterator[None]:
        """Push the primary context, and pop it again."""
        self._call("cuCtxPushCurrent", self._context.handle)
        try:
            yield
        finally:
            # The status is dropped where the context is lost: the fault itself is what is told.
            status, _ = self._api.cuCtxPopCurrent()
            if int(status) and self._context.dead is None:
                raise self._context.failure("cuCtxPopCurrent", status)

    def allocate(self, nbytes: int) -> int:
        """Allocate (cuMemAlloc)."""
        return int(self._call("cuMemAlloc", nbytes))

    def free(self, address: int) -> None:
        """Free (cuMemFree)."""
        self._call("cuMemFree", self._api.CUdeviceptr(address))

    def device_of(self, address: int) -> int | None:
        """Return CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL; None where the driver knows no such pointer."""
        which = self._api.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        try:
            return int(self._call("cuPointerGetAttribute", which, self._api.CUdeviceptr(address)))
        except DriverFailure as failure:
            if failure.error == "CUDA_ERROR_INVALID_VALUE":
                return None
            raise

    def load_module(self, image: Image) -> Handle:
        """Load a cubin or compile PTX, which must end in a zero byte (cuLibraryLoadData)."""
        code = np.frombuffer(bytes(image.data) + b"\0", np.uint8)
        return self._call("cuLibraryLoadData", code.ctypes.data, [], [], 0, [], [], 0)

    def unload_module(self, module: Handle) -> None:
        """Unload (cuLibraryUnload)."""
        self._call("cuLibraryUnload", module)

    def function(self, module: Handle, symbol: str) -> Handle:
        """Return the function of the current context (cuLibraryGetKernel, cuKernelGetFunction)."""
        return self._call("cuKernelGetFunction", self._call("cuLibraryGetKernel", module, symbol.encode()))

    def parameters(self, function: Handle) -> tuple[tuple[int, int], ...] | None:
        """Return (offset, size) of each parameter (cuFuncGetParamInfo until it refuses an index)."""
        found: list[tuple[int, int]] = []
        while True:
            status, offset, size = self._api.cuFuncGetParamInfo(function, len(found))
            if status == self._api.CUresult.CUDA_ERROR_INVALID_VALUE:
                return tuple(found)
            if int(status):
                raise self._context.failure("cuFuncGetParamInfo", status)
            found.append((int(offset), int(size)))

    def allow_shared(self, function: Handle, nbytes: int) -> None:
        """Raise CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES where the default does not do."""
        attribute = self._api.CUfunction_attribute
        static = self._call("cuFuncGetAttribute", attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function)
        if int(static) + nbytes > _DEFAULT_SHARED:
            which = attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self._call("cuFuncSetAttribute", function, which, nbytes)

    def variable(self, module: Handle, symbol: str) -> tuple[int, int]:
        """Return (address, bytes) of a variable (cuLibraryGetGlobal)."""
        address, nbytes = self._call("cuLibraryGetGlobal", module, symbol.encode())
        return int(address), int(nbytes)

    def create_stream(self) -> Handle:
        """Create a stream with CU_STREAM_NON_BLOCKING."""
        return self._call("cuStreamCreate", int(self._api.CUstream_flags.CU_STREAM_NON_BLOCKING))

    def destroy_stream(self, stream: Handle) -> None:
        """Destroy a stream."""
        self._call("cuStreamDestroy", stream)

    def synchronize(self, stream: Handle) -> None:
        """Wait for a stream (cuStreamSynchronize; the bindings release the GIL)."""
        self._call("cuStreamSynchronize", stream)

    def create_event(self) -> Handle:
        """Create an event with CU_EVENT_DISABLE_TIMING."""
        return self._call("cuEventCreate", int(self._api.CUevent_flags.CU_EVENT_DISABLE_TIMING))

    def destroy_event(self, event: Handle) -> None:
        """Destroy an event."""
        self._call("cuEventDestroy", event)

    def record(self, event: Handle, stream: Handle) -> None:
        """Record an event."""
        self._call("cuEventRecord", event, stream)

    def completed(self, event: Handle) -> bool:
        """Query an event; CUDA_ERROR_NOT_READY is an answer, not a failure."""
        (status,) = self._api.cuEventQuery(event)
        if status == self._api.CUresult.CUDA_ERROR_NOT_READY:
            return False
        if int(status):
            raise self._context.failure("cuEventQuery", status)
        return True

    def wait_event(self, event: Handle) -> None:
        """Wait for an event."""
        self._call("cuEventSynchronize", event)

    def upload(self, address: int, data: Octets, stream: Handle) -> None:
        """Copy to the device and wait."""
        target = self._api.CUdeviceptr(address)
        self._call("cuMemcpyHtoDAsync", target, data.ctypes.data, data.size, stream)
        self._call("cuStreamSynchronize", stream)

    def download(self, data: Octets, address: int, stream: Handle) -> None:
        """Copy to the host and wait."""
        source = self._api.CUdeviceptr(address)
        self._call("cuMemcpyDtoHAsync", data.ctypes.data, source, data.size, stream)
        self._call("cuStreamSynchronize", stream)

    def clear(self, address: int, nbytes: int, stream: Handle) -> None:
        """Set bytes to zero."""
        self._call("cuMemsetD8Async", self._api.CUdeviceptr(address), 0, nbytes, stream)

    def create_graph(self) -> Handle:
        """Create a graph."""
        return self._call("cuGraphCreate", 0)

    def destroy_graph(self, graph: Handle) -> None:
        """Destroy a graph."""
        self._call("cuGraphDestroy", graph)

    def add_nodes(self, graph: Handle, tables: NodeTables) -> Handles:
        """Add all nodes with their edges in one loop (:mod:`planc.runtime.loops`)."""
        handles = np.zeros(len(tables.kinds), np.uint64)
        loop = self._context.loop
        status, index = loop.add(int(graph), int(self._context.handle), tables, handles)
        if status:
            row = index if index < len(handles) else None
            call = EDGES_CALL if row is None else ADD_CALLS[DriverNodeKind(int(tables.kinds[row]))]
            raise self._context.failure(call, status, index=row)
        return handles

    def instantiate(self, graph: Handle) -> Handle:
        """Make an executable graph; a failure names the node where the driver does."""
        parameters = self._api.CUDA_GRAPH_INSTANTIATE_PARAMS()
        status, executable = self._api.cuGraphInstantiateWithParams(graph, parameters)
        if int(status):
            node = parameters.hErrNode_out
            raise self._context.failure(
                "cuGraphInstantiateWithParams", status, handle=node if int(node) else None
            )
        return executable

    def destroy_executable(self, executable: Handle) -> None:
        """Destroy an executable graph."""
        self._call("cuGraphExecDestroy", executable)

    def upload_graph(self, executable: Handle, stream: Handle) -> None:
        """Upload an executable graph."""
        self._call("cuGraphUpload", executable, stream)

    def set_nodes(self, executable: Handle, handles: Handles, tables: NodeTables, indices: Indices) -> None:
        """Give nodes new parameters in one loop."""
        context = int(self._context.handle)
        status, place = self._context.loop.set(int(executable), context, tables, handles, indices)
        if status:
            row = int(indices[place])
            call = SET_CALLS[DriverNodeKind(int(tables.kinds[row]))]
            raise self._context.failure(call, status, index=row)

    def launch(self, executable: Handle, stream: Handle) -> None:
        """Launch."""
        self._call("cuGraphLaunch", executable, stream)
