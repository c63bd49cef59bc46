"""Simulated device memory: named buffers at simulated addresses, with unmapped gaps between them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from planc.simt.ranges import Addresses, RangeTable

GAP = 1 << 16
"""Unmapped bytes between two buffers, at least."""
ALIGNMENT = 256
"""Alignment of every buffer, that of ``cuMemAlloc``."""
GLOBAL_BASE = 0x10_0000_0000
"""Lowest address of a buffer; all windows of :mod:`planc.simt.spaces` lie below."""


class Region:
    """A mapped buffer: ``data`` (1-D uint8, never copied) at ``start``."""

    __slots__ = ("_views", "data", "name", "start", "writable")

    def __init__(self, name: str, start: int, data: NDArray[np.uint8], writable: bool) -> None:
        """Describe a buffer; :meth:`Memory.map` checks it."""
        self.name = name
        self.start = start
        self.data = data
        self.writable = writable
        self._views: dict[np.dtype[Any], NDArray[Any]] = {}

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.data.size)

    @property
    def end(self) -> int:
        """The first address after the buffer."""
        return self.start + self.size

    def view(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the whole elements of the buffer as ``dtype``, over the same bytes."""
        found = self._views.get(dtype)
        if found is None:
            whole = self.size - self.size % dtype.itemsize
            found = self._views[dtype] = self.data[:whole].view(dtype)
        return found


class Trace(Protocol):
    """What :meth:`planc.simt.PreparedKernel.run` tells about every access to global memory."""

    def __call__(
        self, kind: str, addresses: Addresses, size: int, region: Region, threads: NDArray[np.int64]
    ) -> None:
        """See one access, before it happens.

        ``kind`` is ``read``, ``write`` or ``atomic``; thread ``threads[i]`` (its linear index in the
        grid: block times threads per block plus thread) touches ``size`` bytes at ``addresses[i]``, all
        of them in ``region``.
        """


class Memory:
    """Global memory of a simulated device.

    Addresses are never used twice, so that a stale pointer is always caught.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._regions: list[Region] = []
        self._next = GLOBAL_BASE
        self._table: RangeTable | None = None
        self._tuple: tuple[Region, ...] | None = None

    @property
    def regions(self) -> tuple[Region, ...]:
        """The mapped buffers, by address."""
        if self._tuple is None:
            self._tuple = tuple(self._regions)
        return self._tuple

    def map(self, name: str, data: NDArray[np.uint8], *, writable: bool = True) -> int:
        """Map ``data`` (1-D, contiguous, uint8; shared, not copied) and return its address.

        Raises ValueError for another shape or dtype, or where NumPy would refuse a write.
        """
        if data.dtype != np.uint8 or data.ndim != 1 or not data.flags.c_contiguous:
            raise ValueError(f"`{name}` must be a contiguous 1-D array of uint8")
        if writable and not data.flags.writeable:
            raise ValueError(f"`{name}` is mapped writable over a read-only array")
        region = Region(name, self._next, data, writable)
        self._regions.append(region)
        self._next = -(-(region.end + GAP) // ALIGNMENT) * ALIGNMENT
        self._table = self._tuple = None
        return region.start

    def unmap(self, address: int) -> None:
        """Forget the buffer that starts at ``address``; raises KeyError where none does."""
        for position, region in enumerate(self._regions):
            if region.start == address:
                del self._regions[position]
                self._table = self._tuple = None
                return
        raise KeyError(address)

    def find(self, address: int) -> Region | None:
        """Return the buffer that holds the byte at ``address``."""
        index = self.table.nearest(address, 1)
        if index < 0:
            return None
        region = self._regions[index]
        return region if region.start <= address < region.end else None

    @property
    def table(self) -> RangeTable:
        """The ranges of :attr:`regions`, in the same order."""
        if self._table is None:
            self._table = RangeTable([r.start for r in self._regions], [r.end for r in self._regions])
        return self._table

    def nearest(self, address: int, size: int) -> Region | None:
        """Return the buffer closest to ``size`` bytes at ``address``."""
        index = self.table.nearest(address, size)
        return self._regions[index] if index >= 0 else None

    def text(self, address: int, limit: int = 1 << 16) -> bytes | None:
        """Return the bytes from ``address`` to the next zero, or None where they leave the buffer."""
        region = self.find(address)
        if region is None:
            return None
        data = region.data[address - region.start :][:limit].tobytes()
        end = data.find(0)
        return data[:end] if end >= 0 else None
