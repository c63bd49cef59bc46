"""From everything read of a graph to a flat graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations, count
from pathlib import Path
from typing import TypeVar

from planc.diagnostics import Fact, Related, Span
from planc.source import syntax
from planc.source.expand import Expander, Row, Scope, TooMuch
from planc.source.expressions import BROKEN, Number
from planc.source.flat import After, FlatBuffer, FlatGraph, FlatKernel, FlatNode, Site
from planc.source.forms import FormReader
from planc.source.kernels import KernelDeclarations
from planc.source.limits import Limits
from planc.source.project import Project
from planc.source.reading import NAME, ReadGraph, Unit
from planc.source.references import Resolver
from planc.source.report import Report, advice
from planc.source.symbols import Symbols
from planc.source.syntax import Scalar, Tree
from planc.source.template_reader import TemplateReader, read_graph
from planc.source.templates import Body, CallText, GraphTemplate, LoopTemplate, Template
from planc.source.values import A_BUFFER, A_SCALAR, Quantities, Refused

D = TypeVar("D")


class Assembly:
    """Evaluates the declarations of one graph, expands its nodes and resolves their edges."""

    def __init__(self, graph: ReadGraph, project: Project, limits: Limits, report: Report) -> None:
        """Assemble ``graph``."""
        self.graph = graph
        self.project = project
        self.limits = limits
        self.report = report
        self.forms = FormReader(limits)
        self.quantities = Quantities(self.forms, report)
        self.broken: set[str] = set()
        self._used: set[str] = set()

    def flat(self, settings: Mapping[str, Number]) -> FlatGraph | None:
        """Return the flat graph, with ``settings`` in place of symbols; None where it grows past a limit."""
        file = Span(self.graph.source.label)
        sections = self.graph.sections
        symbols = Symbols(sections["symbols"], self.quantities, self.report).evaluate(settings, file)
        environment: dict[str, object] = dict(symbols)
        declare = KernelDeclarations(self.project, self.quantities, environment, self.report)
        scalars = self._all("scalars", declare.scalar)
        buffers = self._all("buffers", declare.buffer)
        globals_ = self._all("globals", declare.global_)
        kernels = self._all("kernels", declare.kernel)
        for known, names in ((A_SCALAR, sections["scalars"]), (A_BUFFER, sections["buffers"])):
            environment.update({name: known for name in names if name not in environment})
        nodes = self._nodes(environment, buffers, kernels)
        if nodes is None:
            return None
        self._unused(kernels)
        self.broken |= {name for name, value in symbols.items() if value is BROKEN}
        if self.report.has_errors and not self.broken:
            self.broken.add(self.graph.source.label)
        header = self.graph.header
        return FlatGraph(
            name=(header and header.name) or default_name(self.graph.source.label),
            file=self.graph.source.label,
            root=self.project.root,
            order=header.order if header else "explicit",
            targets=tuple(self._targets()),
            span=file,
            symbols={name: v for name, v in symbols.items() if isinstance(v, int | float)},
            scalars=scalars,
            buffers=buffers,
            globals=globals_,
            kernels=kernels,
            nodes=nodes,
            may_alias=tuple(self._may_alias()),
            allow_outside=self.project.allow_outside,
            broken=frozenset(self.broken),
        )

    # -- declarations ---------------------------------------------------------------------------

    def _all(self, section: str, make: Callable[[Unit], D]) -> tuple[D, ...]:
        found = []
        for name, unit in self.graph.sections[section].items():
            try:
                if unit.form is None:
                    raise Refused
                found.append(make(unit))
            except Refused:
                self.broken.add(name)
        return tuple(found)

    def _texts(self, where: Tree | None) -> Iterator[tuple[str, Span]]:
        """Yield the names in a text with commas, or in a list of texts."""
        items = where.items if isinstance(where, syntax.Sequence) else [where]
        for item in items:
            if isinstance(item, Scalar) and isinstance(item.value, str):
                at = 0
                for piece in item.text.split(","):
                    start = at + len(piece) - len(piece.lstrip())
                    yield piece.strip(), item.part(start, start + len(piece.strip()))
                    at += len(piece) + 1

    def _targets(self) -> Iterator[tuple[str, Span]]:
        return self._texts(self.graph.root.values.get("targets"))

    def _may_alias(self) -> Iterator[tuple[str, str, Span]]:
        where = self.graph.root.values.get("may_alias")
        if not isinstance(where, syntax.Sequence):
            return
        groups = [list(self._texts(item)) for item in where.items if isinstance(item, syntax.Sequence)]
        alone = [pair for item in where.items if isinstance(item, Scalar) for pair in self._texts(item)]
        for group in [alone, *groups] if alone else groups:
            if len(group) < 2:
                cure = "add the buffer that it may overlap, or take the group out"
                message = "a group of `may_alias` has two names or more"
                self.report.add("PLC128", message, where.span, help=cure)
            for (first, _), (second, span) in combinations(group, 2):
                yield first, second, span

    # -- nodes ----------------------------------------------------------------------------------

    def _nodes(
        self, environment: dict[str, object], buffers: tuple[FlatBuffer, ...], kernels: tuple[FlatKernel, ...]
    ) -> tuple[FlatNode, ...] | None:
        keys = count()
        taken = self._taken()
        graphs = self._graphs(taken, keys)
        body = TemplateReader(self.quantities, self.report, taken, keys, {}).body(self.graph.nodes)
        self._check_uses(body, graphs)
        shapes = {buffer.name: buffer.shape for buffer in buffers}
        by_name = {kernel.name: kernel for kernel in kernels}
        expander = Expander(graphs, by_name, shapes, environment, self.limits, self.report)
        try:
            scope = expander.expand(body)
            edges = Resolver(expander.rows, self.limits, self.report).resolve(scope)
        except TooMuch:
            return None
        self.broken |= {row.name for row in expander.rows if row.broken} | _missing(scope)
        return tuple([_node(row, after) for row, after in zip(expander.rows, edges, strict=True)])

    def _taken(self) -> dict[str, Span]:
        """Return the names that a loop variable would hide."""
        sections = (self.graph.sections[name] for name in ("buffers", "scalars", "symbols"))
        return {name: unit.key.span for section in sections for name, unit in section.items()}

    def _graphs(self, taken: Mapping[str, Span], keys: count[int]) -> dict[str, GraphTemplate]:
        found = {}
        for name, unit in self.graph.sections["graphs"].items():
            try:
                if unit.form is None:
                    raise Refused
                found[name] = read_graph(unit, self.quantities, self.report, taken, keys)
            except Refused:
                self.broken.add(name)
        return found

    def _check_uses(self, body: Body, graphs: dict[str, GraphTemplate]) -> None:
        """Report sub-graphs that are unknown (PLC215) or use themselves (PLC216).

        A sub-graph that uses itself is taken out of ``graphs``.
        """
        known = self.graph.sections["graphs"]
        uses = {name: list(_uses(graph.body.items)) for name, graph in graphs.items()}
        own = list(_uses(body.items))
        for call in [*own, *(call for calls in uses.values() for call in calls)]:
            if call.name not in known:
                message = f"no sub-graph is named `{call.name}`"
                self.report.add("PLC215", message, call.span, help=partial(advice, call.name, known))
        for circle in _circles(uses):
            for name in sorted(circle):
                self._recursive(graphs.pop(name), circle, uses[name])
        self._used = {call.name for call in own}
        self._used |= {call.name for name, calls in uses.items() for call in calls if call.name != name}

    def _recursive(self, graph: GraphTemplate, circle: set[str], calls: list[CallText]) -> None:
        call = next(call for call in calls if call.name in circle)
        message = f"the sub-graph `{graph.name}` uses itself"
        if call.name != graph.name:
            message += f" through `{call.name}`"
        related = [Related("it is declared here", graph.span)]
        cure = "take this `use` out, and repeat nodes with `for:`"
        facts: dict[str, Fact] = {"graphs": list(sorted(circle))}
        self.report.add("PLC216", message, call.span, help=cure, related=related, facts=facts)

    def _unused(self, kernels: tuple[FlatKernel, ...]) -> None:
        """Report symbols that no text mentions (PLC220), and sub-graphs that nobody uses (PLC221).

        Where a kernel's parameters are not declared, any symbol may be one that it takes by name; and what
        could not be read may have mentioned anything.
        """
        if self.broken:
            return
        mentioned = self.forms.mentioned | {p.name for k in kernels for p in k.parameters or ()}
        if not any(kernel.parameters is None for kernel in kernels):
            self._report_unused("PLC220", "symbol", "symbols", mentioned)
        self._report_unused("PLC221", "sub-graph", "graphs", self._used)

    def _report_unused(self, code: str, what: str, section: str, used: set[str]) -> None:
        for name, unit in self.graph.sections[section].items():
            if name not in used and not unit.included:
                message = f"nothing uses the {what} `{name}`"
                self.report.add(code, message, unit.key.span, help="remove it", facts={"name": name})


def default_name(label: str) -> str:
    """Return the name of a graph whose file gives none: the file's, if it is a name."""
    stem = Path(label).name.partition(".")[0]
    return stem if NAME.fullmatch(stem) else "graph"


