"""Collecting diagnostics, so that a person sees all mistakes at once."""

from __future__ import annotations

from collections.abc import Iterable

from planc.diagnostics.catalogue import CATALOGUE
from planc.diagnostics.diagnostic import Diagnostic, GraphError, Severity


class Collector:
    """Gathers diagnostics from every stage of one run."""

    def __init__(self) -> None:
        """Start with none."""
        self._found: list[Diagnostic] = []

    def add(self, diagnostic: Diagnostic) -> None:
        """Keep one diagnostic; its code must be in the catalogue."""
        CATALOGUE[diagnostic.code]
        self._found.append(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep several."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All of them, each once, ordered by place."""
        unique: list[Diagnostic] = []
        for diagnostic in sorted(self._found, key=Diagnostic.sort_key):
            if not unique or unique[-1] != diagnostic:
                unique.append(diagnostic)
        return tuple(unique)

    @property
    def has_errors(self) -> bool:
        """Whether one of them is an error."""
        return any(CATALOGUE[d.code].severity is Severity.ERROR for d in self._found)

    def raise_errors(self) -> None:
        """Raise :class:`GraphError` with everything collected, if one is an error."""
        if self.has_errors:
            raise GraphError(self.diagnostics)
