"""Tokens of PTX (PTX ISA, "Syntax": source format, comments, identifiers, constants)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planc.ptx.text import Source

WORD = "word"
"""An identifier with its dotted parts: ``ld.global.f32``, ``%tid.x``, ``$L__BB0_1``, ``_``."""
NUMBER = "number"
"""An integer or floating literal without its sign."""
DIRECTIVE = "directive"
"""A word that starts with a dot: ``.reg``, ``.b32``, ``.entry``."""
STRING = "string"
"""A quoted string with its quotes."""
SECTION = "section"
"""A whole ``.section name { … }`` (DWARF data that says nothing of what a kernel does)."""
END = "end"
"""The end of the text."""

_PATTERN = re.compile(
    r"""
    (?: \s++ | //[^\n]*+ | /\*(?s:.*?)\*/ )*+
    (?:
      (?P<word> (?: %[\w$]++ | [A-Za-z_$][\w$]*+ ) (?: \.\w++ (?: ::\w++ )*+ )*+ )
    | (?P<punctuation> [,;\[\]{}()@:+] | !(?!=) | \|(?!\|) )
    | (?P<number>
        0[fF][0-9a-fA-F]{8}(?!\w) | 0[dD][0-9a-fA-F]{16}(?!\w)
      | 0[xX][0-9a-fA-F]++U? | 0[bB][01]++U?
      | (?:[0-9]++\.[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)? | [0-9]++[eE][+-]?[0-9]++ | [0-9]++U? )
    | (?P<section> \.section\b [^{}"\n]*+ \s*+ \{ [^{}]*+ \} )
    | (?P<directive> \.[A-Za-z_][\w$]*+ (?: ::\w++ )*+ )
    | (?P<string> "[^"\n]*+" )
    | (?P<operator> <<|>>|<=|>=|==|!=|&&|\|\||/(?!\*)|[-~*%<>&^?=] )
    | (?P<bad> (?s:.) )
    | (?P<end> \Z )
    )
    """,
    re.VERBOSE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Parallel columns, one row a token; the last two rows are :data:`END`, for a look at the next one.

    ``kinds`` holds a class of token or, for punctuation and operators, the characters themselves.
    ``starts`` are offsets in characters.
    """

    kinds: list[str]
    texts: list[str]
    starts: list[int]


def tokenize(source: Source) -> Tokens:
    """Cut a text into tokens.

    Raises :class:`Mistake` (PLC490) at the first character that cannot start a token.
    """
    kinds: list[str] = []
    texts: list[str] = []
    starts: list[int] = []
    for match in _PATTERN.finditer(source.text):
        group = match.lastgroup or END
        text = match[group]
        kinds.append(text if group in ("punctuation", "operator") else group)
        texts.append(text)
        starts.append(match.start(group))
        if group == "bad":
            raise _bad_character(source, starts[-1])
        if group == END:
            break
    return Tokens([*kinds, END], [*texts, ""], [*starts, starts[-1]])


def _bad_character(source: Source, start: int) -> Exception:
    text = source.text[start : start + 2]
    if text == "/*":
        return source.mistake("PLC490", "the comment is not closed", start, 2, "write `*/`")
    if text[0] == '"':
        return source.mistake("PLC490", "the string is not closed on its line", start, 1, 'write `"`')
    return source.mistake(
        "PLC490", f"the character {text[0]!a} starts no PTX token", start, help="take it out"
    )
