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
    CodeEntry("PLC510", "trace: access outside the view"),
    CodeEntry("PLC511", "trace: access of an undeclared kind"),
    CodeEntry("PLC512", "trace: access to a buffer that was not given"),
    CodeEntry("PLC513", "trace: race"),
    CodeEntry("PLC514", "trace: read of bytes that nobody wrote"),
    CodeEntry("PLC515", "trace: declaration wider than the accesses", Severity.HINT),
    CodeEntry("PLC516", "shuffle: the order of two nodes changes the result"),
    CodeEntry("PLC517", "shuffle: the order of floating sums changes the result", Severity.HINT),
    CodeEntry("PLC590", "unreadable text of passes"),
    CodeEntry("PLC591", "unknown pass"),
    CodeEntry("PLC592", "unknown option of a pass"),
    CodeEntry("PLC593", "option of a pass out of range"),
    CodeEntry("PLC594", "unknown level"),
)
