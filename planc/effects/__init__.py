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
from planc.effects.lint import KernelLint, LintAccess, LintEffect
from planc.effects.lint import as_json as lint_as_json
from planc.effects.lint import lint as lint_module
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
    "KernelLint",
    "LaunchFacts",
    "LintAccess",
    "LintEffect",
    "PointerFact",
    "Witness",
    "analyse",
    "integer",
    "lint_as_json",
    "lint_module",
]
