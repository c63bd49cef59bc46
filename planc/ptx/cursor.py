"""A place in the tokens, and what every part of the parser asks of it."""

from __future__ import annotations

from types import MappingProxyType

from planc.ptx.lexer import DIRECTIVE, END, STRING, Tokens
from planc.ptx.text import Mistake, Source

_ALLOWANCES = MappingProxyType({"registers": 1 << 20, "initialised bytes": 64 << 20})


class Cursor:
    """Reads tokens from first to last. ``kinds``, ``texts`` and ``at`` are open for the hot loops.

    ``extras`` gathers ``Module.extras`` on the way.
    """

    __slots__ = ("_left", "at", "extras", "kinds", "source", "starts", "texts")

    def __init__(self, source: Source, tokens: Tokens) -> None:
        """Start at the first token."""
        self.source = source
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.at = 0
        self.extras: set[str] = set()
        self._left = dict(_ALLOWANCES)

    @property
    def kind(self) -> str:
        """The kind of the present token."""
        return self.kinds[self.at]

    @property
    def text(self) -> str:
        """The text of the present token."""
        return self.texts[self.at]

    @property
    def line(self) -> int:
        """The line of the present token."""
        return self.source.line(self.starts[self.at])

    def accept(self, text: str) -> bool:
        """Step over the present token if it reads ``text``."""
        if self.texts[self.at] != text or self.kinds[self.at] == END:
            return False
        self.at += 1
        return True

    def expect(self, text: str, where: str) -> None:
        """Step over ``text`` or raise PLC490; ``where`` completes "… in"."""
        if not self.accept(text):
            raise self.unexpected(f"`{text}`", where)

    def take(self, kind: str, what: str, where: str) -> str:
        """Step over a token of a kind and return its text, or raise PLC490 for want of ``what``."""
        if self.kinds[self.at] != kind:
            raise self.unexpected(what, where)
        self.at += 1
        return self.texts[self.at - 1]

    def pragma(self) -> None:
        """Step over the rest of ``.pragma "name", "name value";``."""
        while True:
            words = self.take(STRING, "a string", "`.pragma`")[1:-1].split()
            self.extras.add(f"pragma {words[0] if words else ''}")
            if not self.accept(","):
                break
        self.expect(";", "`.pragma`")

    def attribute(self) -> None:
        """Step over the rest of ``.attribute(.managed, …)``, whose parentheses may nest."""
        self.expect("(", "an attribute")
        depth = 1
        while depth:
            if self.kind in (";", "{", "}", END):
                raise self.unexpected("`)`", "an attribute")
            depth += (self.kind == "(") - (self.kind == ")")
            if self.kind == DIRECTIVE:
                self.extras.add(f"attribute {self.text[1:]}")
            self.at += 1

    def unexpected(self, wanted: str, where: str) -> Mistake:
        """Return the mistake that another token stands where ``wanted`` belongs."""
        found = "the end of the file" if self.kind == END else f"`{_shorten(self.text)}`"
        return self.mistake(
            "PLC490", f"expected {wanted} in {where}, found {found}", help=f"write {wanted} here"
        )

    def spend(self, what: str, count: int, at: int) -> None:
        """Take ``count`` from what one text may declare, or raise PLC493 at the token of index ``at``.

        A few characters can ask for any amount of memory (``%r<99999999>``, ``x[99999999] = {1}``).
        """
        self._left[what] -= count
        if self._left[what] < 0:
            message = f"the PTX declares more than {_ALLOWANCES[what]} {what}"
            raise self.mistake(
                "PLC493", message, help="declare fewer: a kernel needs no more than it uses", at=at
            )

    def mistake(self, code: str, message: str, help: str = "", at: int | None = None) -> Mistake:
        """Return a mistake at the present token, or at the token of index ``at``."""
        index = self.at if at is None else at
        length = len(self.texts[index].split("\n", 1)[0])
        token = _shorten(self.texts[index])
        return self.source.mistake(code, message, self.starts[index], length, help, token=token)


def _shorten(text: str) -> str:
    line = text.split("\n", 1)[0]
    return line if len(line) <= 60 else line[:57] + "..."
