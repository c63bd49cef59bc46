"""Evaluating what nodes do: launches, fills and copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Any

from planc.diagnostics import Span
from planc.source.expressions import Environment, Number
from planc.source.flat import Argument, ArgumentValue, CopyOp, Dims, FillOp, FlatKernel, Literal, RunOp
from planc.source.kernels import dims_of
from planc.source.report import Report
from planc.source.templates import CallText, CopyText, DimsText, FillText, NodeTemplate, RunText
from planc.source.values import BoundScalar, BoundView, Quantity, Refused
from planc.source.views import Shapes, ViewText

FlatOp = RunOp | FillOp | CopyOp


class Operations:
    """Evaluates operations of nodes, each in the environment of its body and loops."""

    def __init__(self, kernels: Mapping[str, FlatKernel], shapes: Shapes, report: Report) -> None:
        """``kernels`` are known for their declared parameters, ``shapes`` are those of the buffers."""
        self.kernels = kernels
        self.shapes = shapes
        self.report = report

    def evaluate(self, template: NodeTemplate, environment: Environment, local: Set[str]) -> FlatOp | None:
        """Return what a node does, None for a join. Raises Refused.

        ``local`` are the names that hide those of the file: loop variables and parameters of a sub-graph.
        """
        text = template.operation
        return None if text is None else _EVALUATORS[type(text)](self, text, environment, local)

    def mentioned(self, template: NodeTemplate) -> tuple[str, ...]:
        """Return the loop variables that an operation mentions, or that a kernel takes by name."""
        text = template.operation
        names = set(_names(text)) if text is not None else set()
        if isinstance(text, RunText) and text.call.name in self.kernels:
            names |= {p.name for p in self.kernels[text.call.name].parameters or ()}
        return tuple(loop.variable for loop in template.loops if loop.variable in names)

    def run(self, text: RunText, environment: Environment, local: Set[str]) -> RunOp:
        """Evaluate a launch. Raises Refused."""
        call = text.call
        given = [Argument(a.name, self._argument(a.value, environment), a.span) for a in call.arguments]
        given += self._by_name(call, given, local, environment)
        shared = None
        if text.shared is not None:
            shared = text.shared.whole(environment, self.report, "shared memory")
        dims = {name: self._dims(value, environment) for name, value in text.dims.items()}
        return RunOp(call.name, call.span, tuple(given), **dims, shared=shared)

    def _by_name(
        self,
        call: CallText,
        given: list[Argument],
        local: Set[str],
        environment: Environment,
    ) -> list[Argument]:
        """Return arguments for parameters that loop variables and parameters of a sub-graph name.

        The names of the file itself bind later; but these hide them, and are known only here.
        """
        kernel = self.kernels.get(call.name)
        if not local or kernel is None or kernel.parameters is None:
            return []
        named = {argument.name for argument in given}
        positional = sum(argument.name is None for argument in given)
        missing = [p.name for p in kernel.parameters[positional:] if p.name not in named]
        return [
            Argument(name, self._standing_for(environment[name], call.span), call.span)
            for name in missing
            if name in local and name in environment
        ]

    def _standing_for(self, value: object, span: Span) -> ArgumentValue:
        if isinstance(value, BoundView):
            return value.view
        if isinstance(value, BoundScalar):
            return value.reference(span)
        if isinstance(value, int | float):
            return Literal(value, span)
        raise Refused

    def _argument(self, value: ViewText | Quantity, environment: Environment) -> ArgumentValue:
        if isinstance(value, ViewText):
            return value.argument(environment, self.shapes, self.report)
        return value.literal(environment, self.report)

    def _dims(self, text: DimsText, environment: Environment) -> Dims:
        values = [q.whole(environment, self.report, "an extent") for q in text.extents]
        return dims_of(values, text.span, self.report)

    def fill(self, text: FillText, environment: Environment, local: Set[str]) -> FillOp:
        """Evaluate a fill. Raises Refused: PLC146 for a pattern that its bytes cannot hold."""
        target = text.target.view(environment, self.shapes, self.report)
        if text.item is None:
            return FillOp(target, text.value.literal(environment, self.report))
        pattern: Number = text.value.whole(environment, self.report, "a pattern")
        if not 0 <= pattern < 1 << (8 * text.item):
            message = f"the pattern {pattern} does not fit in {8 * text.item} bits"
            cure = pattern_cure(int(pattern), text.item)
            self.report.add("PLC146", message, text.value.span, help=cure, facts={"item": text.item})
            raise Refused
        return FillOp(target, Literal(pattern, text.value.span), text.item)

    def copy(self, text: CopyText, environment: Environment, local: Set[str]) -> CopyOp:
        """Evaluate a copy. Raises Refused."""
        target = text.target.view(environment, self.shapes, self.report)
        return CopyOp(target, text.source.view(environment, self.shapes, self.report))


def pattern_cure(pattern: int, item: int) -> str:
    """Say how a raw ``pattern`` can be written that ``item`` bytes cannot hold."""
    if -(1 << (8 * item - 1)) <= pattern < 0:
        return f"write the bits as they are stored, `{pattern & ((1 << 8 * item) - 1):#x}`"
    wider = next((size for size in (2, 4) if 0 <= pattern < 1 << (8 * size)), None)
    most = f"write 0 to {(1 << 8 * item) - 1:#x}"
    return (
        most
        if wider is None
        else f"{most}, or a pattern of {8 * wider} bits (`u{8 * wider}`, `item: {wider}`)"
    )


_EVALUATORS: Mapping[type, Callable[[Operations, Any, Environment, Set[str]], FlatOp]] = {
    RunText: Operations.run,
    FillText: Operations.fill,
    CopyText: Operations.copy,
}


def _names(text: RunText | FillText | CopyText) -> frozenset[str]:
    """Return every name that an operation mentions in its views and expressions."""
    if isinstance(text, RunText):
        quantities = [q for dims in text.dims.values() for q in dims.extents]
        quantities += [] if text.shared is None else [text.shared]
        parts: list[Any] = [*quantities, *(a.value for a in text.call.arguments)]
    elif isinstance(text, FillText):
        parts = [text.target, text.value]
    else:
        parts = [text.target, text.source]
    return frozenset().union(*(part.names for part in parts))
