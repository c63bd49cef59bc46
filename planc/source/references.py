"""Resolving ``after:``: from references to rows."""

from __future__ import annotations

from collections.abc import Iterable

from planc.source.expand import Frame, Instance, Row, Scope, TooMuch
from planc.source.expressions import Environment
from planc.source.flat import After
from planc.source.limits import Limits
from planc.source.report import Report
from planc.source.search import Search
from planc.source.templates import Reference
from planc.source.values import Refused


class Resolver:
    """Finds the edges into all rows.

    An instance of a sub-graph stands for its ends: who comes after it waits for those nodes in it that none
    of it waits for, and its own ``after`` holds for those nodes in it that wait for none of it. An
    empty instance passes its ``after`` on.
    """

    def __init__(self, rows: list[Row], limits: Limits, report: Report) -> None:
        """Resolve references of ``rows``."""
        self.rows = rows
        self.limits = limits
        self.report = report
        self.edges: list[dict[int, After]] = [{} for _ in rows]
        self._count = 0
        self._ends: dict[int, tuple[list[int], list[int]]] = {}
        self._around: dict[int, Scope] = {}

    def resolve(self, scope: Scope) -> list[tuple[After, ...]]:
        """Return the edges into each row, by the row they come from. Raises TooMuch (PLC164)."""
        self._scope(scope)
        return [tuple([edges[row] for row in sorted(edges)]) for edges in self.edges]

    def _scope(self, scope: Scope) -> None:
        for instance in scope.instances:
            self._scope(instance.scope)
            self._ends[id(instance)] = self._ends_of(instance.scope)
            self._around[id(instance)] = scope
        frame = Frame()
        for number in scope.rows:
            row = self.rows[number]
            frame = _enter(scope, frame, row.frame)
            for reference in row.template.after:
                self._add([number], reference, self._named(reference, scope, frame, scope.environment))
        for instance in scope.instances:
            frame = _enter(scope, frame, instance.frame)
            for reference in instance.template.after:
                befores = self._named(reference, scope, frame, scope.environment)
                self._add(self._ends[id(instance)][0], reference, befores)
        _enter(scope, frame, Frame())

    def _ends_of(self, scope: Scope) -> tuple[list[int], list[int]]:
        """Return the rows of an instance that wait for none of it, and those that none of it waits for."""
        inside = range(scope.first, scope.last)
        waited: set[int] = set()
        sources = []
        for row in inside:
            before = [other for other in self.edges[row] if other in inside]
            waited.update(before)
            if not before:
                sources.append(row)
        return sources, [row for row in inside if row not in waited]

    def _add(self, rows: Iterable[int], reference: Reference, befores: list[int]) -> None:
        for row in rows:
            edges = self.edges[row]
            for before in befores:
                if before == row:
                    self._to_itself(row, reference)
                elif before not in edges:
                    edges[before] = After(before, reference.span, reference.form.text)
                    self._count += 1
            if self._count > self.limits.edges:
                limit = self.limits.edges
                message = f"the graph has more than {limit} edges after expansion"
                cure = "let the nodes wait for one `join: true` that waits for the others"
                self.report.add("PLC164", message, reference.span, help=cure, facts={"limit": limit})
                raise TooMuch

    def _to_itself(self, row: int, reference: Reference) -> None:
        name = self.rows[row].name
        message = f"`{name}` comes after itself"
        cure = f"take `{reference.form.text}` out of `after`, or name the node that is meant"
        self.report.add("PLC210", message, reference.span, help=cure, facts={"node": name})

    def _named(self, reference: Reference, scope: Scope, frame: Frame, environment: Environment) -> list[int]:
        """Return the rows that a reference names where it stands."""
        try:
            found = Search(reference, frame, environment, self.report).find(scope)
        except Refused:
            return []
        rows: list[int] = []
        for what in found:
            rows += [what] if isinstance(what, int) else self._last_of(what, set())
        return rows

    def _last_of(self, instance: Instance, seen: set[int]) -> list[int]:
        """Return the last rows of an instance; of an empty one those of what it comes after."""
        if instance.scope.first < instance.scope.last or id(instance) in seen:
            return self._ends[id(instance)][1]
        seen.add(id(instance))
        scope, frame = self._around[id(instance)], instance.frame
        environment = {**scope.environment, **dict(frame.pairs)}
        rows: list[int] = []
        for reference in instance.template.after:
            try:
                found = Search(reference, frame, environment, self.report).find(scope)
            except Refused:
                continue
            for what in found:
                rows += [what] if isinstance(what, int) else self._last_of(what, seen)
        return rows


def _enter(scope: Scope, old: Frame, new: Frame) -> Frame:
    """Let the environment of ``scope`` hold the loop variables of ``new``; return ``new``."""
    if old is not new:
        for variable, _ in old.pairs:
            scope.environment.pop(variable, None)
        scope.environment.update(new.pairs)
    return new
