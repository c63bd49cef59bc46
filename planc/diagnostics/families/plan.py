"""Codes 6xx: plan files."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = ()
