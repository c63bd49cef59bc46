"""Evaluating the parts of a text in an environment, and reporting where it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from planc.diagnostics import Span
from planc.source.expressions import Environment, Expression, Fault, Number, constant, kind_of
from planc.source.flat import Literal, ViewRef
from planc.source.forms import FormReader, parse_expression, parse_extents
from planc.source.limits import Limits
from planc.source.report import Report
from planc.source.syntax import Mapping, PinnedText, Scalar, Sequence, Text, Tree

F = TypeVar("F")


class Refused(Exception):
    """A value cannot be had; why is reported already."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression and the text that holds it."""

    expression: Expression
    place: Text
    span: Span

    @property
    def names(self) -> frozenset[str]:
        """The names that it mentions."""
        return self.expression.names

    def evaluate(self, environment: Environment, report: Report) -> Number:
        """Return its value. Raises Refused."""
        try:
            return self.expression.evaluate(environment)
        except Fault as fault:
            fault.report(report, self.place)
            raise Refused from None

    def whole(self, environment: Environment, report: Report, what: str) -> int:
        """Return its value, an integer. Raises Refused (PLC137) for another."""
        value = self.evaluate(environment, report)
        if type(value) is int:
            return value
        cure = "`//` divides without a remainder, `int(x)` cuts" if type(value) is float else ""
        report.add("PLC137", f"{what} is an integer, not {kind_of(value)}", self.span, help=cure)
        raise Refused

    def literal(self, environment: Environment, report: Report) -> Literal:
        """Return its value with its place. Raises Refused."""
        return Literal(self.evaluate(environment, report), self.span)


@dataclass(frozen=True, slots=True)
class Named:
    """What a name that is no number stands for, in an environment."""

    what: str

    def __str__(self) -> str:
        """Return what it is, with its article."""
        return self.what


A_BUFFER = Named("a buffer")
A_SCALAR = Named("a scalar")


@dataclass(frozen=True, slots=True)
class BoundView:
    """What a buffer parameter of a sub-graph stands for."""

    view: ViewRef

    def __str__(self) -> str:
        """Return what it is, with its article."""
        return "a buffer"


@dataclass(frozen=True, slots=True)
class BoundScalar:
    """What a scalar parameter of a sub-graph stands for: a scalar of the file."""

    name: str

    def reference(self, span: Span) -> ViewRef:
        """Return the bare name, as an argument at ``span`` would be written."""
        return ViewRef(self.name, None, span, self.name)

    def __str__(self) -> str:
        """Return what it is, with its article."""
        return "a scalar"


def quantity_of(form: Expression, place: Text) -> Quantity:
    """Pair an expression with the text that holds it."""
    return Quantity(form, place, place.part(form.start, form.end))


class Quantities:
    """Reads the values of a file to quantities; reports Faults and raises Refused."""

    def __init__(self, forms: FormReader, report: Report) -> None:
        """Read with ``forms``."""
        self.forms = forms
        self.report = report

    def guarded(self, parse: Callable[[str, Limits], F], where: Scalar) -> F:
        """Read the short form in ``where``."""
        try:
            return self.forms.read(parse, where.text)
        except Fault as fault:
            fault.report(self.report, where)
            raise Refused from None

    def one(self, where: Tree) -> Quantity:
        """Read a number or an expression."""
        assert isinstance(where, Scalar)
        if isinstance(where.value, str):
            return quantity_of(self.guarded(parse_expression, where), where)
        assert isinstance(where.value, int | float)
        return Quantity(constant(where.value, where.text), where, where.span)

    def many(self, where: Tree) -> tuple[Quantity, ...]:
        """Read extents: a number, a text with commas, a list, or a mapping with x, y and z."""
        if isinstance(where, Sequence):
            return tuple(self.one(item) for item in where.items)
        if isinstance(where, Mapping):
            found = {axis: self.one(value) for axis, value in where.values.items()}
            one = Quantity(constant(1, "1"), PinnedText("1", where.span), where.span)
            return tuple(found.get(axis, one) for axis in "xyz")
        assert isinstance(where, Scalar)
        if isinstance(where.value, str):
            return tuple(quantity_of(form, where) for form in self.guarded(parse_extents, where))
        return (self.one(where),)
