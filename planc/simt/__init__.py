"""Reference semantics of PTX on NumPy: an interpreter that is slow and right.

All threads of a chunk of blocks run together, one instruction at a time, as arrays; see
:mod:`planc.simt.frames` for how diverged threads are kept apart and :mod:`planc.simt.flow` for where
they meet again (the immediate post-dominator). Memory is sequentially consistent; threads come in ascending
order wherever an order can be seen; registers that were never written hold zero.
"""

from planc.simt.kernel import PreparedKernel, prepare
from planc.simt.launch import RunStatistics
from planc.simt.memory import Memory, Region, Trace
from planc.simt.opcodes import supports
from planc.simt.sites import Observer, Site
from planc.simt.variables import Variables, load_variables

__all__ = [
    "Memory",
    "Observer",
    "PreparedKernel",
    "Region",
    "RunStatistics",
    "Site",
    "Trace",
    "Variables",
    "load_variables",
    "prepare",
    "supports",
]
