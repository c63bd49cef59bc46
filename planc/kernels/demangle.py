"""Names of kernels as C++ compilers encode them: a reader of the part that kernels use.

Itanium C++ ABI, chapter 5.1. Expressions, lambdas and operators are outside that part: such a name
gives None, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planc.kernels.ctypes_table import dtype_of_name, dtype_of_words

_MAX_LENGTH = 8_192
_MAX_DEPTH = 100
_MAX_TEXT = 20_000

_BUILTINS: Mapping[str, str] = MappingProxyType(
    {
        "v": "void",
        "w": "wchar_t",
        "b": "bool",
        "c": "char",
        "a": "signed char",
        "h": "unsigned char",
        "s": "short",
        "t": "unsigned short",
        "i": "int",
        "j": "unsigned int",
        "l": "long",
        "m": "unsigned long",
        "x": "long long",
        "y": "unsigned long long",
        "n": "__int128",
        "o": "unsigned __int128",
        "f": "float",
        "d": "double",
        "e": "long double",
        "g": "__float128",
        "z": "...",
    }
)
_D_BUILTINS: Mapping[str, str] = MappingProxyType(
    {"h": "half", "n": "std::nullptr_t", "i": "char32_t", "s": "char16_t", "u": "char8_t"}
)
_STD: Mapping[str, str] = MappingProxyType(
    {"a": "std::allocator", "b": "std::basic_string", "s": "std::string", "i": "std::istream"}
)


@dataclass(frozen=True, slots=True)
class CType:
    """A type: ``dtype`` is planc's element type (of the pointee) or None; ``const`` of the pointee."""

    text: str
    dtype: str | None
    pointer: bool = False
    const: bool = False


@dataclass(frozen=True, slots=True)
class Demangled:
    """A function's name: ``name`` is qualified, ``arguments`` its template arguments or None."""

    name: str
    arguments: tuple[str, ...] | None
    parameters: tuple[CType, ...]


def demangle(symbol: str) -> Demangled | None:
    """Read a mangled function name; None for a plain name, and for what is outside the part read."""
    if not symbol.startswith("_Z") or len(symbol) > _MAX_LENGTH:
        return None
    reader = _Reader(symbol.partition(".")[0])
    try:
        found = reader.encoding()
        return found if reader.done else None
    except _Outside:
        return None


class _Outside(Exception):
    """The name uses something that is not read here."""


