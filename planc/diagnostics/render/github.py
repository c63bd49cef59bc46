"""Workflow commands that GitHub Actions turns into annotations of a pull request."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from planc.diagnostics.catalogue import CATALOGUE
from planc.diagnostics.diagnostic import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "notice"}


def render_github(diagnostics: Sequence[Diagnostic], read: Callable[[str], str | None]) -> str:
    """Return one ``::error file=…`` command per diagnostic."""
    del read
    return "".join(_one(found) for found in diagnostics)


def _one(found: Diagnostic) -> str:
    fields = [f"title={_property(found.code)}"]
    if found.span is not None:
        span = found.span
        fields += [
            f"file={_property(span.file)}",
            f"line={span.line}",
            f"col={span.column}",
            f"endLine={span.end_line}",
        ]
    text = found.message + (f"\nhelp: {found.help}" if found.help else "")
    return f"::{_COMMANDS[CATALOGUE[found.code].severity]} {','.join(fields)}::{_data(text)}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
