"""Reporting from the source folder: each mistake once, with the closest known name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches

from planc.diagnostics import CATALOGUE, Collector, Diagnostic, Fact, Related, Severity, Span

Help = str | Callable[[], str]
_ADVICE = 100
MANY = "mend the first ones, and check again"


class Report:
    """Adds diagnostics to a collector, the first of each code and place only.

    One text can fail in each iteration of a loop; the first failure is the one worth reading. Help that
    takes a search through all names is given as a function, and asked for only so often.
    """

    def __init__(self, collector: Collector) -> None:
        """Report to ``collector``."""
        self.collector = collector
        self.has_errors = False
        self._advice = _ADVICE
        self._seen: set[tuple[str, Span | None]] = set()

    def add(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        help: Help = "",
        related: Iterable[Related] = (),
        notes: Iterable[str] = (),
        facts: Mapping[str, Fact] | None = None,
    ) -> None:
        """Report one mistake."""
        if (code, span) in self._seen:
            return
        self._seen.add((code, span))
        self.has_errors |= CATALOGUE[code].severity is Severity.ERROR
        if not isinstance(help, str):
            self._advice -= 1
            help = help() if self._advice >= 0 else MANY
        self.collector.add(
            Diagnostic(code, message, span, help, tuple(related), tuple(notes), dict(facts or {}))
        )


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like ``name``, if one is like it at all."""
    found = get_close_matches(name, sorted(set(known)), n=1, cutoff=0.6)
    return found[0] if found else None


def advice(name: str, known: Iterable[str], otherwise: str = "declare it, or write another name") -> str:
    """Return the help for an unknown name: the closest known one, else all of them if they are few."""
    names = sorted(set(known))
    best = closest(name, names)
    if best is not None:
        return f"write `{best}`"
    if 0 < len(names) <= 8:
        return "known here: " + ", ".join(f"`{n}`" for n in names)
    return otherwise
