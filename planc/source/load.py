"""Loading a graph: from a file or a text to a flat graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from planc.diagnostics import Collector, Span
from planc.source.assemble import Assembly
from planc.source.collection import paused_collection
from planc.source.expressions import Number
from planc.source.flat import FlatGraph
from planc.source.limits import LIMITS, Limits
from planc.source.project import Project
from planc.source.reading import READERS, GraphReader
from planc.source.report import Report
from planc.source.syntax import SourceText, check_text, label_of, read_source


def load_graph(
    path: str | Path,
    *,
    settings: Mapping[str, Number] | None = None,
    allow_outside: bool = False,
    collector: Collector | None = None,
    limits: Limits = LIMITS,
) -> FlatGraph | None:
    """Return the graph of a file: ``.yaml``, ``.yml``, ``.json``, or ``.py`` (which runs it).

    ``settings`` replace symbols. Every mistake goes to ``collector``; the result is None where nothing
    could be expanded, and what could be otherwise (see :class:`FlatGraph` on ``broken``). Without a
    collector the first errors raise :class:`planc.diagnostics.GraphError`, all of them in one.
    """
    path = Path(path)
    found = collector or Collector()
    report = Report(found)
    graph = None
    if path.suffix == ".py":
        from planc.source.python import load_python

        graph = load_python(path, settings=settings, allow_outside=allow_outside, collector=found)
    elif path.suffix not in READERS:
        cure = "name a `.yaml`, `.yml`, `.json` or `.py` file"
        label = label_of(path)
        report.add("PLC106", f"`{label}` is no graph file by its name", Span(label), help=cure)
    else:
        source = read_source(path, limits, report)
        if source is not None:
            project = Project.around(path.parent, allow_outside)
            graph = _expanded(source, path, project, settings, limits, report)
    if collector is None:
        found.raise_errors()
    return graph


def load_text(
    text: str,
    name: str = "graph.yaml",
    *,
    folder: str | Path = ".",
    settings: Mapping[str, Number] | None = None,
    allow_outside: bool = False,
    collector: Collector | None = None,
    limits: Limits = LIMITS,
) -> FlatGraph | None:
    """Return the graph of a text, as :func:`load_graph` does.

    ``name`` stands for the file in diagnostics, and its suffix tells YAML from JSON; ``folder`` is where it
    would lie, from which it names other files.
    """
    found = collector or Collector()
    report = Report(found)
    graph = None
    checked = check_text(text, name, report)
    if checked is not None:
        source = SourceText.of(name, Path(folder).absolute(), checked)
        project = Project.around(Path(folder), allow_outside)
        graph = _expanded(source, None, project, settings, limits, report)
    if collector is None:
        found.raise_errors()
    return graph


def _expanded(
    source: SourceText,
    path: Path | None,
    project: Project,
    settings: Mapping[str, Number] | None,
    limits: Limits,
    report: Report,
) -> FlatGraph | None:
    with paused_collection():
        read = GraphReader(project, limits, report).read(source, path)
        if read is None or not read.complete:
            return None
        return Assembly(read, project, limits, report).flat(settings or {})