@dataclass(frozen=True, slots=True)
class _Node:
    """A type, name or template argument; ``pack`` holds the members of a parameter pack."""

    text: str
    dtype: str | None = None
    pointer: bool = False
    const: bool = False
    const_pointee: bool = False
    pack: tuple[_Node, ...] | None = None
    function: bool = False


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 2
        self._depth = 0
        self._seen: list[_Node] = []
        self._arguments: tuple[_Node, ...] = ()

    @property
    def done(self) -> bool:
        return self._at >= len(self._text)

    # Reading characters

    def _peek(self, count: int = 1) -> str:
        return self._text[self._at : self._at + count]

    def _take(self, count: int = 1) -> str:
        taken = self._peek(count)
        if len(taken) < count:
            raise _Outside
        self._at += count
        return taken

    def _accept(self, text: str) -> bool:
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise _Outside

    def _number(self) -> int:
        start = self._at
        while self._peek().isdigit() and self._at - start < 10:
            self._at += 1
        if start == self._at:
            raise _Outside
        return int(self._text[start : self._at])

    def _sequence(self, base: int) -> int:
        """Read the index of ``S_``, ``S0_``, ``T_``, ``T0_`` up to and with the ``_``."""
        digits = self._text[self._at : self._text.find("_", self._at)]
        self._at += len(digits) + 1
        if not digits:
            return 0
        try:
            return int(digits, base) + 1
        except ValueError:
            raise _Outside from None

    def _remember(self, node: _Node) -> _Node:
        if len(node.text) > _MAX_TEXT:
            raise _Outside
        self._seen.append(node)
        return node

    # Names

    def encoding(self) -> Demangled:
        """Read a function's name and its parameters."""
        name, arguments = self._function_name()
        if arguments is not None:
            self._arguments = arguments
            self._type()  # the return type, which only templates encode
        parameters = self._parameters()
        shown = None if arguments is None else tuple(a.text for a in _flat(arguments))
        return Demangled(name, shown, parameters)

    def _function_name(self) -> tuple[str, tuple[_Node, ...] | None]:
        if self._accept("N"):
            return self._nested(is_type=False)
        if self._peek() == "S" and self._peek(2) != "St":
            raise _Outside
        name = self._unscoped()
        if self._peek() != "I":
            return name, None
        self._remember(_Node(name))
        return name, self._template_arguments()

    def _unscoped(self) -> str:
        return "std::" + self._unqualified() if self._accept("St") else self._unqualified()

    def _unqualified(self) -> str:
        self._accept("L")
        if not self._peek().isdigit():
            raise _Outside
        name = self._take(self._number())
        while self._accept("B"):
            self._take(self._number())
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N_") else name

    def _nested(self, is_type: bool) -> tuple[str, tuple[_Node, ...] | None]:
        while self._peek() in ("K", "V", "r"):
            self._take()
        text = ""
        arguments: tuple[_Node, ...] | None = None
        while not self._accept("E"):
            text, arguments = self._component(text, arguments)
            if self._peek() != "E" or is_type:
                self._see_prefix(text, arguments)
        if not text:
            raise _Outside
        return text, arguments

    def _component(
        self, prefix: str, arguments: tuple[_Node, ...] | None
    ) -> tuple[str, tuple[_Node, ...] | None]:
        if self._peek() == "I":
            if not prefix or arguments is not None:
                raise _Outside
            return prefix, self._template_arguments()
        whole = prefix + _shown(arguments)
        if self._peek() == "S" and not prefix:
            return self._substitution().text if not self._accept("St") else "std", None
        if self._peek() == "T" and not prefix:
            return self._template_parameter().text, None
        name = self._unqualified()
        return (f"{whole}::{name}" if whole else name), None

    def _see_prefix(self, text: str, arguments: tuple[_Node, ...] | None) -> None:
        node = _Node(text + _shown(arguments), dtype_of_name(text) if arguments is None else None)
        if node.text != "std" and not any(s.text == node.text for s in self._seen):
            self._remember(node)

    # Types

    def _type(self) -> _Node:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Outside
        node = self._any_type()
        self._depth -= 1
        return node

    def _any_type(self) -> _Node:
        head = self._peek()
        if head in _BUILTINS:
            self._take()
            return _builtin(_BUILTINS[head])
        reader = _TYPES.get(head)
        if reader is not None:
            self._take()
            return reader(self)
        return self._named_type()

    def _named_type(self) -> _Node:
        if self._accept("N"):
            name, arguments = self._nested(is_type=True)
            return _Node(name + _shown(arguments), dtype_of_name(name) if arguments is None else None)
        name = self._unscoped()
        node = self._remember(_Node(name, dtype_of_name(name)))
        return self._with_arguments(node)

    def _with_arguments(self, node: _Node) -> _Node:
        if self._peek() != "I":
            return node
        return self._remember(_Node(node.text + _shown(self._template_arguments())))

    def _pointer(self) -> _Node:
        return self._remember(_pointed(self._type(), "*"))

    def _reference(self) -> _Node:
        return self._remember(_pointed(self._type(), "&"))

    def _qualified(self) -> _Node:
        self._at -= 1
        start = self._at
        while self._peek() in ("K", "V", "r"):
            self._take()
        marks = self._text[start : self._at]
        inner = self._type()
        if inner.function:
            raise _Outside
        if inner.pack is not None:
            return self._remember(_packed([_with_marks(member, marks) for member in inner.pack]))
        return self._remember(_with_marks(inner, marks))

    def _extended(self) -> _Node:
        letter = self._take()
        if letter in _D_BUILTINS:
            return _builtin(_D_BUILTINS[letter])
        if letter != "p":
            raise _Outside
        inner = self._type()
        if inner.pack is None:
            raise _Outside
        return self._remember(inner)

    def _vendor(self) -> _Node:
        return self._remember(_Node(self._unqualified()))

    def _substituted(self) -> _Node:
        self._at -= 1
        if self._peek(2) == "St":
            return self._named_type()
        return self._with_arguments(self._substitution())

    def _parameterised(self) -> _Node:
        self._at -= 1
        return self._with_arguments(self._remember(self._template_parameter()))

    def _function(self) -> _Node:
        self._accept("Y")
        result = self._type()
        inner = self._parameters(until="E")
        self._expect("E")
        return self._remember(_Node(f"{result.text} ({', '.join(p.text for p in inner)})", function=True))

    def _array(self) -> _Node:
        count = self._number() if self._peek().isdigit() else None
        self._expect("_")
        inner = self._type()
        return self._remember(_Node(f"{inner.text} [{'' if count is None else count}]", None))

    def _substitution(self) -> _Node:
        self._expect("S")
        if self._peek() in _STD:
            return _Node(_STD[self._take()])
        index = self._sequence(36)
        if index >= len(self._seen):
            raise _Outside
        return self._seen[index]

    def _template_parameter(self) -> _Node:
        self._expect("T")
        index = self._sequence(10)
        if index >= len(self._arguments):
            raise _Outside
        return self._arguments[index]

    # Lists

    def _template_arguments(self) -> tuple[_Node, ...]:
        self._expect("I")
        found = []
        while not self._accept("E"):
            found.append(self._template_argument())
        return tuple(found)

    def _template_argument(self) -> _Node:
        if self._accept("J"):
            members = []
            while not self._accept("E"):
                members.append(self._template_argument())
            return _packed(members)
        if self._accept("L"):
            return self._literal()
        return self._type()

    def _literal(self) -> _Node:
        kind = self._type().text
        sign = "-" if self._accept("n") else ""
        end = self._text.find("E", self._at)
        digits = self._text[self._at : end]
        if end < 0 or not digits.isdigit():
            raise _Outside
        self._at = end + 1
        if kind == "bool":
            return _Node("false" if digits == "0" else "true")
        return _Node(f"{sign}{digits}" if kind == "int" else f"({kind}){sign}{digits}")

    def _parameters(self, until: str = "") -> tuple[CType, ...]:
        found: list[_Node] = []
        while not (self.done or (until and self._peek() == until)):
            found.append(self._type())
        if not found:
            raise _Outside
        if [n.text for n in found] == ["void"]:
            return ()
        return tuple(_public(node) for node in _flat(tuple(found)))


