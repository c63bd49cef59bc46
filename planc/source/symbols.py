"""Symbols: named numbers that may be computed from each other, and settings that replace them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

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
                self._settle(name, settings)
        for name in settings:
            if name not in self.units:
                message = f"no symbol is named `{name}`, so it cannot be set"
                cure = partial(
                    advice, name, self.units, f"declare `{name}` under `symbols`, or do not set it"
                )
                self.report.add("PLC203", message, file, help=cure, facts={"name": name})
        return {name: self.values[name] for name in self.units}

    def _settle(self, name: str, settings: Mapping[str, Number]) -> None:
        """Evaluate ``name`` after what it needs, on a stack of its own: chains may be long."""
        stack = [name]
        waiting = {name}
        while stack:
            current = stack[-1]
            needed = self._quantities[current].expression.names
            missing = min((n for n in needed if n in self._quantities and n not in self.values), default=None)
            if missing is None:
                self._evaluate(current, settings)
                waiting.discard(stack.pop())
            elif missing in waiting:
                self._cycle(stack[stack.index(missing) :])
            else:
                stack.append(missing)
                waiting.add(missing)

    def _evaluate(self, name: str, settings: Mapping[str, Number]) -> None:
        if name in self.values:
            return
        try:
            value = self._quantities[name].evaluate(self.values, self.report)
            self.values[name] = self._set(name, value, settings.get(name, value))
        except Refused:
            self.values[name] = BROKEN

    def _cycle(self, names: list[str]) -> None:
        chain = " → ".join(f"`{name}`" for name in [*names, names[0]])
        last = self.units[names[-1]]
        message = f"symbols are defined by each other: {chain}"
        cure = f"give one of them a value that needs no other, `{names[-1]}: 1`"
        self.report.add("PLC205", message, last.where.span, help=cure, facts={"symbols": list(names)})
        for name in names:
            self.values[name] = BROKEN

    def _set(self, name: str, value: Number, given: Number) -> Number:
        """Return ``given`` in place of ``value``. Raises Refused (PLC204) for one of another type."""
        if type(value) is float and type(given) is int:
            return float(given)
        if type(given) is type(value):
            return given
        message = f"`{name}` is {kind_of(value)} and cannot be set to {given}, {kind_of(given)}"
        cure = f"set {kind_of(value)}, or declare `{name}` as {kind_of(given)}"
        self.report.add("PLC204", message, self.units[name].key.span, help=cure, facts={"name": name})
        raise Refused
