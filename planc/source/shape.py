"""From trees to models: what pydantic refuses becomes diagnostics at the right place.

A file is validated in units (a buffer, a kernel, a node), so that one bad unit leaves the others to be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from planc.model import (
    OPERATIONS,
    BufferLong,
    CopyLong,
    CopyNode,
    DataFile,
    DefineLong,
    DimsLong,
    EntryLong,
    FillLong,
    FillNode,
    ForLong,
    Form,
    ForNode,
    Fragment,
    GlobalLong,
    GraphFile,
    JoinNode,
    Kernel,
    ParameterKindLong,
    ParameterLong,
    RunLong,
    RunNode,
    ScalarLong,
    SubGraph,
    UseLong,
    UseNode,
)
from planc.source import syntax
from planc.source.report import Help, Report, advice, closest
from planc.source.syntax import Scalar, Tree

_LONG: Mapping[str, type[Form]] = {
    "GraphFile": GraphFile,
    "Fragment": Fragment,
    "scalars": ScalarLong,
    "buffers": BufferLong,
    "globals": GlobalLong,
    "kernels": Kernel,
    "graphs": SubGraph,
    "parameters": ParameterKindLong,
    "entry": EntryLong,
    "data": DataFile,
    "defines": DefineLong,
    "block": DimsLong,
    "grid": DimsLong,
    "cover": DimsLong,
    "run": RunLong,
    "fill": FillLong,
    "copy": CopyLong,
    "for": ForLong,
    "use": UseLong,
}
_NODES: Mapping[str, type[Form]] = {
    "<run>": RunNode,
    "<fill>": FillNode,
    "<copy>": CopyNode,
    "<join>": JoinNode,
    "<for>": ForNode,
    "<use>": UseNode,
}
_TAGS = {
    "<text>": "a text",
    "<number>": "a number",
    "<bool>": "true or false",
    "<list>": "a list",
    "<mapping>": "a mapping",
}
_WANTED = {
    "string_type": "a text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}


_MISSING: Mapping[str, str] = {
    "nodes": "write `nodes:` and below it `- ` before each node",
    "dtype": "write an element type, `dtype: f32`",
    "shape": "write `shape: [n]`, or `shape: []` for one element",
    "value": "write `value: 0`",
    "entry": "write `entry: ` and the name of the `__global__` function",
    "source": "write `source: ` and the view that is read",
    "target": "write `target: ` and the view that is written",
    "stop": "write `stop: ` and the number of iterations",
    "variable": "write `variable: ` and a name",
    "kernel": "write `kernel: ` and the name of a kernel",
    "graph": "write `graph: ` and the name of a sub-graph",
    "file": "write `file: ` and a path",
}


class Shapes:
    """Validates units of a file against the models, and reports what does not fit (PLC122 to PLC128)."""

    def __init__(self, report: Report, units: Mapping[str, TypeAdapter[Any]]) -> None:
        """Validate with the adapters ``units``, by section; ``node`` is the adapter of one node."""
        self.report = report
        self._units = units

    def unit(self, section: str, name: str, where: Tree, owner: Tree, plain: Any = None) -> Any:
        """Return the model of one unit, or None where it does not fit, which is reported.

        ``owner`` is the place that stands for the whole of it (its key); ``plain`` replaces the unit's own
        plain value where children are validated apart.
        """
        return self._validated(self._units[section].validate_python, section, name, where, owner, plain)

    def header(self, form: type[Fragment], where: syntax.Mapping, plain: Any) -> Any:
        """Return the model of a file without its sections and nodes."""
        return self._validated(form.model_validate, form.__name__, "the file", where, where, plain)

    def _validated(
        self, validate: Callable[[Any], Any], section: str, name: str, where: Tree, owner: Tree, plain: Any
    ) -> Any:
        complete = self._nulls(name, where)
        try:
            found = validate(where.plain if plain is None else plain)
        except ValidationError as error:
            for details in error.errors(include_url=False, include_input=False):
                _Translation(self.report, section, name, where, owner, details).add()
            return None
        return found if complete else None

    def _nulls(self, name: str, where: Tree) -> bool:
        """Report keys and items without a value: null stands nowhere in the language."""
        if isinstance(where, Scalar):
            if where.value is None:
                self.report.add(
                    "PLC124", f"`{name}` has no value", where.span, help="write one, or remove the key"
                )
            return where.value is not None
        if isinstance(where, syntax.Mapping):
            return all([self._nulls(k, v) for k, v in where.values.items() if k != "nodes"])
        assert isinstance(where, syntax.Sequence)
        return all([self._nulls(name, item) for item in where.items])


class _Translation:
    """One error of pydantic, told in the words of the file."""

    def __init__(
        self, report: Report, section: str, name: str, where: Tree, owner: Tree, details: ErrorDetails
    ) -> None:
        self.report = report
        self.section = section
        self.name = name
        self.where = where
        self.owner = owner
        self.details = details
        self.loc = details["loc"]

    def add(self) -> None:
        """Report it."""
        handlers: Mapping[str, Callable[[], None]] = {
            "extra_forbidden": self._unknown_key,
            "missing": self._missing_key,
            "literal_error": self._not_allowed,
            "union_tag_invalid": self._wrong_tag,
            "union_tag_not_found": self._no_tag,
            "too_short": self._wrong_count,
            "too_long": self._wrong_count,
        }
        handlers.get(self.details["type"], self._wrong_type)()

    # -- places ---------------------------------------------------------------------------------

    def _at(self, loc: tuple[int | str, ...]) -> tuple[Tree, str]:
        """Return the value at ``loc`` and what to call it."""
        value, name = self.where, f"`{self.name}`" if self.where is not self.owner else self.name
        for part in loc:
            if isinstance(value, syntax.Mapping) and part in value.values:
                value, name = value.values[str(part)], f"`{part}`"
            elif isinstance(value, syntax.Sequence) and isinstance(part, int) and part < len(value.items):
                value, name = value.items[part], f"item {part + 1} of {name.rpartition(' of ')[2]}"
        return value, name

    def _span_of(self, value: Tree) -> Any:
        return self.owner.span if value is self.where and not isinstance(value, Scalar) else value.span

    # -- one method for each type of error ------------------------------------------------------

    def _unknown_key(self) -> None:
        key = str(self.loc[-1])
        parent, _ = self._at(self.loc[:-1])
        assert isinstance(parent, syntax.Mapping)
        span = parent.keys[key].span
        if key in OPERATIONS and self.section == "node" and len(self.loc) == 2:
            first = next(k for k in parent.keys if k in OPERATIONS and k != key)
            cure = "write two nodes"
            self.report.add(
                "PLC127", f"a node does one thing, not both `{first}` and `{key}`", span, help=cure
            )
            return
        if self.section == "Fragment" and key in GraphFile.model_fields:
            message = f"`{key}` has no place in an included file"
            self.report.add("PLC122", message, span, help="move it to the file that includes this one")
            return
        known = self._known()
        best = closest(key, known)
        help_: Help = partial(advice, key, [k for k in known if k not in parent.keys], "remove it")
        if best in parent.keys:
            help_ = f"remove it; `{best}` stands here already"
        message = f"`{key}` is not a key of {self._called(parent)}"
        self.report.add("PLC122", message, span, help=help_, facts={"key": key, "closest": best})

    def _known(self) -> list[str]:
        form = self._form()
        return [field.alias or name for name, field in form.model_fields.items()] if form else []

    def _form(self) -> type[Form] | None:
        """Return the form whose key the last part of the place is."""
        form = _LONG.get(self.section)
        for at, part in enumerate(self.loc[:-1]):
            if part in _NODES:
                form = _NODES[str(part)]
            elif part == "parameters" and "entry" in self.loc[:at]:
                form = ParameterLong
            elif isinstance(part, str) and part in _LONG:
                form = _LONG[part]
        return form

    def _called(self, parent: Tree) -> str:
        if self.section in ("GraphFile", "Fragment") and parent is self.where:
            return "a graph file"
        return "this node" if self.section == "node" and parent is self.where else self._at(self.loc[:-1])[1]

    def _missing_key(self) -> None:
        parent, name = self._at(self.loc[:-1])
        key = self.loc[-1]
        if isinstance(key, int):
            self._wrong_count()
            return
        cure = _MISSING.get(str(key), f"write `{key}: …`")
        message = f"{name} lacks `{key}`"
        self.report.add("PLC123", message, self._span_of(parent), help=cure, facts={"key": key})

    def _not_allowed(self) -> None:
        value, name = self._at(self.loc)
        allowed = str(self.details.get("ctx", {}).get("expected", "")).replace("'", "`")
        self.report.add(
            "PLC125", f"{name} cannot be {_shown(value)}", self._span_of(value), help=f"write {allowed}"
        )

    def _wrong_tag(self) -> None:
        tags = str(self.details.get("ctx", {}).get("expected_tags", ""))
        self._misfit(_either([words for tag, words in _TAGS.items() if tag in tags]))

    def _no_tag(self) -> None:
        value, _ = self._at(self.loc)
        if self.section == "node" and isinstance(value, syntax.Mapping):
            cure = "give it one of " + ", ".join(f"`{name}`" for name in OPERATIONS)
            self.report.add("PLC126", "this node does nothing", self._span_of(value), help=cure)
            return
        self._misfit("a mapping" if self.section == "node" else "another value")

    def _wrong_type(self) -> None:
        self._misfit(_WANTED.get(self.details["type"], "another value"))

    def _misfit(self, wanted: str) -> None:
        value, name = self._at(self.loc)
        message = f"{name} is {_kind(value)}, where {wanted} belongs"
        self.report.add("PLC124", message, self._span_of(value), help=_belongs(value, name, wanted))

    def _wrong_count(self) -> None:
        loc = self.loc[:-1] if self.details["type"] == "missing" else self.loc
        value, name = self._at(loc)
        message = f"{name} has the wrong number of items"
        counts = self.details.get("ctx", {})
        least, most = counts.get("min_length"), counts.get("max_length")
        if least is not None:
            cure = f"write {least} or more"
        else:
            cure = f"write at most {most}" if most is not None else "write one value for each"
        self.report.add("PLC128", message, self._span_of(value), help=cure)


def _belongs(value: Tree, name: str, wanted: str) -> str:
    """Return the cure for a ``value`` that is something else than ``wanted``."""
    if isinstance(value, Scalar) and "a text" in wanted and type(value.value) in (int, float, bool):
        return f'write a name or a text; a number as text stands in quotes, `"{value.text[:40]}"`'
    if isinstance(value, Scalar) and wanted in ("a whole number", "a number", "true or false"):
        return f"write {wanted}, without quotes"
    if wanted == "a mapping":
        return f"write `key: value` pairs below {name}"
    if wanted == "a list":
        return "write `- ` before each item, or the items in brackets"
    return f"write {wanted}" if wanted != "another value" else "write it as in `docs/language.md`, Long forms"


def _shown(value: Tree) -> str:
    return f"`{value.text[:40]}`" if isinstance(value, Scalar) else _kind(value)


def _kind(value: Tree) -> str:
    if isinstance(value, Scalar):
        words = {bool: "true or false", str: "a text", int: "a whole number", float: "a number"}
        return words.get(type(value.value), "empty")
    return "a mapping" if isinstance(value, syntax.Mapping) else "a list"


def _either(words: list[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
