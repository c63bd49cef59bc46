"""Reading plans: nothing of a file is used before it was checked, and nothing big is copied."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from planc.diagnostics import PlanError
from planc.plan.container import (
    Prelude,
    check_bytes,
    check_table,
    read_header_map,
    read_prelude,
)
from planc.plan.digests import combined_digest, identity_digest
from planc.plan.findings import Findings, refuse
from planc.plan.header import (
    Map,
    PlanHeader,
    ProgramHeader,
    ScheduleHeader,
    device_count,
    header_value,
    memory_totals,
)
from planc.plan.layout import (
    PLACE,
    PRELUDE,
    PROGRAM_SECTIONS,
    SCHEDULE_SECTIONS,
    constant_section,
    image_section,
    program_section,
    row_type,
    schedule_section,
)
from planc.plan.names import decode_names
from planc.plan.places import PlaceTable, place_table
from planc.plan.program import Bytes, Image, Module, Plan, Program, Schedule, Table
from planc.plan.rules import check_plan

Views = Mapping[str, memoryview]
T = TypeVar("T")


_READABLE = "name a plan that is there and may be read"


def read(path: str | os.PathLike[str], *, mapped: bool = True) -> Plan:
    """Read a plan file; tables, images and constants are read-only views of it.

    ``mapped`` maps the file. Whoever then writes into it (planc itself never does: it replaces files whole)
    changes what was checked; ``mapped=False`` reads it into memory first.

    Raises :class:`planc.diagnostics.PlanError`: PLC625 where the file cannot be read, else as
    :func:`decode`.
    """
    return read_whole(path, mapped=mapped)[1]


def read_whole(path: str | os.PathLike[str], *, mapped: bool = True) -> tuple[PlanHeader, Plan]:
    """Read a plan file as :func:`read` does, and return its header too."""
    return _with_file(path, lambda file, size: decode_whole(_contents(file, size, mapped)))


def read_header(path: str | os.PathLike[str]) -> PlanHeader:
    """Read the header alone: prelude, seal, header, section table, `program` digests. No section is touched.

    Raises :class:`planc.diagnostics.PlanError` as :func:`read` does, for what the header shows.
    """
    return _with_file(path, _header_of_file)


def decode(data: Bytes | bytearray | mmap.mmap) -> Plan:
    """Check the bytes of a plan file and return the plan, whose tables and blobs are views of ``data``.

    Raises :class:`planc.diagnostics.PlanError` (codes 6xx) with everything that is wrong, as far as it
    can be told: a damaged container hides what it contains.
    """
    return decode_whole(data)[1]


def decode_whole(data: Bytes | bytearray | mmap.mmap) -> tuple[PlanHeader, Plan]:
    """Check the bytes of a plan file and return its header and the plan, as :func:`decode` does."""
    view = memoryview(data).toreadonly().cast("B")
    prelude = read_prelude(bytes(view[: PRELUDE.size]), len(view))
    header = _header(prelude, bytes(view[PRELUDE.size : PRELUDE.size + prelude.header_length]))
    check_bytes(view, prelude, header.sections)
    views = {
        section.name: view[prelude.body + section.offset :][: section.length] for section in header.sections
    }
    programs = tuple(_program(program, row, views) for row, program in enumerate(header.programs))
    schedules = tuple(
        tuple(_schedule(schedule, row, index, views) for index, schedule in enumerate(program.schedules))
        for row, program in enumerate(header.programs)
    )
    plan = Plan(programs, schedules, header.verdict, header.facts, header.producer)
    check_plan(plan)
    _check_devices(header, plan)
    return header, plan


def decode_header(data: Bytes | bytearray) -> PlanHeader:
    """Return the header of a plan's bytes, with the checks of :func:`read_header`."""
    view = memoryview(data).toreadonly().cast("B")
    prelude = read_prelude(bytes(view[: PRELUDE.size]), len(view))
    return _header(prelude, bytes(view[PRELUDE.size : PRELUDE.size + prelude.header_length]))


def file_digest(data: Bytes | bytearray) -> str:
    """Return the `file` digest of a plan's bytes: everything counts, through the header's section digests."""
    return decode_header(data).file_digest


