"""The types of CUDA C++ that have a planc element type."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

# Words in any order make one type ("unsigned long long int"); the key is sorted.
_WORDS: tuple[tuple[str, str], ...] = (
    ("bool", "bool"),
    ("char", "i8"),
    ("signed char", "i8"),
    ("unsigned char", "u8"),
    ("short", "i16"),
    ("unsigned short", "u16"),
    ("int", "i32"),
    ("signed", "i32"),
    ("unsigned", "u32"),
    ("long", "i64"),
    ("unsigned long", "u64"),
    ("long long", "i64"),
    ("unsigned long long", "u64"),
    ("float", "f32"),
    ("double", "f64"),
    ("void", ""),
    ("wchar_t", ""),
    ("char8_t", ""),
    ("char16_t", ""),
    ("char32_t", ""),
    ("auto", ""),
)
BUILTIN_WORDS = frozenset(word for names, _ in _WORDS for word in names.split())


def _word_table() -> Mapping[tuple[str, ...], str]:
    table = {}
    for names, dtype in _WORDS:
        words = names.split()
        table[tuple(sorted(words))] = dtype
        if {"short", "long", "signed", "unsigned"} & set(words) and "char" not in words:
            table[tuple(sorted([*words, "int"]))] = dtype
            if "unsigned" not in words and "signed" not in words:
                table[tuple(sorted([*words, "signed"]))] = dtype
                table[tuple(sorted([*words, "signed", "int"]))] = dtype
    return MappingProxyType(table)


_BY_WORDS = _word_table()
_BY_NAME: Mapping[str, str] = MappingProxyType(
    {f"{sign}int{bits}_t": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    | {
        "size_t": "u64",
        "ptrdiff_t": "i64",
        "intptr_t": "i64",
        "uintptr_t": "u64",
        "__half": "f16",
        "half": "f16",
        "__nv_bfloat16": "bf16",
        "nv_bfloat16": "bf16",
    }
)
_PREFIXES = ("cuda::std::", "std::", "::")


def dtype_of_words(words: list[str]) -> str | None:
    """Return the element type of builtin words in any order; None where there is none."""
    return _BY_WORDS.get(tuple(sorted(words))) or None


def dtype_of_name(name: str) -> str | None:
    """Return the element type of a named type (``uint8_t``, ``__half``); None where not known."""
    for prefix in _PREFIXES:
        if name.startswith(prefix):
            return dtype_of_name(name[len(prefix) :])
    return _BY_NAME.get(name)
