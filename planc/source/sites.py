"""Where an ``after:`` can be written into a node's text, and the edit that does it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planc.diagnostics import Edit, Span
from planc.source import syntax
from planc.source.flat import Site
from planc.source.syntax import Tree


@dataclass(frozen=True, slots=True)
class SiteText:
    """The part of a :class:`planc.source.flat.Site` that is equal in every iteration."""

    insert: Span | None = None
    indent: int = 0
    flow: bool = False
    after: Span | None = None
    after_text: str = ""
    after_flow: bool = False


def site_text(where: Tree) -> SiteText:
    """Return where the text of a node can take an ``after``; nowhere where an alias repeats the text."""
    if not isinstance(where, syntax.Mapping) or where.shared:
        return SiteText()
    after = where.values.get("after")
    if after is not None and after.shared:
        return SiteText()
    if where.flow:
        line, column = where.tail
    else:
        line = where.end_line
        column = len(where.source.lines[line - 1]) + 1
    insert = where.source.span(line, column, line, column)
    first = next(iter(where.keys.values()), where)
    # A key with an anchor begins at the anchor, as its mapping does.
    indent = (min(first.column, where.column) if first.line == where.line else first.column) - 1
    if after is None:
        return SiteText(insert, indent, where.flow)
    is_list = isinstance(after, syntax.Sequence)
    return SiteText(insert, indent, where.flow, after.span, after.written, is_list)


def edit_after(site: Site, references: Sequence[str]) -> Edit | None:
    """Return the edit that adds ``references`` to a node's ``after``, or None where it has no place.

    The edit is right for block and flow mappings, YAML and JSON, and for an ``after`` that is absent,
    a text (plain or quoted) or a list.
    """
    if site.insert is None or not references:
        return None
    if site.after is None:
        return Edit(site.insert, _whole(site, references))
    if site.after_flow:
        return _into_list(site, site.after, references)
    return _into_text(site, site.after, references)


def _whole(site: Site, references: Sequence[str]) -> str:
    text = ", ".join(references)
    if not site.flow:
        return "\n" + " " * site.indent + f"after: {text}"
    key = '"after"' if _is_json(site) else "after"
    return f', {key}: "{text}"'


def _into_list(site: Site, after: Span, references: Sequence[str]) -> Edit:
    end = after.end_line, after.end_column
    if not site.after_text.startswith("["):
        lines = "".join("\n" + " " * (after.column - 1) + f"- {reference}" for reference in references)
        return Edit(Span(after.file, *end, *end), lines)
    before = site.after_text[:-1].rstrip()
    comma = "" if before.endswith(("[", ",")) else ", "
    place = after.end_line, after.end_column - 1
    return Edit(Span(after.file, *place, *place), comma + ", ".join(f'"{r}"' for r in references))


def _into_text(site: Site, after: Span, references: Sequence[str]) -> Edit:
    text = ", ".join(references)
    if site.after_text[:1] in ("'", '"'):
        place = after.end_line, after.end_column - 1
        return Edit(Span(after.file, *place, *place), f", {text}")
    if site.flow:
        return Edit(after, f'"{site.after_text}, {text}"')
    place = after.end_line, after.end_column
    return Edit(Span(after.file, *place, *place), f", {text}")


def _is_json(site: Site) -> bool:
    return site.insert is not None and site.insert.file.endswith(".json")
