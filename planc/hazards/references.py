"""One text of ``after:`` that names the right node in every iteration of a loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from planc.source.flat import FlatGraph, FlatNode

Edge = tuple[int, int]
Implied = Callable[[int, int], bool]

_PATTERN = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\[\]]*)\])?\s*\Z")
_LISTED = 4


@dataclass(frozen=True, slots=True)
class _Source:
    """The nodes that one text made in one scope: the id's base, its loop variables, rows by index."""

    base: str
    variables: tuple[str, ...]
    rows: Mapping[tuple[int, ...], int]


class References:
    """Finds references between the texts of a graph."""

    def __init__(self, flat: FlatGraph) -> None:
        """Group the nodes by text and scope."""
        self._nodes = flat.nodes
        self._by_text: dict[tuple[int, str], list[int]] = {}
        self._by_key: dict[int, list[int]] = {}
        for row, node in enumerate(flat.nodes):
            self._by_text.setdefault((node.site.key, node.site.scope), []).append(row)
            self._by_key.setdefault(node.site.key, []).append(row)
        self._sources: dict[tuple[int, str], _Source | None] = {}

    def find(self, edges: Collection[Edge], implied: Implied) -> tuple[str, ...] | None:
        """Return references that, written once at the target's text, give ``edges`` and nothing new besides.

        All edges go from nodes of one text to nodes of one text. In an iteration that needs no edge, a
        reference may name nothing (before the first iteration of its own loop) or a node for which
        ``implied(before, after)`` holds. None when there is no such text.
        """
        first = self._nodes[next(iter(edges))[0]]
        scope = {self._relative(before, after) for before, after in edges}
        if len(scope) != 1 or None in scope:
            return None
        prefix = scope.pop()
        indices = self._index_texts(edges, first)
        if indices is None or prefix is None:
            return None
        texts = [_reference(prefix, base, parts) for base, parts in indices]
        return tuple(texts) if self._right(indices, edges, implied) else None

    def _relative(self, before: int, after: int) -> str | None:
        """Return what leads from the target's scope to the source's (``r1.``), or None when nothing does."""
        outer, inner = self._nodes[after].site.scope, self._nodes[before].site.scope
        return inner[len(outer) :] if inner.startswith(outer) and "[" not in inner[len(outer) :] else None

    def _source(self, row: int) -> _Source | None:
        node = self._nodes[row]
        key = (node.site.key, node.site.scope)
        if key not in self._sources:
            self._sources[key] = _read_source(self._nodes, self._by_text[key])
        return self._sources[key]

    def _index_texts(
        self, edges: Collection[Edge], first: FlatNode
    ) -> list[tuple[str, tuple[str, ...]]] | None:
        """Return (base, index texts) of each reference to try."""
        sources = [self._source(before) for before, _ in edges]
        if any(s is None for s in sources):
            return None
        known = [s for s in sources if s is not None]
        base, variables = known[0].base, known[0].variables
        parts = [_axis(variable, edges, self._nodes, known) for variable in variables]
        if all(p is not None for p in parts):
            return [(base, tuple(p for p in parts if p is not None))]
        one_target = len({after for _, after in edges}) == 1
        if not one_target or len(edges) > _LISTED or _loops(self._nodes[next(iter(edges))[1]]):
            return None
        values = [_loops(self._nodes[before]) for before, _ in sorted(edges)]
        return [(base, tuple(str(v[name]) for name in variables)) for v in values]

    def _right(
        self,
        indices: Sequence[tuple[str, tuple[str, ...]]],
        edges: Collection[Edge],
        implied: Implied,
    ) -> bool:
        """Return whether the references give each edge, and elsewhere nothing that is not implied already."""
        wanted = set(edges)
        before, after = next(iter(edges))
        text = self._nodes[before].site.key
        given: set[Edge] = set()
        for target in self._by_key[self._nodes[after].site.key]:
            scope = self._nodes[target].site.scope + (self._relative(before, after) or "")
            rows = self._by_text.get((text, scope))
            source = None if rows is None else self._source(rows[0])
            if source is None:
                return False
            for _, parts in indices:
                named = _named(source, parts, _loops(self._nodes[target]), self._same_loop(source, target))
                if named is None:
                    return False
                given |= {(row, target) for row in named}
        return wanted <= given and all(edge in wanted or implied(*edge) for edge in given)

    def _same_loop(self, source: _Source, target: int) -> frozenset[str]:
        """Return the variables whose loop holds both texts: their iterations alternate in program order."""
        node = self._nodes[target]
        mine = self._by_text[node.site.key, node.site.scope]
        theirs = sorted(source.rows.values())
        overlap = len(mine) > 1 and len(theirs) > 1 and mine[0] <= theirs[-1] and theirs[0] <= mine[-1]
        return frozenset(source.variables) & frozenset(_loops(node)) if overlap else frozenset()


