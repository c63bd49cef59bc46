"""Device printf: the format of C, as CUDA has it (CUDA C++ Programming Guide, "Formatted Output").

Threads print in ascending order of their index in the fragment that runs the call; each call is one
piece of text.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

_DIRECTIVE = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d+|\*)?(?:\.(?P<precision>\d+|\*)?)?(?P<dot>)"
    r"(?P<length>hh|h|ll|l|j|z|t)?(?P<type>[diouxXfFeEgGaAcsp%])"
)
_INTEGER_BYTES = {"hh": 1, "h": 2, "": 4, "l": 8, "ll": 8, "j": 8, "z": 8, "t": 8}

ReadText = Callable[[int], bytes | None]
"""Returns the string at a device address, None where there is none."""


class Arguments:
    """Reads the argument buffer of ``vprintf``: each value at the next multiple of its size."""

    def __init__(self, data: bytes) -> None:
        """Start at the beginning of ``data``."""
        self._data = data
        self._at = 0

    def take(self, code: str) -> int | float:
        """Return the next value of :mod:`struct` format ``code``; zero past the end."""
        size = struct.calcsize(code)
        self._at = -(-self._at // size) * size
        piece = self._data[self._at : self._at + size].ljust(size, b"\0")
        self._at += size
        value: int | float = struct.unpack("<" + code, piece)[0]
        return value


def count_bytes(pattern: bytes) -> tuple[int, int]:
    """Return how many bytes of arguments a format takes at most, and how many arguments."""
    found = [each for each in _DIRECTIVE.finditer(pattern.decode("utf-8", "replace")) if each["type"] != "%"]
    arguments = sum(1 + each[0].count("*") for each in found)
    return 8 * arguments, arguments


def format_text(pattern: bytes, data: bytes, read_text: ReadText) -> str:
    """Return what ``vprintf`` prints for one thread.

    ``data`` is the thread's argument buffer, padded with zeros. A directive that C does not define stays as
    it is.
    """
    arguments = Arguments(data)

    def expand(match: re.Match[str]) -> str:
        return _expand(match, arguments, read_text)

    return _DIRECTIVE.sub(expand, pattern.decode("utf-8", "replace"))


def _expand(match: re.Match[str], arguments: Arguments, read_text: ReadText) -> str:
    kind = match["type"]
    if kind == "%":
        return "%"
    flags, width = match["flags"], _size(match["width"], arguments)
    has_point = "." in match[0]
    precision = _size(match["precision"], arguments) if has_point else None
    if width is not None and width < 0:
        flags, width = flags + "-", -width
    if has_point and precision is None:
        precision = 0
    if precision is not None and precision < 0:
        precision = None
    body = _convert(kind, match["length"] or "", flags, precision, arguments, read_text)
    if kind in "cs" or (kind in "diouxX" and precision is not None):
        flags = flags.replace("0", "")
    return _pad(body, flags, width or 0)


def _size(text: str | None, arguments: Arguments) -> int | None:
    if text == "*":
        return int(arguments.take("i"))
    return int(text) if text else None


def _convert(
    kind: str, length: str, flags: str, precision: int | None, arguments: Arguments, read_text: ReadText
) -> str:
    if kind in "diouxX":
        return _integer(kind, length, flags, precision, arguments)
    if kind in "fFeEgGaA":
        return _floating(kind, flags, precision, float(arguments.take("d")))
    if kind == "c":
        return chr(int(arguments.take("i")) & 0xFF)
    address = int(arguments.take("Q"))
    if kind == "p":
        return f"0x{address:x}" if address else "(nil)"
    text = read_text(address)
    shown = "(null)" if text is None else text.decode("utf-8", "replace")
    return shown if precision is None else shown[:precision]


def _integer(kind: str, length: str, flags: str, precision: int | None, arguments: Arguments) -> str:
    size = _INTEGER_BYTES[length]
    raw = int(arguments.take("Q" if size == 8 else "I")) & ((1 << 8 * size) - 1)
    if kind in "di":
        value = raw - (1 << 8 * size) if raw >> (8 * size - 1) else raw
        sign = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
        return sign + _digits(str(abs(value)), value, precision)
    text = format(raw, {"u": "d", "o": "o", "x": "x", "X": "X"}[kind])
    digits = _digits(text, raw, precision)
    if "#" in flags and kind == "o" and not digits.startswith("0"):
        digits = "0" + digits
    prefix = "0" + kind if "#" in flags and kind in "xX" and raw else ""
    return prefix + digits


def _digits(text: str, value: int, precision: int | None) -> str:
    if precision is None:
        return text
    return "" if precision == 0 and value == 0 else text.zfill(precision)


def _floating(kind: str, flags: str, precision: int | None, value: float) -> str:
    if kind in "aA":
        text = value.hex() if precision is None else _hexadecimal(value, precision)
        return text.upper() if kind == "A" else text
    signs = "".join(flag for flag in "+ #" if flag in flags).replace("+ ", "+")
    text = f"%{signs}.{6 if precision is None else precision}{kind}" % value
    return text


def _hexadecimal(value: float, precision: int) -> str:
    mantissa, _, exponent = value.hex().partition("p")
    head, _, digits = mantissa.partition(".")
    scale = 16**precision
    whole = round(int(head[-1] + digits.ljust(13, "0"), 16) * scale / 16**13)
    sign = "-" if head.startswith("-") else ""
    tail = f".{whole % scale:0{precision}x}" if precision else ""
    return f"{sign}0x{whole // scale:x}{tail}p{exponent}"


def _pad(body: str, flags: str, width: int) -> str:
    if len(body) >= width:
        return body
    if "-" in flags:
        return body.ljust(width)
    if "0" not in flags or not any(each.isdigit() for each in body):
        return body.rjust(width)
    head = 1 if body[:1] in "+- " else 0
    if body[head : head + 2].lower() == "0x":
        head += 2
    return body[:head] + body[head:].rjust(width - head, "0")
