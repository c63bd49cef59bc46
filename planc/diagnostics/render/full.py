"""The form for people: the line of the file with a caret under it, then notes and the cure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planc.diagnostics.catalogue import CATALOGUE
from planc.diagnostics.diagnostic import Diagnostic
from planc.diagnostics.span import Span

Read = Callable[[str], str | None]


def render_full(diagnostics: Sequence[Diagnostic], read: Read) -> str:
    """Return each diagnostic with excerpts; ``read`` gives the text of a file, or None."""
    return "\n".join(_one(found, read) for found in diagnostics)


def _one(found: Diagnostic, read: Read) -> str:
    lines = [f"{CATALOGUE[found.code].severity}[{found.code}]: {found.message}"]
    spans = [found.span, *(other.span for other in found.related)]
    width = max((len(str(span.line)) for span in spans if span), default=1)
    lines += _excerpt(found.span, "^", "", width, read)
    for other in found.related:
        if other.span is None:
            lines.append(f"{'':{width}} = {other.message}")
        else:
            lines += _excerpt(other.span, "-", other.message, width, read)
    for note in found.notes:
        lines += _tail("note", note, width)
    if found.help:
        lines += _tail("help", found.help, width)
    return "\n".join(lines) + "\n"


def _tail(label: str, text: str, width: int) -> list[str]:
    first, *rest = text.splitlines() or [""]
    pad = " " * (width + 5 + len(label))
    return [f"{'':{width}} = {label}: {first}", *(f"{pad}{line}" for line in rest)]


def _excerpt(span: Span | None, mark: str, label: str, width: int, read: Read) -> list[str]:
    if span is None:
        return []
    lines = [f"{'':{width}}--> {span}"]
    text = _line(span, read)
    if text is None:
        return [*lines, *([f"{'':{width}} = {label}"] if label else [])]
    shown = text.expandtabs(1)
    end = span.end_column if span.end_line == span.line else len(shown) + 1
    length = max(1, min(end, len(shown) + 1) - span.column)
    under = " " * (span.column - 1) + mark * length
    lines.append(f"{'':{width}} |")
    lines.append(f"{span.line:>{width}} | {shown}")
    lines.append(f"{'':{width}} | {under}{' ' + label if label else ''}")
    return lines


def _line(span: Span, read: Read) -> str | None:
    text = read(span.file)
    if text is None:
        return None
    lines = text.splitlines()
    return lines[span.line - 1] if 0 < span.line <= len(lines) else None
