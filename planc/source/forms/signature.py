"""``entry:``: a function of a kernel file and, if given, its parameters with their effects."""

from __future__ import annotations

import re
from dataclasses import dataclass

from planc.source.expressions import Fault
from planc.source.forms.declarations import check_dtype
from planc.source.limits import Limits

EFFECTS: tuple[str, ...] = ("in", "out", "inout", "reduce")
_PARAMETER = re.compile(
    r"\s*(?:(?P<effect>in|out|inout|reduce)\s+)?(?P<type>[A-Za-z_]\w*)\s*(?P<pointer>\*)?\s*(?P<name>[A-Za-z_]\w*)?\s*",
    re.A,
)
_FUNCTION = re.compile(r"[A-Za-z_$](?:[\w$]|::)*", re.A)


@dataclass(frozen=True, slots=True)
class ParameterForm:
    """``in f32* src``; ``dtype`` None for ``void*``."""

    name: str
    dtype: str | None
    pointer: bool
    effect: str | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class EntryForm:
    """``gemm<float, 32>(in f32* a, …)``; ``parameters`` None where only the name is given."""

    name: str
    start: int
    end: int
    parameters: tuple[ParameterForm, ...] | None


def parse_entry(text: str, limits: Limits) -> EntryForm:
    """Read an entry. Raises Fault PLC139, PLC140 (unknown element type) or PLC133 (too long)."""
    if len(text) > limits.expression_length:
        message = f"the text has more than {limits.expression_length} characters"
        raise Fault("PLC133", message, 0, 1, "write the entry in its long form, a mapping")
    body = text.rstrip()
    start = len(text) - len(text.lstrip())
    open_ = _parameters_at(body)
    end = len(body) if open_ is None else open_
    name = check_function(body[start:end], start)
    if open_ is None:
        return EntryForm(name, start, start + len(name), None)
    return EntryForm(name, start, start + len(name), _parameters(body[open_ + 1 : -1], open_ + 1, limits))


def parse_parameter(text: str, limits: Limits, base: int = 0) -> ParameterForm:
    """Read ``[EFFECT] TYPE[*] NAME``. Raises Fault PLC139, or PLC140 for an unknown element type."""
    match = _PARAMETER.fullmatch(text)
    if match is None or match.group("name") is None:
        cure = "write `in f32* src` or `i32 n`"
        end = base + max(len(text), 1)
        raise Fault("PLC139", f"`{text.strip()[:60]}` is not a parameter", base, end, cure)
    pointer = match.group("pointer") is not None
    name = match.group("name")
    dtype = _pointee(match.group("type"), pointer, base + match.start("type"), base + match.end("type"))
    effect = match.group("effect")
    start = base + match.start("effect" if effect else "type")
    return ParameterForm(name, dtype, pointer, effect, start, base + match.end("name"))


def check_function(text: str, start: int) -> str:
    """Return the name of a function, spaces around template arguments dropped. Raises Fault PLC139."""
    name = text.strip()
    match = _FUNCTION.match(name)
    rest = name[match.end() :].strip() if match else name
    if match is None or (rest and not (rest.startswith("<") and rest.endswith(">"))):
        cure = "write the function's name, and template arguments in `<...>`"
        raise Fault(
            "PLC139", f"`{name[:60]}` is not a function's name", start, start + max(len(name), 1), cure
        )
    return match.group() + rest


def _pointee(word: str, pointer: bool, start: int, end: int) -> str | None:
    if word == "void":
        if pointer:
            return None
        raise Fault("PLC140", "`void` is no type of a value", start, end, "write `void*`, or an element type")
    return check_dtype(word, start, end)


def _parameters_at(text: str) -> int | None:
    """Return where the bracket opens that the text ends with; one in template arguments is not it."""
    if not text.endswith(")"):
        return None
    depth = 0
    for at in range(len(text) - 1, -1, -1):
        depth += (text[at] == ")") - (text[at] == "(")
        if depth == 0:
            return at
    return None


def _parameters(text: str, base: int, limits: Limits) -> tuple[ParameterForm, ...]:
    if not text.strip():
        return ()
    found: list[ParameterForm] = []
    at = base
    for piece in text.split(","):
        parameter = parse_parameter(piece, limits, at)
        if any(other.name == parameter.name for other in found):
            message = f"the parameter `{parameter.name}` stands twice"
            raise Fault("PLC139", message, parameter.start, parameter.end, "rename one, or take it out")
        found.append(parameter)
        at += len(piece) + 1
    return tuple(found)
