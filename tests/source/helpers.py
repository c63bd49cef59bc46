"""What tests of graph files share."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planc.diagnostics import Collector, Diagnostic, Span
from planc.source import load_graph, load_text
from planc.source.flat import FlatGraph, Site

MARK = "§"
HEAD = "planc: 1\nbuffers: {u: 'f32[8] inout', v: 'f32[8]'}\n"


def load(
    text: str, name: str = "graph.yaml", **options: Any
) -> tuple[FlatGraph | None, tuple[Diagnostic, ...]]:
    """Load a text; return the graph and everything reported."""
    collector = Collector()
    graph = load_text(text, name, collector=collector, **options)
    return graph, collector.diagnostics


def load_files(
    folder: Path, files: Mapping[str, str | bytes], main: str = "graph.yaml", **options: Any
) -> tuple[FlatGraph | None, tuple[Diagnostic, ...]]:
    """Write files into a folder and load one of them."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    collector = Collector()
    graph = load_graph(folder / main, collector=collector, **options)
    return graph, collector.diagnostics


def marked(text: str) -> tuple[str, tuple[int, int]]:
    """Return a text without its mark, and the line and column where the mark stood."""
    before, mark, after = text.partition(MARK)
    assert mark and MARK not in after, "one mark belongs in the text"
    line = before.count("\n") + 1
    return before + after, (line, len(before) - (before.rfind("\n") + 1) + 1)


def places(diagnostics: tuple[Diagnostic, ...]) -> list[tuple[str, int, int]]:
    """Return code, line and column of each."""
    return [(d.code, d.span.line, d.span.column) if d.span else (d.code, 0, 0) for d in diagnostics]


def good(text: str, name: str = "graph.yaml", **options: Any) -> FlatGraph:
    """Load a text that nothing is said about."""
    graph, found = load(text, name, **options)
    assert places(found) == [], found
    assert graph is not None and not graph.broken
    return graph


def meaning(value: Any) -> Any:
    """Return a value without places: what two forms of one graph must agree in."""
    if isinstance(value, Span | Site):
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        skipped = ("file", "text", "root", "included") if isinstance(value, FlatGraph) else ("text",)
        return {
            f.name: meaning(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if f.name not in skipped
        }
    if isinstance(value, Mapping):
        return {key: meaning(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [meaning(item) for item in value]
    if type(value).__name__ == "EllipsisIndex":
        return "..."
    return (type(value).__name__, value)


def edges(graph: FlatGraph) -> dict[str, list[str]]:
    """Return the names of what each node comes after."""
    return {node.name: [graph.nodes[a.node].name for a in node.after] for node in graph.nodes}
