"""What the header alone says of a plan, as frozen values, and its form as plain maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from planc.plan.digests import combined_digest, identity_digest
from planc.plan.layout import FORMAT, row_type
from planc.plan.program import (
    Buffer,
    Function,
    FunctionParameter,
    Program,
    Role,
    Schedule,
    Slot,
)
from planc.plan.schema import ROLE_WORDS

Map = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Section:
    """One run of bytes of the file: ``offset`` and ``length`` in bytes, ``sha256`` in hex."""

    name: str
    offset: int
    length: int
    sha256: str

    @property
    def rows(self) -> int:
        """How many rows of its table the section holds (bytes, for bytes)."""
        return self.length // row_type(self.name).itemsize


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """Code for one target, without its bytes: ``digest`` names the section ``image/<digest>``."""

    target: str
    form: str
    digest: str


@dataclass(frozen=True, slots=True)
class ModuleHeader:
    """A module without the bytes of its images."""

    name: str
    exact: bool
    images: tuple[ImageHeader, ...]


@dataclass(frozen=True, slots=True)
class ScheduleHeader:
    """A schedule without its tables; the arena is what its scratch buffers share, in bytes."""

    name: str
    targets: tuple[str, ...]
    arena_bytes: int


@dataclass(frozen=True, slots=True)
class ProgramHeader:
    """A program without its tables.

    ``memory`` gives the bytes of all buffers of a role, by the role's word (``input``, …); ``devices``
    how many the program uses; ``files`` the names of its source files (debug).
    """

    name: str
    digest: str
    targets: tuple[str, ...]
    devices: int
    slots: tuple[Slot, ...]
    buffers: tuple[Buffer, ...]
    modules: tuple[ModuleHeader, ...]
    functions: tuple[Function, ...]
    may_alias: tuple[tuple[int, int], ...]
    memory: Mapping[str, int]
    files: tuple[str, ...]
    schedules: tuple[ScheduleHeader, ...]


@dataclass(frozen=True, slots=True)
class PlanHeader:
    """All that can be known of a plan without touching its sections.

    ``file_digest`` covers the whole file through the digests of the section table; it does not
    show that the sections still have them: only a full read does.
    """

    version: tuple[int, int]
    file_bytes: int
    file_digest: str
    program_digest: str
    producer: str
    verdict: str
    facts: tuple[str, ...]
    programs: tuple[ProgramHeader, ...]
    sections: tuple[Section, ...]


def memory_totals(buffers: Sequence[Buffer]) -> dict[str, int]:
    """Return the bytes of all buffers of each role, by the role's word."""
    totals = dict.fromkeys(ROLE_WORDS, 0)
    for buffer in buffers:
        totals[buffer.role.name.lower()] += buffer.nbytes
    return totals


def device_count(program: Program) -> int:
    """Return how many devices the program names: one more than the highest."""
    highest = max((buffer.device for buffer in program.buffers), default=0)
    return 1 + max(highest, int(program.nodes["device"].max(initial=0)))


def _buffer_map(buffer: Buffer) -> Map:
    symbol = None if buffer.symbol is None else {"module": buffer.symbol[0], "name": buffer.symbol[1]}
    return {
        "name": buffer.name,
        "dtype": buffer.dtype,
        "shape": list(buffer.shape),
        "role": buffer.role.name.lower(),
        "nbytes": buffer.nbytes,
        "align": buffer.align,
        "data": buffer.data,
        "embedded": buffer.embedded,
        "symbol": symbol,
        "device": buffer.device,
    }


def _slot_map(slot: Slot) -> Map:
    return {
        "name": slot.name,
        "dtype": slot.dtype,
        "value": slot.value,
        "low": slot.low,
        "high": slot.high,
    }


def _parameter_map(parameter: FunctionParameter) -> Map:
    return {
        "name": parameter.name,
        "offset": parameter.offset,
        "size": parameter.size,
        "align": parameter.align,
        "pointer": parameter.pointer,
        "dtype": parameter.dtype,
    }


