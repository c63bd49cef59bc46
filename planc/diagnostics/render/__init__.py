"""Renderers: one list of diagnostics, several forms. Each returns text; none prints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from planc.diagnostics.diagnostic import Diagnostic
from planc.diagnostics.render.concise import render_concise
from planc.diagnostics.render.full import render_full
from planc.diagnostics.render.github import render_github
from planc.diagnostics.render.json import render_json
from planc.diagnostics.render.sarif import render_sarif

Renderer = Callable[[Sequence[Diagnostic], Callable[[str], str | None]], str]

RENDERERS: Mapping[str, Renderer] = MappingProxyType(
    {
        "text": render_full,
        "concise": render_concise,
        "json": render_json,
        "sarif": render_sarif,
        "github": render_github,
    }
)

__all__ = ["RENDERERS", "Renderer", "render_concise", "render_full", "render_json", "render_sarif"]
