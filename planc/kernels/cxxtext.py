"""CUDA C++ text: what of it is code, and where its lines are. No preprocessing, no macros."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_PIECE = re.compile(
    r"""
      (?P<comment>   //(?:\\\r?\n|[^\n])* | /\*.*?(?:\*/|\Z) )
    | (?P<raw>       (?:u8|[uUL])?R"(?P<mark>[^()\\\s"]{0,16})\(.*?\)(?P=mark)" )
    | (?P<string>    "(?:\\.|[^"\\\n])*"? )
    | (?P<character> (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:\\.|[^'\\\n])+' )
    | (?P<directive> ^[ \t]*\#(?: /\*.*?\*/ | \\\r?\n | "(?:\\.|[^"\\\n])*" | (?!//)[^\n] )* )
    """,
    re.X | re.S | re.M,
)
_KEEP = re.compile(r"[^\n\r]")
_CONDITION = re.compile(r"[ \t]*#[ \t]*(ifdef|ifndef|if|elif|else|endif)\b[ \t]*([^\n]*)")
_NEVER = re.compile(r"(?:0|false)[ \t]*(?://.*|/\*.*)?\Z")


@dataclass(frozen=True, slots=True)
class Piece:
    """A comment, string, character or directive: ``text[start:stop]``."""

    kind: str
    start: int
    stop: int


def pieces(text: str) -> Iterator[Piece]:
    """Yield every part of ``text`` that is not plain code, in order."""
    for match in _PIECE.finditer(text):
        kind = match.lastgroup or ""
        yield Piece("raw" if kind == "mark" else kind, match.start(), match.end())


def _blanked(text: str) -> str:
    return _KEEP.sub(" ", text)


class CxxText:
    """A source text with its lines."""

    def __init__(self, text: str) -> None:
        """Keep ``text``; everything else is found when asked for."""
        self.text = text

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column, both from 1, of a character."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    @cached_property
    def code(self) -> str:
        """The text with spaces for comments, literals' insides, directives and ``#if 0`` regions.

        It has the same length and the same lines. Of a string its quotes stay, and ``extern "C"`` stays
        as it is.
        """
        found = []
        position = 0
        dead = _DeadRegions()
        for piece in pieces(self.text):
            found.append(dead.kept(self.text[position : piece.start]))
            found.append(dead.kept(self._shown(piece)))
            if piece.kind == "directive":
                dead.see(self.text[piece.start : piece.stop])
            position = piece.stop
        found.append(dead.kept(self.text[position:]))
        return "".join(found)

    def _shown(self, piece: Piece) -> str:
        text = self.text[piece.start : piece.stop]
        if text == '"C"':
            return text
        if piece.kind == "string" and len(text) > 1 and text.endswith('"'):
            return '"' + _blanked(text[1:-1]) + '"'
        return _blanked(text)


class _DeadRegions:
    """Follows ``#if 0`` … ``#endif``."""

    def __init__(self) -> None:
        self._depth = 0
        self._dead_from: int | None = None

    def kept(self, text: str) -> str:
        return text if self._dead_from is None else _blanked(text)

    def see(self, directive: str) -> None:
        match = _CONDITION.match(directive)
        if match is None:
            return
        word, rest = match[1], match[2].strip()
        if word.startswith("if"):
            self._depth += 1
            if word == "if" and self._dead_from is None and _NEVER.match(rest):
                self._dead_from = self._depth
        elif self._dead_from == self._depth:
            self._dead_from = None
        if word == "endif":
            self._depth -= 1
