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
    CodeEntry("PLC590", "unreadable text of passes"),
    CodeEntry("PLC591", "unknown pass"),
    CodeEntry("PLC592", "unknown option of a pass"),
    CodeEntry("PLC593", "option of a pass out of range"),
    CodeEntry("PLC594", "unknown level"),
)