def _loops(node: FlatNode) -> dict[str, int]:
    return dict(node.site.loops)


def _reference(prefix: str, base: str, parts: Sequence[str]) -> str:
    return f"{prefix}{base}[{', '.join(parts)}]" if parts else f"{prefix}{base}"


def _read_source(nodes: Sequence[FlatNode], rows: Sequence[int]) -> _Source | None:
    """Return how the nodes of one text and scope are named; None for an id that is no plain pattern."""
    match = _PATTERN.match(nodes[rows[0]].site.pattern)
    if match is None:
        return None
    variables = tuple(v.strip() for v in match[2].split(",")) if match[2] else ()
    table: dict[tuple[int, ...], int] = {}
    for row in rows:
        values = _loops(nodes[row])
        if not all(v in values for v in variables):
            return None
        table[tuple(values[v] for v in variables)] = row
    return _Source(match[1], variables, table) if len(table) == len(rows) else None


def _axis(
    variable: str, edges: Collection[Edge], nodes: Sequence[FlatNode], sources: Sequence[_Source]
) -> str | None:
    """Return the index text that fits all edges in one loop variable of the source: `t-1`, `-1`, `3`, `:`."""
    pairs = [(_loops(nodes[before])[variable], _loops(nodes[after])) for before, after in edges]
    if all(variable in target for _, target in pairs):
        lags = {target[variable] - value for value, target in pairs}
        return _lag(variable, lags.pop()) if len(lags) == 1 else None
    place = sources[0].variables.index(variable)
    values = {value for value, _ in pairs}
    everything = {key[place] for s in sources for key in s.rows}
    if len(values) == 1:
        (value,) = values
        return "-1" if value == max(everything) and len(everything) > 1 else str(value)
    return ":" if values == everything else None


def _lag(variable: str, lag: int) -> str:
    if lag == 0:
        return variable
    return f"{variable}-{lag}" if lag > 0 else f"{variable}+{-lag}"


def _named(
    source: _Source, parts: Sequence[str], target: Mapping[str, int], same_loop: Collection[str]
) -> list[int] | None:
    """Return the rows that the index texts name for a target; None where the reference would be an error."""
    choices: list[tuple[int, ...]] = [()]
    for place, (variable, part) in enumerate(zip(source.variables, parts, strict=True)):
        known = sorted({key[place] for key in source.rows})
        values = _values(variable, part, target, known)
        if values is None:
            return None
        before_first = variable in same_loop and part.startswith(f"{variable}-")
        if before_first and values[0] < known[0]:
            return []
        choices = [(*c, v) for c in choices for v in values]
    return [source.rows[c] for c in choices] if all(c in source.rows for c in choices) else None


def _values(variable: str, part: str, target: Mapping[str, int], known: Sequence[int]) -> list[int] | None:
    if part == ":":
        return list(known)
    if part.startswith(variable):
        return None if variable not in target else [target[variable] + int(part[len(variable) :] or 0)]
    return [known[-1]] if part == "-1" and -1 not in known else [int(part)]
