"""What stands in square brackets: indices and slices, of views and of node references alike."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from planc.source.expressions import Expression, Fault, compile_node
from planc.source.limits import Limits


@dataclass(frozen=True, slots=True)
class SliceForm:
    """``start:stop:step``, None where left out."""

    start: Expression | None
    stop: Expression | None
    step: Expression | None


class Dots:
    """``...``, in views only."""


IndexForm = Expression | SliceForm | Dots


@dataclass(frozen=True, slots=True)
class Syntax:
    """A parsed text: its columns count from ``lead``, it begins at ``base`` of the text that holds it."""

    text: str
    lead: int
    base: int
    limits: Limits

    def place(self, node: ast.AST) -> tuple[int, int]:
        """Return from where to where ``node`` stands."""
        start = getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None) or start + 1
        return start + self.lead, end + self.lead

    def cut(self, node: ast.AST) -> str:
        """Return the text of ``node``."""
        start, end = self.place(node)
        return self.text[start - self.base : end - self.base]

    def expression(self, node: ast.expr) -> Expression:
        """Compile ``node`` as an expression."""
        return compile_node(node, self.text, self.lead, self.base, self.limits)

    def indices(self, node: ast.expr) -> tuple[IndexForm, ...]:
        """Read what stands in the brackets of a subscript. Raises Fault PLC143 where nothing does."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        if not parts:
            cure = "write an index or a slice, `[0]` or `[:]`"
            raise Fault("PLC143", "an index is missing", *self.place(node), cure)
        return tuple(self._index(part) for part in parts)

    def _index(self, node: ast.expr) -> IndexForm:
        if isinstance(node, ast.Slice):
            ends = (node.lower, node.upper, node.step)
            return SliceForm(*[None if end is None else self.expression(end) for end in ends])
        if isinstance(node, ast.Constant) and node.value is ...:
            return Dots()
        return self.expression(node)
