"""From units of a file to the kernels of a flat graph."""

from __future__ import annotations

from pathlib import Path

from planc.diagnostics import Span
from planc.model import EntryLong, Kernel, ParameterLong
from planc.source import syntax
from planc.source.declare import Declarations
from planc.source.expressions import Fault, compile_text
from planc.source.flat import DeclaredParameter, Dims, FlatKernel
from planc.source.forms import ParameterForm, check_function, parse_entry, parse_parameter
from planc.source.reading import NAME, Unit
from planc.source.report import Report
from planc.source.syntax import PinnedText, Scalar, Text, Tree
from planc.source.values import Refused, quantity_of

FORMS: tuple[str, ...] = ("source", "ptx", "cubin")


class KernelDeclarations(Declarations):
    """Makes flat kernels. Each method raises Refused."""

    def kernel(self, unit: Unit) -> FlatKernel:
        """Return the kernel of a unit."""
        form: Kernel = unit.form
        where = unit.where
        assert isinstance(where, syntax.Mapping)
        kind, file = self._form(where, unit)
        path = self.project.file(file, unit.folder, self.report)
        entry, entry_span, parameters = self._entry(where.values["entry"], form)
        shared = where.values.get("shared")
        if path is None:
            raise Refused
        return FlatKernel(
            unit.name,
            kind,
            path,
            self.project.label(file.text, unit.folder),
            file.span,
            entry,
            entry_span,
            parameters,
            unit.key.span,
            self.dims(where.values.get("block")),
            self.dims(where.values.get("grid")),
            self.dims(where.values.get("cover")),
            0 if shared is None else self._whole(self.quantities.one(shared), "shared memory"),
            self._defines(where.values.get("defines")),
            self._include_dirs(where.values.get("include_dirs"), unit.folder),
            form.options,
            form.exact,
            form.inplace,
        )

    def dims(self, where: Tree | None) -> Dims | None:
        """Return up to three extents."""
        if where is None:
            return None
        quantities = self.quantities.many(where)
        return dims_of([self._whole(q, "an extent") for q in quantities], where.span, self.report)

    def _form(self, where: syntax.Mapping, unit: Unit) -> tuple[str, Scalar]:
        given = [name for name in FORMS if name in where.values]
        if not given:
            message = f"`{unit.name}` lacks its code"
            cure = "name a file with `source`, `ptx` or `cubin`"
            self.report.add("PLC123", message, unit.key.span, help=cure, facts={"key": "source"})
            raise Refused
        if len(given) > 1:
            message = f"`{given[0]}` and `{given[1]}` exclude each other"
            self.report.add("PLC145", message, where.keys[given[1]].span, help="keep one of them")
            raise Refused
        file = where.values[given[0]]
        assert isinstance(file, Scalar)
        return given[0], file

    # -- the entry ------------------------------------------------------------------------------

    def _entry(self, where: Tree, form: Kernel) -> tuple[str, Span, tuple[DeclaredParameter, ...] | None]:
        if isinstance(where, Scalar):
            entry = self.quantities.guarded(parse_entry, where)
            place = where.part(entry.start, entry.end)
            if entry.parameters is None:
                return entry.name, place, None
            return entry.name, place, tuple(declared_parameter(p, where) for p in entry.parameters)
        assert isinstance(where, syntax.Mapping) and isinstance(form.entry, EntryLong)
        name = where.values["name"]
        assert isinstance(name, Scalar)
        try:
            function = check_function(name.text, 0)
        except Fault as fault:
            fault.report(self.report, name)
            raise Refused from None
        if form.entry.parameters is None:
            return function, name.span, None
        return function, name.span, self._parameters(where.values["parameters"], form.entry.parameters)

    def _parameters(
        self, where: Tree, forms: tuple[str | ParameterLong, ...]
    ) -> tuple[DeclaredParameter, ...]:
        assert isinstance(where, syntax.Sequence)
        found: list[DeclaredParameter] = []
        for form, item in zip(forms, where.items, strict=True):
            parameter = self._parameter(_text_of(form, item))
            if any(other.name == parameter.name for other in found):
                message = f"the parameter `{parameter.name}` stands twice"
                self.report.add("PLC139", message, parameter.span, help="rename one, or take it out")
                raise Refused
            found.append(parameter)
        return tuple(found)

    def _parameter(self, where: Text) -> DeclaredParameter:
        try:
            return declared_parameter(self.quantities.forms.read(parse_parameter, where.text), where)
        except Fault as fault:
            fault.report(self.report, where)
            raise Refused from None

    # -- what the compiler gets -----------------------------------------------------------------

    def _defines(self, where: Tree | None) -> dict[str, str] | None:
        if where is None:
            return None
        assert isinstance(where, syntax.Mapping)
        found = {}
        for name, value in where.values.items():
            if not NAME.fullmatch(name):
                message = f"`{name[:40]}` is not the name of a macro"
                cure = "use letters, digits and `_`, not a digit first"
                self.report.add("PLC129", message, where.keys[name].span, help=cure)
                raise Refused
            found[name] = self._define(value)
        return found

    def _define(self, where: Tree) -> str:
        if isinstance(where, syntax.Mapping):
            quantity = self.quantities.one(where.values["expression"])
            return c_text(quantity.evaluate(self.environment, self.report))
        assert isinstance(where, Scalar)
        if not isinstance(where.value, str):
            return c_text(where.value)
        body = where.text.lstrip()
        if not body.startswith("="):
            return where.text
        start = len(where.text) - len(body) + 1
        try:
            form = compile_text(where.text[start:], start, self.quantities.forms.limits)
        except Fault as fault:
            fault.report(self.report, where)
            raise Refused from None
        self.quantities.forms.mentioned |= form.names
        return c_text(quantity_of(form, where).evaluate(self.environment, self.report))

    def _include_dirs(self, where: Tree | None, folder: Path) -> tuple[tuple[str, Path], ...]:
        if where is None:
            return ()
        assert isinstance(where, syntax.Sequence)
        found = []
        for item in where.items:
            assert isinstance(item, Scalar)
            path = self.project.file(item, folder, self.report)
            if path is None:
                raise Refused
            found.append((self.project.label(item.text, folder), path))
        return tuple(found)


def dims_of(values: list[int], span: Span, report: Report) -> Dims:
    """Return one to three extents as three. Raises Refused (PLC128) for more."""
    if not 1 <= len(values) <= 3:
        message = f"{len(values)} extents, where one to three belong"
        report.add("PLC128", message, span, help="write `x`, `x, y` or `x, y, z`")
        raise Refused
    x, y, z = (*values, 1, 1)[:3]
    return Dims((x, y, z), span)


def c_text(value: object) -> str:
    """Return a number as C writes it."""
    if isinstance(value, bool):
        return str(int(value))
    return repr(value)


def declared_parameter(form: ParameterForm, where: Text) -> DeclaredParameter:
    """Return a declared parameter with its place."""
    span = where.part(form.start, form.end)
    return DeclaredParameter(form.name, form.dtype, form.pointer, form.effect, span)


def _text_of(form: str | ParameterLong, where: Tree) -> Text:
    """Return a parameter in its short form."""
    if isinstance(where, Scalar):
        return where
    assert isinstance(form, ParameterLong)
    return PinnedText(f"{form.effect or ''} {form.type} {form.name}", where.span)
