"""The declarations of a builder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from planc.diagnostics import Span
from planc.model import ROLES
from planc.source.expressions import Fault
from planc.source.flat import (
    DataSource,
    DeclaredParameter,
    FlatBuffer,
    FlatGlobal,
    FlatKernel,
    FlatScalar,
)
from planc.source.forms import FileForm, check_dtype, parse_data, parse_entry
from planc.source.kernels import FORMS, c_text, declared_parameter
from planc.source.limits import LIMITS
from planc.source.project import Project
from planc.source.python.checks import Checks
from planc.source.python.records import BufferRecord, KernelRecord, ScalarRecord
from planc.source.reading import NAME
from planc.source.syntax import PinnedText
from planc.source.values import Refused


class PythonDeclarations:
    """Makes flat declarations of records. Each method raises Refused."""

    def __init__(self, project: Project, folder: Path, checks: Checks) -> None:
        """Name files from ``folder``."""
        self.project = project
        self.folder = folder.absolute()
        self.checks = checks
        self.report = checks.report

    def scalar(self, record: ScalarRecord) -> FlatScalar:
        """Return a scalar."""
        span = record.span
        value = self.checks.number(record.value, "a number for a value", span)
        low = high = None
        if record.range is not None:
            if not isinstance(record.range, tuple | list) or len(record.range) != 2:
                raise self.checks.refuse("a pair for a range", record.range, span)
            low, high = (self.checks.number(end, "a number for a bound", span) for end in record.range)
        dtype = self._dtype(record.dtype, span)
        return FlatScalar(record.name, dtype, value, bool(record.slot), span, low, high)

    def buffer(self, record: BufferRecord) -> FlatBuffer:
        """Return a buffer."""
        span = record.span
        align = record.align
        return FlatBuffer(
            record.name,
            self._dtype(record.dtype, span),
            self.checks.extents(record.shape, span),
            self.checks.one_of(record.role, ROLES, "a role", span),
            span,
            None if align is None else self.checks.whole(align, "an integer for an alignment", span),
            self._data(record),
            bool(record.inplace),
        )

    def global_(self, record: BufferRecord) -> FlatGlobal:
        """Return a global."""
        dtype = self._dtype(record.dtype, record.span)
        shape = self.checks.extents(record.shape, record.span)
        data = self._data(record)
        return FlatGlobal(record.name, record.kernel or "", dtype, shape, record.span, data)

    def kernel(self, record: KernelRecord) -> FlatKernel:
        """Return a kernel."""
        span = record.span
        form, text = self._form(record)
        path = self.project.file(PinnedText(text, span), self.folder, self.report)
        entry, parameters = self._entry(record)
        if path is None:
            raise Refused
        dims = {name: self.checks.dims(value, span) for name, value in record.dims.items()}
        options = record.options if isinstance(record.options, tuple) else ()
        return FlatKernel(
            record.name,
            form,
            path,
            self.project.label(text, self.folder),
            span,
            entry,
            span,
            parameters,
            span,
            **dims,
            shared=self.checks.whole(record.shared, "an integer for shared memory", span),
            defines=self._defines(record.defines, span),
            include_dirs=self._include_dirs(record.include_dirs, span),
            options=tuple(self.checks.text(option, "a text for an option", span) for option in options),
            exact=bool(record.exact),
            inplace=bool(record.inplace),
        )

    # -- parts ----------------------------------------------------------------------------------

    def _dtype(self, value: object, span: Span) -> str:
        name = self.checks.text(value, "a text for an element type", span)
        try:
            return check_dtype(name, 0, len(name))
        except Fault as fault:
            fault.report(self.report, PinnedText(name, span))
            raise Refused from None

    def _form(self, record: KernelRecord) -> tuple[str, str]:
        given = [(name, value) for name in FORMS if (value := record.files[name]) is not None]
        if not given:
            cure = "name a file with `source`, `ptx` or `cubin`"
            facts = {"key": "source"}
            self.report.add("PLC123", f"`{record.name}` lacks its code", record.span, help=cure, facts=facts)
            raise Refused
        if len(given) > 1:
            message = f"`{given[0][0]}` and `{given[1][0]}` exclude each other"
            self.report.add("PLC145", message, record.span, help="keep one of them")
            raise Refused
        name, value = given[0]
        return name, self._path_text(value, record.span)

    def _path_text(self, value: object, span: Span) -> str:
        if isinstance(value, os.PathLike):
            value = os.fspath(value)
        return self.checks.text(value, "a path", span)

    def _entry(self, record: KernelRecord) -> tuple[str, tuple[DeclaredParameter, ...] | None]:
        where = PinnedText(self.checks.text(record.entry, "a text for an entry", record.span), record.span)
        try:
            form = parse_entry(where.text, LIMITS)
        except Fault as fault:
            fault.report(self.report, where)
            raise Refused from None
        if form.parameters is None:
            return form.name, None
        return form.name, tuple(declared_parameter(p, where) for p in form.parameters)

    def _defines(self, value: object, span: Span) -> dict[str, str] | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.checks.refuse("a mapping for defines", value, span)
        found = {}
        for name, text in value.items():
            if not isinstance(name, str) or not NAME.fullmatch(name):
                cure = "use letters, digits and `_`, not a digit first"
                message = f"`{str(name)[:40]}` is not the name of a macro"
                self.report.add("PLC129", message, span, help=cure)
                raise Refused
            number = isinstance(text, bool | int | float)
            found[name] = c_text(text) if number else self.checks.text(text, "a text or a number", span)
        return found

    def _include_dirs(self, value: object, span: Span) -> tuple[tuple[str, Path], ...]:
        found = []
        for item in value if isinstance(value, tuple) else ():
            text = self._path_text(item, span)
            path = self.project.file(PinnedText(text, span), self.folder, self.report)
            if path is None:
                raise Refused
            found.append((self.project.label(text, self.folder), path))
        return tuple(found)

    # -- data -----------------------------------------------------------------------------------

    def _data(self, record: BufferRecord) -> DataSource | None:
        data, span = record.data, record.span
        if data is None:
            return None
        if not isinstance(data, str | os.PathLike):
            return DataSource(span, values=self._items(data, span), embed=record.embed)
        text = self._path_text(data, span)
        try:
            form = parse_data(text, LIMITS)
        except Fault:
            form = None
        if not isinstance(form, FileForm):
            message = f"`{text[:40]}` is not a `.npy`, `.npz` or `.safetensors` file"
            cure = "name such a file, or pass an array as a list"
            self.report.add("PLC130", message, span, help=cure)
            raise Refused
        path = self.project.file(PinnedText(form.file, span), self.folder, self.report)
        if path is None:
            raise Refused
        return DataSource(span, path, form.member, embed=record.embed)

    def _items(self, value: object, span: Span) -> object:
        listed = getattr(value, "tolist", None)
        if callable(listed):
            value = listed()
        if isinstance(value, list | tuple):
            return tuple(self._items(item, span) for item in value)
        return self.checks.number(value, "a number in data", span)
