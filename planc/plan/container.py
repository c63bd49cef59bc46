"""The container: prelude, header, sections, padding and the digests that hold them together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planc.plan import limits
from planc.plan.digests import sha256
from planc.plan.findings import Findings, refuse
from planc.plan.header import Map, Section, fill_digests
from planc.plan.layout import (
    ALIGN,
    DEBUG_SECTIONS,
    FORMAT,
    MAGIC,
    PRELUDE,
    PROGRAM_SECTIONS,
    SCHEDULE_SECTIONS,
    SEALED,
    aligned,
    constant_section,
    image_section,
    program_section,
    row_type,
    schedule_section,
)
from planc.plan.packing import pack, unpack
from planc.plan.program import Bytes
from planc.plan.schema import HEADER


@dataclass(frozen=True, slots=True)
class Prelude:
    """The first 64 bytes. ``header_length`` and ``file_length`` in bytes; ``seal`` is a SHA-256."""

    head: bytes
    header_length: int
    file_length: int
    seal: bytes

    @property
    def body(self) -> int:
        """Where the first section begins, in bytes from the start of the file."""
        return aligned(PRELUDE.size + self.header_length)


def chunks(header: Map, sections: Mapping[str, Bytes], *, fill: bool = True) -> Iterator[Bytes]:
    """Yield the bytes of a plan file piece by piece.

    ``header`` needs no section table and no digests: both are computed here and put into it, unless
    ``fill`` is false. Sections come in the order of the mapping. Nothing is checked.
    """
    table, offset = [], 0
    for name, data in sections.items():
        offset = aligned(offset)
        table.append({"name": name, "offset": offset, "length": len(data), "sha256": sha256(data)})
        offset += len(data)
    if fill:
        fill_digests(header, table)
    packed = pack(header)
    body = aligned(PRELUDE.size + len(packed))
    head = PRELUDE.pack(MAGIC, *FORMAT, len(packed), body + offset, bytes(8), bytes(32))[:SEALED]
    yield head + seal(head, packed)
    yield packed
    written = PRELUDE.size + len(packed)
    for data in sections.values():
        yield bytes(aligned(written) - written)
        yield data
        written = aligned(written) + len(data)


def seal(head: bytes, packed: bytes) -> bytes:
    """Return the SHA-256 over the sealed part of the prelude and the header."""
    return hashlib.sha256(head + packed).digest()


def read_prelude(data: bytes, size: int) -> Prelude:
    """Check the first 64 bytes of a file of ``size`` bytes.

    Raises :class:`planc.diagnostics.PlanError`: PLC601 not a plan, PLC602 another format version,
    PLC603 over a limit, PLC604 cut short, PLC605 trailing bytes, PLC606 reserved bytes.
    """
    if data[: len(MAGIC)] != MAGIC:
        raise refuse("PLC601", "this is not a plan file", bytes=size)
    if len(data) < PRELUDE.size:
        raise refuse("PLC604", f"the plan file ends after {size} bytes, inside its prelude", bytes=size)
    _, major, minor, header_length, file_length, zeros, sealed = PRELUDE.unpack(data[: PRELUDE.size])
    if (major, minor) != FORMAT:
        raise refuse(
            "PLC602",
            f"the plan has format {major}.{minor}; this planc reads {FORMAT[0]}.{FORMAT[1]}",
            help="compile the graph again with this version of planc",
            major=major,
            minor=minor,
        )
    if zeros != bytes(8):
        raise refuse("PLC606", "reserved bytes of the prelude are not zero")
    prelude = Prelude(data[:SEALED], header_length, file_length, sealed)
    _lengths(prelude, size)
    return prelude


def _lengths(prelude: Prelude, size: int) -> None:
    if prelude.header_length > limits.HEADER_BYTES or prelude.file_length > limits.FILE_BYTES:
        raise refuse(
            "PLC603",
            f"the plan says a header of {prelude.header_length} and a file of {prelude.file_length} bytes, "
            "over the limit",
            header_bytes=prelude.header_length,
            file_bytes=prelude.file_length,
        )
    if size > prelude.file_length:
        raise refuse(
            "PLC605",
            f"{size - prelude.file_length} bytes follow the end of the plan",
            bytes=size - prelude.file_length,
        )
    if size < max(prelude.file_length, prelude.body):
        raise refuse(
            "PLC604",
            f"the plan is cut short: {size} of {prelude.file_length} bytes are there",
            bytes=size,
            file_bytes=prelude.file_length,
        )


def read_header_map(prelude: Prelude, packed: bytes) -> Map:
    """Check the seal and return the header, which then fits the schema.

    Raises :class:`planc.diagnostics.PlanError`: PLC607 for the seal, PLC608 to PLC614, PLC623 and
    PLC634 for the header's form.
    """
    if seal(prelude.head, packed) != prelude.seal:
        raise refuse("PLC607", "the digest in the prelude does not match the prelude and the header")
    header = unpack(packed)
    found = Findings()
    HEADER(header, "header", found)
    found.settle()
    return header  # type: ignore[no-any-return]


def expected_sections(header: Mapping[str, Any]) -> list[str]:
    """Return the names of the sections that a header calls for, in file order."""
    names: list[str] = []
    images: set[str] = set()
    constants: set[str] = set()
    for row, program in enumerate(header["programs"]):
        names += [program_section(row, name) for name in (*PROGRAM_SECTIONS, *DEBUG_SECTIONS)]
        for schedule in range(len(program["schedules"])):
            names += [schedule_section(row, schedule, name) for name in SCHEDULE_SECTIONS]
        images.update(image["digest"] for module in program["modules"] for image in module["images"])
        constants.update(b["data"] for b in program["buffers"] if b["data"] is not None and b["embedded"])
    names += [image_section(digest) for digest in sorted(images)]
    return names + [constant_section(digest) for digest in sorted(constants)]


def check_table(header: Map, prelude: Prelude) -> None:
    """Check the section table against the header and the length of the file.

    Raises :class:`planc.diagnostics.PlanError`: PLC615 unknown section, PLC616 missing section, PLC617
    gap, PLC618 misaligned, PLC619 overlap, PLC620 part of a row, PLC604 and PLC605 for the end.
    """
    found = Findings()
    names = [section["name"] for section in header["sections"]]
    _section_names(names, expected_sections(header), found)
    found.settle()
    cursor = 0
    for section in header["sections"]:
        _section_place(section, cursor, found)
        found.settle()
        cursor = section["offset"] + section["length"]
    end = prelude.body + cursor
    if end != prelude.file_length:
        code = "PLC604" if end > prelude.file_length else "PLC605"
        raise refuse(
            code,
            f"the sections end at byte {end}, the file at {prelude.file_length}",
            end=end,
            file_bytes=prelude.file_length,
        )


def _section_names(names: Sequence[str], wanted: Sequence[str], found: Findings) -> None:
    if names == wanted:
        return
    for name in sorted(set(names) - set(wanted)):
        found.add("PLC615", f"the header calls for no section `{name}`", section=name)
    for name in sorted(set(wanted) - set(names)):
        found.add("PLC616", f"section `{name}` is missing", section=name)
    if set(names) == set(wanted):
        twice = sorted({name for name in names if names.count(name) > 1}) if len(names) < 5000 else []
        for name in twice:
            found.add("PLC615", f"section `{name}` is listed twice", section=name)
        if not twice:
            found.add("PLC611", "the sections are not in canonical order")


def _section_place(section: Map, cursor: int, found: Findings) -> None:
    name, offset, length = section["name"], section["offset"], section["length"]
    wanted = aligned(cursor)
    if offset % ALIGN:
        found.add(
            "PLC618", f"section `{name}` begins at {offset}, not on a {ALIGN}-byte boundary", section=name
        )
    elif offset < wanted:
        found.add("PLC619", f"section `{name}` overlaps the one before it", section=name, offset=offset)
    elif offset > wanted:
        found.add(
            "PLC617", f"{offset - wanted} bytes before section `{name}` belong to nothing", section=name
        )
    size = row_type(name).itemsize
    if length % size:
        found.add("PLC620", f"section `{name}` has {length} bytes, not whole rows of {size}", section=name)


def check_bytes(view: memoryview, prelude: Prelude, sections: Sequence[Section]) -> None:
    """Check every section against its digest, and that all padding is zero.

    Raises :class:`planc.diagnostics.PlanError`: PLC606 padding, PLC621 digest of a section, PLC641
    an image or a constant that is not what its name says.
    """
    found = Findings()
    end = PRELUDE.size + prelude.header_length
    for section in sections:
        start = prelude.body + section.offset
        if any(view[end:start]):
            found.add("PLC606", f"padding before section `{section.name}` is not zero", section=section.name)
        end = start + section.length
        _section_digest(view[start:end], section, found)
    found.settle()


def _section_digest(data: memoryview, section: Section, found: Findings) -> None:
    digest = sha256(data)
    kind, _, named = section.name.partition("/")
    if digest != section.sha256:
        found.add(
            "PLC621", f"section `{section.name}` does not have the digest in the header", section=section.name
        )
    elif kind in ("image", "constant") and digest != named:
        found.add(
            "PLC641", f"the bytes of section `{section.name}` have another digest", section=section.name
        )
