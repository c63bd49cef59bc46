"""One row of the catalogue of codes."""

from __future__ import annotations

from dataclasses import dataclass

from planc.diagnostics.diagnostic import Severity


@dataclass(frozen=True, slots=True)
class CodeEntry:
    """A code, its severity, and the bad thing it names (``title``: lowercase, no final stop).

    The manual page of a code is ``planc/diagnostics/explain/<code>.md``.
    """

    code: str
    title: str
    severity: Severity = Severity.ERROR
