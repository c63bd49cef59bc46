"""Writing plans: canonical order, the reader's own rules, then bytes; a file is replaced whole."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from planc.plan.container import chunks
from planc.plan.digests import identity_digest, sha256
from planc.plan.findings import Findings, refuse
from planc.plan.header import Map, program_map
from planc.plan.layout import (
    DEBUG_SECTIONS,
    PROGRAM_SECTIONS,
    SCHEDULE_SECTIONS,
    constant_section,
    image_section,
    program_section,
    schedule_section,
)
from planc.plan.names import encode_names
from planc.plan.places import place_table
from planc.plan.program import NONE, Bytes, NodeKind, Plan, Program, Schedule, Slot, Table
from planc.plan.rules import validate
from planc.plan.schema import HEADER

_SORTED_BY = {
    "edges": ("before", "after"),
    "relocations": ("offset",),
    "patches": ("offset",),
    "effects": ("node",),
}
_FLOATS = frozenset({"f16", "bf16", "f32", "f64"})


def encode(plan: Plan) -> bytes:
    """Return the bytes of a plan file. Equal plans give equal bytes.

    Raises :class:`planc.diagnostics.PlanError` where the plan breaks a rule of the reader.
    """
    return b"".join(_chunks(plan))


def write(path: str | os.PathLike[str], plan: Plan) -> None:
    """Write a plan file, whole or not at all: a file that was there stays until the new one is on disk.

    Raises :class:`planc.diagnostics.PlanError`: PLC626 where the file cannot be written, else as
    :func:`encode`.
    """
    target = Path(path)
    pieces = list(_chunks(plan))
    try:
        _replace(target, pieces)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        cure = "name a file in a folder that is there, may be written and has room"
        message = f"`{target}` cannot be written: {reason}"
        raise refuse("PLC626", message, cure, file=str(target)) from error


def program_digest(program: Program) -> str:
    """Return the `program` digest: the same for the same graph, kernels, constants and effects.

    Places, schedules and the producer do not count. Nothing is checked.
    """
    program = canonical_program(program)
    digests = {name: sha256(data) for name, data in _program_sections(program, 0).items()}
    return identity_digest(program_map(program, (), ()), 0, digests)


def canonical_program(program: Program) -> Program:
    """Return the program with its rows and values in the one order and form that a file may have."""
    tables: dict[str, Any] = {
        name: _sorted(getattr(program, name), keys) for name, keys in _SORTED_BY.items()
    }
    return replace(
        program,
        **tables,
        nodes=_plain_joins(program.nodes),
        slots=tuple(_plain_slot(slot) for slot in program.slots),
        may_alias=tuple(sorted((min(pair), max(pair)) for pair in program.may_alias)),
        places=place_table(program.places),
    )


def canonical_schedule(schedule: Schedule) -> Schedule:
    """Return the schedule with its edges and placements in file order."""
    return replace(
        schedule,
        edges=_sorted(schedule.edges, ("before", "after")),
        placements=_sorted(schedule.placements, ("buffer",)),
    )


def _sorted(table: Table, keys: tuple[str, ...]) -> Table:
    """Sort rows by ``keys``; rows that are equal there keep their order."""
    order = np.lexsort([table[key] for key in reversed(keys)])
    return table if np.array_equal(order, np.arange(len(table))) else table[order]


def _plain_joins(nodes: Table) -> Table:
    joins = nodes["kind"] == NodeKind.JOIN
    if not (nodes["op"][joins] != NONE).any():
        return nodes
    nodes = nodes.copy()
    nodes["op"][joins] = NONE
    return nodes


def _plain_slot(slot: Slot) -> Slot:
    if slot.dtype not in _FLOATS:
        return slot

    def number(value: Any) -> Any:
        return float(value) if type(value) is int else value

    return replace(slot, value=number(slot.value), low=number(slot.low), high=number(slot.high))


def _chunks(plan: Plan) -> Iterator[Bytes]:
    plan = replace(
        plan,
        programs=tuple(canonical_program(program) for program in plan.programs),
        schedules=tuple(tuple(canonical_schedule(s) for s in many) for many in plan.schedules),
    )
    header = _header(plan)
    found = Findings()
    HEADER(header, "header", found)
    found.settle()
    validate(plan)
    return chunks(header, _sections(plan))


def _header(plan: Plan) -> Map:
    programs = [
        program_map(program, schedules, place_table(program.places).files)
        for program, schedules in zip(plan.programs, plan.schedules, strict=True)
    ]
    return {
        "producer": plan.producer,
        "verdict": plan.verdict,
        "facts": list(plan.facts),
        "program": "",
        "programs": programs,
        "sections": [],
    }


def _sections(plan: Plan) -> Mapping[str, Bytes]:
    sections: dict[str, Bytes] = {}
    for row, (program, schedules) in enumerate(zip(plan.programs, plan.schedules, strict=True)):
        sections.update(_program_sections(program, row))
        for name in DEBUG_SECTIONS:
            sections[program_section(row, name)] = _bytes(place_table(program.places).rows)
        for index, schedule in enumerate(schedules):
            for name, dtype in SCHEDULE_SECTIONS.items():
                table = np.asarray(getattr(schedule, name)).astype(dtype, copy=False)
                sections[schedule_section(row, index, name)] = _bytes(table)
    images = {i.digest: i.data for p in plan.programs for m in p.modules for i in m.images}
    constants = {digest: data for p in plan.programs for digest, data in p.constants.items()}
    sections.update((image_section(digest), images[digest]) for digest in sorted(images))
    sections.update((constant_section(digest), constants[digest]) for digest in sorted(constants))
    return sections


def _program_sections(program: Program, row: int) -> dict[str, Bytes]:
    ends, text = encode_names(program.node_names)
    special: dict[str, Bytes] = {"arguments": program.arguments, "name_ends": _bytes(ends), "name_text": text}
    return {
        program_section(row, name): special[name] if name in special else _bytes(getattr(program, name))
        for name in PROGRAM_SECTIONS
    }


def _bytes(table: Table) -> bytes:
    return table.tobytes()


def _replace(target: Path, pieces: list[Bytes]) -> None:
    """Write beside the target, flush to disk, rename over it; leave nothing behind on failure."""
    beside = target.with_name(f".{target.name}.{secrets.token_hex(8)}.partial")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o666
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        return
    finally:
        os.close(handle)
