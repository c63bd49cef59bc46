"""The few driver calls that the runtime needs, behind one Protocol: CUDA's own, or the fake.

Names and rules are those of the CUDA driver API (sections "Graph Management", "Memory Management",
"Library Management", "Stream Management", "Event Management").
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from enum import IntEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from planc.plan.program import Image
from planc.runtime.device import Octets

if TYPE_CHECKING:
    from planc.runtime.nodes import Handles, Indices, NodeTables

Handle = Any

STICKY = frozenset(
    {
        "CUDA_ERROR_ECC_UNCORRECTABLE",
        "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        "CUDA_ERROR_CONTAINED",
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
        "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_TENSOR_MEMORY_LEAK",
        "CUDA_ERROR_MPS_CLIENT_TERMINATED",
        "CUDA_ERROR_EXTERNAL_DEVICE",
    }
)
"""Results after which the context is of no more use (driver API, ``CUresult``)."""

ABSENT = frozenset(
    {
        "CUDA_ERROR_NO_DEVICE",
        "CUDA_ERROR_INVALID_DEVICE",
        "CUDA_ERROR_STUB_LIBRARY",
        "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        "CUDA_ERROR_SYSTEM_NOT_READY",
        "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        "CUDA_ERROR_DEVICE_UNAVAILABLE",
    }
)
"""Results that say that there is no such device to work with."""


class DriverFailure(Exception):
    """A driver call that did not succeed. ``node`` is the program's node, once somebody knows it.

    ``handle`` is the driver's own node where the call named one, ``index`` its row in the tables.
    """

    def __init__(
        self, call: str, error: str, text: str, *, handle: Handle = None, index: int | None = None
    ) -> None:
        """Keep the name of the call, the name of the error and the driver's words for it."""
        super().__init__(f"{call}: {error}: {text}")
        self.call = call
        self.error = error
        self.text = text
        self.handle = handle
        self.index = index
        self.node: int | None = None

    @property
    def sticky(self) -> bool:
        """Whether the context is lost."""
        return self.error in STICKY


class DriverNodeKind(IntEnum):
    """The kinds of node that the runtime adds to a driver graph."""

    KERNEL = 1
    MEMSET = 2
    MEMCPY = 3
    EMPTY = 4


ADD_CALLS: Mapping[DriverNodeKind, str] = MappingProxyType(
    {
        DriverNodeKind.KERNEL: "cuGraphAddKernelNode",
        DriverNodeKind.MEMSET: "cuGraphAddMemsetNode",
        DriverNodeKind.MEMCPY: "cuGraphAddMemcpyNode",
        DriverNodeKind.EMPTY: "cuGraphAddEmptyNode",
    }
)
"""The call that adds a node of each kind."""
SET_CALLS: Mapping[DriverNodeKind, str] = MappingProxyType(
    {
        DriverNodeKind.KERNEL: "cuGraphExecKernelNodeSetParams",
        DriverNodeKind.MEMSET: "cuGraphExecMemsetNodeSetParams",
        DriverNodeKind.MEMCPY: "cuGraphExecMemcpyNodeSetParams",
    }
)
"""The call that gives a node of an executable graph new parameters; an empty node has none."""
EDGES_CALL = "cuGraphAddDependencies"


class Driver(Protocol):
    """One device of the driver. Every call raises :class:`DriverFailure`; handles are opaque."""

    name: str
    ordinal: int
    architecture: str
    max_pitch: int

    @property
    def dead(self) -> DriverFailure | None:
        """The fault that cost the context, if there was one."""
        ...

    def current(self) -> AbstractContextManager[None]:
        """Make the device's context current inside the block, and the caller's again after it."""
        ...

    def allocate(self, nbytes: int) -> int:
        """Allocate device memory, at least 256-byte aligned (cuMemAlloc)."""
        ...

    def free(self, address: int) -> None:
        """Free what :meth:`allocate` gave."""
        ...

    def device_of(self, address: int) -> int | None:
        """Return the ordinal of the device that holds an address; None: no device memory."""
        ...

    def load_module(self, image: Image) -> Handle:
        """Load a cubin, or compile PTX for the device (cuLibraryLoadData)."""
        ...

    def unload_module(self, module: Handle) -> None:
        """Unload a module."""
        ...

    def function(self, module: Handle, symbol: str) -> Handle:
        """Return a kernel of a module."""
        ...

    def parameters(self, function: Handle) -> tuple[tuple[int, int], ...] | None:
        """Return (offset, size) of each parameter as the image has it; None: it does not tell."""
        ...

    def allow_shared(self, function: Handle, nbytes: int) -> None:
        """Let a kernel have ``nbytes`` of dynamic shared memory, where that needs a word."""
        ...

    def variable(self, module: Handle, symbol: str) -> tuple[int, int]:
        """Return (address, bytes) of a module variable."""
        ...

    def create_stream(self) -> Handle:
        """Create a stream that is not ordered with the legacy stream."""
        ...

    def destroy_stream(self, stream: Handle) -> None:
        """Destroy a stream."""
        ...

    def synchronize(self, stream: Handle) -> None:
        """Wait for all work of a stream."""
        ...

    def create_event(self) -> Handle:
        """Create an event without timing."""
        ...

    def destroy_event(self, event: Handle) -> None:
        """Destroy an event."""
        ...

    def record(self, event: Handle, stream: Handle) -> None:
        """Record an event behind the work enqueued so far."""
        ...

    def completed(self, event: Handle) -> bool:
        """Whether the work before a recorded event is complete (cuEventQuery)."""
        ...

    def wait_event(self, event: Handle) -> None:
        """Wait for a recorded event."""
        ...

    def upload(self, address: int, data: Octets, stream: Handle) -> None:
        """Copy host bytes to the device, in the order of the stream; complete on return."""
        ...

    def download(self, data: Octets, address: int, stream: Handle) -> None:
        """Copy device bytes to the host, in the order of the stream; complete on return."""
        ...

    def clear(self, address: int, nbytes: int, stream: Handle) -> None:
        """Set device bytes to zero, in the order of the stream (cuMemsetD8Async)."""
        ...

    def create_graph(self) -> Handle:
        """Create an empty graph."""
        ...

    def destroy_graph(self, graph: Handle) -> None:
        """Destroy a graph."""
        ...

    def add_nodes(self, graph: Handle, tables: NodeTables) -> Handles:
        """Add all nodes with their edges, in the order of the tables; return their handles (uint64).

        A failure has the ``index`` of the node, or none where the edges that come last were refused.
        """
        ...

    def instantiate(self, graph: Handle) -> Handle:
        """Make an executable graph (cuGraphInstantiateWithParams)."""
        ...

    def destroy_executable(self, executable: Handle) -> None:
        """Destroy an executable graph."""
        ...

    def upload_graph(self, executable: Handle, stream: Handle) -> None:
        """Bring an executable graph to the device before its first launch."""
        ...

    def set_nodes(self, executable: Handle, handles: Handles, tables: NodeTables, indices: Indices) -> None:
        """Give these nodes of an executable graph the parameters in the tables, for future launches.

        They go in order; a failure has the ``index`` of the first that was refused.
        """
        ...

    def launch(self, executable: Handle, stream: Handle) -> None:
        """Enqueue one run of an executable graph."""
        ...
