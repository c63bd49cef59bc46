"""Ways to damage a plan: raw bytes, or its parts with every digest made anew.

A mutation of the first kind is a function of (rng, bytes) that returns bytes, of the second kind one of
(rng, parts) that changes the parts. Nothing here knows which mutations are harmless.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any

import numpy as np

from planc.plan import Parts, memory_totals, put_together, sha256, take_apart
from planc.plan.container import expected_sections
from planc.plan.header import header_value
from planc.plan.layout import row_type

_MOOT = (KeyError, TypeError, AttributeError, ValueError, IndexError, OverflowError)
"""What a mutation may meet in parts that another one has made odd: it is then left out."""

HARD_INTEGERS = (
    *(0, 1, 2, 3, 4, 7, 8, 15, 16, 63, 64, 255, 256, 1023, 1024, 1025, 65_535, 65_536),
    *((1 << 31) - 1, 1 << 31, (1 << 32) - 2, (1 << 32) - 1, 1 << 32, 1 << 46, 1 << 47),
    *(1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 256, (1 << 64) - 1),
    *(-1, -4, -256, -(1 << 31), -(1 << 63)),
)
HARD_VALUES = (
    *(None, True, False, 0.0, -0.0, 1.5, 1e300, float("inf"), float("nan")),
    *("", "x", "é", "a\x1b[31m", "/a/b", "0" * 64, "f16", "bool", "bf16"),
    *("constant", "global", "scratch", "input", "inout", "ptx", "cubin", "sm_90", "written"),
    *([], {}, [0], [1, 1], ["sm_80"], {"module": 0, "name": "g"}),
)


# Raw bytes: nothing is sealed again.


def _flip_bit(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]


def _other_byte(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _cut(rng: Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _extend(rng: Random, data: bytes) -> bytes:
    return data + rng.choice((b"\0", bytes(64), rng.randbytes(rng.randint(1, 100)), data))


def _zeros(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    size = min(rng.choice((2, 8, 64)), len(data) - at)
    return data[:at] + bytes(size) + data[at + size :]


def _insert(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + rng.randbytes(rng.choice((1, 8, 64))) + data[at:]


def _remove(rng: Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 8, 64)) :]


def _swap_runs(rng: Random, data: bytes) -> bytes:
    size = rng.choice((1, 16, 64))
    first, second = sorted(rng.randrange(len(data) - size) for _ in range(2))
    if second - first < size:
        return data
    changed = bytearray(data)
    changed[first : first + size], changed[second : second + size] = (
        data[second : second + size],
        data[first : first + size],
    )
    return bytes(changed)


RAW: tuple[Callable[[Random, bytes], bytes], ...] = (
    *(_flip_bit, _flip_bit, _other_byte, _cut, _extend, _zeros, _insert, _remove, _swap_runs),
)


# Parts: sealed again afterwards.


def _table_names(parts: Parts) -> list[str]:
    return [name for name, data in parts.sections.items() if name.startswith("program/") and len(data)]


def _rows(parts: Parts, name: str) -> np.ndarray[Any, Any]:
    return np.frombuffer(parts.sections[name], row_type(name)).copy()


def _cell(rng: Random, parts: Parts) -> None:
    """Give one cell of a table a hard value, a near one, or that of another row."""
    name = rng.choice(_table_names(parts))
    rows = _rows(parts, name)
    row = rng.randrange(len(rows))
    cells = rows if rows.dtype.names is None else rows[rng.choice(rows.dtype.names)]
    if cells.ndim > 1:
        cells = cells[:, rng.randrange(cells.shape[1])]
    old = int(cells[row])
    value = rng.choice(
        (
            rng.choice(HARD_INTEGERS),
            old + rng.choice((-16, -8, -4, -1, 1, 4, 8, 16)),
            old ^ 1 << rng.randrange(8 * cells.dtype.itemsize),
            int(cells[rng.randrange(len(rows))]),
            rng.randrange(8),
        )
    )
    cells[row] = np.array(value & (1 << 64) - 1, np.uint64).astype(cells.dtype)
    parts.sections[name] = rows.tobytes()


def _swap_rows(rng: Random, parts: Parts) -> None:
    name = rng.choice(_table_names(parts))
    rows = _rows(parts, name)
    first, second = (rng.randrange(len(rows)) for _ in range(2))
    rows[[first, second]] = rows[[second, first]]
    parts.sections[name] = rows.tobytes()


def _drop_row(rng: Random, parts: Parts) -> None:
    name = rng.choice(_table_names(parts))
    rows = _rows(parts, name)
    parts.sections[name] = np.delete(rows, rng.randrange(len(rows))).tobytes()


def _repeat_row(rng: Random, parts: Parts) -> None:
    name = rng.choice(_table_names(parts))
    rows = _rows(parts, name)
    row = rng.randrange(len(rows))
    parts.sections[name] = np.insert(rows, rng.choice((row, len(rows))), rows[row]).tobytes()


def _swap_sections(rng: Random, parts: Parts) -> None:
    first, second = (rng.choice(list(parts.sections)) for _ in range(2))
    parts.sections[first], parts.sections[second] = parts.sections[second], parts.sections[first]


def _resize_section(rng: Random, parts: Parts) -> None:
    name = rng.choice(list(parts.sections))
    data = bytes(parts.sections[name])
    longer = data + rng.choice((b"\0", bytes(row_type(name).itemsize), data))
    parts.sections[name] = rng.choice((longer, data[: rng.randrange(len(data) + 1)]))


def _byte_of_section(rng: Random, parts: Parts) -> None:
    names = [name for name, data in parts.sections.items() if len(data)]
    name = rng.choice(names)
    parts.sections[name] = _other_byte(rng, bytes(parts.sections[name]))


def _places(value: Any, found: list[tuple[Any, Any]]) -> None:
    """Collect (container, key) of everything below ``value``."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        found.append((value, key))
        _places(value[key], found)


