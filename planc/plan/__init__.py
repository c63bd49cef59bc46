"""Program and Schedule as tables, and the file that holds them."""

from planc.plan.digests import sha256
from planc.plan.header import (
    ImageHeader,
    ModuleHeader,
    PlanHeader,
    ProgramHeader,
    ScheduleHeader,
    Section,
    memory_totals,
)
from planc.plan.inspect import Inspection, inspect_plan, inspection
from planc.plan.parts import Parts, put_together, take_apart
from planc.plan.reader import decode, decode_header, file_digest, read, read_header
from planc.plan.render import render_inspection
from planc.plan.rules import validate
from planc.plan.writer import encode, program_digest, write

__all__ = [
    "ImageHeader",
    "Inspection",
    "ModuleHeader",
    "Parts",
    "PlanHeader",
    "ProgramHeader",
    "ScheduleHeader",
    "Section",
    "decode",
    "decode_header",
    "encode",
    "file_digest",
    "inspect_plan",
    "inspection",
    "memory_totals",
    "program_digest",
    "put_together",
    "read",
    "read_header",
    "render_inspection",
    "sha256",
    "take_apart",
    "validate",
    "write",
]
