"""Device printf against what C prints."""

from __future__ import annotations

import struct

import pytest

from planc.simt.printf import count_bytes, format_text

ROWS = [
    ("%d", ["i", -5], "-5"),
    ("%5d|%-5d|%05d", ["i", 42, "i", 42, "i", 42], "   42|42   |00042"),
    ("%+d % d %+d", ["i", 1, "i", 2, "i", -3], "+1  2 -3"),
    ("%.4d|%6.3d|%-6.3d|%.0d|", ["i", 7, "i", -7, "i", 7, "i", 0], "0007|  -007|007   ||"),
    ("%06.3d", ["i", 7], "   007"),
    ("%u %x %X %o", ["I", 2**32 - 1, "I", 0xBEEF, "I", 0xBEEF, "I", 8], "4294967295 beef BEEF 10"),
    ("%#x %#X %#o %#x", ["I", 255, "I", 255, "I", 8, "I", 0], "0xff 0XFF 010 0"),
    ("%#010x|%-#8x|", ["I", 255, "I", 255], "0x000000ff|0xff    |"),
    ("%hhd %hd %hhu", ["i", 300, "i", 70000, "i", -1], "44 4464 255"),
    (
        "%ld %lld %llu %zu",
        ["q", -1, "q", 2**40, "Q", 2**64 - 1, "Q", 9],
        "-1 1099511627776 18446744073709551615 9",
    ),
    ("%d %lld %d", ["i", 1, "q", 2, "i", 3], "1 2 3"),
    (
        "%f %.2f %8.3f|%-8.1f|%08.2f",
        ["d", 1.5, "d", -2.345, "d", 3.14159, "d", 2.25, "d", -1.5],
        "1.500000 -2.35    3.142|2.2     |-0001.50",
    ),
    ("%e %.0e %E", ["d", 12345.678, "d", 5e-5, "d", 1e100], "1.234568e+04 5e-05 1.000000E+100"),
    ("%g %g %g %#g", ["d", 0.0001, "d", 1e-5, "d", 1e6, "d", 1.0], "0.0001 1e-05 1e+06 1.00000"),
    (
        "%f %F %5f|%05f",
        ["d", float("inf"), "d", float("inf"), "d", float("nan"), "d", float("inf")],
        "inf INF   nan|  inf",
    ),
    ("%.2a %.0A", ["d", 1.5, "d", 2.0], "0x1.80p+0 0X1P+1"),
    ("%c%c", ["i", 65, "i", 66], "AB"),
    ("%p", ["Q", 0xDEADBEEF], "0xdeadbeef"),
    ("%*d|%-*d|%.*f", ["i", 5, "i", 1, "i", 4, "i", 2, "i", 1, "d", 2.55], "    1|2   |2.5"),
    ("%*d|", ["i", -4, "i", 1], "1   |"),
    ("100%% %", [], "100% %"),
    ("%y %d", ["i", 3], "%y 3"),
]


@pytest.mark.parametrize(("pattern", "arguments", "expected"), ROWS)
def test_directives(pattern: str, arguments: list[object], expected: str) -> None:
    data = b""
    for code, value in zip(arguments[::2], arguments[1::2], strict=True):
        size = struct.calcsize(str(code))
        data += bytes(-len(data) % size) + struct.pack(f"<{code}", value)
    size, count = count_bytes(pattern.encode())
    assert len(data) <= size
    assert count == len(arguments) // 2
    assert format_text(pattern.encode(), data, lambda _: None) == expected


def test_strings() -> None:
    texts = {8: b"hello", 16: b"", 24: "é".encode()}
    data = struct.pack("<4Q", 8, 16, 24, 99)
    assert format_text(b"%s|%s|%5s|%s", data, texts.get) == "hello||    é|(null)"
    assert format_text(b"%.2s|%-7s|", struct.pack("<2Q", 8, 8), texts.get) == "he|hello  |"


def test_missing_arguments_are_zero() -> None:
    assert format_text(b"%d %f", b"", lambda _: None) == "0 0.000000"
