"""What of a source is code."""

from __future__ import annotations

import random

import pytest

from planc.kernels.cxxtext import CxxText, pieces


def kinds(text: str) -> list[tuple[str, str]]:
    return [(p.kind, text[p.start : p.stop]) for p in pieces(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a // b\nc", [("comment", "// b")]),
        ("a // b\\\nc\nd", [("comment", "// b\\\nc")]),
        ("a /* b\n*/ c", [("comment", "/* b\n*/")]),
        ("/* open", [("comment", "/* open")]),
        ('"// no" x', [("string", '"// no"')]),
        (r'"\"" x "', [("string", r'"\""'), ("string", '"')]),
        ("'\"' x", [("character", "'\"'")]),
        ("1'000'000 'a'", [("character", "'a'")]),
        ("0xAB'CD + L'x'", [("character", "L'x'")]),
        ('R"(#include "a" // x)" y', [("raw", 'R"(#include "a" // x)"')]),
        ('u8R"ab()" )ab" y', [("raw", 'u8R"ab()" )ab"')]),
        ('#include "a.h" // c\nx', [("directive", '#include "a.h" '), ("comment", "// c")]),
        ("# define A \\\n  b\nc", [("directive", "# define A \\\n  b")]),
        ("#define A /* x\n y */ b\nc", [("directive", "#define A /* x\n y */ b")]),
        ("a # b", []),
    ],
)
def test_pieces(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


def test_code_keeps_lines_and_length() -> None:
    text = 'extern "C" /* c */ f("x\\n"); // end\n#if 0\ndead();\n#else\nlive();\n#endif\n'
    code = CxxText(text).code
    assert len(code) == len(text) and code.count("\n") == text.count("\n")
    assert code.split() == ["extern", '"C"', 'f("', '");', "live();"]


@pytest.mark.parametrize(
    ("text", "live"),
    [
        ("#if 0\na\n#endif\nb", ["b"]),
        ("#if 0\n#if 1\na\n#else\nb\n#endif\nc\n#else\nd\n#endif\ne", ["d", "e"]),
        ("#if 1\na\n#else\nb\n#endif", ["a", "b"]),
        ("#if 0 // never\na\n#elif X\nb\n#endif", ["b"]),
        ("#ifdef A\na\n#endif\n#if 0\nb\n#endif\nc", ["a", "c"]),
        ("#if 01\na\n#endif", ["a"]),
    ],
)
def test_dead_regions(text: str, live: list[str]) -> None:
    assert CxxText(text).code.split() == live


def test_place() -> None:
    text = CxxText("ab\ncd\n")
    assert [text.place(i) for i in (0, 1, 3, 4, 6)] == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1)]


def test_any_text_keeps_its_shape() -> None:
    random_ = random.Random(7)
    alphabet = ['"', "'", "/", "*", "\\", "\n", "#", "if", " ", "0", "R", "(", ")", "a", "\r\n", "endif"]
    for _ in range(2_000):
        text = "".join(random_.choice(alphabet) for _ in range(random_.randrange(30)))
        code = CxxText(text).code
        assert len(code) == len(text)
        assert [i for i, c in enumerate(code) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
