"""The least edges that mend all races, as texts to write and as edits of the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from planc.diagnostics import Fix
from planc.hazards.references import Edge, Implied, References
from planc.source.flat import FlatGraph, FlatNode

EditAfter = Callable[[int, Sequence[str]], Fix | None]


@dataclass(frozen=True, slots=True)
class Mending:
    """What mends a missing edge: the reference to write at the target's text, and the edit of that text.

    ``references`` is empty where no one text gives the right edge in each iteration; ``fix`` is None where
    the text cannot be edited. ``fix`` adds all references that are missing at the target's text.
    """

    references: tuple[str, ...]
    fix: Fix | None


def mend(flat: FlatGraph, edges: Sequence[Edge], implied: Implied, edit: EditAfter) -> Mapping[Edge, Mending]:
    """Return how to write each of ``edges`` (rows).

    One text of a loop stands for the edges of all iterations. ``implied(before, after)`` says whether the
    mended graph has a path; ``edit(row, references)`` makes the edit of a node's text.
    """
    nodes = flat.nodes
    by_text: dict[int, dict[object, list[Edge]]] = {}
    for before, after in edges:
        groups = by_text.setdefault(nodes[after].site.key, {})
        groups.setdefault(_family(nodes[before], nodes[after]), []).append((before, after))
    references = References(flat)
    found: dict[Edge, Mending] = {}
    for groups in by_text.values():
        texts = {key: references.find(group, implied) or () for key, group in groups.items()}
        added = list(dict.fromkeys(t for many in texts.values() for t in many))
        target = next(iter(groups.values()))[0][1]
        fix = edit(target, added) if added else None
        for key, group in groups.items():
            mending = Mending(texts[key], fix if texts[key] else None)
            found.update(dict.fromkeys(group, mending))
    return found


def _family(before: FlatNode, after: FlatNode) -> object:
    """Return what edges share for one reference: the source's text, the lag in common loop variables."""
    values = dict(after.site.loops)
    lags = tuple((name, values[name] - value) for name, value in before.site.loops if name in values)
    return before.site.key, before.site.scope, lags
