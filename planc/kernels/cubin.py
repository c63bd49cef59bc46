"""What a cubin says about its kernels: target, parameters, registers, memory."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planc.diagnostics import Diagnostic, InternalFault
from planc.kernels.artifact import EntryParameter, GlobalSymbol
from planc.kernels.elf import CubinError, Elf, ElfSymbol, Section, read_elf

_ENTRY_FLAG = 0x10
_TYPE_OBJECT, _TYPE_FUNCTION = 1, 2
_NO_VALUE, _BYTE, _HALF, _SIZED = 1, 2, 3, 4

# Attribute numbers of .nv.info, as cubins of CUDA 12 and 13 use them.
_MAX_THREADS = 0x05
_REQUIRED_BLOCK = 0x10
_FRAME_SIZE = 0x11
_MIN_STACK = 0x12
_PARAMETER = 0x17
_PARAMETER_BYTES = 0x19
_PARAMETER_V2 = 0x45
_REGISTERS = 0x2F
_RESERVED = ".nv.reservedSmem.offset0"
_RESERVED_BYTES = 1024
_UNBOUNDED = 0xFFFF_FFFF  # the stack of a kernel that recurses


@dataclass(frozen=True, slots=True)
class CubinEntry:
    """One kernel of a cubin. ``local`` is the stack of a thread in bytes."""

    symbol: str
    parameters: tuple[EntryParameter, ...]
    parameter_bytes: int
    registers: int
    static_shared: int
    local: int
    max_threads: tuple[int, int, int] | None
    required_block: tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Cubin:
    """A cubin: ``number`` is its compute capability (90 for 9.0)."""

    number: int
    entries: Mapping[str, CubinEntry]
    globals: Mapping[str, GlobalSymbol]
    undefined: tuple[str, ...]


def read_cubin(data: bytes) -> Cubin:
    """Read a cubin. Raises CubinError for anything that is none, or that is damaged."""
    elf = read_elf(data)
    per_symbol = (_sizes(elf, _REGISTERS), _sizes(elf, _FRAME_SIZE), _sizes(elf, _MIN_STACK))
    entries = {
        symbol.name: _entry(elf, row, symbol, per_symbol)
        for row, symbol in enumerate(elf.symbols)
        if symbol.info & 15 == _TYPE_FUNCTION and symbol.other & _ENTRY_FLAG and symbol.section
    }
    undefined = tuple(s.name for s in elf.symbols if s.section == 0 and s.name.isidentifier())
    return Cubin(_number(elf), entries, _globals(elf), undefined)


def read_linked(data: bytes) -> Cubin:
    """Read a cubin that planc's own linker made. Raises InternalFault where that fails."""
    try:
        return read_cubin(data)
    except CubinError as error:
        message = f"the cubin that nvJitLink made cannot be read: {error}"
        raise InternalFault(Diagnostic("PLC900", message)) from error


def _number(elf: Elf) -> int:
    # ABI 8 (CUDA 13) moved the capability up by one byte.
    return elf.flags >> 8 & 0xFF if elf.abi_version >= 8 else elf.flags & 0xFF


_PerSymbol = tuple[Mapping[int, int], Mapping[int, int], Mapping[int, int]]


def _entry(elf: Elf, row: int, symbol: ElfSymbol, sizes_by_symbol: _PerSymbol) -> CubinEntry:
    counts, frames, least = sizes_by_symbol
    text = _named(elf, symbol.section)
    attributes = list(_attributes(elf.section(f".nv.info.{symbol.name}")))
    parameters = tuple(sorted(_parameters(attributes), key=lambda p: p.offset))
    sizes = [value for number, value in _words(attributes) if number == _PARAMETER_BYTES]
    used = max((p.offset + p.size for p in parameters), default=0)
    return CubinEntry(
        symbol.name,
        parameters,
        max([used, *sizes]),
        registers=counts.get(row, text.info >> 24 & 0xFF),
        static_shared=_static_shared(elf, symbol.name),
        local=max(frames.get(row, 0), least.get(row, 0)),
        max_threads=_triple(attributes, _MAX_THREADS),
        required_block=_triple(attributes, _REQUIRED_BLOCK),
    )


