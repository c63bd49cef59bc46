"""From units of a file to the declarations of a flat graph, except kernels."""

from __future__ import annotations

from typing import TypeVar

from planc.model import BufferLong, DataFile, GlobalLong, ScalarLong
from planc.source import syntax
from planc.source.expressions import Environment, Fault
from planc.source.flat import DataSource, FlatBuffer, FlatGlobal, FlatScalar
from planc.source.forms import (
    DataForm,
    FileForm,
    LiteralForm,
    check_dtype,
    parse_buffer,
    parse_data,
    parse_global,
    parse_scalar,
)
from planc.source.project import Project
from planc.source.reading import Unit
from planc.source.report import Report
from planc.source.syntax import PinnedText, Scalar, Tree
from planc.source.values import Quantities, Quantity, Refused, quantity_of

D = TypeVar("D")
LiteralValues = object


class Declarations:
    """Makes flat scalars, buffers and globals. Each method raises Refused."""

    def __init__(
        self, project: Project, quantities: Quantities, environment: Environment, report: Report
    ) -> None:
        """Evaluate in ``environment``."""
        self.project = project
        self.quantities = quantities
        self.environment = environment
        self.report = report

    # -- scalars --------------------------------------------------------------------------------

    def scalar(self, unit: Unit) -> FlatScalar:
        """Return the scalar of a unit."""
        dtype, slot, value, low, high = self._scalar_parts(unit)
        return FlatScalar(
            unit.name,
            dtype,
            value.evaluate(self.environment, self.report),
            slot,
            unit.key.span,
            None if low is None else low.evaluate(self.environment, self.report),
            None if high is None else high.evaluate(self.environment, self.report),
        )

    def _scalar_parts(self, unit: Unit) -> tuple[str, bool, Quantity, Quantity | None, Quantity | None]:
        where = unit.where
        if isinstance(where, Scalar):
            form = self.quantities.guarded(parse_scalar, where)
            bounds = [None if end is None else quantity_of(end, where) for end in (form.low, form.high)]
            return form.dtype, form.slot, quantity_of(form.value, where), bounds[0], bounds[1]
        long: ScalarLong = unit.form
        assert isinstance(where, syntax.Mapping)
        dtype = self.dtype(where.values["dtype"])
        value = self.quantities.one(where.values["value"])
        if long.range is None:
            return dtype, long.slot, value, None, None
        low, high = self.quantities.many(where.values["range"])
        return dtype, long.slot, value, low, high

    # -- buffers and globals --------------------------------------------------------------------

    def buffer(self, unit: Unit) -> FlatBuffer:
        """Return the buffer of a unit."""
        where = unit.where
        if isinstance(where, Scalar):
            form = self.quantities.guarded(parse_buffer, where)
            shape = self._shape(tuple(quantity_of(extent, where) for extent in form.shape))
            data = None if form.data is None else self.data(form.data, where, unit, None)
            return FlatBuffer(unit.name, form.dtype, shape, form.role, unit.key.span, data=data)
        long: BufferLong = unit.form
        assert isinstance(where, syntax.Mapping)
        align = where.values.get("align")
        return FlatBuffer(
            unit.name,
            self.dtype(where.values["dtype"]),
            self._shape(self.quantities.many(where.values["shape"])),
            long.role,
            unit.key.span,
            None if align is None else self._whole(self.quantities.one(align), "an alignment"),
            self._long_data(where, unit, long.embed),
            long.inplace,
        )

    def global_(self, unit: Unit) -> FlatGlobal:
        """Return the global of a unit."""
        where = unit.where
        if isinstance(where, Scalar):
            form = self.quantities.guarded(parse_global, where)
            shape = self._shape(tuple(quantity_of(extent, where) for extent in form.shape))
            data = None if form.data is None else self.data(form.data, where, unit, None)
            kernel = form.kernel.text if form.kernel else ""
            return FlatGlobal(unit.name, kernel, form.dtype, shape, unit.key.span, data)
        long: GlobalLong = unit.form
        assert isinstance(where, syntax.Mapping)
        dtype = self.dtype(where.values["dtype"])
        shape = self._shape(self.quantities.many(where.values["shape"]))
        data = self._long_data(where, unit, long.embed)
        return FlatGlobal(unit.name, long.kernel, dtype, shape, unit.key.span, data)

    def dtype(self, where: Tree) -> str:
        """Return the element type that ``where`` names."""
        assert isinstance(where, Scalar)
        try:
            return check_dtype(where.text, 0, max(len(where.text), 1))
        except Fault as fault:
            fault.report(self.report, where)
            raise Refused from None

    def _shape(self, extents: tuple[Quantity, ...]) -> tuple[int, ...]:
        return tuple(self._whole(extent, "an extent") for extent in extents)

    def _whole(self, quantity: Quantity, what: str) -> int:
        return quantity.whole(self.environment, self.report, what)

    # -- data -----------------------------------------------------------------------------------

    def _long_data(self, where: syntax.Mapping, unit: Unit, embed: bool | None) -> DataSource | None:
        value = where.values.get("data")
        if value is None:
            return None
        if isinstance(value, syntax.Mapping):
            form: DataFile = unit.form.data
            file = value.values["file"]
            assert isinstance(file, Scalar)
            path = self.project.file(file, unit.folder, self.report)
            if path is None:
                raise Refused
            return DataSource(value.span, path, form.member, embed=embed)
        if isinstance(value, Scalar) and isinstance(value.value, str):
            return self.data(self.quantities.guarded(parse_data, value), value, unit, embed)
        return DataSource(value.span, values=self._items(value), embed=embed)

    def data(self, form: DataForm, where: Scalar, unit: Unit, embed: bool | None) -> DataSource:
        """Return where data come from that a text names."""
        span = where.part(form.start, form.end)
        if isinstance(form, FileForm):
            path = self.project.file(PinnedText(form.file, span), unit.folder, self.report)
            if path is None:
                raise Refused
            return DataSource(span, path, form.member, embed=embed)
        return DataSource(span, values=self._literal(form, where), embed=embed)

    def _literal(self, form: LiteralForm, where: Scalar) -> LiteralValues:
        if isinstance(form.value, tuple):
            return tuple(self._literal(item, where) for item in form.value)
        return quantity_of(form.value, where).evaluate(self.environment, self.report)

    def _items(self, where: Tree) -> LiteralValues:
        if isinstance(where, syntax.Sequence):
            return tuple(self._items(item) for item in where.items)
        if not isinstance(where, Scalar):
            cure = "write numbers, in nested lists of the array's shape"
            self.report.add("PLC124", "a mapping stands where a number belongs", where.span, help=cure)
            raise Refused
        return self.quantities.one(where).evaluate(self.environment, self.report)
