"""The short forms of nodes: ``run``, ``fill``, ``copy``, ``for``, ``use`` and ``id``.

Every function takes a text and raises Fault: PLC141 where the text is an expression but not this form,
PLC143 for a view, and the codes of expressions.
"""

from __future__ import annotations

import ast
import keyword
import re
from dataclasses import dataclass

from planc.source.expressions import (
    CONSTANTS,
    RESERVED,
    Expression,
    Fault,
    compile_text,
    is_plain_name,
    parse,
)
from planc.source.forms.indices import IndexForm, Syntax
from planc.source.limits import Limits

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
_ID = re.compile(rf"\s*(?P<name>{_NAME})\s*(?:\[(?P<variables>.*)\])?\s*", re.A | re.S)
_FOR = re.compile(rf"\s*(?P<name>{_NAME})\s+in(?=[\s(])", re.A)
_RAW = re.compile(r"\s+as\s+(?P<type>\w+)\s*$", re.A)
_ITEMS = {"u8": 1, "u16": 2, "u32": 4}


@dataclass(frozen=True, slots=True)
class ViewForm:
    """``u[1:-1, :]``; ``indices`` None for a bare name, which may be something else than a buffer."""

    name: str
    indices: tuple[IndexForm, ...] | None
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class ArgumentForm:
    """``dst=v[1:]`` or ``v[1:]``; the span is that of all of it."""

    name: str | None
    value: ViewForm | Expression
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CallForm:
    """``step(src=u, dst=v)``; the span is that of the name."""

    name: str
    arguments: tuple[ArgumentForm, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FillForm:
    """``v[0:16] = 0``; ``item`` is the size of a raw pattern in bytes."""

    target: ViewForm
    value: Expression
    item: int | None


@dataclass(frozen=True, slots=True)
class CopyForm:
    """``v <- u``."""

    target: ViewForm
    source: ViewForm


@dataclass(frozen=True, slots=True)
class LoopForm:
    """``t in range(start, stop, step)``."""

    variable: str
    start: int
    end: int
    first: Expression | None
    stop: Expression
    step: Expression | None


@dataclass(frozen=True, slots=True)
class IdForm:
    """``cell[i, j]``: a name and the loop variables that tell its nodes apart, each with its place."""

    name: str
    variables: tuple[tuple[str, int, int], ...]
    text: str


def parse_view(text: str, limits: Limits, base: int = 0) -> ViewForm:
    """Read a view."""
    name = text.strip()
    if is_plain_name(name):
        start = base + len(text) - len(text.lstrip())
        return ViewForm(name, None, start, start + len(name), name)
    node, lead = parse(text, base, limits)
    return _view(Syntax(text, lead, base, limits), node)


def parse_value(text: str, limits: Limits, base: int = 0) -> ViewForm | Expression:
    """Read what an argument may be: a view, a bare name or an expression."""
    node, lead = parse(text, base, limits)
    return _value(Syntax(text, lead, base, limits), node)


def parse_call(text: str, limits: Limits) -> CallForm:
    """Read ``name(arguments)``."""
    node, lead = parse(text, 0, limits)
    syntax = Syntax(text, lead, 0, limits)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        cure = f"write `{node.id}()`" if isinstance(node, ast.Name) else "write it as `name(parameter=value)`"
        raise Fault("PLC141", "this is not a call", *syntax.place(node), cure)
    given = [ArgumentForm(None, _value(syntax, argument), *syntax.place(argument)) for argument in node.args]
    for pair in node.keywords:
        if pair.arg is None:
            message = "`**` before a name is not part of the language"
            raise Fault("PLC132", message, *syntax.place(pair), "write each argument as `parameter=value`")
        given.append(ArgumentForm(pair.arg, _value(syntax, pair.value), *syntax.place(pair)))
    return CallForm(node.func.id, tuple(given), *syntax.place(node.func))


def parse_fill(text: str, limits: Limits) -> FillForm:
    """Read ``view = value`` or ``view = pattern as u16``."""
    at = _equals(text)
    if at is None:
        raise Fault("PLC141", "this is not a fill", 0, len(text), "write it as `view = value`")
    item = None
    value = text[at + 1 :]
    raw = _RAW.search(value)
    if raw is not None:
        item = _ITEMS.get(raw.group("type"))
        if item is None:
            start = at + 1 + raw.start("type")
            cure = "a pattern is `u8`, `u16` or `u32`"
            raise Fault(
                "PLC141", f"`{raw.group('type')}` is no pattern type", start, at + 1 + raw.end("type"), cure
            )
        value = value[: raw.start()]
    return FillForm(parse_view(text[:at], limits), compile_text(value, at + 1, limits), item)


def parse_copy(text: str, limits: Limits) -> CopyForm:
    """Read ``target <- source``."""
    target, arrow, source = text.partition("<-")
    if not arrow or "<-" in source:
        raise Fault("PLC141", "this is not a copy", 0, len(text), "write it as `target <- source`")
    return CopyForm(parse_view(target, limits), parse_view(source, limits, len(target) + 2))


def parse_loop(text: str, limits: Limits) -> LoopForm:
    """Read ``variable in range(...)``."""
    head = _FOR.match(text)
    if head is None:
        raise Fault("PLC141", "this is not a loop", 0, len(text), "write it as `t in range(n)`")
    node, lead = parse(text[head.end() :], head.end(), limits)
    syntax = Syntax(text[head.end() :], lead, head.end(), limits)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "range":
        cure = "write `range(n)`, `range(start, stop)` or `range(start, stop, step)`"
        raise Fault("PLC144", "a loop runs over `range(...)`", *syntax.place(node), cure)
    if node.keywords or not 1 <= len(node.args) <= 3:
        cure = "write `range(n)`, `range(start, stop)` or `range(start, stop, step)`"
        message = "`range` takes one to three arguments, without names"
        raise Fault("PLC144", message, *syntax.place(node), cure)
    parts = [syntax.expression(argument) for argument in node.args]
    place = head.span("name")
    _check_word(head.group("name"), head.group("name") in RESERVED, *place)
    if len(parts) == 1:
        return LoopForm(head.group("name"), *place, None, parts[0], None)
    return LoopForm(head.group("name"), *place, parts[0], parts[1], parts[2] if len(parts) == 3 else None)


def parse_id(text: str, limits: Limits) -> IdForm:
    """Read ``name`` or ``name[i, j]``."""
    match = _ID.fullmatch(text)
    if match is None:
        raise Fault(
            "PLC129", f"`{text.strip()[:40]}` is not a name for a node", 0, len(text), "write `a` or `a[t]`"
        )
    _check_word(match.group("name"), False, *match.span("name"))
    inside = match.group("variables")
    if inside is None:
        return IdForm(match.group("name"), (), text.strip())
    variables = []
    at = match.start("variables")
    for piece in inside.split(","):
        start = at + len(piece) - len(piece.lstrip())
        variables.append((piece.strip(), start, max(start + len(piece.strip()), start + 1)))
        at += len(piece) + 1
    return IdForm(match.group("name"), tuple(variables), text.strip())


def _check_word(name: str, reserved: bool, start: int, end: int) -> None:
    if reserved or keyword.iskeyword(name):
        message = f"`{name}` is a word of the expression language"
        raise Fault("PLC129", message, start, end, "choose another name")


def _view(syntax: Syntax, node: ast.expr) -> ViewForm:
    if isinstance(node, ast.Name):
        return ViewForm(node.id, None, *syntax.place(node), node.id)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return ViewForm(node.value.id, syntax.indices(node.slice), *syntax.place(node), syntax.cut(node))
    raise Fault(
        "PLC143", "this is not a view", *syntax.place(node), "write a buffer, or a part of it as `u[1:-1, :]`"
    )


def _value(syntax: Syntax, node: ast.expr) -> ViewForm | Expression:
    constant = isinstance(node, ast.Name) and node.id in CONSTANTS
    if isinstance(node, ast.Name | ast.Subscript) and not constant:
        return _view(syntax, node)
    return syntax.expression(node)


def _equals(text: str) -> int | None:
    """Return where the ``=`` stands that is no part of a bracket or a comparison."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "=" and depth == 0:
            alone = text[at - 1 : at] not in ("=", "<", ">", "!") and text[at + 1 : at + 2] != "="
            if alone:
                return at
    return None
