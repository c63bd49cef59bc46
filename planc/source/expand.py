"""Unrolling loops and inlining sub-graphs: from templates to rows that still lack their edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planc.diagnostics import Span
from planc.source.expressions import Environment
from planc.source.flat import FlatKernel
from planc.source.instances import bind
from planc.source.limits import Limits
from planc.source.operations import FlatOp, Operations
from planc.source.report import Report
from planc.source.templates import (
    Body,
    CallText,
    GraphTemplate,
    LoopHead,
    LoopTemplate,
    NodeTemplate,
    Template,
)
from planc.source.values import Refused
from planc.source.views import Shapes


class TooMuch(Exception):
    """The graph grows past a limit, which is reported."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One iteration of a loop; ``forward``: whether the loop counts upward."""

    head: LoopHead
    value: int
    forward: bool


@dataclass(frozen=True, slots=True)
class Frame:
    """The iterations around a node, outermost first; ``pairs`` are their variables and values."""

    turns: tuple[Turn, ...] = ()
    pairs: tuple[tuple[str, int], ...] = ()

    def inside(self, turn: Turn) -> Frame:
        """Return the frame of one more loop."""
        return Frame((*self.turns, turn), (*self.pairs, (turn.head.variable, turn.value)))


@dataclass(slots=True)
class Row:
    """A node without its edges; ``operation`` None for a join, and for what is ``broken``."""

    name: str
    prefix: str
    template: NodeTemplate
    frame: Frame
    operation: FlatOp | None
    broken: bool


@dataclass(slots=True)
class Scope:
    """The nodes of one body, expanded: the graph's own, or one instance of a sub-graph.

    ``rows`` are the row numbers of its own nodes; those of its instances lie between ``first`` and ``last``
    (exclusive) too.
    ``found`` maps the name of each node to its row or instance: through one dict for each index.
    ``missing`` are names whose nodes may be absent because of a mistake reported before.
    """

    prefix: str
    body: Body
    environment: dict[str, object]
    parameters: frozenset[str] = frozenset()
    first: int = 0
    last: int = 0
    rows: list[int] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    memory: dict[tuple[object, ...], FlatOp | None] = field(default_factory=dict)

    def register(self, template: NodeTemplate, frame: Frame, what: int | Instance) -> None:
        """Keep a row or instance under its name and indices."""
        if template.id is None:
            return
        if not template.axes:
            self.found[template.id.name] = what
            return
        level = self.found.setdefault(template.id.name, {})
        values = {turn.head.key: turn.value for turn in frame.turns}
        *outer, last = (values[axis.key] for axis in template.axes)
        for value in outer:
            level = level.setdefault(value, {})
        level[last] = what


@dataclass(slots=True)
class Instance:
    """One ``use`` of a sub-graph."""

    template: NodeTemplate
    frame: Frame
    scope: Scope


