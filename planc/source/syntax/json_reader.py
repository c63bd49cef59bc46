"""JSON (RFC 8259) to a tree with places.

Stricter than Python's own reader: no NaN, no duplicate key, no lone surrogate, nothing after the value.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import NoReturn

from planc.source.limits import Limits
from planc.source.report import Report
from planc.source.syntax import tree
from planc.source.syntax.composer import (
    GIVE_UP_CURES,
    Unreadable,
    report_duplicate,
    report_hidden,
    report_too_large,
)
from planc.source.syntax.scalars import TooLarge, floating, integer
from planc.source.syntax.text import FORBIDDEN, SourceText
from planc.source.syntax.tree import Scalar, Tree

_SPACE = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)((?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])")
_WORD = re.compile(r"[\w.+-]+")
_KEY_CURE = "write the key in double quotes; JSON has no remarks"
_VALUE_CURE = "write a text in double quotes, a number, `true`, `false`, a list or a mapping"
_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None}


def read_json(source: SourceText, limits: Limits, report: Report) -> Tree | None:
    """Read a JSON text; None where it cannot be read, which is reported.

    Reports PLC104, PLC105, PLC113, PLC114, PLC116 (not JSON), PLC117 (duplicate key), PLC136.
    """
    try:
        reader = _Reader(source, limits, report)
        found = reader.document()
    except Unreadable:
        return None
    return None if reader.broken else found


class _Reader:
    """A recursive reader; the cap on depth bounds the recursion."""

    def __init__(self, source: SourceText, limits: Limits, report: Report) -> None:
        self.source = source
        self.text = source.text
        self.limits = limits
        self.report = report
        self.broken = False
        self.values = 0
        self.depth = 0
        self.starts = [0]
        for line in source.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def document(self) -> Tree:
        """Read the one value."""
        at = self._space(0)
        if at == len(self.text):
            cure = 'begin with `{"planc": 1, "nodes": []}`'
            self.report.add("PLC105", "the file is empty", self.source.span(1, 1), help=cure)
            raise Unreadable
        value, at = self._value(at)
        at = self._space(at)
        if at < len(self.text):
            self._refuse(at, "something follows the value", "take it out, or move it into the value")
        return value

    # -- values ---------------------------------------------------------------------------------

    def _value(self, at: int) -> tuple[Tree, int]:
        self.values += 1
        if self.values > self.limits.values:
            limit = self.limits.values
            line, column = self._place(at)
            message = f"more than {limit} values in one file"
            place = self.source.span(line, column)
            cure = GIVE_UP_CURES["PLC113"]
            self.report.add("PLC113", message, place, help=cure, facts={"limit": limit})
            raise Unreadable
        first = self.text[at : at + 1]
        if first == '"':
            return self._string(at)
        if first == "{":
            return self._container(at, self._mapping)
        if first == "[":
            return self._container(at, self._sequence)
        return self._word(at)

    def _container(self, at: int, read: Callable[[int], tuple[Tree, int]]) -> tuple[Tree, int]:
        self.depth += 1
        if self.depth > self.limits.depth:
            line, column = self._place(at)
            message = f"nested more than {self.limits.depth} levels deep"
            facts = {"limit": self.limits.depth}
            place = self.source.span(line, column)
            self.report.add("PLC114", message, place, help=GIVE_UP_CURES["PLC114"], facts=facts)
            raise Unreadable
        value, end = read(at)
        value.end_line, value.end_column = self._place(end)
        self.depth -= 1
        return value, end

    def _mapping(self, at: int) -> tuple[Tree, int]:
        found = tree.Mapping(self.source, *self._place(at), True)
        at = self._space(at + 1)
        if self.text[at : at + 1] == "}":
            return found, at + 1
        while True:
            if self.text[at : at + 1] != '"':
                self._refuse(at, "a key in double quotes belongs here", _KEY_CURE)
            key, at = self._string(at)
            at = self._expect(at, ":", "a colon belongs here, between key and value")
            value, at = self._value(at)
            found.tail = self._place(at)
            if key.text in found.keys:
                report_duplicate(self.report, found.keys[key.text], key)
            else:
                found.set(key, value)
            at = self._space(at)
            if self.text[at : at + 1] == "}":
                return found, at + 1
            at = self._expect(at, ",", "a comma or `}` belongs here")
            if self.text[at : at + 1] == "}":
                self._refuse(at, "JSON allows no comma before `}`", "take the comma out")

    def _sequence(self, at: int) -> tuple[Tree, int]:
        found = tree.Sequence(self.source, *self._place(at), True)
        at = self._space(at + 1)
        if self.text[at : at + 1] == "]":
            return found, at + 1
        while True:
            value, at = self._value(at)
            found.append(value)
            at = self._space(at)
            if self.text[at : at + 1] == "]":
                return found, at + 1
            at = self._expect(at, ",", "a comma or `]` belongs here")
            if self.text[at : at + 1] == "]":
                self._refuse(at, "JSON allows no comma before `]`", "take the comma out")

    def _string(self, at: int) -> tuple[Scalar, int]:
        match = _STRING.match(self.text, at)
        if match is None:
            message = "this text does not end on its line, or holds an escape that JSON lacks"
            self._refuse(at, message, 'close it with `"`, and write a backslash as two')
        raw = match.group()
        text = json.loads(raw) if "\\" in raw else raw[1:-1]
        scalar = self._scalar(at, match.end(), text, text, '"')
        hidden = FORBIDDEN.search(text) if text is not raw[1:-1] else None
        if hidden is not None:
            self.broken = True
            report_hidden(self.report, hidden.group(), scalar.part(hidden.start(), hidden.end()))
        return scalar, match.end()

    def _word(self, at: int) -> tuple[Tree, int]:
        number = _NUMBER.match(self.text, at)
        if number is not None:
            read = floating if number.group(1) else integer
            scalar = self._scalar(at, number.end(), number.group(), 0, "")
            try:
                scalar.value = read(number.group())
            except TooLarge:
                report_too_large(self.report, number.group(), scalar.span)
            return scalar, number.end()
        word = _WORD.match(self.text, at)
        if word is None or word.group() not in _WORDS:
            what = f"`{word.group()[:40]}` is" if word else "this is"
            self._refuse(at, f"{what} no JSON value", _VALUE_CURE)
        return self._scalar(at, word.end(), word.group(), _WORDS[word.group()], ""), word.end()

    # -- places ---------------------------------------------------------------------------------

    def _scalar(self, start: int, end: int, text: str, value: object, style: str) -> Scalar:
        return Scalar(self.source, (*self._place(start), *self._place(end)), text, value, style)

    def _place(self, at: int) -> tuple[int, int]:
        line = bisect_right(self.starts, at) - 1
        return line + 1, at - self.starts[line] + 1

    def _space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def _expect(self, at: int, character: str, otherwise: str) -> int:
        at = self._space(at)
        if self.text[at : at + 1] != character:
            self._refuse(at, otherwise, f"write `{character}`, or close what is open")
        return self._space(at + 1)

    def _refuse(self, at: int, message: str, cure: str) -> NoReturn:
        span = self.source.span(*self._place(min(at, len(self.text))))
        self.report.add("PLC116", f"the file is not JSON here: {message}", span, help=cure)
        raise Unreadable
