"""The text of a PTX file: places in it, and the mistakes found there."""

from __future__ import annotations

import re
from bisect import bisect_right

from planc.diagnostics import Diagnostic, Related, Span
from planc.diagnostics.diagnostic import Fact

_NEWLINE = re.compile(r"\n")


class Mistake(Exception):
    """One diagnostic on its way to the collector; never leaves this folder."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        """Keep the diagnostic."""
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)


class Source:
    """A text with its name and the offsets of its lines."""

    def __init__(self, text: str, file: str) -> None:
        """Index the lines of ``text``."""
        self.text = text
        self.file = file
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(text))]

    def line(self, offset: int) -> int:
        """Return the line, from 1, that holds the character at ``offset``."""
        return bisect_right(self._starts, offset)

    def span(self, start: int, length: int) -> Span:
        """Return the region of ``length`` characters (at least one) from ``start``."""
        stop = start + max(length, 1)
        first, last = self.line(start), self.line(stop - 1)
        column = start - self._starts[first - 1] + 1
        return Span(self.file, first, column, last, stop - self._starts[last - 1] + 1)

    def mistake(
        self,
        code: str,
        message: str,
        start: int,
        length: int = 1,
        help: str = "",
        related: tuple[Related, ...] = (),
        **facts: Fact,
    ) -> Mistake:
        """Return a mistake at a place of this text."""
        span = self.span(start, length)
        return Mistake(Diagnostic(code, message, span, help, related, facts=facts))
