"""Checks of single values that a builder was given; each raises Refused after a report."""

from __future__ import annotations

import operator
from collections.abc import Iterable

from planc.diagnostics import Span
from planc.source.expressions import Mistake, Number, checked
from planc.source.flat import Dims, EllipsisIndex, Index, SliceIndex, ViewRef
from planc.source.kernels import dims_of
from planc.source.python.handles import View
from planc.source.report import Report, advice
from planc.source.syntax import FORBIDDEN, report_hidden
from planc.source.values import Refused
from planc.source.views import ALL_AXES, Shapes, compose


class Checks:
    """Turns what Python gave into what a flat graph holds."""

    def __init__(self, report: Report) -> None:
        """Report to ``report``."""
        self.report = report

    def refuse(self, what: str, value: object, span: Span) -> Refused:
        """Report that ``value`` is not what belongs there (PLC172); return what to raise."""
        message = f"{what} is wanted, not `{type(value).__name__}`"
        self.report.add("PLC172", message, span, help=f"pass {what}")
        return Refused()

    def whole(self, value: object, what: str, span: Span) -> int:
        """Return an integer; NumPy's are taken too."""
        if isinstance(value, bool):
            raise self.refuse(what, value, span)
        try:
            return int(self._in_range(operator.index(value), span))  # type: ignore[arg-type]
        except TypeError:
            raise self.refuse(what, value, span) from None

    def number(self, value: object, what: str, span: Span) -> Number:
        """Return a bool, an int or a float; NumPy's scalars are taken too."""
        if not isinstance(value, bool | int | float):
            item = getattr(value, "item", None)
            value = item() if callable(item) and getattr(value, "ndim", None) == 0 else value
        if not isinstance(value, bool | int | float):
            raise self.refuse(what, value, span)
        return value if isinstance(value, bool) else self._in_range(value, span)

    def _in_range(self, value: int | float, span: Span) -> int | float:
        try:
            return checked(value, value)
        except Mistake as mistake:
            self.report.add(mistake.code, f"the number {value} is out of range", span, help=mistake.help)
            raise Refused from None

    def text(self, value: object, what: str, span: Span) -> str:
        """Return a text without hidden characters."""
        if not isinstance(value, str):
            raise self.refuse(what, value, span)
        hidden = FORBIDDEN.search(value)
        if hidden is not None:
            report_hidden(self.report, hidden.group(), span)
            raise Refused
        return value

    def one_of(self, value: object, allowed: Iterable[str], what: str, span: Span) -> str:
        """Return a word that is one of ``allowed`` (PLC125)."""
        word = self.text(value, what, span)
        if word not in allowed:
            self.report.add("PLC125", f"{what} cannot be `{word[:40]}`", span, help=advice(word, allowed))
            raise Refused
        return word

    def extents(self, value: object, span: Span) -> tuple[int, ...]:
        """Return extents: an integer or several."""
        items = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
        return tuple(self.whole(item, "an integer for an extent", span) for item in items)

    def dims(self, value: object, span: Span) -> Dims | None:
        """Return one to three extents, or None for None."""
        return None if value is None else dims_of(list(self.extents(value, span)), span, self.report)

    # -- views ----------------------------------------------------------------------------------

    def view(self, value: object, graph: object, shapes: Shapes, span: Span) -> ViewRef:
        """Return a view of a buffer of ``graph``; a view of a view becomes one (PLC219 past its end)."""
        if not isinstance(value, View):
            raise self.refuse("a buffer or a part of one", value, span)
        self.same(value.graph, graph, span)
        if not value.chain:
            return ViewRef(value.name, None, span, value.name)
        found = self._indexed(value.name, self._indices(value.chain[0], span), span)
        for indices in value.chain[1:]:
            if value.name not in shapes:
                raise Refused
            try:
                inner = compose(found, self._indices(indices, span), shapes[value.name])
            except Mistake as mistake:
                self.report.add(mistake.code, mistake.message, span, help=mistake.help)
                raise Refused from None
            found = self._indexed(value.name, inner, span)
        return found

    def same(self, other: object, graph: object, span: Span) -> None:
        """Refuse what belongs to another graph (PLC172)."""
        if other is not graph:
            cure = "use what this graph's own methods return"
            self.report.add("PLC172", "this belongs to another graph", span, help=cure)
            raise Refused

    def _indexed(self, name: str, indices: tuple[Index, ...], span: Span) -> ViewRef:
        return ViewRef(name, indices, span, f"{name}[{', '.join(_index_text(index) for index in indices)}]")

    def _indices(self, value: object, span: Span) -> tuple[Index, ...]:
        items = value if isinstance(value, tuple) else (value,)
        return tuple(self._index(item, span) for item in items)

    def _index(self, value: object, span: Span) -> Index:
        if value is Ellipsis:
            return ALL_AXES
        what = "an integer for an index"
        if isinstance(value, slice):
            ends = (value.start, value.stop, value.step)
            return SliceIndex(*[None if end is None else self.whole(end, what, span) for end in ends])
        return self.whole(value, what, span)


def _index_text(index: Index) -> str:
    if isinstance(index, EllipsisIndex):
        return "..."
    if isinstance(index, int):
        return str(index)
    start, stop, step = ("" if end is None else str(end) for end in (index.start, index.stop, index.step))
    return f"{start}:{stop}:{step}" if step else f"{start}:{stop}"
