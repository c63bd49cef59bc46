"""The form for programs. Every field is always there; ``facts`` hold the stable keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from planc.diagnostics.catalogue import CATALOGUE
from planc.diagnostics.diagnostic import Diagnostic
from planc.diagnostics.span import Span


def render_json(diagnostics: Sequence[Diagnostic], read: Callable[[str], str | None]) -> str:
    """Return one JSON object: ``{"diagnostics": [...]}``."""
    del read
    return json.dumps({"diagnostics": [to_json(d) for d in diagnostics]}, indent=2) + "\n"


def to_json(found: Diagnostic) -> dict[str, Any]:
    """Return one diagnostic as plain JSON values."""
    return {
        "code": found.code,
        "severity": str(CATALOGUE[found.code].severity),
        "title": CATALOGUE[found.code].title,
        "message": found.message,
        "span": _span(found.span),
        "help": found.help,
        "related": [{"message": r.message, "span": _span(r.span)} for r in found.related],
        "notes": list(found.notes),
        "facts": dict(found.facts),
        "fix": found.fix
        and {
            "title": found.fix.title,
            "edits": [{"span": _span(e.span), "text": e.text} for e in found.fix.edits],
        },
    }


def _span(span: Span | None) -> dict[str, Any] | None:
    if span is None:
        return None
    return {
        "file": span.file,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
