"""Reporting from the graph folder: each mistake of one text once, however often a loop repeats it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from planc.diagnostics import CATALOGUE, Collector, Diagnostic, Fact, Related, Severity, Span


class Reporter:
    """Hands diagnostics to a collector, the first for each code and place only."""

    def __init__(self, collector: Collector) -> None:
        """Report into ``collector``."""
        self._collector = collector
        self._seen: set[tuple[str, Span | None]] = set()
        self.errors = 0

    def add(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        help: str = "",
        related: tuple[Related, ...] = (),
        notes: tuple[str, ...] = (),
        **facts: Fact,
    ) -> None:
        """Report ``code`` at ``span``, unless it was reported there; count it when it is an error."""
        if CATALOGUE[code].severity is Severity.ERROR:
            self.errors += 1
        if (code, span) in self._seen:
            return
        self._seen.add((code, span))
        self._collector.add(
            Diagnostic(code, message, span, help=help, related=related, notes=notes, facts=facts)
        )


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that looks most like ``name``, if one comes near."""
    names = list(known)
    folded = {n.lower(): n for n in reversed(names)}
    if name.lower() in folded:
        return folded[name.lower()]
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    return near[0] if near else None


def name_cure(kind: str, name: str, known: Iterable[str]) -> str:
    """Return the help for a name that nothing of this ``kind`` has: the closest one, or the list."""
    names = list(known)
    near = closest(name, names)
    if near is not None:
        return f"the closest {kind} is `{near}`"
    if not names:
        return f"there is no {kind}"
    shown = ", ".join(f"`{n}`" for n in names[:8])
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return f"known are {shown}{more}"
