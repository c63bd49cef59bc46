"""The nodes of a builder."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from keyword import iskeyword
from typing import TYPE_CHECKING

from planc.diagnostics import Related, Span
from planc.source.flat import (
    After,
    Argument,
    ArgumentValue,
    CopyOp,
    FillOp,
    FlatKind,
    FlatNode,
    Literal,
    RunOp,
    Site,
    ViewRef,
)
from planc.source.operations import FlatOp, pattern_cure
from planc.source.python.checks import Checks
from planc.source.python.handles import Call, NodeHandle, ScalarHandle, View
from planc.source.python.records import NodeRecord
from planc.source.values import Refused
from planc.source.views import Shapes

if TYPE_CHECKING:
    from planc.source.python.builder import Graph

_PART = r"[A-Za-z_][A-Za-z0-9_]*(?:\[\s*-?[0-9]+(?:\s*,\s*-?[0-9]+)*\s*\])?"
_NAME = re.compile(rf"{_PART}(?:\.{_PART})*", re.A)
_AUTOMATIC = re.compile(r"(?:run|fill|copy|join)#[0-9]+", re.A)


class PythonNodes:
    """Makes flat nodes of records; a broken one is named in ``broken``."""

    def __init__(self, graph: Graph, shapes: Shapes, checks: Checks) -> None:
        """``shapes`` are those of the buffers."""
        self.graph = graph
        self.shapes = shapes
        self.checks = checks
        self.report = checks.report
        self.broken: set[str] = set()

    def flat(self) -> tuple[FlatNode, ...]:
        """Return all nodes."""
        readers: Mapping[str, Callable[[NodeRecord], FlatOp | None]] = {
            "run": self._run,
            "fill": self._fill,
            "copy": self._copy,
            "join": lambda record: None,
        }
        first: dict[str, Span] = {}
        found = []
        for row, record in enumerate(self.graph.nodes):
            name = self._name(record)
            self._unique(name, record.span, first)
            operation = None
            try:
                operation = readers[record.kind](record)
            except Refused:
                self.broken.add(name)
            after = tuple(sorted(self._after(record, row), key=lambda edge: edge.node))
            found.append(
                FlatNode(name, FlatKind(record.kind), record.span, operation, after, Site(row, name, ()))
            )
        return tuple(found)

    # -- names ----------------------------------------------------------------------------------

    def _name(self, record: NodeRecord) -> str:
        """Return the name with its spaces as a file gives them."""
        name = str(record.name)
        if _AUTOMATIC.fullmatch(name):
            return name
        words = re.findall(r"[A-Za-z_]\w*", name)
        if not isinstance(record.name, str) or not _NAME.fullmatch(name) or any(map(iskeyword, words)):
            cure = "write `a`, `a[0]` or `a[0, 1]`, with dots between parts"
            self.report.add("PLC129", f"`{name[:40]}` is not a name for a node", record.span, help=cure)
        return re.sub(r"\s*,\s*", ", ", re.sub(r"\s*([\[\]])\s*", r"\1", name))

    def _unique(self, name: str, span: Span, first: dict[str, Span]) -> None:
        if name in first:
            related = [Related("the first stands here", first[name])]
            message = f"two nodes are named `{name}`"
            cure = "give one of them another `id`"
            self.report.add("PLC206", message, span, help=cure, related=related, facts={"name": name})
        first.setdefault(name, span)

    # -- edges ----------------------------------------------------------------------------------

    def _after(self, record: NodeRecord, row: int) -> Iterator[After]:
        seen: set[int] = set()
        for handle in self._handles(record.after, record.span, 0):
            if handle.row not in seen and handle.row < row:
                seen.add(handle.row)
                yield After(handle.row, record.span, handle.name)

    def _handles(self, value: object, span: Span, depth: int) -> Iterator[NodeHandle]:
        if value is None:
            return
        if isinstance(value, NodeHandle):
            try:
                self.checks.same(value.graph, self.graph, span)
            except Refused:
                return
            yield value
        elif isinstance(value, Iterable) and not isinstance(value, str | View) and depth < 8:
            for item in value:
                yield from self._handles(item, span, depth + 1)
        else:
            self.checks.refuse("a node in `after`", value, span)

    # -- operations -----------------------------------------------------------------------------

    def _run(self, record: NodeRecord) -> RunOp:
        call, span = record.parts["call"], record.span
        if not isinstance(call, Call):
            raise self.checks.refuse("a kernel with its arguments, `step(src=u)`,", call, span)
        self.checks.same(call.kernel.graph, self.graph, span)
        arguments = [Argument(None, self._argument(value, span), span) for value in call.positional]
        arguments += [Argument(name, self._argument(value, span), span) for name, value in call.named]
        shared = record.parts["shared"]
        given = record.parts["dims"]
        assert isinstance(given, Mapping)
        dims = {name: self.checks.dims(value, span) for name, value in given.items()}
        bytes_ = None if shared is None else self.checks.whole(shared, "an integer for shared memory", span)
        return RunOp(call.kernel.name, span, tuple(arguments), **dims, shared=bytes_)

    def _argument(self, value: object, span: Span) -> ArgumentValue:
        if isinstance(value, ScalarHandle):
            self.checks.same(value.graph, self.graph, span)
            return ViewRef(value.name, None, span, value.name)
        if isinstance(value, View):
            return self.checks.view(value, self.graph, self.shapes, span)
        return Literal(self.checks.number(value, "a buffer, a scalar or a number", span), span)

    def _fill(self, record: NodeRecord) -> FillOp:
        span, item = record.span, record.parts["item"]
        target = self.checks.view(record.parts["target"], self.graph, self.shapes, span)
        value = self.checks.number(record.parts["value"], "a number for a fill", span)
        if item is None:
            return FillOp(target, Literal(value, span))
        if item not in (1, 2, 4):
            raise self.checks.refuse("1, 2 or 4 for `item`", item, span)
        assert isinstance(item, int)
        if type(value) is not int:
            raise self.checks.refuse("an integer for a pattern", value, span)
        if not 0 <= value < 1 << (8 * item):
            message = f"the pattern {value} does not fit in {8 * item} bits"
            cure = pattern_cure(value, item)
            self.report.add("PLC146", message, span, help=cure, facts={"item": item})
            raise Refused
        return FillOp(target, Literal(value, span), item)

    def _copy(self, record: NodeRecord) -> CopyOp:
        target, source = (
            self.checks.view(record.parts[key], self.graph, self.shapes, record.span)
            for key in ("target", "source")
        )
        return CopyOp(target, source)
