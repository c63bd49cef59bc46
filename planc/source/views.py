"""Views: evaluated indices, and a view of what a parameter of a sub-graph stands for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planc.diagnostics import Span
from planc.source.expressions import BROKEN, Environment, Expression, Mistake
from planc.source.flat import ArgumentValue, EllipsisIndex, Index, Literal, SliceIndex, ViewRef
from planc.source.forms import Dots, IndexForm, SliceForm, ViewForm
from planc.source.report import Report
from planc.source.syntax import Text
from planc.source.values import BoundScalar, BoundView, Refused, quantity_of

Shapes = Mapping[str, tuple[int, ...]]
ALL_AXES = EllipsisIndex()


@dataclass(frozen=True, slots=True)
class ViewText:
    """A view (or a bare name) and the text that holds it."""

    form: ViewForm
    place: Text
    span: Span

    @property
    def names(self) -> frozenset[str]:
        """The names that it mentions, its own among them."""
        found = {self.form.name}
        for index in self.form.indices or ():
            ends = (index.start, index.stop, index.step) if isinstance(index, SliceForm) else (index,)
            for end in ends:
                if isinstance(end, Expression):
                    found |= end.names
        return frozenset(found)

    def view(self, environment: Environment, shapes: Shapes, report: Report) -> ViewRef:
        """Return the view. Raises Refused: PLC137 for a number, PLC219 for a view past its parameter."""
        form = self.form
        bound = environment.get(form.name)
        if bound is BROKEN:
            raise Refused
        if isinstance(bound, int | float):
            cure = "name a buffer, or a parameter of kind `buffer`"
            report.add("PLC137", f"`{form.name}` is a number, not a buffer", self.span, help=cure)
            raise Refused
        indices = self._indices(environment, report)
        if isinstance(bound, BoundView):
            return self._within(bound.view, indices, shapes, report)
        name = bound.name if isinstance(bound, BoundScalar) else form.name
        return ViewRef(name, indices, self.span, form.text)

    def argument(self, environment: Environment, shapes: Shapes, report: Report) -> ArgumentValue:
        """Return what it stands for as an argument: a number known now, or a view. Raises Refused."""
        value = environment.get(self.form.name)
        if self.form.indices is None and isinstance(value, int | float):
            return Literal(value, self.span)
        return self.view(environment, shapes, report)

    def _indices(self, environment: Environment, report: Report) -> tuple[Index, ...] | None:
        if self.form.indices is None:
            return None
        return tuple(_index(index, self.place, environment, report) for index in self.form.indices)

    def _within(
        self, outer: ViewRef, indices: tuple[Index, ...] | None, shapes: Shapes, report: Report
    ) -> ViewRef:
        if indices is None:
            indices = outer.indices
        elif outer.indices is not None:
            shape = shapes.get(outer.buffer)
            if shape is None:
                raise Refused
            try:
                indices = compose(outer, indices, shape)
            except Mistake as mistake:
                report.add(mistake.code, mistake.message, self.span, help=mistake.help)
                raise Refused from None
        return ViewRef(outer.buffer, indices, self.span, self.form.text)


def _index(form: IndexForm, place: Text, environment: Environment, report: Report) -> Index:
    if isinstance(form, Dots):
        return ALL_AXES
    if isinstance(form, SliceForm):
        ends = (form.start, form.stop, form.step)
        return SliceIndex(*[None if end is None else _whole(end, place, environment, report) for end in ends])
    return _whole(form, place, environment, report)


def _whole(form: Expression, place: Text, environment: Environment, report: Report) -> int:
    return quantity_of(form, place).whole(environment, report, "an index")


@dataclass(frozen=True, slots=True)
class _Axis:
    """The elements ``start``, ``start + step``, … of an axis, ``count`` of them."""

    start: int
    count: int
    step: int

    def index(self) -> SliceIndex:
        if self.count == 0:
            return SliceIndex(self.start, self.start, 1)
        stop = self.start + (self.count - 1) * self.step + (1 if self.step > 0 else -1)
        return SliceIndex(self.start, stop if stop >= 0 else None, self.step)


def compose(outer: ViewRef, inner: tuple[Index, ...], shape: tuple[int, ...]) -> tuple[Index, ...]:
    """Return the indices, into a buffer of ``shape``, of ``inner`` taken of the view ``outer``.

    Raises Mistake PLC219 where ``outer`` does not fit the buffer or ``inner`` does not fit ``outer``.
    """
    whole = [_Axis(0, extent, 1) for extent in shape]
    axes = _apply(outer.indices or (), whole, f"the buffer of `{outer.text}`")
    free = [axis for axis in axes if isinstance(axis, _Axis)]
    chosen = iter(_apply(inner, free, f"the view `{outer.text}`"))
    found = [axis if isinstance(axis, int) else next(chosen) for axis in axes]
    return tuple(axis if isinstance(axis, int) else axis.index() for axis in found)


def _apply(indices: tuple[Index, ...], axes: list[_Axis], what: str) -> list[int | _Axis]:
    given = [index for index in indices if not isinstance(index, EllipsisIndex)]
    if len(given) > len(axes) or len(indices) - len(given) > 1:
        cure = f"write at most {len(axes)} of them, and `...` once"
        raise Mistake("PLC219", f"too many indices for {what}, which has {len(axes)} axes", cure)
    every: Index = SliceIndex(None, None, None)
    at = next((i for i, index in enumerate(indices) if isinstance(index, EllipsisIndex)), len(indices))
    filled = [*indices[:at], *[every] * (len(axes) - len(given)), *indices[at + 1 :]]
    return [_one(index, axis, what) for index, axis in zip(filled, axes, strict=True)]


def _one(index: Index, axis: _Axis, what: str) -> int | _Axis:
    if isinstance(index, int):
        if not -axis.count <= index < axis.count:
            raise _past(index, axis, what)
        return axis.start + (index % axis.count) * axis.step
    assert isinstance(index, SliceIndex)
    for end in (index.start, index.stop):
        if end is not None and not -axis.count <= end <= axis.count:
            raise _past(end, axis, what)
    if index.step == 0:
        raise Mistake("PLC219", f"a slice of {what} has step zero", "write a step of 1 or more")
    steps = range(*slice(index.start, index.stop, index.step).indices(axis.count))
    return _Axis(axis.start + steps.start * axis.step, len(steps), axis.step * steps.step)


def _past(at: int, axis: _Axis, what: str) -> Mistake:
    cure = f"stay between {-axis.count} and {axis.count}" if axis.count else "give the view elements"
    return Mistake("PLC219", f"{at} is past {what}, whose axis has {axis.count} elements", cure)
