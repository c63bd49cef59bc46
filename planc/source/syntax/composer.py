"""Building a tree from YAML events, on a stack of its own: depth costs no recursion."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from planc.diagnostics import Related, Span
from planc.source.limits import Limits
from planc.source.report import Report
from planc.source.syntax import tree
from planc.source.syntax.scalars import TooLarge, resolve
from planc.source.syntax.text import FORBIDDEN, SourceText
from planc.source.syntax.tree import Scalar, Tree

_SPLIT_CURE = 'put the whole text in quotes, as in `{run: "step(src=u, dst=v)"}`, or on a line of its own'
_KEY_CURES: Mapping[str, str] = {
    "PLC111": "write the keys out, or share declarations with `include`",
    "PLC118": "put it in quotes if it is meant as a name",
}
_TAG = re.compile(r"!\S*")
_ANCHOR = re.compile(r"&\S+[ ]+")


class Unreadable(Exception):
    """The text stops making sense here; what is wrong is reported already."""


GIVE_UP_CURES: Mapping[str, str] = {
    "PLC113": "write repeated nodes as a loop, and large data as a file that `data` names",
    "PLC114": "take lists and mappings out of each other; a text such as `shape: n, m` needs none",
}


class _Frame:
    """An open container: the key that waits for its value, what is wrong with it, and the last end seen.

    The value of a key with a ``problem`` (a code and a message) is dropped.
    """

    __slots__ = ("container", "end", "key", "problem")

    def __init__(self, container: tree.Mapping | tree.Sequence) -> None:
        self.container = container
        self.key: Scalar | None = None
        self.problem: tuple[str, str] | None = None
        self.end = (container.line, container.column)


class Composer:
    """Takes events one by one; see :meth:`result`.

    Reports PLC104, PLC105, PLC109 to PLC115, PLC117, PLC118 and PLC136. What makes only one value
    doubtful is reported and read past, so that one run shows every such place; ``broken`` then keeps
    the tree back.
    """

    def __init__(self, source: SourceText, limits: Limits, report: Report) -> None:
        """Begin with nothing."""
        self.source = source
        self.limits = limits
        self.report = report
        self.broken = False
        self._root: Tree | None = None
        self._stack: list[_Frame] = []
        self._anchors: dict[str, Tree] = {}
        self._open: set[int] = set()
        self._values = 0
        self._aliased = 0
        self._documents = 0
        self._last: Scalar | None = None

    def result(self) -> Tree | None:
        """Return the tree after the last event, or None if something is wrong with it."""
        if self._root is None or (isinstance(self._root, Scalar) and self._root.value is None):
            place = self.source.span(1, 1)
            cure = "begin with `planc: 1` and `nodes:`; `planc new` writes a graph to start from"
            self.report.add("PLC105", "the file is empty", place, help=cure)
            return None
        return None if self.broken else self._root

    # -- events ---------------------------------------------------------------------------------

    def document(self, event: Any) -> None:
        """Begin the document; a second one is PLC109."""
        self._documents += 1
        if self._documents > 1:
            cure = "keep one graph in a file, and share declarations with `include`"
            self.report.add("PLC109", "a second document begins here", self._span(event), help=cure)
            raise Unreadable

    def scalar(self, event: Any) -> None:
        """Take a scalar."""
        end = event.end_mark
        style = event.style or ""
        place = (*self._start(event), end.line + 1, end.column + 1)
        if style in ("|", ">"):
            place = self._trimmed(place)
        scalar = self._last = Scalar(self.source, place, event.value, event.value, style)
        if not style:
            self._resolve(scalar)
            if self._in_flow() and scalar.text.count("(") > scalar.text.count(")"):
                self.split()
        elif style == '"':
            self._look_for_hidden(scalar)
        self._admit(event, scalar)
        self._place(scalar, place[2:])

    def mapping(self, event: Any) -> None:
        """Begin a mapping."""
        line, column = self._start(event)
        self._begin(event, tree.Mapping(self.source, line, column, bool(event.flow_style)))

    def sequence(self, event: Any) -> None:
        """Begin a list."""
        line, column = self._start(event)
        self._begin(event, tree.Sequence(self.source, line, column, bool(event.flow_style)))

    def end(self, event: Any) -> None:
        """End the innermost container: at its bracket, or, without one, where its last value ends.

        The parser's own mark of a block's end lies at the next token, lines further down.
        """
        frame = self._stack.pop()
        container = frame.container
        if isinstance(container, tree.Mapping):
            container.tail = frame.end
        if container.flow:
            frame.end = (event.end_mark.line + 1, event.end_mark.column + 1)
        container.end_line, container.end_column = frame.end
        self._open.discard(id(container))
        self._place(container, frame.end)

    def alias(self, event: Any) -> None:
        """Repeat an anchored value."""
        target = self._anchors.get(event.anchor)
        if target is None or id(target) in self._open:
            why = "has no anchor before it" if target is None else "stands inside what it repeats"
            cure = "write the value out; put a text that begins with `*` in quotes"
            self.report.add("PLC112", f"the alias `*{event.anchor}` {why}", self._span(event), help=cure)
            raise Unreadable
        self._aliased += tree.share(target)
        if self._aliased > self.limits.aliased:
            limit = self.limits.aliased
            self._give_up("PLC113", f"aliases repeat more than {limit} values", event, limit)
        self._place(target, (event.end_mark.line + 1, event.end_mark.column + 1))

    # -- placing --------------------------------------------------------------------------------

    def _begin(self, event: Any, container: tree.Mapping | tree.Sequence) -> None:
        if len(self._stack) >= self.limits.depth:
            limit = self.limits.depth
            self._give_up("PLC114", f"nested more than {limit} levels deep", event, limit)
        self._admit(event, container)
        self._open.add(id(container))
        self._stack.append(_Frame(container))

    def _admit(self, event: Any, value: Tree) -> None:
        """Count a value, refuse its tag, keep its anchor."""
        self._values += 1
        if self._values > self.limits.values:
            limit = self.limits.values
            self._give_up("PLC113", f"more than {limit} values in one file", event, limit)
        if event.tag is not None:
            self.broken = True
            tag = _TAG.search(self.source.lines[event.start_mark.line], event.start_mark.column)
            message = f"the tag `{tag.group() if tag else event.tag}` has no meaning here"
            cure = "leave it out; put a text that begins with `!` in quotes"
            self.report.add("PLC110", message, self._span(event), help=cure)
        if event.anchor is not None:
            self._anchors[event.anchor] = value

    def _place(self, value: Tree, end: tuple[int, int]) -> None:
        if not self._stack:
            self._root = value
            return
        frame = self._stack[-1]
        frame.end = end
        container = frame.container
        if isinstance(container, tree.Sequence):
            container.append(value)
        elif frame.key is None:
            self._key(frame, container, value)
        else:
            self._entry(frame, container, frame.key, value)
            frame.key = frame.problem = None

    def _key(self, frame: _Frame, container: tree.Mapping, value: Tree) -> None:
        if not isinstance(value, Scalar):
            frame.key = Scalar(self.source, (value.line, value.column, *frame.end), "", "", "'")
            frame.problem = "PLC118", "a key is a name, not a list or a mapping"
            return
        frame.key = value
        if value.text == "<<" and not value.style:
            frame.problem = "PLC111", "merge keys are not supported"
        elif not isinstance(value.value, str):
            problem = f"the key `{value.text}` is not a name" if value.text else "a key is empty"
            frame.problem = "PLC118", problem
        elif value.text in container.keys:
            frame.problem = "PLC117", ""

    def _entry(self, frame: _Frame, container: tree.Mapping, key: Scalar, value: Tree) -> None:
        """Add a key with its value, or report what is wrong with the key."""
        if container.keys and _stands_alone(key, value):
            self._split_before(key)
        elif frame.problem is None:
            container.set(key, value)
        elif frame.problem[0] == "PLC117":
            report_duplicate(self.report, container.keys[key.text], key)
        else:
            self.broken = True
            code, message = frame.problem
            self.report.add(code, message, key.span, help=_KEY_CURES[code])

    # -- reports --------------------------------------------------------------------------------

    def ends_at(self, mark: Any) -> bool:
        """Whether a plain text inside braces or brackets ended right at ``mark``."""
        last = self._last
        place = (mark.line + 1, mark.column + 1)
        return (
            last is not None
            and not last.style
            and self._in_flow()
            and (last.end_line, last.end_column) == place
        )

    def split(self) -> None:
        """Report that the last scalar is a piece of a longer text (PLC115)."""
        scalar = self._last
        if scalar is None:
            return
        self.broken = True
        self.report.add(
            "PLC115",
            f"YAML ends `{scalar.text}` here, because it stands inside braces or brackets",
            scalar.span,
            help=_SPLIT_CURE,
            facts={"text": scalar.text},
        )

    def _split_before(self, key: Scalar) -> None:
        """Report that a key without a value, after a comma in braces, is a piece of a text (PLC115)."""
        self.broken = True
        if key.text.count(")") > key.text.count("("):
            return  # the piece before it, with the opening bracket, is reported
        message = f"YAML begins a new key `{key.text}` here, because a comma stands before it in braces"
        self.report.add("PLC115", message, key.span, help=_SPLIT_CURE, facts={"text": key.text})

    def _in_flow(self) -> bool:
        return bool(self._stack) and self._stack[-1].container.flow

    def _trimmed(self, place: tuple[int, int, int, int]) -> tuple[int, int, int, int]:
        """Let a block scalar end with its last line that is not blank."""
        line, column, end = place[0], place[1], place[2] - (place[3] == 1)
        while end > line and not self.source.lines[end - 1].strip():
            end -= 1
        return line, column, end, len(self.source.lines[end - 1]) + 1

    def _start(self, event: Any) -> tuple[int, int]:
        """Return where a value begins; the mark of one that has an anchor is the anchor's."""
        mark = event.start_mark
        column = mark.column
        if event.anchor is not None and getattr(event, "value", "[") != "":
            match = _ANCHOR.match(self.source.lines[mark.line], column)
            column = match.end() if match else column
        return mark.line + 1, column + 1

    def _resolve(self, scalar: Scalar) -> None:
        try:
            scalar.value = resolve(scalar.text)
        except TooLarge:
            scalar.value = 0
            report_too_large(self.report, scalar.text, scalar.span)

    def _look_for_hidden(self, scalar: Scalar) -> None:
        found = FORBIDDEN.search(scalar.text)
        if found is not None:
            self.broken = True
            report_hidden(self.report, found.group(), scalar.part(found.start(), found.end()))

    def _give_up(self, code: str, message: str, event: Any, limit: int) -> None:
        cure = GIVE_UP_CURES[code]
        self.report.add(code, message, self._span(event), help=cure, facts={"limit": limit})
        raise Unreadable

    def _span(self, event: Any) -> Span:
        start, end = event.start_mark, event.end_mark
        if (start.line, start.column) == (end.line, end.column):
            return self.source.span(start.line + 1, start.column + 1)
        return self.source.span(start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _stands_alone(key: Scalar, value: Tree) -> bool:
    """Whether a key in braces has neither a value nor a colon."""
    return (
        isinstance(value, Scalar)
        and not value.text
        and not value.style
        and (value.line, value.column) == (key.end_line, key.end_column)
    )


def report_duplicate(report: Report, first: Scalar, second: Scalar) -> None:
    """Report a key that stands twice in one mapping (PLC117)."""
    report.add(
        "PLC117",
        f"the key `{second.text}` stands twice",
        second.span,
        help="keep one of them",
        related=[Related("it stands here first", first.span)],
        facts={"key": second.text},
    )


def report_too_large(report: Report, text: str, span: Span) -> None:
    """Report a number that 64 bits or a double cannot hold (PLC136)."""
    cure = "integers have 64 bits, other numbers are doubles"
    report.add("PLC136", f"the number `{text[:40]}` is out of range", span, help=cure)


def report_hidden(report: Report, character: str, span: Span) -> None:
    """Report a character that nobody sees (PLC104)."""
    code = ord(character[0])
    message = f"the character U+{code:04X} has no place in a graph file"
    report.add("PLC104", message, span, help="remove it", facts={"character": code})
