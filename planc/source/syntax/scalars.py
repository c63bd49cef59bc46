"""Plain scalars by the core schema of YAML 1.2 (section 10.3.2 of its specification).

PyYAML's own rules are those of YAML 1.1, where ``no`` is false, ``012`` is ten, ``1:30`` is ninety and
``1e-3`` is a text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from planc.source.limits import GREATEST, LEAST

_WORDS: Mapping[str, object] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((s + w for s in ("", "+") for w in (".inf", ".Inf", ".INF")), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_BASES = {"0o": 8, "0x": 16}
_DIGITS = 400


class TooLarge(ValueError):
    """A number that 64 bits, or a double, cannot hold."""


def resolve(text: str) -> object:
    """Return the value of a plain scalar: None, bool, int, float, or the text itself.

    Raises TooLarge for a number out of range.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "-+.0123456789":
        return text
    if _INTEGER.fullmatch(text):
        return integer(text)
    if _FLOAT.fullmatch(text):
        return floating(text)
    return text


def integer(text: str) -> int:
    """Return the integer of a checked text. Raises TooLarge where 64 bits cannot hold it."""
    if len(text) > _DIGITS:
        raise TooLarge(text[:20])
    base = _BASES.get(text[:2], 10)
    value = int(text[2:] if base != 10 else text, base)
    if not LEAST <= value <= GREATEST:
        raise TooLarge(text)
    return value


def floating(text: str) -> float:
    """Return the double nearest to a checked text. Raises TooLarge where that is infinite."""
    value = float(text)
    if math.isinf(value):
        raise TooLarge(text)
    return value
