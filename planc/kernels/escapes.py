"""File names as NVRTC writes them into PTX: C escapes, and bytes beyond ASCII in octal."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|(.))", re.S)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_MARKS = {value: f"\\{key}" for key, value in _LETTERS.items()} | {"\\": "\\\\", '"': '\\"'}


def unescaped(text: str) -> str:
    """Return the name that an escaped string stands for."""

    def plain(match: re.Match[str]) -> str:
        octal, hexadecimal, letter = match.groups()
        if letter is not None:
            return _LETTERS.get(letter, letter)
        return chr(int(octal, 8) & 0xFF if octal is not None else int(hexadecimal, 16))

    # Octal escapes are bytes of UTF-8, while the text around them is already decoded.
    return re.sub(
        r"(?:\\(?:[0-7]{1,3}|x[0-9A-Fa-f]{1,2}|.)|[\x00-\x7f])+",
        lambda run: _ESCAPE.sub(plain, run[0]).encode("latin-1").decode("utf-8", "surrogateescape"),
        text,
        flags=re.S,
    )


def escaped(text: str) -> str:
    """Return ``text`` as NVRTC writes it between quotes, all ASCII."""
    found = []
    for character in text:
        if character in _MARKS:
            found.append(_MARKS[character])
        elif " " <= character <= "~":
            found.append(character)
        else:
            found += [f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape")]
    return "".join(found)
