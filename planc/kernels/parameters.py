"""One parameter of a function, as C++ writes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from planc.kernels.ctypes_table import BUILTIN_WORDS, dtype_of_name, dtype_of_words
from planc.kernels.cxxtokens import Token, closing, joined, split_commas, tokens_of

_DROPPED = frozenset(
    {"__restrict__", "__restrict", "restrict", "__grid_constant__", "volatile", "register"}
    | {"struct", "class", "enum", "union", "typename", "mutable"}
)


@dataclass(frozen=True, slots=True)
class WrittenParameter:
    """A parameter: ``name`` may be empty; ``base`` is the type without ``const``, ``*`` and the name.

    ``stars`` counts pointers (an array is one); ``const`` is that of what the outermost pointer
    points to. ``reference`` is ``&``. ``pack`` is a parameter pack, any number of parameters.
    """

    name: str
    text: str
    base: str
    stars: int
    const: bool
    line: int
    column: int
    reference: bool = False
    pack: bool = False

    @property
    def pointer(self) -> bool:
        """Whether the value passed is an address."""
        return self.stars > 0 or self.reference

    def dtype(self) -> str | None:
        """Return the element type, of the pointee where it is a pointer; None where not known."""
        if self.stars > 1:
            return None
        words = self.base.split()
        if words and all(word in BUILTIN_WORDS for word in words):
            return dtype_of_words(words)
        return dtype_of_name(self.base)

    def resolved(self, types: Mapping[str, str]) -> WrittenParameter:
        """Return the parameter with a template parameter in its type replaced."""
        if self.base not in types:
            return self
        inner = parse_type(types[self.base])
        text = self.text.replace(self.base, types[self.base], 1)
        return WrittenParameter(
            self.name,
            text,
            inner.base,
            self.stars + inner.stars,
            self.const or (inner.const and self.stars <= 1),
            self.line,
            self.column,
            self.reference or inner.reference,
            self.pack,
        )


def parse_type(text: str) -> WrittenParameter:
    """Read a type that stands alone (``const float*``)."""
    return read_parameter(tokens_of(text), lambda offset: (1, offset + 1), 0, named=False)


def read_parameter(
    tokens: Sequence[Token], place: Callable[[int], tuple[int, int]], where: int, named: bool = True
) -> WrittenParameter:
    """Read one parameter; ``place`` turns offsets into line and column, ``where`` is its start."""
    plain = _without_attributes(tokens)
    texts = [t.text for t in plain]
    if "=" in texts:
        plain = plain[: texts.index("=")]
    if any(a.text == "(" and b.text in ("*", "&") for a, b in pairwise(plain)):
        return _function_pointer(plain, place, where)
    arrays = 0
    while plain and plain[-1].text == "]":
        opened = _opening(plain)
        arrays += 1
        plain = plain[:opened]
    name = plain.pop() if named and _ends_with_name(plain) else None
    line, column = place(name.offset if name else where)
    head = _before_pointer(plain)
    base = [t for t in head if t.text not in ("const", "...")]
    stars = sum(t.text == "*" for t in plain[len(head) :])
    return WrittenParameter(
        name.text if name else "",
        joined(plain) + "[]" * arrays,
        _base_text(base),
        stars + (1 if arrays else 0),
        any(t.text == "const" for t in head) if stars <= 1 else _outer_const(plain[len(head) :]),
        line,
        column,
        any(t.text in ("&", "&&") for t in plain),
        any(t.text == "..." for t in plain),
    )


def _without_attributes(tokens: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    index = 0
    while index < len(tokens):
        text = tokens[index].text
        following = tokens[index + 1].text if index + 1 < len(tokens) else ""
        if text == following == "[":
            index = closing(tokens, index) + 1
        elif text in ("alignas", "__align__", "__attribute__") and following == "(":
            index = closing(tokens, index + 1) + 1
        elif text in _DROPPED:
            index += 1
        else:
            found.append(tokens[index])
            index += 1
    return found


def _opening(tokens: Sequence[Token]) -> int:
    depth = 0
    for index in range(len(tokens) - 1, -1, -1):
        depth += {"]": 1, "[": -1}.get(tokens[index].text, 0)
        if depth == 0:
            return index
    return 0


def _ends_with_name(tokens: Sequence[Token]) -> bool:
    """Whether the last token is a parameter's name and not the last word of its type."""
    if not tokens or not tokens[-1].is_name:
        return False
    last = tokens[-1].text
    if last in BUILTIN_WORDS or last == "const":
        return False
    before = [t for t in tokens[:-1] if t.text not in ("const", "...")]
    return bool(before) and before[-1].text != "::"


def _before_pointer(tokens: Sequence[Token]) -> list[Token]:
    found: list[Token] = []
    index = 0
    while index < len(tokens) and tokens[index].text not in ("*", "&", "&&"):
        stop = closing(tokens, index) + 1 if tokens[index].text == "<" else index + 1
        found += tokens[index:stop]
        index = stop
    return found


def _outer_const(marks: Sequence[Token]) -> bool:
    """Whether ``const`` stands before the last star: ``float* const*`` points to const."""
    stars = [i for i, t in enumerate(marks) if t.text == "*"]
    return any(t.text == "const" for t in marks[: stars[-1]])


def _base_text(tokens: Sequence[Token]) -> str:
    words = [t.text for t in tokens]
    if words and all(word in BUILTIN_WORDS for word in words):
        return " ".join(words)
    return joined(tokens)


def _function_pointer(
    tokens: list[Token], place: Callable[[int], tuple[int, int]], where: int
) -> WrittenParameter:
    opened = next(i for i, t in enumerate(tokens[:-1]) if t.text == "(" and tokens[i + 1].text in ("*", "&"))
    stop = closing(tokens, opened)
    name = next((t for t in tokens[opened + 1 : stop] if t.is_name), None)
    line, column = place(name.offset if name else where)
    array = stop + 1 < len(tokens) and tokens[stop + 1].text == "["
    text = joined([t for t in tokens if t is not name])
    return WrittenParameter(name.text if name else "", text, text, 2 if array else 0, False, line, column)


def split_arguments(entry: str) -> tuple[str, tuple[str, ...] | None]:
    """Split ``ns::gemm<float, 32>`` into its name and its template arguments (None: it has none)."""
    tokens = tokens_of(entry)
    opened = next((i for i, t in enumerate(tokens) if t.text == "<"), None)
    if opened is None:
        return "".join(t.text for t in tokens).removeprefix("::"), None
    stop = closing(tokens, opened)
    name = "".join(t.text for t in tokens[:opened]).removeprefix("::")
    return name, tuple(joined(part) for part in split_commas(tokens[opened + 1 : stop]))
