"""Codes 4xx: kernels, their arguments and launch limits."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (
    CodeEntry("PLC490", "PTX that does not parse"),
    CodeEntry("PLC491", "PTX uses a name nobody declares"),
    CodeEntry("PLC492", "PTX declares a name twice"),
    CodeEntry("PLC493", "PTX larger or deeper than planc reads"),
    CodeEntry("PLC494", "PTX number without a meaning"),
    CodeEntry("PLC495", "PTX without a usable header"),
)
