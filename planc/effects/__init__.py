"""What a node reads and writes."""

from planc.effects.declared import (
    DECLARED_ACCESSES,
    EXACT_READ,
    EXACT_WRITE,
    GLOBAL_ACCESSES,
    OPERATION_ACCESSES,
    READS,
    WRITES,
    Access,
)

__all__ = [
    "DECLARED_ACCESSES",
    "EXACT_READ",
    "EXACT_WRITE",
    "GLOBAL_ACCESSES",
    "OPERATION_ACCESSES",
    "READS",
    "WRITES",
    "Access",
]
