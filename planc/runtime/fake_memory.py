"""Device memory of the fake driver: host bytes at made-up addresses, and what nodes do to them."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.runtime.device import Octets
from planc.runtime.driver import DriverFailure, DriverNodeKind
from planc.runtime.fake_nodes import DriverNode, MemcpyNode, MemsetNode

_BASE, _ALIGN, _GAP = 0x7F00_0000_0000, 512, 1 << 20


class FakeMemory:
    """Allocations with gaps between them; an access outside one is an illegal address."""

    def __init__(self) -> None:
        """Start empty."""
        self._starts: list[int] = []
        self._blocks: dict[int, Octets] = {}
        self._next = _BASE

    def allocate(self, nbytes: int) -> int:
        """Return the address of new bytes, filled with a pattern that no program should rely on."""
        address = self._next
        self._next = -(-(address + nbytes + _GAP) // _ALIGN) * _ALIGN
        self._starts.append(address)
        self._blocks[address] = np.full(nbytes, 0xC3, np.uint8)
        return address

    def free(self, address: int) -> bool:
        """Forget an allocation; False where none starts there."""
        if address not in self._blocks:
            return False
        del self._blocks[address]
        self._starts.remove(address)
        return True

    def holds(self, address: int) -> bool:
        """Whether an allocation holds the byte at ``address``."""
        return self._find(address, 1) is not None

    def bytes(self, call: str, address: int, nbytes: int) -> Octets:
        """Return the bytes at an address, shared. Raises an illegal address."""
        found = self._find(address, nbytes)
        if found is None:
            raise DriverFailure(
                call, "CUDA_ERROR_ILLEGAL_ADDRESS", f"{nbytes} bytes at {address:#x} are not allocated"
            )
        return found

    def _find(self, address: int, nbytes: int) -> Octets | None:
        index = bisect.bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        start = self._starts[index]
        block = self._blocks[start]
        if address + nbytes > start + block.size:
            return None
        return block[address - start : address - start + nbytes]


def _memset(memory: FakeMemory, node: Any) -> None:
    """Set rows; only the bytes between rows may lie outside what is set, not outside the allocation."""
    view = _rows(memory, "memset", node.target, node.width * node.item, (node.height, node.pitch))
    items = np.frombuffer(int(node.value).to_bytes(node.item, "little"), np.uint8)
    view[...] = np.tile(items, node.width)


def _memcpy(memory: FakeMemory, node: Any) -> None:
    planes_to = (node.depth, node.target_pitch * node.target_rows)
    planes_from = (node.depth, node.source_pitch * node.source_rows)
    target = _rows(memory, "memcpy", node.target, node.width, planes_to, (node.height, node.target_pitch))
    source = _rows(memory, "memcpy", node.source, node.width, planes_from, (node.height, node.source_pitch))
    target[...] = source.copy()


def _rows(
    memory: FakeMemory, call: str, address: int, width: int, *axes: tuple[int, int]
) -> NDArray[np.uint8]:
    extent = sum((count - 1) * stride for count, stride in axes) + width
    block = memory.bytes(call, address, extent)
    shape, strides = [c for c, _ in axes], [s if c > 1 else 0 for c, s in axes]
    return np.ndarray((*shape, width), np.uint8, buffer=block.data, strides=(*strides, 1))


def _nothing(memory: FakeMemory, node: Any) -> None:
    """Do nothing: kernels are recorded by the driver and not run, empty nodes only order others."""


EXECUTE: Mapping[DriverNodeKind, Callable[[FakeMemory, Any], None]] = MappingProxyType(
    {
        DriverNodeKind.KERNEL: _nothing,
        DriverNodeKind.MEMSET: _memset,
        DriverNodeKind.MEMCPY: _memcpy,
        DriverNodeKind.EMPTY: _nothing,
    }
)


def _memset_fault(node: MemsetNode) -> str:
    row = node.width * node.item
    if node.item not in (1, 2, 4):
        return f"elementSize {node.item}"
    if node.width < 1 or node.height < 1:
        return "a width or height of zero"
    if node.target % node.item or (node.height > 1 and (node.pitch % node.item or node.pitch < row)):
        return f"address {node.target:#x} or pitch {node.pitch} against items of {node.item}"
    return ""


def _memcpy_fault(node: MemcpyNode) -> str:
    if min(node.width, node.height, node.depth) < 1:
        return "an extent of zero"
    if min(node.target_pitch, node.source_pitch) < node.width:
        return "a pitch less than WidthInBytes"
    if node.depth > 1 and min(node.target_rows, node.source_rows) < node.height:
        return "planes of fewer rows than Height"
    return ""


def fault(node: DriverNode) -> str:
    """Return what a driver would refuse in a node's parameters, or the empty string."""
    if isinstance(node, MemsetNode):
        return _memset_fault(node)
    if isinstance(node, MemcpyNode):
        return _memcpy_fault(node)
    return ""