def _header_place(rng: Random, parts: Parts) -> tuple[Any, Any]:
    found: list[tuple[Any, Any]] = []
    for key, value in parts.header.items():
        if key != "sections":
            found.append((parts.header, key))
            _places(value, found)
    return rng.choice(found)


def _header_value(rng: Random, parts: Parts) -> None:
    owner, key = _header_place(rng, parts)
    old = owner[key]
    choices: list[Any] = [rng.choice(HARD_VALUES)]
    if type(old) is int:
        choices += [
            rng.choice([n for n in HARD_INTEGERS if n >= -(1 << 63)]),
            old + 1,
            max(old - 1, 0),
            old * 2,
        ]
    if type(old) is float:
        choices += [old + 1, -old, old * 1e30]
    if type(old) is str:
        choices += [old + "x", old[:-1], old.upper(), "n" * 2000]
    if type(old) is list and old:
        choices += [old[::-1], old[:-1], [*old, copy.deepcopy(old[-1])], [*old, copy.deepcopy(old[0])]]
    owner[key] = copy.deepcopy(rng.choice(choices))


def _header_key(rng: Random, parts: Parts) -> None:
    owner, key = _header_place(rng, parts)
    if not isinstance(owner, dict):
        owner.append(owner[key])
    elif rng.random() < 0.5:
        del owner[key]
    else:
        owner[rng.choice(("extra", str(key).upper()))] = owner.pop(key)


def _twin(rng: Random, parts: Parts) -> None:
    """Copy one entry of a list of the header under another name."""
    program = rng.choice(parts.header["programs"])
    entries = program[rng.choice(("buffers", "slots", "functions", "modules", "schedules"))]
    if entries:
        entries.append({**copy.deepcopy(rng.choice(entries)), "name": "twin"})


