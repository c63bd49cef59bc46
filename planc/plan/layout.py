"""Where things lie in a plan file: prelude, section names, row types, alignment."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from planc.plan import program as tables

MAGIC = b"\x89PLAN\r\n\x1a"
FORMAT = (0, 1)
ALIGN = 64

PRELUDE = struct.Struct("<8sHHIQ8s32s")
"""magic, major, minor, header length, file length, zeros, seal (SHA-256)."""

SEALED = 32
"""How many bytes of the prelude the seal covers; the header's bytes follow them in the hash."""

PLACE = np.dtype([("file", "<u4"), ("line", "<u4"), ("column", "<u4")], align=False)
BYTE = np.dtype("u1")
INDEX = np.dtype("<u4")

PROGRAM_SECTIONS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "nodes": tables.NODE,
        "kernel_ops": tables.KERNEL_OP,
        "fill_ops": tables.FILL_OP,
        "copy_ops": tables.COPY_OP,
        "edges": tables.EDGE,
        "boxes": tables.BOX,
        "axes": tables.AXIS,
        "effects": tables.EFFECT,
        "relocations": tables.RELOCATION,
        "patches": tables.PATCH,
        "arguments": BYTE,
        "name_ends": INDEX,
        "name_text": BYTE,
    }
)
"""The sections that the `program` digest covers, in file order, with the type of a row."""

DEBUG_SECTIONS: Mapping[str, np.dtype[Any]] = MappingProxyType({"places": PLACE})

SCHEDULE_SECTIONS: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "order": INDEX,
        "lanes": INDEX,
        "edges": tables.EMITTED_EDGE,
        "placements": tables.PLACEMENT,
    }
)


def aligned(offset: int) -> int:
    """Return the first section boundary at or after ``offset`` (bytes)."""
    return -(-offset // ALIGN) * ALIGN


def program_section(program: int, name: str) -> str:
    """Name a table of a program."""
    return f"program/{program}/{name}"


def schedule_section(program: int, schedule: int, name: str) -> str:
    """Name a table of a schedule."""
    return f"program/{program}/schedule/{schedule}/{name}"


def image_section(digest: str) -> str:
    """Name the section of a kernel image by its SHA-256."""
    return f"image/{digest}"


def constant_section(digest: str) -> str:
    """Name the section of a constant by its SHA-256."""
    return f"constant/{digest}"


def row_type(section: str) -> np.dtype[Any]:
    """Return the type of a row of a section; images and constants are bytes."""
    parts = section.split("/")
    if parts[0] in ("image", "constant"):
        return BYTE
    if len(parts) == 5:
        return SCHEDULE_SECTIONS[parts[4]]
    return {**PROGRAM_SECTIONS, **DEBUG_SECTIONS}[parts[2]]
