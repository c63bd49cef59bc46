"""Codes 1xx: reading a graph file."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = ()
