"""A graph file and what it includes, as validated units with their places."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planc.diagnostics import Related
from planc.model import LANGUAGE, SECTIONS, UNITS, Fragment, GraphFile
from planc.source import syntax
from planc.source.expressions import RESERVED
from planc.source.limits import Limits
from planc.source.project import Project
from planc.source.report import Report
from planc.source.shape import Shapes
from planc.source.syntax import Scalar, SourceText, Text, Tree

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.A)
READERS = {".yaml": syntax.read_yaml, ".yml": syntax.read_yaml, ".json": syntax.read_json}
# Sections whose names stand in expressions.
_VALUES = ("symbols", "scalars", "buffers")


@dataclass(frozen=True, slots=True)
class ReadNode:
    """One entry of ``nodes:``; ``form`` None where it does not fit, which is reported."""

    form: Any
    where: Tree
    children: tuple[ReadNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """One declaration: its name, model and place, and for a sub-graph its nodes; ``form`` None as above."""

    name: str
    key: Scalar
    form: Any
    where: Tree
    children: tuple[ReadNode, ...] = ()
    included: bool = False

    @property
    def folder(self) -> Path:
        """The folder from which it names files."""
        return self.where.source.folder


@dataclass(slots=True)
class ReadGraph:
    """Everything read; ``header`` is the main file's, None where it does not fit.

    ``complete`` is false where a file that it includes could not be read, which may declare any name.
    """

    source: SourceText
    root: syntax.Mapping
    header: Any
    nodes: tuple[ReadNode, ...]
    complete: bool = True
    sections: dict[str, dict[str, Unit]] = field(default_factory=lambda: {name: {} for name in SECTIONS})


class GraphReader:
    """Reads one graph file with its includes; reports PLC106, PLC119 to PLC129, PLC160 to PLC163, PLC201."""

    def __init__(self, project: Project, limits: Limits, report: Report) -> None:
        """Read files of ``project``."""
        self.project = project
        self.limits = limits
        self.report = report
        self.shapes = Shapes(report, UNITS)
        self._open: list[Path] = []
        self._done: set[Path] = set()

    def read(self, source: SourceText, path: Path | None) -> ReadGraph | None:
        """Read the main file; ``path`` is where it lies, if it is a file. None where nothing can be read."""
        root = self._root(source)
        if root is None:
            return None
        graph = ReadGraph(source, root, self._header(GraphFile, root), ())
        self._open = [] if path is None else [path.resolve()]
        self._includes(root, graph)
        self._sections(root, graph, included=False)
        if "nodes" in root.values:
            graph.nodes = self._nodes(root.values["nodes"])
        return graph

    # -- one file -------------------------------------------------------------------------------

    def _root(self, source: SourceText) -> syntax.Mapping | None:
        read = READERS.get(Path(source.label).suffix, syntax.read_yaml)
        found = read(source, self.limits, self.report)
        if found is None:
            return None
        if not isinstance(found, syntax.Mapping):
            cure = "begin with `planc: 1` and `nodes:`"
            self.report.add("PLC119", "the file holds no mapping", found.span, help=cure)
            return None
        return found if self._version(found) else None

    def _version(self, root: syntax.Mapping) -> bool:
        value = root.values.get("planc")
        if value is None:
            first = next(iter(root.keys.values()), root)
            cure = f"write `planc: {LANGUAGE}` first"
            self.report.add("PLC120", "the version of the language is missing", first.span, help=cure)
            return True
        if isinstance(value, Scalar) and type(value.value) is int and value.value == LANGUAGE:
            return True
        shown = value.text[:40] if isinstance(value, Scalar) else "this value"
        message = f"`{shown}` is not a version of the language that this planc reads"
        self.report.add("PLC121", message, value.span, help=f"write `planc: {LANGUAGE}`")
        return False

    def _header(self, form: type[Fragment], root: syntax.Mapping) -> Any:
        plain = {key: value for key, value in root.plain.items() if key not in SECTIONS}
        plain["planc"] = LANGUAGE
        if "nodes" in plain and form is GraphFile:
            plain["nodes"] = ()
        return self.shapes.header(form, root, plain)

    # -- declarations ---------------------------------------------------------------------------

    def _sections(self, root: syntax.Mapping, graph: ReadGraph, included: bool) -> None:
        for section in SECTIONS:
            where = root.values.get(section)
            if isinstance(where, syntax.Mapping):
                for name, value in where.values.items():
                    self._declare(
                        section, graph, self._unit(section, name, where.keys[name], value, included)
                    )
            elif where is not None:
                message = f"`{section}` is no mapping of names"
                self.report.add("PLC124", message, where.span, help="write `name: …` for each below it")

    def _unit(self, section: str, name: str, key: Scalar, where: Tree, included: bool) -> Unit:
        valid = check_name(key, self.report, value=section in _VALUES)
        plain = None
        children: tuple[ReadNode, ...] = ()
        if section == "graphs" and isinstance(where, syntax.Mapping) and "nodes" in where.values:
            plain = {**where.plain, "nodes": ()}
            children = self._nodes(where.values["nodes"])
        form = self.shapes.unit(section, name, where, key, plain)
        return Unit(name, key, form if valid else None, where, children, included)

    def _declare(self, section: str, graph: ReadGraph, unit: Unit) -> None:
        known = graph.sections[section]
        first = known.setdefault(unit.name, unit)
        if first is not unit:
            self.report.add(
                "PLC201",
                f"`{unit.name}` is declared twice under `{section}`",
                unit.key.span,
                help="remove or rename one of them",
                related=[Related("it is declared here first", first.key.span)],
                facts={"name": unit.name, "section": section},
            )

    # -- includes -------------------------------------------------------------------------------

    def _includes(self, root: syntax.Mapping, graph: ReadGraph) -> None:
        where = root.values.get("include")
        items = where.items if isinstance(where, syntax.Sequence) else [where]
        for item in items:
            if isinstance(item, Scalar) and isinstance(item.value, str):
                self._include(item, graph)

    def _include(self, where: Scalar, graph: ReadGraph) -> None:
        path = self.project.file(where, where.source.folder, self.report)
        if path is None or not self._may_open(path, where):
            graph.complete = False
            return
        if path in self._done:
            return
        source = syntax.read_source(path, self.limits, self.report, where.span)
        self._done.add(path)
        root = None if source is None else self._root(source)
        if root is None:
            graph.complete = False
            return
        self._open.append(path)
        self._header(Fragment, root)
        self._includes(root, graph)
        self._open.pop()
        self._sections(root, graph, included=True)

    def _may_open(self, path: Path, where: Scalar) -> bool:
        if path.suffix not in READERS:
            cure = "include a `.yaml` or `.json` file"
            self.report.add("PLC106", f"`{where.text}` cannot be included", where.span, help=cure)
            return False
        if path in self._open:
            chain = [syntax.label_of(p) for p in (*self._open[self._open.index(path) :], path)]
            message = "files include each other: " + " → ".join(f"`{name}`" for name in chain)
            cure = "take this `include` out, and put what both need into a file that each includes"
            self.report.add("PLC160", message, where.span, help=cure, facts={"files": list(chain)})
            return False
        if len(self._open) > self.limits.include_depth:
            limit = self.limits.include_depth
            message = f"files include each other more than {limit} levels deep"
            cure = "include the files from the graph file itself"
            self.report.add("PLC161", message, where.span, help=cure, facts={"limit": limit})
            return False
        return True

    # -- nodes ----------------------------------------------------------------------------------

    def _nodes(self, where: Tree) -> tuple[ReadNode, ...]:
        if not isinstance(where, syntax.Sequence):
            cure = "write `- ` before each node"
            self.report.add("PLC124", "`nodes` is no list", where.span, help=cure)
            return ()
        return tuple(self._read_nodes(where))

    def _read_nodes(self, where: syntax.Sequence) -> Iterator[ReadNode]:
        for item in where.items:
            children: tuple[ReadNode, ...] = ()
            plain = None
            owner: Tree = item
            if isinstance(item, syntax.Mapping):
                owner = next(iter(item.keys.values()), item)
                if "for" in item.values and "nodes" in item.values:
                    plain = {**item.plain, "nodes": ()}
                    children = self._nodes(item.values["nodes"])
            yield ReadNode(self.shapes.unit("node", "this node", item, owner, plain), item, children)


def check_name(key: Text, report: Report, *, value: bool) -> bool:
    """Return whether ``key`` can be a name, reporting PLC129; ``value``: of what expressions mention."""
    name = key.text
    if not NAME.fullmatch(name):
        cure = "use letters, digits and `_`, not a digit first"
        report.add("PLC129", f"`{name[:40]}` is not a name", key.span, help=cure)
        return False
    if keyword.iskeyword(name) or (value and name in RESERVED):
        message = f"`{name}` is a word of the expression language"
        report.add("PLC129", message, key.span, help="choose another name")
        return False
    return True