def _node(row: Row, after: tuple[After, ...]) -> FlatNode:
    template = row.template
    text = template.site
    site = Site(
        template.key,
        template.id.text if template.id else "",
        row.frame.pairs,
        text.insert,
        text.indent,
        text.flow,
        text.after,
        text.after_text,
        text.after_flow,
        row.prefix,
    )
    return FlatNode(row.name, template.kind, template.span, row.operation, after, site)


def _missing(scope: Scope) -> set[str]:
    """Return the names of nodes that may be absent because of a mistake."""
    found = {scope.prefix + name for name in scope.missing}
    found |= {scope.prefix + name for name, template in scope.body.names.items() if template is None}
    return found.union(*(_missing(instance.scope) for instance in scope.instances))


def _uses(items: tuple[Template, ...]) -> Iterator[CallText]:
    for item in items:
        if isinstance(item, LoopTemplate):
            yield from _uses(item.body)
        elif item.use is not None:
            yield item.use


def _circles(uses: Mapping[str, list[CallText]]) -> Iterator[set[str]]:
    """Yield sets of sub-graphs that use each other, or one that uses itself."""
    if not any(uses.values()):
        return
    import networkx

    edges = [(name, call.name) for name, calls in uses.items() for call in calls if call.name in uses]
    graph = networkx.DiGraph(edges)
    for group in networkx.strongly_connected_components(graph):
        if len(group) > 1 or graph.has_edge(*[*group] * 2):
            yield group