class Expander:
    """Expands bodies to rows, in program order."""

    def __init__(
        self,
        graphs: Mapping[str, GraphTemplate],
        kernels: Mapping[str, FlatKernel],
        shapes: Shapes,
        environment: Environment,
        limits: Limits,
        report: Report,
    ) -> None:
        """``environment`` is that of the file: what every body sees."""
        self.graphs = graphs
        self.operations = Operations(kernels, shapes, report)
        self.shapes = shapes
        self.environment = environment
        self.limits = limits
        self.report = report
        self.rows: list[Row] = []
        self._steps = 0
        self._depth = 0
        self._depends: dict[int, tuple[str, ...]] = {}

    def expand(self, body: Body) -> Scope:
        """Expand the graph's own body. Raises TooMuch (PLC164)."""
        scope = Scope("", body, dict(self.environment))
        self._fill(scope)
        return scope

    def _fill(self, scope: Scope) -> None:
        scope.first = len(self.rows)
        self._items(scope.body.items, scope, Frame())
        scope.last = len(self.rows)

    def _items(self, items: tuple[Template, ...], scope: Scope, frame: Frame) -> None:
        for item in items:
            if isinstance(item, LoopTemplate):
                self._loop(item, scope, frame)
            elif item.use is not None:
                self._use(item, item.use, scope, frame)
            else:
                self._node(item, scope, frame)

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, loop: LoopTemplate, scope: Scope, frame: Frame) -> None:
        try:
            values = self._values(loop, scope.environment)
        except Refused:
            scope.missing |= loop.names
            return
        self._spend(len(values), loop.span)
        self._deeper(loop.span)
        variable = loop.head.variable
        for value in values:
            scope.environment[variable] = value
            self._items(loop.body, scope, frame.inside(Turn(loop.head, value, values.step > 0)))
        scope.environment.pop(variable, None)
        self._depth -= 1

    def _values(self, loop: LoopTemplate, environment: Environment) -> range:
        ends = (loop.first, loop.stop, loop.step)
        first, stop, step = (
            None if end is None else end.whole(environment, self.report, "a bound of a loop") for end in ends
        )
        if step == 0 and loop.step is not None:
            cure = "give a step of 1 or more, or a negative one to count down"
            self.report.add("PLC144", "the step of a loop is zero", loop.step.span, help=cure)
            raise Refused
        return range(first or 0, stop or 0, step or 1)

    def _spend(self, steps: int, span: Span) -> None:
        self._steps += steps
        if self._steps > self.limits.steps:
            self._too_much("iterations and instances", self.limits.steps, span)

    def _deeper(self, span: Span) -> None:
        self._depth += 1
        if self._depth > self.limits.nesting:
            limit = self.limits.nesting
            message = f"loops and sub-graphs stand more than {limit} deep inside each other"
            cure = "let one loop run over the product of several, or put nodes of sub-graphs in their place"
            self.report.add("PLC114", message, span, help=cure, facts={"limit": limit})
            raise TooMuch

    def _too_much(self, what: str, limit: int, span: Span) -> None:
        message = f"the graph has more than {limit} {what} after expansion"
        cure = "let the loops run less often; one kernel or fill can cover many elements"
        self.report.add("PLC164", message, span, help=cure, facts={"limit": limit})
        raise TooMuch

    # -- nodes ----------------------------------------------------------------------------------

    def _name(self, template: NodeTemplate, scope: Scope, frame: Frame, otherwise: str) -> str:
        if template.id is None:
            return f"{scope.prefix}{otherwise}#{len(self.rows)}"
        name = scope.prefix + template.id.name
        if not template.axes:
            return name
        if template.axes == template.loops:
            return f"{name}[{', '.join([str(value) for _, value in frame.pairs])}]"
        values = {turn.head.key: turn.value for turn in frame.turns}
        return f"{name}[{', '.join(str(values[axis.key]) for axis in template.axes)}]"

    def _node(self, template: NodeTemplate, scope: Scope, frame: Frame) -> None:
        row = len(self.rows)
        if row >= self.limits.nodes:
            self._too_much("nodes", self.limits.nodes, template.span)
        broken = template.broken
        operation: FlatOp | None = None
        if not broken:
            try:
                operation = self._operation(template, scope)
            except Refused:
                broken = True
        name = self._name(template, scope, frame, template.kind.value)
        self.rows.append(Row(name, scope.prefix, template, frame, operation, broken))
        scope.rows.append(row)
        scope.register(template, frame, row)

    def _operation(self, template: NodeTemplate, scope: Scope) -> FlatOp | None:
        """Return what a node does; iterations that agree in what it mentions share the value."""
        if template.operation is None:
            return None
        depends = self._depends.get(template.key)
        if depends is None:
            depends = self._depends[template.key] = self.operations.mentioned(template)
        environment = scope.environment
        key = (template.key, *[environment.get(name) for name in depends])
        known = scope.memory.get(key)
        if known is None:
            local = scope.parameters | {loop.variable for loop in template.loops}
            known = scope.memory[key] = self.operations.evaluate(template, environment, local)
        return known

    # -- instances ------------------------------------------------------------------------------

    def _use(self, template: NodeTemplate, call: CallText, scope: Scope, frame: Frame) -> None:
        self._spend(1, template.span)
        graph = self.graphs.get(call.name)
        try:
            if graph is None or template.broken:
                raise Refused
            bound = bind(graph, call, scope.environment, self.environment, self.shapes, self.report)
        except Refused:
            if template.id is not None:
                scope.missing.add(template.id.name)
            return
        self._deeper(template.span)
        prefix = self._name(template, scope, frame, call.name) + "."
        inner = Scope(prefix, graph.body, {**self.environment, **bound}, frozenset(bound))
        self._fill(inner)
        self._depth -= 1
        instance = Instance(template, frame, inner)
        scope.instances.append(instance)
        scope.register(template, frame, instance)
