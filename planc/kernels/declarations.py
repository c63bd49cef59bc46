"""The ``__global__`` functions of a source, with the parameters as they are written.

This reads declarations, not C++: macros are left alone, conditions other than ``#if 0`` are taken
as true, and what cannot be read is left out rather than guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from planc.kernels.cxxtext import CxxText
from planc.kernels.cxxtokens import Token, closing, joined, split_commas, tokens_of
from planc.kernels.parameters import WrittenParameter, read_parameter

_SCOPES = ("namespace", "struct", "class", "union")
_AFTER_PARAMETERS = ("{", ";", "noexcept", "requires", "->")


@dataclass(frozen=True, slots=True)
class TemplateParameter:
    """``class T``, ``int N = 4``, ``class... A``."""

    name: str
    is_type: bool
    default: str | None = None
    pack: bool = False


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One ``__global__`` declaration.

    ``name`` is qualified (``ns::step``). ``template`` is None for a plain function; ``arguments`` are
    those of an explicit specialisation. ``line`` and ``column`` are of the name, in ``file``.
    ``threads`` is the first number of ``__launch_bounds__`` where it is a number.
    """

    name: str
    parameters: tuple[WrittenParameter, ...]
    line: int
    column: int
    file: str = ""
    template: tuple[TemplateParameter, ...] | None = None
    arguments: tuple[str, ...] | None = None
    extern_c: bool = False
    is_definition: bool = True
    threads: int | None = None


def read_declarations(text: str, file: str = "") -> tuple[SourceEntry, ...]:
    """Return every ``__global__`` declaration of a source text, in order."""
    source = CxxText(text)
    tokens = tokens_of(source.code)
    return tuple(_Scan(tokens, source, file).entries())


@dataclass(frozen=True, slots=True)
class _Scope:
    name: str
    stop: int