def _with_file(path: str | os.PathLike[str], use: Callable[[BinaryIO, int], T]) -> T:
    name = str(Path(path))
    if Path(path).exists() and not Path(path).is_file():  # opening a pipe would wait for its writer
        raise refuse("PLC625", f"`{name}` cannot be read: it is not a file", _READABLE, file=name)
    try:
        with Path(path).open("rb") as file:
            return use(file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise refuse("PLC625", f"`{name}` cannot be read: {reason}", _READABLE, file=name) from error
    except PlanError as error:
        raise PlanError(
            replace(d, message=f"`{name}`: {d.message}", facts={"file": name, **d.facts})
            for d in error.diagnostics
        ) from None


def _contents(file: BinaryIO, size: int, mapped: bool) -> Bytes | mmap.mmap:
    if mapped and size:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return file.read()


def _header_of_file(file: BinaryIO, size: int) -> PlanHeader:
    prelude = read_prelude(file.read(PRELUDE.size), size)
    return _header(prelude, file.read(prelude.header_length))


def _header(prelude: Prelude, packed: bytes) -> PlanHeader:
    header = read_header_map(prelude, packed)
    check_table(header, prelude)
    _check_derived(header)
    value = header_value(header, prelude.file_length, prelude.seal.hex())
    found = Findings()
    for program in value.programs:
        if program.memory != memory_totals(program.buffers):
            found.add("PLC622", f"the memory totals of program `{program.name}` are not those of its buffers")
    found.settle()
    return value


def _check_derived(header: Map) -> None:
    """Check the `program` digests, which follow from the header and its section table."""
    digests = {section["name"]: section["sha256"] for section in header["sections"]}
    found = Findings()
    for row, program in enumerate(header["programs"]):
        if identity_digest(program, row, digests) != program["digest"]:
            found.add("PLC627", f"the `program` digest of program {row} is wrong", program=row)
    if combined_digest([program["digest"] for program in header["programs"]]) != header["program"]:
        found.add("PLC627", "the `program` digest of the plan is wrong")
    found.settle()


def _check_devices(header: PlanHeader, plan: Plan) -> None:
    found = Findings()
    for stated, program in zip(header.programs, plan.programs, strict=True):
        devices = device_count(program)
        if stated.devices != devices:
            found.add("PLC622", f"program `{stated.name}` states {stated.devices} devices and uses {devices}")
    found.settle()


def _rows(views: Views, name: str) -> Table:
    return np.frombuffer(views[name], row_type(name))


def _program(header: ProgramHeader, row: int, views: Views) -> Program:
    tables: dict[str, Any] = {
        name: _rows(views, program_section(row, name))
        for name in PROGRAM_SECTIONS
        if name not in ("arguments", "name_ends", "name_text")
    }
    ends = _rows(views, program_section(row, "name_ends"))
    modules = tuple(
        Module(
            module.name,
            tuple(
                Image(image.target, image.form, image.digest, views[image_section(image.digest)])
                for image in module.images
            ),
            module.exact,
        )
        for module in header.modules
    )
    constants = {b.data: views[constant_section(b.data)] for b in header.buffers if b.data and b.embedded}
    return Program(
        name=header.name,
        targets=header.targets,
        buffers=header.buffers,
        slots=header.slots,
        modules=modules,
        functions=header.functions,
        node_names=decode_names(ends, views[program_section(row, "name_text")]),
        arguments=views[program_section(row, "arguments")],
        constants=constants,
        places=_places(header, row, views),
        may_alias=header.may_alias,
        **tables,
    )


def _places(header: ProgramHeader, row: int, views: Views) -> PlaceTable:
    rows = np.frombuffer(views[program_section(row, "places")], PLACE)
    if (rows["file"] >= len(header.files)).any():
        raise refuse("PLC636", f"a place of program `{header.name}` names a file that is not listed")
    places = PlaceTable(header.files, rows)
    if place_table(places).files != header.files:
        raise refuse(
            "PLC611", f"the files of program `{header.name}` are not just those of its places, in order"
        )
    return places


def _schedule(header: ScheduleHeader, row: int, index: int, views: Views) -> Schedule:
    tables = {name: _rows(views, schedule_section(row, index, name)) for name in SCHEDULE_SECTIONS}
    return Schedule(header.name, header.targets, **tables, arena_bytes=header.arena_bytes)
