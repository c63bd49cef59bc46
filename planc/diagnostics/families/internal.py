"""Codes 9xx: faults of planc itself."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = (CodeEntry("PLC900", "planc itself is at fault"),)
