"""One line per diagnostic."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planc.diagnostics.catalogue import CATALOGUE
from planc.diagnostics.diagnostic import Diagnostic


def render_concise(diagnostics: Sequence[Diagnostic], read: Callable[[str], str | None]) -> str:
    """Return ``file:line:column: severity[code]: message`` lines."""
    del read
    lines = []
    for found in diagnostics:
        place = f"{found.span}: " if found.span else ""
        lines.append(f"{place}{CATALOGUE[found.code].severity}[{found.code}]: {found.message}\n")
    return "".join(lines)
