"""Symbols: named numbers that may be computed from each other, and settings that replace them."""

from __future__ import annotations

from collections.abc import Mapping

from planc.diagnostics import Span
from planc.source.expressions import BROKEN, Number, kind_of
from planc.source.reading import Unit
from planc.source.report import Report, advice
from planc.source.values import Quantities, Quantity, Refused


class Symbols:
    """Evaluates the symbols of a file, in whatever order they stand."""

    def __init__(self, units: Mapping[str, Unit], quantities: Quantities, report: Report) -> None:
        """Read every symbol; what cannot be read is reported and stands as broken."""
        self.report = report
        self.units = units
        self.values: dict[str, object] = {}
        self._quantities: dict[str, Quantity] = {}
        for name, unit in units.items():
            try:
                if unit.form is None:
                    raise Refused
                self._quantities[name] = quantities.one(unit.where)
            except Refused:
                self.values[name] = BROKEN

    def evaluate(self, settings: Mapping[str, Number], file: Span) -> dict[str, object]:
        """Return the value of each symbol by name, in file order; a broken one is BROKEN.

        Reports PLC203 (unknown setting), PLC204 (setting of another type), PLC205 (symbols defined by each
        other), and what goes wrong in expressions.
        """
        for name in self._quantities:
            if name not in self.values:
                self._settle(name)
        for name, value in settings.items():
            self._override(name, value, file)
        return {name: self.values[name] for name in self.units}

    def _settle(self, name: str) -> None:
        """Evaluate ``name`` after what it needs, on a stack of its own: chains may be long."""
        stack = [name]
        while stack:
            current = stack[-1]
            needed = self._quantities[current].expression.names
            missing = sorted(n for n in needed if n in self._quantities and n not in self.values)
            if not missing:
                self._evaluate(current)
                stack.pop()
            elif missing[0] in stack:
                self._cycle(stack[stack.index(missing[0]) :])
            else:
                stack.append(missing[0])

    def _evaluate(self, name: str) -> None:
        if name in self.values:
            return
        try:
            self.values[name] = self._quantities[name].evaluate(self.values, self.report)
        except Refused:
            self.values[name] = BROKEN

    def _cycle(self, names: list[str]) -> None:
        chain = " → ".join(f"`{name}`" for name in [*names, names[0]])
        first = self.units[names[-1]]
        message = f"symbols are defined by each other: {chain}"
        self.report.add("PLC205", message, first.where.span, facts={"symbols": list(names)})
        for name in names:
            self.values[name] = BROKEN

    def _override(self, name: str, value: Number, file: Span) -> None:
        if name not in self.values:
            message = f"no symbol is named `{name}`, so it cannot be set"
            self.report.add("PLC203", message, file, help=advice(name, self.values), facts={"name": name})
            return
        old = self.values[name]
        if type(old) is float and type(value) is int:
            value = float(value)
        if old is not BROKEN and type(value) is not type(old):
            self.report.add(
                "PLC204",
                f"`{name}` is {kind_of(old)} and cannot be set to {value}, {kind_of(value)}",
                self.units[name].key.span,
                facts={"name": name},
            )
            return
        self.values[name] = value
