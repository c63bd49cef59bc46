"""One text of ``after:`` that names the right node in every iteration of a loop."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from planc.source.flat import FlatGraph, FlatNode

Edge = tuple[int, int]
Implied = Callable[[int, int], bool]

_PATTERN = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\[\]]*)\])?\s*\Z")
_LISTED = 4


@dataclass(frozen=True, slots=True)
class _Source:
    """The nodes that one text made in one scope: the id's base, its loop variables, rows by index.

    ``values`` are the values of each variable, rising.
    """

    base: str
    variables: tuple[str, ...]
    rows: Mapping[tuple[int, ...], int]
    values: tuple[tuple[int, ...], ...]


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
        prefixes = {self._relative(before, after) for before, after in edges}
        before, after = next(iter(edges))
        source = self._source(before)
        if len(prefixes) != 1 or None in prefixes or source is None:
            return None
        prefix = prefixes.pop() or ""
        for indices in self._candidates(edges, source, self._same_loops(before, after)):
            if self._right(indices, edges, implied):
                return tuple(_reference(prefix, source.base, parts) for parts in indices)
        return None

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

    def _candidates(
        self, edges: Collection[Edge], source: _Source, same: Collection[str]
    ) -> Iterator[Sequence[tuple[str, ...]]]:
        """Yield lists of index texts to try, one list entry for each reference."""
        variables = source.variables
        axes = [_axis(place, edges, self._nodes, source, same) for place in range(len(variables))]
        yield from ([parts] for parts in product(*axes))
        targets = {after for _, after in edges}
        if len(targets) == 1 and len(edges) <= _LISTED and not _loops(self._nodes[next(iter(targets))]):
            values = [_loops(self._nodes[before]) for before, _ in sorted(edges)]
            yield [tuple(str(v[name]) for name in variables) for v in values]

    def _right(
        self,
        indices: Sequence[tuple[str, ...]],
        edges: Collection[Edge],
        implied: Implied,
    ) -> bool:
        """Return whether the references give each edge, and elsewhere nothing that is not implied already."""
        wanted = set(edges)
        before, after = next(iter(edges))
        text = self._nodes[before].site.key
        given: set[Edge] = set()
        same = self._same_loops(before, after)
        for target in self._by_key[self._nodes[after].site.key]:
            scope = self._nodes[target].site.scope + (self._relative(before, after) or "")
            rows = self._by_text.get((text, scope))
            source = None if rows is None else self._source(rows[0])
            if source is None:
                return False
            for parts in indices:
                named = _named(source, parts, _loops(self._nodes[target]), same)
                if named is None:
                    return False
                given |= {(row, target) for row in named}
        return wanted <= given and all(edge in wanted or implied(*edge) for edge in given)

    def _same_loops(self, before: int, after: int) -> frozenset[str]:
        """Return the variables whose loop holds both texts and runs more than once.

        With the loops around it fixed, the iterations of a common loop alternate between the two texts in
        program order, and those of two loops do not.
        """
        first, second = self._nodes[before].site, self._nodes[after].site
        if first.scope != second.scope:
            return frozenset()
        mine, theirs = (self._by_text[site.key, site.scope] for site in (first, second))
        if first.key == second.key:
            return frozenset(variable for variable, _ in first.loops)
        common: set[str] = set()
        for depth, ((variable, value), (other, _)) in enumerate(zip(first.loops, second.loops, strict=False)):
            if variable != other or mine[0] > theirs[-1] or theirs[0] > mine[-1]:
                break
            if self._varies(mine, depth) and self._varies(theirs, depth):
                common.add(variable)
            mine, theirs = (
                [row for row in rows if self._nodes[row].site.loops[depth][1] == value] or rows
                for rows in (mine, theirs)
            )
        return frozenset(common)

    def _varies(self, rows: Sequence[int], depth: int) -> bool:
        return len({self._nodes[row].site.loops[depth][1] for row in rows}) > 1


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
    values_of = tuple(tuple(sorted({key[place] for key in table})) for place in range(len(variables)))
    return _Source(match[1], variables, table, values_of) if len(table) == len(rows) else None


def _axis(
    place: int,
    edges: Collection[Edge],
    nodes: Sequence[FlatNode],
    source: _Source,
    same: Collection[str],
) -> list[str]:
    """Return the index texts to try in one loop variable of the source: `t-1`, `-1`, `3`, `:`."""
    variable, known = source.variables[place], source.values[place]
    pairs = [(_loops(nodes[before])[variable], _loops(nodes[after])) for before, after in edges]
    values = {value for value, _ in pairs}
    constant = next(iter(values)) if len(values) == 1 else None
    found = []
    if constant is not None and variable not in same:
        found.append("-1" if constant == known[-1] > 0 else str(constant))
    lags = {target[variable] - value if variable in target else None for value, target in pairs}
    lag = lags.pop()
    if not lags and lag is not None:
        found.append(_lag(variable, lag))
    if constant == known[0] and variable in same:
        found.append(str(constant))
    return [*found, ":"]


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
        known = source.values[place]
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
