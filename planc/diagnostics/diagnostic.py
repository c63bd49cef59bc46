"""The one shape in which planc reports a mistake, and the exceptions that carry it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from planc.diagnostics.span import Span

Fact = str | int | float | bool | None | list["Fact"] | dict[str, "Fact"]


class Severity(StrEnum):
    """How much a diagnostic weighs: only an ``error`` fails a command."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a diagnostic speaks of, with what stands there."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text of ``span`` by ``text``; an empty span inserts."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """A cure that planc can apply itself (``planc check --fix``)."""

    title: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake, in the person's own words and names.

    ``message`` says what is wrong: lowercase, no final stop, names in backticks. ``help`` alone
    holds the cure. ``facts`` are stable keys for programs (buffer, bytes, nodes), so that the
    prose may improve freely. ``code`` is a key of :data:`planc.diagnostics.CATALOGUE`, which
    gives the severity.
    """

    code: str
    message: str
    span: Span | None = None
    help: str = ""
    related: tuple[Related, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    fix: Fix | None = None

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order by place, then code, so that reports do not depend on the order of checks."""
        if self.span is None:
            return ("", 0, 0, self.code, self.message)
        return (self.span.file, self.span.line, self.span.column, self.code, self.message)


class PlancError(Exception):
    """Base of everything that planc raises on purpose; carries one diagnostic or more."""

    def __init__(self, diagnostics: Diagnostic | Iterable[Diagnostic]) -> None:
        """Keep the diagnostics; the text of the exception is their concise form."""
        many = (diagnostics,) if isinstance(diagnostics, Diagnostic) else tuple(diagnostics)
        self.diagnostics: tuple[Diagnostic, ...] = many
        super().__init__("\n".join(_concise(d) for d in many))

    @property
    def code(self) -> str:
        """The code of the first diagnostic."""
        return self.diagnostics[0].code if self.diagnostics else "PLC900"


class GraphError(PlancError):
    """A graph file, or something it names, is wrong (codes 1xx to 5xx; exit code 1)."""


class PlanError(PlancError):
    """A plan file is refused (codes 6xx; exit code 1)."""


class ReplayError(PlancError):
    """A binding, a value or a replay is refused or went wrong (codes 7xx; exit code 1)."""


class DeviceError(PlancError):
    """The device or its driver is missing or failed (codes 7xx; exit code 4)."""


class InternalFault(PlancError):
    """planc itself is at fault (codes 9xx; exit code 3)."""


def _concise(diagnostic: Diagnostic) -> str:
    place = f"{diagnostic.span}: " if diagnostic.span else ""
    cure = f" (help: {diagnostic.help})" if diagnostic.help else ""
    return f"{place}{diagnostic.code}: {diagnostic.message}{cure}"
