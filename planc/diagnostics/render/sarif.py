"""SARIF 2.1.0, the interchange form of static analysis (OASIS)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from planc.diagnostics.catalogue import CATALOGUE
from planc.diagnostics.diagnostic import Diagnostic, Severity
from planc.diagnostics.span import Span

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.HINT: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render_sarif(diagnostics: Sequence[Diagnostic], read: Callable[[str], str | None]) -> str:
    """Return one SARIF log with one run; only the rules that occur are listed."""
    del read
    codes = sorted({d.code for d in diagnostics})
    rules = [{"id": c, "shortDescription": {"text": CATALOGUE[c].title}} for c in codes]
    run = {
        "tool": {"driver": {"name": "planc", "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(d) for d in diagnostics],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(found: Diagnostic) -> dict[str, Any]:
    text = found.message + (f". {found.help}" if found.help else "")
    result: dict[str, Any] = {
        "ruleId": found.code,
        "level": _LEVELS[CATALOGUE[found.code].severity],
        "message": {"text": text},
        "locations": [_location(found.span)] if found.span else [],
    }
    related = [r for r in found.related if r.span is not None]
    if related:
        result["relatedLocations"] = [
            {**_location(r.span), "message": {"text": r.message}} for r in related if r.span is not None
        ]
    return result


def _location(span: Span) -> dict[str, Any]:
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    return {"physicalLocation": {"artifactLocation": {"uri": span.file}, "region": region}}
