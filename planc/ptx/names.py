"""Names inside one function: scopes, and one flat name for each declaration.

PTX lets a ``{ … }`` block declare registers, variables and labels that hide outer ones (PTX ISA,
"Scope"); the syntax tree has no blocks, so a name that is taken gets a suffix.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from planc.ptx.syntax import Discard, Operand, Register, Symbol


@dataclass(slots=True)
class Scopes:
    """The blocks open at one place, innermost last; each maps a written name to its operand.

    ``taken`` holds every flat name given so far. ``outer`` are the names of the module.
    ``missing`` maps a name found in no scope to the index of its first token; it may be a
    module name declared further down.
    """

    outer: Container[str]
    stack: list[dict[str, Operand]] = field(default_factory=lambda: [{"_": Discard()}])
    taken: set[str] = field(default_factory=set)
    missing: dict[str, int] = field(default_factory=dict)
    repeats: dict[str, int] = field(default_factory=dict)

    def open(self) -> None:
        """Enter a block."""
        self.stack.append({})

    def close(self) -> None:
        """Leave the innermost block."""
        self.stack.pop()

    def find(self, name: str) -> Operand | None:
        """Return what ``name`` means here, or None."""
        for scope in reversed(self.stack):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def declares(self, name: str) -> bool:
        """Whether the innermost block declares ``name`` itself."""
        return name in self.stack[-1]

    def register(self, name: str) -> str:
        """Declare a register and return its flat name."""
        flat = self._flatten(name)
        self.stack[-1][name] = Register(flat)
        return flat

    def symbol(self, name: str) -> str:
        """Declare a variable, parameter, label or table and return its flat name."""
        flat = self._flatten(name)
        self.stack[-1][name] = Symbol(flat)
        return flat

    def alias(self, name: str, operand: Operand) -> None:
        """Declare another name of an operand: ``a.r`` for ``a.x``, ``a`` for all its elements."""
        self.stack[-1][name] = operand

    def _flatten(self, name: str) -> str:
        flat = name
        while flat in self.taken or flat in self.outer:
            self.repeats[name] = self.repeats.get(name, 0) + 1
            flat = f"{name}${self.repeats[name]}"
        self.taken.add(flat)
        return flat
