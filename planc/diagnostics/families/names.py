"""Codes 2xx: names and structure."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = ()
