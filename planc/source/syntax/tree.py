"""Values of a file with their places: what YAML and JSON readers give alike.

Beside each container's children stands ``plain``, the same as dict and list, which pydantic reads;
it is built along the way, so that nothing is walked twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from planc.diagnostics import Span
from planc.source.syntax.text import SourceText

_ESCAPED = {"x": 4, "u": 6, "U": 10}


class Text(Protocol):
    """A text whose parts have places."""

    @property
    def text(self) -> str:
        """The text."""
        ...

    @property
    def span(self) -> Span:
        """Where all of it stands."""
        ...

    def part(self, start: int, end: int) -> Span:
        """Where the characters from ``start`` up to ``end`` stand."""
        ...


@dataclass(frozen=True, slots=True)
class PinnedText:
    """A text all of whose parts stand at one place: it is not in a file as it is."""

    text: str
    span: Span

    def part(self, start: int, end: int) -> Span:
        """Return the one place."""
        return self.span


class Tree:
    """A value and where it stands; lines and columns count from 1, the end is the first position after it.

    ``shared`` is true where an alias repeats it, so that one text stands for several values.
    """

    __slots__ = ("column", "end_column", "end_line", "line", "shared", "source")

    def __init__(self, source: SourceText, line: int, column: int, end_line: int, end_column: int) -> None:
        """Place the value."""
        self.source = source
        self.line = line
        self.column = column
        self.end_line = end_line
        self.end_column = end_column
        self.shared = False

    @property
    def span(self) -> Span:
        """Where it stands; of an empty value one character."""
        end = self.end_column
        if (self.line, self.column) == (self.end_line, end):
            end += 1
        return Span(self.source.label, self.line, self.column, self.end_line, end)

    @property
    def plain(self) -> Any:
        """The value as pydantic reads it."""
        raise NotImplementedError

    @property
    def written(self) -> str:
        """The text between its ends, as in the file."""
        lines = self.source.lines[self.line - 1 : self.end_line]
        if not lines:
            return ""
        if len(lines) == 1:
            return lines[0][self.column - 1 : self.end_column - 1]
        return "\n".join([lines[0][self.column - 1 :], *lines[1:-1], lines[-1][: self.end_column - 1]])


class Scalar(Tree):
    """A scalar: ``text`` as read, ``value`` as resolved; ``style`` is its quote, ``|``, ``>`` or nothing."""

    __slots__ = ("style", "text", "value")

    def __init__(
        self,
        source: SourceText,
        place: tuple[int, int, int, int],
        text: str,
        value: object,
        style: str,
    ) -> None:
        """Keep the text and its value."""
        self.source = source
        self.line, self.column, self.end_line, self.end_column = place
        self.shared = False
        self.text = text
        self.value = value
        self.style = style

    @property
    def plain(self) -> object:
        """The resolved value."""
        return self.value

    def part(self, start: int, end: int) -> Span:
        """Where the characters of ``text`` from ``start`` up to ``end`` stand in the file."""
        label, line = self.source.label, self.line
        quotes = self.end_column - self.column - len(self.text)
        if line == self.end_line and (quotes == 0 or (quotes == 2 and self.style in "'\"")):
            first = self.column + quotes // 2
            return Span(label, line, first + start, line, first + max(end, start + 1))
        places = align(self.written, self.text, self.style)
        first_line, first_column = self._place(places[min(start, len(places) - 1)])
        last_line, last_column = self._place(places[min(max(end - 1, start), len(places) - 1)])
        return Span(label, first_line, first_column, last_line, last_column + 1)

    def _place(self, offset: int) -> tuple[int, int]:
        before = self.written[:offset]
        breaks = before.count("\n")
        if not breaks:
            return self.line, self.column + offset
        return self.line + breaks, len(before) - before.rfind("\n")


class Sequence(Tree):
    """A list; ``flow`` when it stands in brackets."""

    __slots__ = ("_plain", "flow", "items")

    def __init__(self, source: SourceText, line: int, column: int, flow: bool) -> None:
        """Begin an empty list."""
        super().__init__(source, line, column, line, column)
        self.flow = flow
        self.items: list[Tree] = []
        self._plain: list[Any] = []

    @property
    def plain(self) -> list[Any]:
        """The values of the items."""
        return self._plain

    def append(self, item: Tree) -> None:
        """Add an item."""
        self.items.append(item)
        self._plain.append(item.plain)


class Mapping(Tree):
    """A mapping in file order, each key once; ``flow`` when it stands in braces.

    ``tail`` is the line and column where its last value ends.
    """

    __slots__ = ("_plain", "flow", "keys", "tail", "values")

    def __init__(self, source: SourceText, line: int, column: int, flow: bool) -> None:
        """Begin an empty mapping."""
        super().__init__(source, line, column, line, column)
        self.flow = flow
        self.tail = (line, column)
        self.keys: dict[str, Scalar] = {}
        self.values: dict[str, Tree] = {}
        self._plain: dict[str, Any] = {}

    @property
    def plain(self) -> dict[str, Any]:
        """The values by key."""
        return self._plain

    def set(self, key: Scalar, value: Tree) -> None:
        """Add an entry whose key is new."""
        self.keys[key.text] = key
        self.values[key.text] = value
        self._plain[key.text] = value.plain


def share(tree: Tree) -> int:
    """Mark everything below as shared; return how many values that is."""
    count = 0
    stack = [tree]
    while stack:
        item = stack.pop()
        count += 1
        item.shared = True
        if isinstance(item, Sequence):
            stack += item.items
        elif isinstance(item, Mapping):
            stack += item.values.values()
    return count


def align(raw: str, text: str, style: str) -> list[int]:
    """Return, for each character of ``text``, where it stands in ``raw``, its form in the file.

    Follows quotes, escapes and folded lines; where it loses its way it points at the last place it knew.
    """
    at = _opening(raw, style)
    places = []
    for character in text:
        at = _skip(raw, at, character, style)
        places.append(min(at, max(len(raw) - 1, 0)))
        at += _width(raw, at, character, style)
    return [*places, min(at, len(raw))]


def _opening(raw: str, style: str) -> int:
    if style in ("|", ">"):
        return raw.find("\n") + 1
    return len(style)


def _skip(raw: str, at: int, character: str, style: str) -> int:
    """Pass over what the file has and the text has not: indentation, and escaped line breaks."""
    while at < len(raw) and raw[at] != character:
        if style == '"' and raw[at] == "\\" and raw[at + 1 : at + 2] == "\n":
            at += 2
        elif raw[at] in " \t\n" and not (character == " " and raw[at] == "\n"):
            at += 1
        else:
            break
    return at


def _width(raw: str, at: int, character: str, style: str) -> int:
    """Return how many characters of the file make this one of the text."""
    if style == '"' and raw[at : at + 1] == "\\":
        width = _ESCAPED.get(raw[at + 1 : at + 2], 2)
        return 12 if width == 6 and ord(character) > 0xFFFF else width
    if style == "'" and raw[at : at + 2] == "''":
        return 2
    return 1
