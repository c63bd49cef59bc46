"""What a pass is: a frozen value whose fields are its options, from one legal schedule to another."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol, runtime_checkable

from planc.plan.program import Program, Schedule

Value = int | str


@runtime_checkable
class Pass(Protocol):
    """A pass: a frozen dataclass made of :func:`option` fields.

    ``run`` takes a legal schedule of ``program`` and returns one. Legal is what the checker proves, so that
    any pass may follow any other; the order of the default pipeline is a matter of speed alone.
    """

    name: ClassVar[str]

    def run(self, program: Program, schedule: Schedule) -> Schedule:
        """Return the new schedule; nothing of the old one is changed."""
        ...


@dataclass(frozen=True, slots=True)
class Option:
    """What the text of an option may be: one of ``choices``, or a whole number from ``low`` to ``high``."""

    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0

    @property
    def meaning(self) -> str:
        """Say what is accepted, for a message."""
        if self.choices:
            return "one of " + ", ".join(f"`{c}`" for c in self.choices)
        return f"a whole number from {self.low} to {self.high}"

    def read(self, text: str) -> Value | None:
        """Return the value that ``text`` stands for, or None."""
        if self.choices:
            return text if text in self.choices else None
        if not (text.isascii() and text.isdecimal() and len(text) <= len(str(self.high))):
            return None
        return int(text) if self.low <= int(text) <= self.high else None


def choice(default: str, *others: str) -> Any:
    """Return a field that takes ``default`` or one of ``others``."""
    return field(default=default, metadata={"option": Option((default, *others))})


def number(default: int, low: int, high: int) -> Any:
    """Return a field that takes a whole number from ``low`` to ``high``."""
    return field(default=default, metadata={"option": Option((), low, high)})


def options(kind: type[Any]) -> dict[str, Option]:
    """Return the options of a class of passes, in order."""
    return {f.name: f.metadata["option"] for f in fields(kind)}


def changed(item: Pass) -> dict[str, Value]:
    """Return the options of a pass that are not at their defaults, in order."""
    return {
        f.name: value
        for f in fields(item)  # type: ignore[arg-type]
        if (value := getattr(item, f.name)) != f.default
    }
