"""Fences of a Markdown document, in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```([\w+-]*)[ \t]*([^\n]*)\n(.*?)^```[ \t]*$", re.M | re.S)


@dataclass(frozen=True)
class Snippet:
    """One fence: its language, the name after it (a file to write), its text and line."""

    language: str
    name: str
    text: str
    line: int


def snippets(document: Path) -> list[Snippet]:
    """Return the fences of ``document``."""
    markdown = document.read_text()
    return [
        Snippet(m[1], m[2].strip(), m[3], markdown.count("\n", 0, m.start()) + 1)
        for m in _FENCE.finditer(markdown)
    ]
