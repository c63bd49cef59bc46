"""Codes 2xx: names and structure."""

from __future__ import annotations

from planc.diagnostics.diagnostic import Severity
from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC230", "unknown buffer"),
    CodeEntry("PLC231", "unknown kernel"),
    CodeEntry("PLC232", "argument names nothing"),
    CodeEntry("PLC233", "unknown parameter"),
    CodeEntry("PLC234", "one name for two things"),
    CodeEntry("PLC236", "unused buffer", Severity.WARNING),
    CodeEntry("PLC237", "unused scalar", Severity.WARNING),
    CodeEntry("PLC238", "unused kernel", Severity.WARNING),
    CodeEntry("PLC239", "`may_alias` of something that is no slot"),
    CodeEntry("PLC240", "symbol that the module lacks"),
    CodeEntry("PLC241", "two globals for one symbol"),
    CodeEntry("PLC242", "argument given twice"),
    CodeEntry("PLC243", "scalar used as a buffer"),
)
