"""Diagnostics of the runtime: places, names that are close, and the exceptions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from planc.diagnostics import Diagnostic, Fact, ReplayError, Span
from planc.plan.program import Program


def node_span(program: Program, node: int) -> Span | None:
    """Return the place of a node in its author's file, or None where the plan has no debug section."""
    if not 0 <= node < len(program.places):
        return None
    place = program.places[node]
    return Span(place.file, place.line, place.column)


def node_facts(program: Program, node: int) -> dict[str, Fact]:
    """Return the facts that name a node."""
    return {"node": program.node_names[node]}


def did_you_mean(name: str, known: Iterable[str], what: str) -> str:
    """Return the help for an unknown name: the closest one, or all of them."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"the closest name is `{close[0]}`"
    if not names:
        return f"this plan has no {what}"
    shown = ", ".join(f"`{n}`" for n in names[:8])
    return f"the {what} are {shown}" + (", …" if len(names) > 8 else "")


def refuse(diagnostics: Iterable[Diagnostic]) -> None:
    """Raise :class:`ReplayError` with all of them, if there is one."""
    found = tuple(diagnostics)
    if found:
        raise ReplayError(found)
