"""The special registers (PTX ISA, "Special Registers")."""

from __future__ import annotations

import re

_PLAIN = (
    "laneid warpid nwarpid smid nsmid gridid is_explicit_cluster cluster_ctarank cluster_nctarank "
    "lanemask_eq lanemask_le lanemask_lt lanemask_ge lanemask_gt clock clock_hi clock64 "
    "globaltimer globaltimer_lo globaltimer_hi total_smem_size aggr_smem_size dynamic_smem_size "
    "reserved_smem_offset_begin reserved_smem_offset_end reserved_smem_offset_cap current_graph_exec"
)
_VECTORS = "tid ntid ctaid nctaid clusterid nclusterid cluster_ctaid cluster_nctaid"

_NAMES = frozenset(
    [f"%{name}" for name in _PLAIN.split()]
    + [f"%{name}" for name in _VECTORS.split()]
    + [f"%{name}.{axis}" for name in _VECTORS.split() for axis in "xyzw"]
)
_NUMBERED = re.compile(r"%pm[0-7](_64)?|%envreg([12]?[0-9]|3[01])|%reserved_smem_offset_[01]")


def is_special(name: str) -> bool:
    """Whether ``name`` is a special register, ``%tid.x``, ``%clock64``, ``%envreg3``."""
    return name in _NAMES or _NUMBERED.fullmatch(name) is not None