def _named(elf: Elf, index: int) -> Section:
    if index >= len(elf.sections):
        raise CubinError("a symbol lies outside the section table")
    return elf.sections[index]


_Attribute = tuple[int, int, memoryview]


def _attributes(section: Section | None) -> Iterator[_Attribute]:
    """Yield (number, short value, bytes) of each attribute of a ``.nv.info`` section."""
    data = section.data if section else memoryview(b"")
    offset = 0
    while offset < len(data):
        if len(data) - offset < 4:
            raise CubinError("an attribute is cut short")
        form, number, value = struct.unpack_from("<BBH", data, offset)
        offset += 4
        body = memoryview(b"")
        if form == _SIZED:
            body = data[offset : offset + value]
            if len(body) < value:
                raise CubinError("an attribute is cut short")
            offset += value
        elif form not in (_NO_VALUE, _BYTE, _HALF):
            raise CubinError(f"an attribute has the unknown form {form}")
        yield number, value, body


def _words(attributes: list[_Attribute]) -> Iterator[tuple[int, int]]:
    for number, value, body in attributes:
        yield number, struct.unpack_from("<I", body)[0] if len(body) >= 4 else value


def _triple(attributes: list[_Attribute], wanted: int) -> tuple[int, int, int] | None:
    for number, _, body in attributes:
        if number == wanted:
            if len(body) < 12:
                raise CubinError("an attribute is cut short")
            x, y, z = struct.unpack_from("<III", body)
            return x, y, z
    return None


def _parameters(attributes: list[_Attribute]) -> Iterator[EntryParameter]:
    for number, _, body in attributes:
        if number in (_PARAMETER, _PARAMETER_V2):
            if len(body) != 12:
                raise CubinError("a parameter's record has the wrong length")
            _, _, offset, packed = struct.unpack("<IHHI", body)
            size = packed >> 18 if number == _PARAMETER else packed & 0xFF_FFFF
            yield EntryParameter(offset, size, _alignment(offset, size))


def _alignment(offset: int, size: int) -> int:
    """Return the greatest alignment that offset and size allow; a cubin does not state it."""
    align = 16
    while align > 1 and (offset % align or size % align):
        align //= 2
    return align


def _sizes(elf: Elf, wanted: int) -> dict[int, int]:
    """Return what an attribute of ``.nv.info`` says of each symbol (by row)."""
    found: dict[int, int] = {}
    for number, _, body in _attributes(elf.section(".nv.info")):
        if number == wanted:
            if len(body) != 8:
                raise CubinError("a size's record has the wrong length")
            row, size = struct.unpack("<II", body)
            found[row] = size if size != _UNBOUNDED else 0
    return found


def _static_shared(elf: Elf, symbol: str) -> int:
    """Return a kernel's own static shared memory.

    From sm_90 the section begins with 1,024 bytes of the system's, which the driver does not count
    against the kernel (its attribute SHARED_SIZE_BYTES leaves them out).
    """
    section = elf.section(f".nv.shared.{symbol}")
    size = section.size if section else 0
    reserved = any(row.name == _RESERVED for row in elf.symbols)
    return max(0, size - _RESERVED_BYTES) if reserved else size


_SPACES = (
    (".nv.global.init", "global", True),
    (".nv.global", "global", False),
    (".nv.constant3", "const", True),
)


def is_hidden(name: str) -> bool:
    """Whether a variable is the compiler's own: a string of ``printf`` or ``assert``."""
    return name.startswith(("$", "__unnamed_"))


def _globals(elf: Elf) -> dict[str, GlobalSymbol]:
    found = {}
    for symbol in elf.symbols:
        if symbol.info & 15 != _TYPE_OBJECT or not symbol.section or is_hidden(symbol.name):
            continue
        name = _named(elf, symbol.section).name
        for section, space, initialised in _SPACES:
            if name == section:
                align = _alignment(symbol.value, symbol.size)
                found[symbol.name] = GlobalSymbol(symbol.name, space, symbol.size, align, initialised)
    return found
