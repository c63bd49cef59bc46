"""What a node reads and writes."""

from planc.effects.analyser import Analyser, analyse
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
from planc.effects.launch import BytesFact, IntegerFact, LaunchFacts, PointerFact, integer
from planc.effects.result import AccessRange, Effect, Finding, KernelEffects, Witness

__all__ = [
    "DECLARED_ACCESSES",
    "EXACT_READ",
    "EXACT_WRITE",
    "GLOBAL_ACCESSES",
    "OPERATION_ACCESSES",
    "READS",
    "WRITES",
    "Access",
    "AccessRange",
    "Analyser",
    "BytesFact",
    "Effect",
    "Finding",
    "IntegerFact",
    "KernelEffects",
    "LaunchFacts",
    "PointerFact",
    "Witness",
    "analyse",
    "integer",
]
