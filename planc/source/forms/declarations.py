"""The short forms of declarations: scalars, buffers, globals, their data, extents with commas.

Every function takes a text and raises Fault: PLC130 where it is not this form, PLC140 for an unknown element
type, and the codes of expressions.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from planc.model import DTYPE_NAMES, PARAMETER_KINDS, ROLES
from planc.source.expressions import Expression, Fault, compile_text, parse
from planc.source.forms.indices import Syntax
from planc.source.limits import Limits
from planc.source.report import advice

_HEAD = re.compile(r"\s*(?P<dtype>[A-Za-z_]\w*)\s*", re.A)
_SLOT = re.compile(r"(?P<slot>slot\b)?\s*", re.A)
_RANGE = re.compile(r"\bin\s*(?P<range>\[.*\])\s*$", re.A | re.S)
_ROLE = re.compile(r"\s*(?P<role>\w+)?\s*(?P<equals>=)?", re.A)
_OF = re.compile(r"\s*of\s+(?P<kernel>[A-Za-z_]\w*)\s*(?P<equals>=)?", re.A)
_FILE = re.compile(r"\s*(?P<file>.+?\.(?:npy|npz|safetensors))(?::(?P<member>.*\S))?\s*", re.S)
_KIND = re.compile(r"\s*(?P<kind>\w+)\s*(?P<equals>=)?", re.A)
_OTHER_NAMES = {
    "float": "f32",
    "double": "f64",
    "half": "f16",
    "int": "i32",
    "unsigned": "u32",
    "char": "i8",
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint32": "u32",
}


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text, with its place."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ScalarForm:
    """``f32 slot = 0.1 in [0, 1]``."""

    dtype: str
    slot: bool
    value: Expression
    low: Expression | None
    high: Expression | None


@dataclass(frozen=True, slots=True)
class FileForm:
    """``weights.npz:w1``."""

    file: str
    member: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LiteralForm:
    """``[1, 2]`` or ``0``: an expression, or a tuple of these."""

    value: Expression | tuple[LiteralForm, ...]
    start: int
    end: int


DataForm = FileForm | LiteralForm


@dataclass(frozen=True, slots=True)
class BufferForm:
    """``f32[64, 32] constant = weights.npz:w1``; of a global, ``kernel`` is set and ``role`` is not."""

    dtype: str
    shape: tuple[Expression, ...]
    role: str
    data: DataForm | None
    kernel: Word | None = None


@dataclass(frozen=True, slots=True)
class KindForm:
    """``int = 4``: a parameter of a sub-graph."""

    kind: str
    default: Expression | None


def check_dtype(name: str, start: int, end: int) -> str:
    """Return the element type ``name``. Raises Fault PLC140."""
    if name in DTYPE_NAMES:
        return name
    other = _OTHER_NAMES.get(name)
    cure = f"write `{other}`" if other else advice(name, DTYPE_NAMES, "known are " + ", ".join(DTYPE_NAMES))
    raise Fault("PLC140", f"no element type is named `{name}`", start, end, cure)


def parse_scalar(text: str, limits: Limits) -> ScalarForm:
    """Read a scalar."""
    dtype, at = _dtype(text)
    slot = _SLOT.match(text, at)
    at = slot.end() if slot else at
    if text[at : at + 1] != "=":
        cure = "write it as `f32 = 0.5` or `f32 slot = 0.5 in [0, 1]`"
        raise Fault("PLC130", "this is not a scalar with a value", 0, len(text), cure)
    at += 1
    bounds = _RANGE.search(text, at)
    low = high = None
    end = len(text)
    if bounds is not None:
        end = bounds.start()
        low, high = _pair(text[bounds.start("range") :], bounds.start("range"), limits)
    value = compile_text(text[at:end], at, limits)
    return ScalarForm(dtype, bool(slot and slot.group("slot")), value, low, high)


def parse_buffer(text: str, limits: Limits) -> BufferForm:
    """Read a buffer."""
    dtype, shape, at = _array(text, limits)
    rest = _ROLE.match(text, at)
    role = rest.group("role") if rest else None
    if rest is not None and role is not None and role not in ROLES:
        what = f"`{role}` is not a role of a buffer"
        raise Fault("PLC125", what, *rest.span("role"), advice(role, ROLES, "known are " + ", ".join(ROLES)))
    at = rest.end() if rest else at
    return BufferForm(
        dtype, shape, role or "scratch", _data(text, at, bool(rest and rest.group("equals")), limits)
    )


def parse_global(text: str, limits: Limits) -> BufferForm:
    """Read a global."""
    dtype, shape, at = _array(text, limits)
    rest = _OF.match(text, at)
    if rest is None:
        cure = f"write it as `{dtype}[n] of KERNEL = DATA`, with a kernel of the variable's module"
        raise Fault("PLC130", "this is not a global of a kernel", 0, len(text), cure)
    kernel = Word(rest.group("kernel"), *rest.span("kernel"))
    data = _data(text, rest.end(), rest.group("equals") is not None, limits)
    return BufferForm(dtype, shape, "", data, kernel)


def parse_data(text: str, limits: Limits, base: int = 0) -> DataForm:
    """Read where data come from: a file, a number, or a list in brackets."""
    file = _FILE.fullmatch(text)
    if file is not None:
        start = base + file.start("file")
        return FileForm(file.group("file"), file.group("member"), start, base + len(text.rstrip()))
    node, lead = parse(text, base, limits)
    return _literal(Syntax(text, lead, base, limits), node)


def parse_extents(text: str, limits: Limits, base: int = 0) -> tuple[Expression, ...]:
    """Read expressions with commas."""
    node, lead = parse(text, base, limits)
    syntax = Syntax(text, lead, base, limits)
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(syntax.expression(n) for n in nodes)


def parse_kind(text: str, limits: Limits) -> KindForm:
    """Read the kind of a parameter of a sub-graph."""
    match = _KIND.match(text)
    kind = match.group("kind") if match else ""
    if match is None or kind not in PARAMETER_KINDS:
        place = match.span("kind") if match else (0, len(text))
        what = f"`{kind or text.strip()[:40]}` is not a kind of parameter"
        raise Fault("PLC125", what, *place, "known are " + ", ".join(PARAMETER_KINDS))
    at = match.end()
    if match.group("equals") is None:
        if text[at:].strip():
            cure = f"write `{kind}`, or `{kind} = VALUE` with a default"
            raise Fault("PLC130", "this is more than the kind of a parameter", at, len(text), cure)
        return KindForm(kind, None)
    return KindForm(kind, compile_text(text[at:], at, limits))


def _dtype(text: str) -> tuple[str, int]:
    match = _HEAD.match(text)
    if match is None:
        cure = "begin with one of " + ", ".join(DTYPE_NAMES)
        raise Fault("PLC130", "this does not begin with an element type", 0, max(len(text), 1), cure)
    return check_dtype(match.group("dtype"), *match.span("dtype")), match.end()


def _array(text: str, limits: Limits) -> tuple[str, tuple[Expression, ...], int]:
    dtype, at = _dtype(text)
    if text[at : at + 1] != "[":
        cure = f"write `{dtype}[n]`, or `{dtype}[]` for one element"
        raise Fault("PLC130", "the shape in brackets is missing", 0, len(text), cure)
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] in "([") - (text[end] in ")]")
        if depth == 0:
            inside = text[at + 1 : end]
            return dtype, parse_extents(inside, limits, at + 1) if inside.strip() else (), end + 1
    raise Fault("PLC130", "the bracket of the shape is not closed", at, at + 1, "close it with `]`")


def _data(text: str, at: int, equals: bool, limits: Limits) -> DataForm | None:
    if equals:
        return parse_data(text[at:], limits, at)
    if text[at:].strip():
        start = at + len(text[at:]) - len(text[at:].lstrip())
        message = f"`{text[at:].strip()[:40]}` is one word too many"
        raise Fault("PLC130", message, start, len(text.rstrip()), "take it out, or write `= ` before data")
    return None


def _literal(syntax: Syntax, node: ast.expr) -> LiteralForm:
    if isinstance(node, ast.List):
        return LiteralForm(tuple(_literal(syntax, item) for item in node.elts), *syntax.place(node))
    return LiteralForm(syntax.expression(node), *syntax.place(node))


def _pair(text: str, base: int, limits: Limits) -> tuple[Expression, Expression]:
    node, lead = parse(text, base, limits)
    syntax = Syntax(text, lead, base, limits)
    if not isinstance(node, ast.List) or len(node.elts) != 2:
        cure = "write the least and the greatest value, `in [0, 1]`"
        raise Fault("PLC130", "this is not a range", *syntax.place(node), cure)
    return syntax.expression(node.elts[0]), syntax.expression(node.elts[1])
