"""Codes 2xx: names and structure."""

from __future__ import annotations

from planc.diagnostics.diagnostic import Severity
from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC201", "declared twice"),
    CodeEntry("PLC202", "unknown name in an expression"),
    CodeEntry("PLC203", "unknown setting"),
    CodeEntry("PLC204", "setting of another type"),
    CodeEntry("PLC205", "symbols defined by each other"),
    CodeEntry("PLC206", "two nodes of one name"),
    CodeEntry("PLC207", "id that every iteration repeats"),
    CodeEntry("PLC208", "index of an id that is no loop variable"),
    CodeEntry("PLC209", "unknown node"),
    CodeEntry("PLC210", "node after itself"),
    CodeEntry("PLC211", "iteration that does not exist"),
    CodeEntry("PLC212", "wrong number of indices"),
    CodeEntry("PLC213", "index from the end inside its own loop"),
    CodeEntry("PLC214", "loop variable that hides a name"),
    CodeEntry("PLC215", "unknown sub-graph"),
    CodeEntry("PLC216", "sub-graph that uses itself"),
    CodeEntry("PLC217", "arguments that do not match a sub-graph"),
    CodeEntry("PLC218", "argument of another kind"),
    CodeEntry("PLC219", "view past what a parameter stands for"),
    CodeEntry("PLC220", "unused symbol", Severity.WARNING),
    CodeEntry("PLC221", "unused sub-graph", Severity.WARNING),
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
    CodeEntry("PLC242", "argument given twice"),
    CodeEntry("PLC243", "scalar used as a buffer"),
)