class _Scan:
    def __init__(self, tokens: list[Token], source: CxxText, file: str) -> None:
        self._tokens = tokens
        self._source = source
        self._file = file
        self._scopes: list[_Scope] = []

    def entries(self) -> Iterator[SourceEntry]:
        index = 0
        while index < len(self._tokens):
            self._scopes = [s for s in self._scopes if s.stop > index]
            text = self._tokens[index].text
            if text == "__global__":
                found, index = self._entry(index)
                if found is not None:
                    yield found
            elif text in _SCOPES and (opened := self._scope(index)):
                index = opened
            elif text == "{":
                index = self._brace(index)
            else:
                index += 1

    def _brace(self, index: int) -> int:
        """Step over a function's body, into the braces of ``extern "C"``."""
        before = self._tokens[index - 1].text if index else ""
        return index + 1 if before == '"C"' else closing(self._tokens, index) + 1

    def _scope(self, index: int) -> int | None:
        """Enter ``namespace a::b {`` or ``struct S : Base {``; None when no brace follows."""
        names: list[str] = []
        at = index + 1
        while at < len(self._tokens) and (self._tokens[at].is_name or self._tokens[at].text == "::"):
            names.append(self._tokens[at].text)
            at += 1
            if names[-1] in ("alignas", "__align__") and at < len(self._tokens):
                at = closing(self._tokens, at) + 1 if self._tokens[at].text == "(" else at
        if at < len(self._tokens) and self._tokens[at].text == ":":
            while at < len(self._tokens) and self._tokens[at].text not in ("{", ";"):
                at += 1
        if at >= len(self._tokens) or self._tokens[at].text != "{":
            return None
        name = "".join(n for n in names if n not in ("final", "inline", "alignas", "__align__"))
        self._scopes.append(_Scope(name, closing(self._tokens, at)))
        return at + 1

    def _entry(self, index: int) -> tuple[SourceEntry | None, int]:
        start = self._start(index)
        before = [t.text for t in self._tokens[start:index]]
        name_at = self._name(index + 1)
        if name_at is None:
            return None, index + 1
        open_at, arguments = self._parenthesis(name_at)
        stop = closing(self._tokens, open_at)
        scope = [s.name for s in self._scopes if s.name]
        line, column = self._source.place(self._tokens[name_at].offset)
        following = self._tokens[stop + 1].text if stop + 1 < len(self._tokens) else ";"
        entry = SourceEntry(
            "::".join([*scope, self._qualified(name_at)]),
            tuple(self._parameters(open_at, stop)),
            line,
            column,
            self._file,
            _template(self._tokens[start:index]),
            arguments,
            extern_c='"C"' in before or self._in_extern_c(start),
            is_definition=following != ";",
            threads=_bound(self._tokens[start:name_at]),
        )
        return entry, stop + 1

    def _in_extern_c(self, start: int) -> bool:
        depth = 0
        for index in range(start - 1, 0, -1):
            text = self._tokens[index].text
            if text == "}":
                depth += 1
            elif text == "{":
                if depth == 0 and self._tokens[index - 1].text == '"C"':
                    return True
                depth = max(0, depth - 1)
        return False

    def _start(self, index: int) -> int:
        """Return where the declaration that holds ``__global__`` begins."""
        at = index
        while at > 0 and self._tokens[at - 1].text not in (";", "}", "{"):
            at -= 1
        return at

    def _name(self, index: int) -> int | None:
        """Return the index of the function's name: the last name before its parameters."""
        at = index
        while at < len(self._tokens):
            token = self._tokens[at]
            if token.text in (";", "{", "}", "="):
                return None
            if not token.is_name:
                at += 1
                continue
            opened, _ = self._parenthesis(at)
            if opened < 0:
                at += 1
                continue
            after = closing(self._tokens, opened) + 1
            if after >= len(self._tokens) or self._tokens[after].text in _AFTER_PARAMETERS:
                return at
            at = after
        return None

    def _parenthesis(self, name_at: int) -> tuple[int, tuple[str, ...] | None]:
        """Return where ``(`` follows a name, and ``<…>`` between them; -1 where it does not."""
        at = name_at + 1
        arguments = None
        if at < len(self._tokens) and self._tokens[at].text == "<":
            stop = closing(self._tokens, at)
            arguments = tuple(joined(part) for part in split_commas(self._tokens[at + 1 : stop]))
            at = stop + 1
        follows = at < len(self._tokens) and self._tokens[at].text == "("
        return (at if follows else -1), arguments

    def _qualified(self, name_at: int) -> str:
        """Return the name with qualifiers that stand before it (``void ns::f(…)``)."""
        parts = [self._tokens[name_at].text]
        at = name_at
        while at >= 2 and self._tokens[at - 1].text == "::" and self._tokens[at - 2].is_name:
            parts.insert(0, self._tokens[at - 2].text)
            at -= 2
        return "::".join(parts)

    def _parameters(self, opened: int, closed: int) -> Iterator[WrittenParameter]:
        parts = split_commas(self._tokens[opened + 1 : closed])
        if len(parts) == 1 and [t.text for t in parts[0]] == ["void"]:
            return
        for part in parts:
            where = part[0].offset if part else self._tokens[opened].offset
            yield read_parameter(part, self._source.place, where)


def _bound(before: Sequence[Token]) -> int | None:
    for index, token in enumerate(before[:-2]):
        if token.text == "__launch_bounds__" and before[index + 2].text.isdigit():
            return int(before[index + 2].text)
    return None


def _template(before: Sequence[Token]) -> tuple[TemplateParameter, ...] | None:
    """Read the last ``template <…>`` before a function."""
    found = None
    for index, token in enumerate(before[:-1]):
        if token.text == "template" and before[index + 1].text == "<":
            stop = closing(before, index + 1)
            found = tuple(_template_parameter(p) for p in split_commas(before[index + 2 : stop]))
    return found


def _template_parameter(tokens: Sequence[Token]) -> TemplateParameter:
    texts = [t.text for t in tokens]
    default = None
    if "=" in texts:
        at = texts.index("=")
        default = joined(tokens[at + 1 :])
        tokens, texts = tokens[:at], texts[:at]
    names = [t.text for t in tokens if t.is_name]
    is_type = bool(texts) and texts[0] in ("class", "typename", "template")
    named = len(names) > 1 and tokens[-1].is_name
    return TemplateParameter(names[-1] if named else "", is_type, default, "..." in texts)


def instance_types(entry: SourceEntry, arguments: Sequence[str]) -> Mapping[str, str]:
    """Return what each template parameter of ``entry`` stands for in ``name<arguments>``."""
    found: dict[str, str] = {}
    for index, parameter in enumerate(entry.template or ()):
        if parameter.pack:
            break
        value = arguments[index] if index < len(arguments) else parameter.default
        if parameter.name and value is not None:
            found[parameter.name] = found.get(value, value)
    return found
