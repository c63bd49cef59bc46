"""Codes 9xx: faults of planc itself."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC900", "planc itself is at fault"),
    CodeEntry("PLC905", "an effect that planc proved is too narrow"),
    CodeEntry("PLC906", "bytes that planc says are written are not"),
    CodeEntry("PLC907", "effect of a fill or copy is not its operation's"),
    CodeEntry("PLC910", "a pass failed"),
    CodeEntry("PLC911", "lane that is no chain"),
    CodeEntry("PLC950", "schedule does not hold each node once"),
    CodeEntry("PLC951", "schedule order breaks an edge"),
    CodeEntry("PLC952", "edge of the program is not kept"),
    CodeEntry("PLC953", "scratch buffer without its place"),
    CodeEntry("PLC954", "two buffers on the same bytes"),
    CodeEntry("PLC955", "place outside the arena"),
    CodeEntry("PLC956", "misaligned place"),
    CodeEntry("PLC957", "schedule names what the program lacks"),
)
