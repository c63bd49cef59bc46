"""Graph files in Python."""

from __future__ import annotations

import symtable
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from planc.diagnostics import Collector, PlancError, Span
from planc.source.expressions import Number
from planc.source.flat import FlatGraph
from planc.source.limits import LIMITS
from planc.source.python.builder import SETTINGS, Graph
from planc.source.report import Report
from planc.source.syntax import SourceText, label_of, read_source


def load_python(
    path: str | Path,
    *,
    settings: Mapping[str, Number] | None = None,
    allow_outside: bool = False,
    collector: Collector | None = None,
) -> FlatGraph | None:
    """Run a Python file and return the graph that it leaves in the name ``graph``.

    The file is code, and runs as such; one that assigns no ``graph`` is not run at all (PLC170). Its
    ``__name__`` is ``planc_graph``, so that a ``__main__`` block stays out. ``settings`` replace what its
    symbols are given. What goes wrong in it is PLC171. Mistakes go to ``collector``; without one they
    raise GraphError.
    """
    found = collector or Collector()
    report = Report(found)
    path = Path(path)
    flat = None
    source = read_source(path, LIMITS, report)
    if source is not None and _assigns_graph(source, report):
        graph = _run(path, source, settings, report)
        if graph is not None:
            flat = graph.flatten(allow_outside=allow_outside, collector=found)
    if collector is None:
        found.raise_errors()
    return flat


def _assigns_graph(source: SourceText, report: Report) -> bool:
    try:
        table = symtable.symtable(source.text, source.label, "exec")
        if table.lookup("graph").is_assigned():
            return True
    except SyntaxError as error:
        place = Span(source.label, error.lineno or 1, max(error.offset or 1, 1))
        cure = "mend this line; `python -m py_compile` says the same of it"
        report.add("PLC171", f"this is not Python: {error.msg}", place, help=cure)
        return False
    except (KeyError, ValueError, RecursionError, MemoryError):
        pass
    cure = "assign a `planc.Graph` to `graph`"
    report.add("PLC170", f"`{source.label}` assigns no `graph`", Span(source.label), help=cure)
    return False


def _run(
    path: Path, source: SourceText, settings: Mapping[str, Number] | None, report: Report
) -> Graph | None:
    file = str(path.absolute())
    names: dict[str, Any] = {"__name__": "planc_graph", "__file__": file}
    token = SETTINGS.set(settings)
    try:
        exec(compile(source.text, file, "exec"), names)
    except PlancError as error:
        report.collector.extend(error.diagnostics)
        return None
    except (Exception, SystemExit) as error:
        _report_failure(error, file, source.label, report)
        return None
    finally:
        SETTINGS.reset(token)
    graph = names.get("graph")
    if isinstance(graph, Graph):
        return graph
    message = f"`graph` is `{type(graph).__name__}`, not a `planc.Graph`"
    report.add("PLC170", message, Span(label_of(path)), help="assign a `planc.Graph` to `graph`")
    return None


def _report_failure(error: BaseException, file: str, label: str, report: Report) -> None:
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file and f.lineno]
    text = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
    message = f"the file ends with an exception, `{what[:200]}`"
    cure = "mend the file so that it runs to its end"
    report.add("PLC171", message, Span(label, lines[-1] if lines else 1), help=cure)
