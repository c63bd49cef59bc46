"""The hand-written answers: comments above the kernels of ``tests/effects/kernels``.

``// launch: GRID x BLOCK: ARGUMENT, …`` where an argument is a number, ``L`` (64 bits), ``F`` (a float), or a
pointer: ``R``, ``W``, ``RW``, ``RED``, ``U`` (unknown) or ``N`` (nothing) of so many bytes, with the exact
bytes where they are simple: ``ALL``, ``BOX(offset, count, stride)`` (may and must alike) or ``MAY(…)``. A
list is a struct. ``globals`` are the kinds of module variables; ``unknown`` and ``external`` say that the
kernel may touch anything, or prints or asserts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from planc.effects import BytesFact, LaunchFacts, PointerFact, integer
from planc.plan.boxes import Box

FOLDER = Path(__file__).parent / "kernels"
KINDS = {"R": "read", "W": "write", "RW": "read-write", "RED": "reduce", "U": "unknown", "N": "none"}


@dataclass(frozen=True)
class Claim:
    """Bytes that an argument touches; ``must``: a write of all of them is certain."""

    offset: int
    axes: tuple[tuple[int, int], ...]
    must: bool

    def mask(self, size: int, item: int) -> np.ndarray:
        found = np.zeros(size, bool)
        places = np.array([self.offset])
        for count, stride in self.axes:
            places = (places[:, None] + np.arange(count) * stride).ravel()
        for byte in range(item):
            found[places + byte] = True
        return found


@dataclass(frozen=True)
class Pointer:
    kind: str
    size: int
    claim: Claim | str | None = None


@dataclass(frozen=True)
class Scalar:
    value: object


@dataclass(frozen=True)
class Case:
    """``arguments`` are pointers, scalars and tuples of them (structs)."""

    file: str
    name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[object, ...]
    runs: bool
    globals: tuple[tuple[str, str], ...] = ()
    unknown: bool = False
    external: bool = False


def pieces(case: Case, parameters: tuple) -> list[tuple[int, Pointer | Scalar]]:
    """Return every pointer and scalar of the arguments with its byte offset in the parameter block."""
    found: list[tuple[int, Pointer | Scalar]] = []
    for argument, parameter in zip(case.arguments, parameters, strict=True):
        _lay_out(argument, parameter.offset, found)
    return found


def _size(argument: object) -> int:
    return 8 if isinstance(argument, Pointer) else len(raw(argument.value))  # type: ignore[attr-defined]


def _align(argument: object) -> int:
    if isinstance(argument, tuple):
        return max(_align(each) for each in argument)
    return _size(argument)


def _lay_out(argument: object, offset: int, found: list[tuple[int, Pointer | Scalar]]) -> int:
    """Place an argument as C does; return the offset after it."""
    offset += -offset % _align(argument)
    if not isinstance(argument, tuple):
        found.append((offset, argument))  # type: ignore[arg-type]
        return offset + _size(argument)
    end = offset
    for each in argument:
        end = _lay_out(each, end, found)
    return end + -(end - offset) % _align(argument)


def _three(value: object) -> tuple[int, int, int]:
    found = value if isinstance(value, tuple) else (value,)
    return (*found, 1, 1, 1)[:3]  # type: ignore[return-value]


def _claim(must: bool):
    def make(offset: int, *axes: object) -> Claim:
        if axes and not isinstance(axes[0], tuple):
            axes = (axes,)
        return Claim(offset, tuple(axes), must)  # type: ignore[arg-type]

    return make


def _names() -> dict[str, object]:
    found: dict[str, object] = {"ALL": "all", "BOX": _claim(True), "MAY": _claim(False), "F": np.float32(1)}
    for word, kind in KINDS.items():
        found[word] = lambda size, claim=None, kind=kind: Pointer(kind, size, claim)
    found["L"] = np.int64
    found["I64"] = np.int64
    return found


_CASE = re.compile(r"// launch( only)?: (.+?) x (.+?): (.*)\nK (\w+)\(")


def _split(*arguments: object, **more: object) -> tuple[tuple[object, ...], dict[str, object]]:
    return tuple(_wrapped(a) for a in arguments), more


def _wrapped(argument: object) -> object:
    if isinstance(argument, list):
        return tuple(_wrapped(each) for each in argument)
    return argument if isinstance(argument, Pointer) else Scalar(argument)


def cases_of(path: Path) -> list[Case]:
    """Return the cases of a file of kernels, in its order."""
    found = []
    for only, grid, block, arguments, name in _CASE.findall(path.read_text()):
        text = re.sub(r"(?<=[0-9])u", "", arguments)
        given, more = eval(f"_split({text})", {**_names(), "_split": _split})
        case = Case(path.name, name, _three(eval(grid)), _three(eval(block)), given, not only)
        more["globals"] = tuple(more.get("globals", {}).items())
        found.append(replace(case, **more))
    return found


def all_cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.cu")) for case in cases_of(path)]


def raw(value: object) -> bytes:
    if isinstance(value, bytes):
        return value
    return (np.int32(value) if isinstance(value, int) else np.asarray(value)).tobytes()


def launch_of(case: Case, parameters: tuple) -> LaunchFacts:
    facts: dict[int, object] = {}
    for offset, argument in pieces(case, parameters):
        if isinstance(argument, Pointer):
            facts[offset] = PointerFact(argument.size)
            continue
        data = raw(argument.value)
        is_whole = isinstance(argument.value, int | np.integer)
        facts[offset] = integer(int(argument.value), len(data)) if is_whole else BytesFact(data)
    return LaunchFacts(case.grid, case.block, 0, facts)


def mask_of(boxes: tuple[Box | None, ...], size: int) -> np.ndarray:
    """Return which bytes of a buffer some boxes cover; None is anywhere."""
    found = np.zeros(size, bool)
    for box in boxes:
        if box is None:
            found[:] = True
            continue
        low, high = box.interval
        if box.items > 1 << 22:
            found[max(low, 0) : max(high, 0)] = True
            continue
        places = np.array([box.offset], np.int64)
        for count, stride in box.axes:
            places = (places[:, None] + np.arange(count) * stride).ravel()
        places = (places[:, None] + np.arange(box.item)).ravel()
        found[places[(places >= 0) & (places < size)]] = True
    return found