def _builtin(name: str) -> _Node:
    return _Node(name, dtype_of_words(name.split()) or dtype_of_name(name))


def _pointed(inner: _Node, mark: str) -> _Node:
    if inner.pack is not None:
        return _packed([_pointed(member, mark) for member in inner.pack])
    if inner.function:
        return _Node(inner.text.replace(" (", f" ({mark})(", 1), None)
    dtype = None if inner.pointer else inner.dtype
    return _Node(f"{inner.text}{mark}", dtype, pointer=True, const_pointee=inner.const)


def _with_marks(inner: _Node, marks: str) -> _Node:
    words = [word for mark, word in (("V", "volatile"), ("K", "const")) if mark in marks]
    if inner.const and "const" in words:
        words.remove("const")
    text = " ".join([inner.text, *words] if inner.pointer else [*words, inner.text])
    const = inner.const or "K" in marks
    return _Node(text, inner.dtype, inner.pointer, const, inner.const_pointee)


def _packed(members: list[_Node]) -> _Node:
    return _Node(", ".join(m.text for m in members), pack=tuple(members))


def _flat(nodes: tuple[_Node, ...]) -> list[_Node]:
    found: list[_Node] = []
    for node in nodes:
        found += _flat(node.pack) if node.pack is not None else [node]
    return found


def _shown(arguments: tuple[_Node, ...] | None) -> str:
    return "" if arguments is None else f"<{', '.join(a.text for a in _flat(arguments))}>"


def _public(node: _Node) -> CType:
    return CType(node.text, node.dtype, node.pointer, node.const_pointee)


_TYPES = MappingProxyType(
    {
        "P": _Reader._pointer,
        "R": _Reader._reference,
        "O": _Reader._reference,
        "K": _Reader._qualified,
        "V": _Reader._qualified,
        "r": _Reader._qualified,
        "D": _Reader._extended,
        "u": _Reader._vendor,
        "S": _Reader._substituted,
        "T": _Reader._parameterised,
        "F": _Reader._function,
        "A": _Reader._array,
    }
)
