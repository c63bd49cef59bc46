"""From validated nodes to templates: short and long forms meet here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count

from planc.diagnostics import Related, Span
from planc.model import CopyNode, FillNode, Form, ForNode, JoinNode, RunNode, UseNode
from planc.source import syntax
from planc.source.flat import FlatKind
from planc.source.forms import (
    ArgumentForm,
    Expression,
    IdForm,
    ViewForm,
    parse_call,
    parse_copy,
    parse_fill,
    parse_id,
    parse_kind,
    parse_loop,
    parse_references,
    parse_value,
    parse_view,
)
from planc.source.reading import ReadNode, Unit, check_name
from planc.source.report import Report, advice
from planc.source.sites import site_text
from planc.source.syntax import Scalar, Tree
from planc.source.templates import (
    ArgumentText,
    Body,
    CallText,
    CopyText,
    DimsText,
    FillText,
    GraphTemplate,
    LoopHead,
    LoopTemplate,
    NodeTemplate,
    Operation,
    ParameterTemplate,
    Reference,
    RunText,
    Template,
)
from planc.source.values import Quantities, Quantity, Refused, quantity_of
from planc.source.views import ViewText

_KINDS: Mapping[type[Form], FlatKind] = {
    RunNode: FlatKind.RUN,
    FillNode: FlatKind.FILL,
    CopyNode: FlatKind.COPY,
    JoinNode: FlatKind.JOIN,
    UseNode: FlatKind.JOIN,
}
_DIMS: tuple[str, ...] = ("grid", "cover", "block")


class TemplateReader:
    """Reads the nodes of one body (the graph's own, or a sub-graph's)."""

    def __init__(
        self,
        quantities: Quantities,
        report: Report,
        taken: Mapping[str, Span],
        keys: count[int],
        parameters: Mapping[str, ParameterTemplate],
    ) -> None:
        """``taken`` are the names of the file that a loop variable must not hide; ``keys`` numbers texts."""
        self.quantities = quantities
        self.report = report
        self.taken = {**taken, **{name: p.span for name, p in parameters.items()}}
        self.keys = keys
        self.names: dict[str, NodeTemplate | None] = {}
        self.places: dict[str, Span] = {}

    def body(self, nodes: Iterable[ReadNode]) -> Body:
        """Read the nodes of the body."""
        return Body(self._items(nodes, ()), self.names)

    def _items(self, nodes: Iterable[ReadNode], loops: tuple[LoopHead, ...]) -> tuple[Template, ...]:
        found = []
        for node in nodes:
            read = self._loop if isinstance(node.form, ForNode) else self._node
            template = read(node, loops)
            if template is not None:
                found.append(template)
        return tuple(found)

    # -- loops ----------------------------------------------------------------------------------

    def _loop(self, node: ReadNode, loops: tuple[LoopHead, ...]) -> Template | None:
        assert isinstance(node.where, syntax.Mapping)
        try:
            variable, span, first, stop, step = self._head(node.where.values["for"])
            self._must_not_hide(variable, span, loops)
        except Refused:
            self._give_up(node.children)
            return None
        before = set(self.names)
        head = LoopHead(next(self.keys), variable)
        body = self._items(node.children, (*loops, head))
        return LoopTemplate(head, span, first, stop, step, body, frozenset(self.names.keys() - before))

    def _head(self, where: Tree) -> tuple[str, Span, Quantity | None, Quantity, Quantity | None]:
        if isinstance(where, Scalar):
            form = self.quantities.guarded(parse_loop, where)
            first, step = (None if e is None else quantity_of(e, where) for e in (form.first, form.step))
            return form.variable, where.part(form.start, form.end), first, quantity_of(form.stop, where), step
        assert isinstance(where, syntax.Mapping)
        ends = {key: self.quantities.one(value) for key, value in where.values.items() if key != "variable"}
        variable = where.values["variable"]
        assert isinstance(variable, Scalar)
        name = self.quantities.guarded(parse_id, variable)
        if name.variables:
            message = f"`{variable.text[:40]}` is not a loop variable"
            self.report.add("PLC129", message, variable.span, help=f"write `{name.name}`")
            raise Refused
        return name.name, variable.span, ends.get("start"), ends["stop"], ends.get("step")

    def _must_not_hide(self, variable: str, span: Span, loops: tuple[LoopHead, ...]) -> None:
        if any(loop.variable == variable for loop in loops):
            message = f"the loop variable `{variable}` hides that of the loop around it"
            self.report.add("PLC214", message, span, help="choose another name")
            raise Refused
        if variable in self.taken:
            self.report.add(
                "PLC214",
                f"the loop variable `{variable}` hides another `{variable}`",
                span,
                help="choose another name",
                related=[Related("it is declared here", self.taken[variable])],
            )
            raise Refused

    def _give_up(self, nodes: Iterable[ReadNode]) -> None:
        """Keep the names inside a loop that cannot be read, so that nobody calls them unknown."""
        for node in nodes:
            if isinstance(node.where, syntax.Mapping):
                where = node.where.values.get("id")
                if isinstance(where, Scalar) and "[" in where.text:
                    self.names.setdefault(where.text.partition("[")[0].strip(), None)
            self._give_up(node.children)

    # -- nodes ----------------------------------------------------------------------------------

    def _node(self, node: ReadNode, loops: tuple[LoopHead, ...]) -> Template | None:
        where = node.where
        if not isinstance(where, syntax.Mapping):
            return None
        if node.form is None and "for" in where.values:
            self._give_up(node.children)
            return None
        identity, span, axes = self._identity(where, loops)
        operation, use, broken = None, None, node.form is None
        try:
            if not broken:
                operation, use = self._operation(node.form, where)
        except Refused:
            broken = True
        template = NodeTemplate(
            next(self.keys),
            _KINDS.get(type(node.form), FlatKind.JOIN),
            span,
            identity,
            loops,
            axes,
            self._after(where.values.get("after")),
            site_text(where),
            operation,
            use,
            broken,
        )
        self._name(identity, span, template)
        return template

    def _name(self, identity: IdForm | None, span: Span, template: NodeTemplate) -> None:
        if identity is None:
            return
        name = identity.name
        if name in self.places:
            self.report.add(
                "PLC206",
                f"two nodes are named `{name}`",
                span,
                help="rename one of them",
                related=[Related("the first stands here", self.places[name])],
                facts={"name": name},
            )
            return
        self.places[name] = span
        self.names[name] = template

    def _identity(
        self, where: syntax.Mapping, loops: tuple[LoopHead, ...]
    ) -> tuple[IdForm | None, Span, tuple[LoopHead, ...]]:
        """Return the id, the node's place, and its loops in the order of the id."""
        value = where.values.get("id")
        if not isinstance(value, Scalar) or not isinstance(value.value, str):
            first = next((w for k, w in where.values.items() if k != "after"), where)
            return None, first.span, loops
        try:
            form = self.quantities.guarded(parse_id, value)
            return form, value.span, self._axes(form, value, loops)
        except Refused:
            return None, value.span, loops

    def _axes(self, form: IdForm, where: Scalar, loops: tuple[LoopHead, ...]) -> tuple[LoopHead, ...]:
        by_variable = {loop.variable: loop for loop in loops}
        found: list[LoopHead] = []
        for name, start, end in form.variables:
            loop = by_variable.get(name)
            if loop is None or loop in found:
                what = "stands twice" if loop else "is not the variable of a loop around the node"
                cure = advice(name, by_variable, "give the node a plain name")
                self.report.add("PLC208", f"`{name}` {what}", where.part(start, end), help=cure)
                raise Refused
            found.append(loop)
        missing = [loop.variable for loop in loops if loop not in found]
        if missing:
            cure = f"write `{form.name}[{', '.join(loop.variable for loop in loops)}]`"
            message = f"every iteration over `{missing[0]}` makes another `{form.text}`"
            self.report.add("PLC207", message, where.span, help=cure)
            raise Refused
        return tuple(found)

    def _after(self, where: Tree | None) -> tuple[Reference, ...]:
        items = where.items if isinstance(where, syntax.Sequence) else [where]
        found = []
        for item in items:
            if isinstance(item, Scalar) and isinstance(item.value, str):
                try:
                    forms = self.quantities.guarded(parse_references, item)
                except Refused:
                    continue
                found += [Reference(form, item, item.part(form.start, form.end)) for form in forms]
        return tuple(found)

    # -- operations -----------------------------------------------------------------------------

    def _operation(self, form: Form, where: syntax.Mapping) -> tuple[Operation | None, CallText | None]:
        readers: Mapping[type[Form], Callable[[syntax.Mapping], Operation]] = {
            RunNode: self._run,
            FillNode: self._fill,
            CopyNode: self._copy,
        }
        if isinstance(form, UseNode):
            return None, self._call(where.values["use"], "graph")
        read = readers.get(type(form))
        return (None if read is None else read(where)), None

    def _run(self, where: syntax.Mapping) -> RunText:
        dims = {}
        for name in _DIMS:
            value = where.values.get(name)
            if value is not None:
                dims[name] = DimsText(self.quantities.many(value), value.span)
        shared = where.values.get("shared")
        call = self._call(where.values["run"], "kernel")
        return RunText(call, dims, None if shared is None else self.quantities.one(shared))

    def _call(self, where: Tree, key: str) -> CallText:
        if isinstance(where, Scalar):
            form = self.quantities.guarded(parse_call, where)
            given = tuple(_argument(a, where) for a in form.arguments)
            return CallText(form.name, where.part(form.start, form.end), given)
        assert isinstance(where, syntax.Mapping)
        name = where.values[key]
        assert isinstance(name, Scalar)
        arguments = where.values.get("arguments")
        found = []
        if isinstance(arguments, syntax.Mapping):
            for parameter, value in arguments.values.items():
                found.append(ArgumentText(parameter, arguments.keys[parameter].span, self._value(value)))
        return CallText(name.text, name.span, tuple(found))

    def _value(self, where: Tree) -> ViewText | Quantity:
        assert isinstance(where, Scalar)
        if isinstance(where.value, str):
            return _placed(self.quantities.guarded(parse_value, where), where)
        return self.quantities.one(where)

    def _view(self, where: Tree) -> ViewText:
        assert isinstance(where, Scalar)
        form = self.quantities.guarded(parse_view, where)
        return ViewText(form, where, where.part(form.start, form.end))

    def _copy(self, where: syntax.Mapping) -> CopyText:
        value = where.values["copy"]
        if isinstance(value, syntax.Mapping):
            return CopyText(self._view(value.values["target"]), self._view(value.values["source"]))
        assert isinstance(value, Scalar)
        read = self.quantities.guarded(parse_copy, value)
        target, source = (ViewText(f, value, value.part(f.start, f.end)) for f in (read.target, read.source))
        return CopyText(target, source)

    def _fill(self, where: syntax.Mapping) -> FillText:
        value = where.values["fill"]
        if isinstance(value, syntax.Mapping):
            return self._long_fill(value)
        assert isinstance(value, Scalar)
        read = self.quantities.guarded(parse_fill, value)
        target = ViewText(read.target, value, value.part(read.target.start, read.target.end))
        return FillText(target, quantity_of(read.value, value), read.item)

    def _long_fill(self, where: syntax.Mapping) -> FillText:
        target = self._view(where.values["target"])
        value, pattern, item = (where.values.get(key) for key in ("value", "pattern", "item"))
        if value is not None and (pattern is not None or item is not None):
            key = where.keys["pattern" if pattern is not None else "item"]
            message = f"`value` and `{key.text}` exclude each other"
            self.report.add("PLC145", message, key.span, help="keep one of them")
            raise Refused
        if value is not None:
            return FillText(target, self.quantities.one(value), None)
        if pattern is None or item is None:
            lacks = "item" if pattern is not None else "value" if item is None else "pattern"
            cure = "give it a `value`, or `pattern` and `item`"
            facts = {"key": lacks}
            self.report.add("PLC123", f"`fill` lacks `{lacks}`", where.span, help=cure, facts=facts)
            raise Refused
        assert isinstance(item, Scalar) and isinstance(item.value, int)
        return FillText(target, self.quantities.one(pattern), item.value)


