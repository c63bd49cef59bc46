"""What the CPU device tells about a replay, node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from planc.simt import Region, Site

if TYPE_CHECKING:
    from planc.runtime.cpu_nodes import Machine


class Watch(Protocol):
    """Sees every node of a replay, and every access of its kernels to global memory."""

    def start(self, machine: Machine) -> None:
        """See that a replay begins: scratch is filled, nothing has run."""

    def enter(self, node: int) -> None:
        """See that a node (a row) begins."""

    def leave(self, node: int, complete: bool) -> None:
        """See that it ended; ``complete`` is false where it raised."""

    def access(
        self, site: Site, addresses: NDArray[np.uint64], size: int, region: Region, threads: NDArray[np.int64]
    ) -> None:
        """See one access of the kernel that runs (:class:`planc.simt.Observer`)."""
