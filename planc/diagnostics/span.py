"""Places in the text of a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open region of a text file.

    Lines and columns count from 1; columns count Unicode characters, not bytes. ``end_line`` and
    ``end_column`` name the first position after the region. ``file`` is the path as the person
    would type it: relative to the working folder where the file lies below it.
    """

    file: str
    line: int = 1
    column: int = 1
    end_line: int = 0
    end_column: int = 0

    def __post_init__(self) -> None:
        """Let a span without an end cover one character."""
        if self.end_line == 0:
            object.__setattr__(self, "end_line", self.line)
            object.__setattr__(self, "end_column", self.column + 1)

    def __str__(self) -> str:
        """Return ``file:line:column``, the form editors follow."""
        return f"{self.file}:{self.line}:{self.column}"
