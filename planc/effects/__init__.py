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
from planc.effects.relations import Agreement, Verdict, commute, judge_declaration, touch_own_bytes
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
    "Agreement",
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
    "Verdict",
    "Witness",
    "analyse",
    "commute",
    "integer",
    "judge_declaration",
    "lint_as_json",
    "lint_module",
    "touch_own_bytes",
]