def _function_map(function: Function) -> Map:
    return {
        "name": function.name,
        "symbol": function.symbol,
        "module": function.module,
        "parameters": [_parameter_map(parameter) for parameter in function.parameters],
    }


def _schedule_map(schedule: Schedule) -> Map:
    return {
        "name": schedule.name,
        "targets": list(schedule.targets),
        "arena_bytes": schedule.arena_bytes,
    }


def program_map(program: Program, schedules: Sequence[Schedule], files: Sequence[str]) -> Map:
    """Return a program's part of the header, its digest still empty."""
    modules = [
        {
            "name": module.name,
            "exact": module.exact,
            "images": [{"target": i.target, "form": i.form, "digest": i.digest} for i in module.images],
        }
        for module in program.modules
    ]
    return {
        "name": program.name,
        "digest": "",
        "targets": list(program.targets),
        "devices": device_count(program),
        "slots": [_slot_map(slot) for slot in program.slots],
        "buffers": [_buffer_map(buffer) for buffer in program.buffers],
        "modules": modules,
        "functions": [_function_map(function) for function in program.functions],
        "may_alias": [list(pair) for pair in program.may_alias],
        "memory": memory_totals(program.buffers),
        "files": list(files),
        "schedules": [_schedule_map(schedule) for schedule in schedules],
    }


def fill_digests(header: Map, sections: Sequence[Map]) -> None:
    """Put the section table into a header, and the `program` digests that follow from it."""
    header["sections"] = list(sections)
    digests = {section["name"]: section["sha256"] for section in sections}
    for index, program in enumerate(header["programs"]):
        program["digest"] = identity_digest(program, index, digests)
    header["program"] = combined_digest([program["digest"] for program in header["programs"]])


def _buffer(value: Map) -> Buffer:
    symbol = value["symbol"]
    return Buffer(
        name=value["name"],
        dtype=value["dtype"],
        shape=tuple(value["shape"]),
        role=Role[value["role"].upper()],
        nbytes=value["nbytes"],
        align=value["align"],
        data=value["data"],
        embedded=value["embedded"],
        symbol=None if symbol is None else (symbol["module"], symbol["name"]),
        device=value["device"],
    )


def _function(value: Map) -> Function:
    parameters = tuple(FunctionParameter(**parameter) for parameter in value["parameters"])
    return Function(value["name"], value["symbol"], value["module"], parameters)


def _module(value: Map) -> ModuleHeader:
    images = tuple(ImageHeader(**image) for image in value["images"])
    return ModuleHeader(value["name"], value["exact"], images)


def _schedule(value: Map) -> ScheduleHeader:
    return ScheduleHeader(value["name"], tuple(value["targets"]), value["arena_bytes"])


def _program(value: Map) -> ProgramHeader:
    return ProgramHeader(
        name=value["name"],
        digest=value["digest"],
        targets=tuple(value["targets"]),
        devices=value["devices"],
        slots=tuple(Slot(**slot) for slot in value["slots"]),
        buffers=tuple(_buffer(buffer) for buffer in value["buffers"]),
        modules=tuple(_module(module) for module in value["modules"]),
        functions=tuple(_function(function) for function in value["functions"]),
        may_alias=tuple((first, second) for first, second in value["may_alias"]),
        memory=dict(value["memory"]),
        files=tuple(value["files"]),
        schedules=tuple(_schedule(schedule) for schedule in value["schedules"]),
    )


def header_value(header: Map, file_bytes: int, file_digest: str) -> PlanHeader:
    """Turn a header that fits the schema into frozen values."""
    return PlanHeader(
        version=FORMAT,
        file_bytes=file_bytes,
        file_digest=file_digest,
        program_digest=header["program"],
        producer=header["producer"],
        verdict=header["verdict"],
        facts=tuple(header["facts"]),
        programs=tuple(_program(program) for program in header["programs"]),
        sections=tuple(Section(**section) for section in header["sections"]),
    )
