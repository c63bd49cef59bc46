"""References to nodes, as ``after:`` holds them: ``seed, back[t-1], r1.last, cell[:, j]``."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from planc.source.expressions import Expression, Fault, is_plain_name, parse
from planc.source.forms.indices import Dots, SliceForm, Syntax
from planc.source.limits import Limits


@dataclass(frozen=True, slots=True)
class NodeIndex:
    """One index. Of ``t``, ``t - k`` and ``t + k``, ``variable`` is ``t``, ``others`` what ``k`` mentions."""

    value: Expression
    variable: str | None
    others: frozenset[str]


@dataclass(frozen=True, slots=True)
class PartForm:
    """``back[t-1]``: a name, with indices if it has any."""

    name: str
    indices: tuple[NodeIndex | SliceForm, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ReferenceForm:
    """``r1.last``: parts, the outermost first."""

    parts: tuple[PartForm, ...]
    start: int
    end: int
    text: str


def parse_references(text: str, limits: Limits) -> tuple[ReferenceForm, ...]:
    """Read references with commas. Raises Fault PLC142 for what is none, and the codes of expressions."""
    if is_plain_name(text):
        return (ReferenceForm((PartForm(text, (), 0, len(text)),), 0, len(text), text),)
    node, lead = parse(text, 0, limits)
    syntax = Syntax(text, lead, 0, limits)
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    if not nodes:
        cure = "write the id of a node, or take `after` out"
        raise Fault("PLC142", "a reference to a node is missing", *syntax.place(node), cure)
    return tuple(ReferenceForm(_parts(syntax, n), *syntax.place(n), syntax.cut(n)) for n in nodes)


def _parts(syntax: Syntax, node: ast.expr) -> tuple[PartForm, ...]:
    indices: tuple[NodeIndex | SliceForm, ...] = ()
    whole = node
    if isinstance(node, ast.Subscript):
        indices = _indices(syntax, node.slice)
        node = node.value
    end = syntax.place(whole)[1]
    if isinstance(node, ast.Name):
        return (PartForm(node.id, indices, syntax.place(node)[0], end),)
    if isinstance(node, ast.Attribute):
        start = syntax.place(node)[1] - len(node.attr)
        return (*_parts(syntax, node.value), PartForm(node.attr, indices, start, end))
    cure = "write a node's id, with an index in a loop: `back[t-1]`"
    raise Fault("PLC142", "this does not name a node", *syntax.place(whole), cure)


def _indices(syntax: Syntax, node: ast.expr) -> tuple[NodeIndex | SliceForm, ...]:
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    found: list[NodeIndex | SliceForm] = []
    for part, index in zip(nodes, syntax.indices(node), strict=True):
        if isinstance(index, Dots):
            raise Fault("PLC142", "`...` names no node", *syntax.place(part), "write `:` for each axis")
        found.append(index if isinstance(index, SliceForm) else _index(syntax, part, index))
    return tuple(found)


def _index(syntax: Syntax, node: ast.expr, value: Expression) -> NodeIndex:
    if isinstance(node, ast.Name):
        return NodeIndex(value, node.id, frozenset())
    if (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub | ast.Add)
        and isinstance(node.left, ast.Name)
    ):
        return NodeIndex(value, node.left.id, syntax.expression(node.right).names)
    return NodeIndex(value, None, value.names)
