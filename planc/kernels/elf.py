"""A strict reader of the ELF files that hold GPU code (cubins).

The layout is that of ELF-64 (System V ABI). What is NVIDIA's own is not documented; it was read off
cubins of CUDA 12 and 13 and is cross-checked by tests against what the linker reports.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_EM_CUDA = 190
_NOBITS = 8
_SYMTAB = 2
_MAX_SECTIONS = 65_000


class CubinError(Exception):
    """The bytes are no cubin, or a damaged one; the text says what is wrong."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section; ``data`` is empty for one without bytes in the file (``size`` still counts)."""

    name: str
    kind: int
    info: int
    link: int
    size: int
    data: memoryview


@dataclass(frozen=True, slots=True)
class ElfSymbol:
    """A row of the symbol table; ``section`` is an index, 0 for a symbol left to the driver."""

    name: str
    info: int
    other: int
    section: int
    value: int
    size: int


@dataclass(frozen=True, slots=True)
class Elf:
    """A parsed file."""

    os_abi: int
    abi_version: int
    flags: int
    sections: tuple[Section, ...]
    symbols: tuple[ElfSymbol, ...]

    def section(self, name: str) -> Section | None:
        """Return the first section of that name."""
        return next((s for s in self.sections if s.name == name), None)


def read_elf(data: bytes) -> Elf:
    """Read a cubin's sections and symbols. Raises CubinError for anything else."""
    view = memoryview(data)
    if len(data) < _HEADER.size or data[:4] != b"\x7fELF":
        raise CubinError("not an ELF file")
    row = _HEADER.unpack_from(data)
    ident, _, machine, _, _, segments, offset, flags, _, segment, number, entry, count, names = row
    if ident[4:7] != b"\x02\x01\x01":
        raise CubinError("not a 64-bit little-endian ELF file")
    if machine != _EM_CUDA:
        raise CubinError("an ELF file, but not of GPU code")
    if entry != _SECTION.size or not 0 < count <= _MAX_SECTIONS or names >= count:
        raise CubinError("the section table is damaged")
    _part(view, segments, segment * number, "the segment table")
    sections = _sections(view, offset, count, names)
    return Elf(ident[7], ident[8], flags, sections, _symbols(sections))


def _part(view: memoryview, offset: int, size: int, what: str) -> memoryview:
    if offset > len(view) or size > len(view) - offset:
        raise CubinError(f"{what} reaches past the end of the file")
    return view[offset : offset + size]


def _sections(view: memoryview, offset: int, count: int, names: int) -> tuple[Section, ...]:
    table = _part(view, offset, count * _SECTION.size, "the section table")
    rows = [_SECTION.unpack_from(table, i * _SECTION.size) for i in range(count)]
    bodies = [
        view[:0] if row[1] in (0, _NOBITS) else _part(view, row[4], row[5], f"section {i}")
        for i, row in enumerate(rows)
    ]
    strings = bodies[names]
    return tuple(
        Section(_string(strings, row[0]), row[1], row[7], row[6], row[5], body)
        for row, body in zip(rows, bodies, strict=True)
    )


def _string(table: memoryview, offset: int) -> str:
    if offset >= len(table):
        raise CubinError("a name lies outside its string table")
    raw = bytes(table[offset : offset + 65_536])
    end = raw.find(b"\0")
    if end < 0:
        raise CubinError("a name has no end")
    try:
        return raw[:end].decode("utf-8")
    except UnicodeDecodeError as error:
        raise CubinError("a name is not UTF-8") from error


def _symbols(sections: tuple[Section, ...]) -> tuple[ElfSymbol, ...]:
    table = next((s for s in sections if s.kind == _SYMTAB), None)
    if table is None:
        return ()
    if len(table.data) % _SYMBOL.size or table.link >= len(sections):
        raise CubinError("the symbol table is damaged")
    strings = sections[table.link].data
    found = []
    for row in _SYMBOL.iter_unpack(table.data):
        name, info, other, section, value, size = row
        found.append(ElfSymbol(_string(strings, name), info, other, section, value, size))
    return tuple(found)
