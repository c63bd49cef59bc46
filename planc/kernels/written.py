"""The parameters of a built kernel as its source writes them: names, types, signedness, const."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from planc.kernels.artifact import EntryParameter, SourceParameter
from planc.kernels.declarations import SourceEntry, instance_types, read_declarations
from planc.kernels.demangle import CType
from planc.kernels.entries import Entry, typed_parameters
from planc.kernels.parameters import WrittenParameter, split_arguments
from planc.kernels.sources import ProjectFile
from planc.plan.dtypes import DTYPES

_POINTER_BYTES = 8


def declarations_in(files: Iterable[ProjectFile]) -> tuple[SourceEntry, ...]:
    """Return the ``__global__`` declarations of the author's files, the main file's first."""
    return tuple(entry for file in files for entry in read_declarations(file.text, file.display))


def template_names(declared: Iterable[SourceEntry]) -> set[str]:
    """Return the names of kernel templates."""
    return {entry.name for entry in declared if entry.template}


def source_parameters(
    entry: Entry, instance: str, declared: Sequence[SourceEntry], parameters: Sequence[EntryParameter]
) -> tuple[SourceParameter, ...] | None:
    """Return one SourceParameter for each of ``parameters``; None where nothing tells of them.

    ``instance`` is the entry as the graph writes it. A mangled name fixes types beyond doubt, a
    declaration gives names, and types where the name is plain. Declarations that disagree
    (``#ifdef``) and that the widths in the PTX do not tell apart give no type.
    """
    types = typed_parameters(entry, len(parameters))
    arguments = split_arguments(instance)[1] or ()
    readings = []
    for candidate in declared:
        if _names(candidate, entry, arguments):
            reading = _read(candidate, arguments, len(parameters))
            if reading is not None and _fits(reading, parameters, types):
                readings.append(_typed(reading, types))
    if readings:
        return _agreed(readings)
    if types is None:
        return None
    return tuple(_unnamed(item) for item in types)


def _names(candidate: SourceEntry, entry: Entry, arguments: tuple[str, ...]) -> bool:
    if candidate.arguments is not None and candidate.arguments != arguments:
        return False
    if entry.demangled is None:
        return candidate.name.rsplit("::", 1)[-1] == entry.symbol
    wanted = entry.demangled.name.replace("(anonymous namespace)::", "")
    return candidate.name == wanted


def _read(
    candidate: SourceEntry, arguments: tuple[str, ...], count: int
) -> tuple[SourceParameter, ...] | None:
    types = instance_types(candidate, arguments)
    found = []
    for written in candidate.parameters:
        if written.pack:
            missing = count - len(candidate.parameters) + 1
            found += [_of_pack(written, index, candidate.file) for index in range(missing)]
        else:
            found.append(_plain(written.resolved(types), candidate.file))
    return tuple(found) if len(found) == count else None


def _plain(written: WrittenParameter, file: str) -> SourceParameter:
    return SourceParameter(
        written.name,
        written.text,
        written.dtype(),
        written.pointer,
        written.const,
        written.line,
        written.column,
        file,
    )


def _of_pack(written: WrittenParameter, index: int, file: str) -> SourceParameter:
    plain = _plain(written, file)
    return replace(plain, name=f"{written.name}_{index}", dtype=None)


def _unnamed(item: CType) -> SourceParameter:
    return SourceParameter("", item.text, item.dtype, item.pointer, item.const, 0, 0)


def _typed(
    reading: tuple[SourceParameter, ...], types: tuple[CType, ...] | None
) -> tuple[SourceParameter, ...]:
    if types is None:
        return reading
    return tuple(
        replace(mine, dtype=known.dtype, pointer=known.pointer, const=known.const)
        for mine, known in zip(reading, types, strict=True)
    )


def _fits(
    reading: tuple[SourceParameter, ...],
    parameters: Sequence[EntryParameter],
    types: tuple[CType, ...] | None,
) -> bool:
    """Whether a declaration can be that of the code: by its types, or else by its widths."""
    if types is not None:
        return all(
            mine.pointer == known.pointer or mine.dtype is None
            for mine, known in zip(reading, types, strict=True)
        )
    return all(_width(mine) in (None, p.size) for mine, p in zip(reading, parameters, strict=True))


def _width(parameter: SourceParameter) -> int | None:
    if parameter.pointer:
        return _POINTER_BYTES
    return None if parameter.dtype is None else DTYPES[parameter.dtype].itemsize


def _agreed(readings: Sequence[tuple[SourceParameter, ...]]) -> tuple[SourceParameter, ...]:
    """Return the first reading, without the types on which another disagrees."""
    first = readings[0]
    found = []
    for index, mine in enumerate(first):
        others = [reading[index] for reading in readings[1:]]
        dtype = mine.dtype if all(o.dtype == mine.dtype for o in others) else None
        name = mine.name or next((o.name for o in others if o.name), "")
        const = mine.const and all(o.const for o in others)
        found.append(replace(mine, dtype=dtype, name=name, const=const))
    return tuple(found)
