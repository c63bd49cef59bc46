"""Checking what a builder was told, and turning it into a flat graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Protocol, TypeVar

from planc.diagnostics import Fact, Related, Span
from planc.model import ORDERS
from planc.source.expressions import Number, kind_of
from planc.source.flat import FlatBuffer, FlatGlobal, FlatGraph, FlatKernel, FlatScalar
from planc.source.project import Project
from planc.source.python.checks import Checks
from planc.source.python.declarations import PythonDeclarations
from planc.source.python.handles import View
from planc.source.python.nodes import PythonNodes
from planc.source.reading import check_name
from planc.source.report import Report, advice
from planc.source.syntax import PinnedText, label_of
from planc.source.values import Refused

if TYPE_CHECKING:
    from planc.source.python.builder import Graph


class _Record(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def span(self) -> Span: ...


R = TypeVar("R", bound=_Record)
D = TypeVar("D")


class Flattening:
    """Flattens one graph once."""

    def __init__(self, graph: Graph, project: Project, report: Report) -> None:
        """Flatten ``graph``."""
        self.graph = graph
        self.project = project
        self.report = report
        self.checks = Checks(report)
        self.broken: set[str] = set()

    def flat(self, settings: Mapping[str, Number]) -> FlatGraph:
        """Return the flat graph; what is broken is named there."""
        graph = self.graph
        symbols = self._symbols(settings)
        declare = PythonDeclarations(self.project, graph.folder, self.checks)
        self._unique(graph.scalars, "scalars")
        self._unique(graph.buffers, "buffers")
        self._unique(graph.kernels, "kernels")
        scalars: tuple[FlatScalar, ...] = self._all(graph.scalars, declare.scalar)
        kernels: tuple[FlatKernel, ...] = self._all(graph.kernels, declare.kernel, value=False)
        own = [record for record in graph.buffers if record.kernel is None]
        foreign = [record for record in graph.buffers if record.kernel is not None]
        buffers: tuple[FlatBuffer, ...] = self._all(own, declare.buffer)
        globals_: tuple[FlatGlobal, ...] = self._all(foreign, declare.global_)
        shapes = {b.name: b.shape for b in buffers} | {g.name: g.shape for g in globals_}
        nodes = PythonNodes(graph, shapes, self.checks)
        flat_nodes = nodes.flat()
        order, may_alias = self._order(), tuple(self._may_alias())
        name = graph.name if self._name(graph.name, graph.span, value=False) else "graph"
        broken = self.broken | nodes.broken
        if self.report.has_errors and not broken:
            broken.add(label_of(graph.file))
        return FlatGraph(
            name=name,
            file=label_of(graph.file),
            root=self.project.root,
            order=order,
            targets=tuple((target, graph.span) for target in graph.targets),
            span=graph.span,
            symbols=symbols,
            scalars=scalars,
            buffers=buffers,
            globals=globals_,
            kernels=kernels,
            nodes=flat_nodes,
            may_alias=may_alias,
            allow_outside=self.project.allow_outside,
            broken=frozenset(broken),
        )

    # -- names ----------------------------------------------------------------------------------

    def _name(self, name: object, span: Span, *, value: bool) -> bool:
        if not isinstance(name, str):
            message = f"a text for a name is wanted, not `{type(name).__name__}`"
            self.report.add("PLC172", message, span, help="write the name in quotes")
            return False
        return check_name(PinnedText(name, span), self.report, value=value)

    def _unique(self, records: Iterable[_Record], section: str) -> None:
        """Report what is declared twice (PLC201)."""
        first: dict[str, Span] = {}
        for record in records:
            name, span = record.name, record.span
            if name in first:
                related = [Related("it is declared here first", first[name])]
                message = f"`{name}` is declared twice under `{section}`"
                facts: dict[str, Fact] = {"name": name, "section": section}
                cure = "remove or rename one of them"
                self.report.add("PLC201", message, span, help=cure, related=related, facts=facts)
            first.setdefault(name, span)

    def _all(self, records: Iterable[R], make: Callable[[R], D], *, value: bool = True) -> tuple[D, ...]:
        found: dict[str, D] = {}
        for record in records:
            name, span = record.name, record.span
            if not self._name(name, span, value=value):
                self.broken.add(str(name))
            elif name not in found:
                try:
                    found[name] = make(record)
                except Refused:
                    self.broken.add(name)
        return tuple(found.values())

    # -- the rest -------------------------------------------------------------------------------

    def _symbols(self, settings: Mapping[str, Number]) -> dict[str, Number]:
        found: dict[str, Number] = {}
        for name, value, span in self.graph.symbols:
            if not self._name(name, span, value=True):
                continue
            if name in found:
                message = f"`{name}` is declared twice under `symbols`"
                self.report.add("PLC201", message, span, help="remove or rename one of them")
                continue
            try:
                number = self.checks.number(value, "a number for a symbol", span)
            except Refused:
                self.broken.add(name)
                continue
            found[name] = self._set(name, number, settings, span)
        for name in settings:
            if name not in found and name not in self.broken:
                message = f"no symbol is named `{name}`, so it cannot be set"
                cure = partial(advice, name, found, f"declare `{name}` with `symbol`, or do not set it")
                self.report.add("PLC203", message, self.graph.span, help=cure, facts={"name": name})
        return found

    def _set(self, name: str, value: Number, settings: Mapping[str, Number], span: Span) -> Number:
        """Return the value of a symbol under the settings, which must be those of the graph."""
        given = settings.get(name, value)
        if type(value) is float and type(given) is int:
            given = float(given)
        if type(given) is not type(value):
            message = f"`{name}` is {kind_of(value)} and cannot be set to {given}, {kind_of(given)}"
            cure = f"set {kind_of(value)}, or declare `{name}` as {kind_of(given)}"
            self.report.add("PLC204", message, span, help=cure, facts={"name": name})
            return value
        if given != self.graph.settings.get(name, value):
            message = f"`{name}` was {value} when the graph was built, and cannot be set to {given} now"
            cure = "give `settings` to `planc.Graph`, or check the file that builds the graph"
            self.report.add("PLC172", message, span, help=cure)
            return value
        return given

    def _order(self) -> str:
        try:
            return self.checks.one_of(self.graph.order, ORDERS, "the order", self.graph.span)
        except Refused:
            return ORDERS[0]

    def _may_alias(self) -> Iterator[tuple[str, str, Span]]:
        for group in self.graph.may_alias:
            names = [item.name if isinstance(item, View) else str(item) for item in group]
            if len(names) < 2:
                message = "a group of `may_alias` has two names or more"
                cure = "add the buffer that it may overlap, or take the group out"
                self.report.add("PLC128", message, self.graph.span, help=cure)
            for first, second in combinations(names, 2):
                yield first, second, self.graph.span
