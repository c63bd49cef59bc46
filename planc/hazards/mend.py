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
    by_text: dict[int, dict[tuple[int, str], list[Edge]]] = {}
    for before, after in edges:
        site = nodes[before].site
        groups = by_text.setdefault(nodes[after].site.key, {})
        groups.setdefault((site.key, site.scope), []).append((before, after))
    references = References(flat)
    found: dict[Edge, Mending] = {}
    for groups in by_text.values():
        texts: dict[Edge, tuple[str, ...]] = {}
        for group in groups.values():
            texts |= _texts(flat, references, group, implied)
        added = list(dict.fromkeys(t for many in texts.values() for t in many))
        fix = edit(next(iter(texts))[1], added) if added else None
        found |= {edge: Mending(many, fix if many else None) for edge, many in texts.items()}
    return found


def _texts(
    flat: FlatGraph, references: References, group: Sequence[Edge], implied: Implied
) -> dict[Edge, tuple[str, ...]]:
    """Return the references for edges between two texts: one for all of them, or one for each lag."""
    whole = references.find(group, implied)
    if whole is not None:
        return dict.fromkeys(group, whole)
    families: dict[object, list[Edge]] = {}
    for before, after in group:
        families.setdefault(_lags(flat.nodes[before], flat.nodes[after]), []).append((before, after))
    found: dict[Edge, tuple[str, ...]] = {}
    for family in families.values():
        found |= dict.fromkeys(family, references.find(family, implied) or ())
    return found


def _lags(before: FlatNode, after: FlatNode) -> object:
    values = dict(after.site.loops)
    return tuple((name, values[name] - value) for name, value in before.site.loops if name in values)
