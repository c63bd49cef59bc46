"""What goes wrong inside a text: a code and the characters it concerns."""

from __future__ import annotations

from planc.source.report import Help, Report
from planc.source.syntax import Text

FOLLOWS = ""


class Broken:
    """What a name stands for whose own value could not be had."""

    def __str__(self) -> str:
        """Return what it is."""
        return "broken"


BROKEN = Broken()


class Fault(Exception):
    """A mistake in a text, from character ``start`` up to ``end``."""

    def __init__(self, code: str, message: str, start: int, end: int, help: Help = "") -> None:
        """Keep what a diagnostic needs."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.help = help

    def report(self, report: Report, where: Text) -> None:
        """Report it at its place in ``where``; what follows from an older mistake stays silent."""
        if self.code != FOLLOWS:
            report.add(self.code, self.message, where.part(self.start, self.end), help=self.help)


class Mistake(Exception):
    """A mistake of an operator or function, which does not know where it stands."""

    def __init__(self, code: str, message: str, help: str = "") -> None:
        """Keep what a :class:`Fault` needs."""
        super().__init__(message)
        self.code = code
        self.message = message
        self.help = help
