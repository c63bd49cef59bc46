"""Sites: the instructions that touch memory, as an observer of a run sees them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from planc.ptx.syntax import Instruction
from planc.simt.memory import Region
from planc.simt.ranges import Addresses


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """One instruction that accesses memory; one object per decoded instruction, compared by identity.

    ``kind`` is ``read``, ``write`` or ``atomic``. ``reduction`` is the operator and type (``add.f32``) of an
    atomic that commutes with others of the same operator and type: ``red``, or ``atom`` whose result
    nobody reads, at gpu scope or wider, other than exchange, compare-and-swap and the wrapping counters.
    """

    kind: str
    instruction: Instruction
    reduction: str = ""


class Observer(Protocol):
    """What :meth:`planc.simt.PreparedKernel.run` tells about every access to global memory, with its site."""

    def __call__(
        self, site: Site, addresses: Addresses, size: int, region: Region, threads: NDArray[np.int64]
    ) -> None:
        """See one access, before it happens; the arguments are those of :class:`planc.simt.Trace`."""
