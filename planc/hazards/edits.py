"""Edits of a text by line and column."""

from __future__ import annotations

from collections.abc import Iterable

from planc.diagnostics import Edit


def apply_fixes(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` with all edits of its file applied; equal edits count once.

    Lines end at a line feed; columns count characters. Where two different edits touch the same characters,
    the one that stands first in the file is applied and the other is left out, to be proposed again by the
    next check.
    """
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    places = sorted(
        {
            (
                starts[e.span.line - 1] + e.span.column - 1,
                starts[e.span.end_line - 1] + e.span.end_column - 1,
                e.text,
            )
            for e in edits
        }
    )
    parts: list[str] = []
    done = 0
    last: tuple[int, int] | None = None
    for start, end, new in places:
        if start < done or (start, end) == last:
            continue
        parts += [text[done:start], new]
        done, last = end, (start, end)
    return "".join([*parts, text[done:]])
