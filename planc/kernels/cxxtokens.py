"""Tokens of CUDA C++ code whose comments and directives are already blank."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
      [A-Za-z_$]\w*
    | \.?\d(?:[\w.']|(?<=[eEpP])[+-])*
    | "[^"\n]*" | '[^'\n]*'
    | :: | -> | \.\.\. | &&
    | \S
    """,
    re.X,
)
_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_NESTING = {"{": "{", "(": "([{", "[": "([{", "<": "([<"}


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number, literal or mark at ``offset`` of the text."""

    text: str
    offset: int

    @property
    def is_name(self) -> bool:
        """Whether it is an identifier or keyword."""
        return self.text[0].isalpha() or self.text[0] in "_$"


def tokens_of(code: str) -> list[Token]:
    """Split ``code`` into tokens."""
    return [Token(match[0], match.start()) for match in _TOKEN.finditer(code)]


def closing(tokens: Sequence[Token], start: int) -> int:
    """Return the index of the token that closes the bracket at ``start`` (the end if none does).

    Between braces only braces count. A ``<`` is a bracket only directly inside another, since it
    may also be a comparison, and ``;`` or ``{`` end it.
    """
    open_now = [tokens[start].text]
    for index in range(start + 1, len(tokens)):
        text = tokens[index].text
        if text == _CLOSERS[open_now[-1]]:
            open_now.pop()
            if not open_now:
                return index
        elif open_now[-1] == "<" and text in (";", "{"):
            return len(tokens)
        elif text in _NESTING[open_now[-1]]:
            open_now.append(text)
    return len(tokens)


def split_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Split at commas that no bracket encloses; nothing gives no part."""
    parts: list[list[Token]] = [[]]
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        if text == ",":
            parts.append([])
            index += 1
            continue
        stop = closing(tokens, index) + 1 if text in _CLOSERS else index + 1
        parts[-1] += tokens[index:stop]
        index = stop
    return parts if tokens else []


def joined(tokens: Sequence[Token]) -> str:
    """Return the tokens as a person would write a type: ``const float*``, ``ns::Vec<float, 3>``."""
    text = ""
    for token in tokens:
        wordy = token.text[0].isalnum() or token.text[0] in "_$"
        if wordy and text and (text[-1].isalnum() or text[-1] in "_$*&>]"):
            text += " "
        text += token.text + (" " if token.text == "," else "")
    return text
