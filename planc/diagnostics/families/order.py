"""Codes 5xx: edges, cycles and races."""

from __future__ import annotations

from planc.diagnostics.diagnostic import Severity
from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC501", "cycle"),
    CodeEntry("PLC502", "read-write race"),
    CodeEntry("PLC503", "write-write race"),
    CodeEntry("PLC504", "redundant edge", Severity.HINT),
    CodeEntry("PLC505", "order of reductions is open", Severity.WARNING),
)