def read_graph(
    unit: Unit, quantities: Quantities, report: Report, taken: Mapping[str, Span], keys: count[int]
) -> GraphTemplate:
    """Read a sub-graph; raises Refused where its parameters cannot be read."""
    parameters = _parameters(unit, quantities, report)
    reader = TemplateReader(quantities, report, taken, keys, parameters)
    return GraphTemplate(unit.name, parameters, reader.body(unit.children), unit.key.span)


def _parameters(unit: Unit, quantities: Quantities, report: Report) -> dict[str, ParameterTemplate]:
    assert isinstance(unit.where, syntax.Mapping)
    where = unit.where.values.get("parameters")
    found: dict[str, ParameterTemplate] = {}
    if not isinstance(where, syntax.Mapping):
        return found
    for name, value in where.values.items():
        if not check_name(where.keys[name], report, value=True):
            raise Refused
        kind, default = _kind(value, quantities)
        if default is not None and kind == "buffer":
            message = f"the buffer parameter `{name}` takes no default"
            report.add("PLC145", message, value.span, help="write `buffer` alone, and give it in each `use`")
            raise Refused
        found[name] = ParameterTemplate(name, kind, default, where.keys[name].span)
    return found


def _kind(where: Tree, quantities: Quantities) -> tuple[str, Quantity | None]:
    if isinstance(where, Scalar):
        form = quantities.guarded(parse_kind, where)
        return form.kind, None if form.default is None else quantity_of(form.default, where)
    assert isinstance(where, syntax.Mapping)
    kind, default = where.values["kind"], where.values.get("default")
    assert isinstance(kind, Scalar)
    return kind.text, None if default is None else quantities.one(default)


def _argument(form: ArgumentForm, where: Scalar) -> ArgumentText:
    return ArgumentText(form.name, where.part(form.start, form.end), _placed(form.value, where))


def _placed(form: ViewForm | Expression, where: Scalar) -> ViewText | Quantity:
    if isinstance(form, ViewForm):
        return ViewText(form, where, where.part(form.start, form.end))
    return quantity_of(form, where)