PARTS: tuple[Callable[[Random, Parts], None], ...] = (
    *(_cell, _cell, _cell, _cell, _cell, _cell),
    *(_header_value, _header_value, _header_value, _header_key, _twin),
    *(
        _swap_rows,
        _drop_row,
        _repeat_row,
        _swap_sections,
        _resize_section,
        _byte_of_section,
        _byte_of_section,
    ),
)


def raw_mutant(rng: Random, data: bytes) -> bytes:
    """Return changed bytes whose digests no longer fit."""
    changed = data
    while changed == data:
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            changed = rng.choice(RAW)(rng, changed) if changed else data
    return changed


def sealed_mutant(rng: Random, data: bytes) -> bytes:
    """Return a plan changed in one to three places and sealed again: all digests fit."""
    changed = data
    while changed == data:
        changed = _sealed_once(rng, data)
    return changed


def _sealed_once(rng: Random, data: bytes) -> bytes:
    parts = take_apart(data)
    if rng.random() < 0.05:
        return _mutant_of_table(rng, parts)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        with suppress(*_MOOT):
            rng.choice(PARTS)(rng, parts)
    _rename_blobs(parts)
    if rng.random() < 0.7:
        with suppress(*_MOOT):
            _derive(parts)
    try:
        return put_together(parts)
    except _MOOT:
        return _half_sealed(rng, parts, data)


def _half_sealed(rng: Random, parts: Parts, data: bytes) -> bytes:
    """Seal a header that is too odd to have `program` digests; start again if it cannot be written at all."""
    try:
        return put_together(parts, fill=False)
    except _MOOT:
        return _sealed_once(rng, data)


def _mutant_of_table(rng: Random, parts: Parts) -> bytes:
    """Change the section table itself; only the prelude's digest is made anew."""
    row = rng.choice(parts.header["sections"])
    key = rng.choice(("offset", "length", "name", "sha256"))
    other = rng.choice(parts.header["sections"])[key]
    near = row[key] + rng.choice((-64, -1, 1, 64, 1 << 40)) if type(row[key]) is int else row[key][:-1]
    row[key] = rng.choice((other, near))
    return put_together(parts, fill=False)


def _rename_blobs(parts: Parts) -> None:
    """Let images and constants have the digests of their bytes, in the header and in their names."""
    renamed = {}
    for name, data in parts.sections.items():
        kind, _, digest = name.partition("/")
        if kind in ("image", "constant"):
            renamed[kind, digest] = sha256(data)
    _follow(parts.header, renamed)
    tables = {name: data for name, data in parts.sections.items() if name.startswith("program/")}
    blobs = {f"{kind}/{new}": parts.sections[f"{kind}/{old}"] for (kind, old), new in renamed.items()}
    parts.sections = {**tables, **dict(sorted(blobs.items(), key=lambda item: (item[0][0] == "c", item[0])))}


def _follow(header: Any, renamed: dict[tuple[str, str], str]) -> None:
    found: list[tuple[Any, Any]] = []
    _places(header, found)
    for owner, key in found:
        kind = {"digest": "image", "data": "constant"}.get(key) if isinstance(owner, dict) else None
        if kind and isinstance(owner[key], str) and (kind, owner[key]) in renamed:
            owner[key] = renamed[kind, owner[key]]


def _derive(parts: Parts) -> None:
    """Make the header agree with itself: sections that it calls for, memory totals."""
    wanted = expected_sections(parts.header)
    for row, program in zip(
        parts.header["programs"], header_value({**parts.header, "sections": []}, 0, "").programs, strict=True
    ):
        row["memory"] = memory_totals(program.buffers)
    if set(wanted) != set(parts.sections):
        old = parts.sections
        parts.sections = {name: old.get(name) or old.get(_first_schedule(name), b"") for name in wanted}


def _first_schedule(section: str) -> str:
    return re.sub("/schedule/[0-9]+/", "/schedule/0/", section)
