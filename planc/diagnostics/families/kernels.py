"""Codes 4xx: kernels, their arguments and launch limits."""

from __future__ import annotations

from planc.diagnostics.entry import CodeEntry

CODES: tuple[CodeEntry, ...] = ()
