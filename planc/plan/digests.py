"""The `program` digest: what a program means, and nothing of who wrote it where or how it is run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from planc.plan.layout import PROGRAM_SECTIONS, program_section
from planc.plan.packing import pack
from planc.plan.program import Bytes

IDENTITY = 1
"""Version of the digest's own definition; it changes only if equal programs must get new digests."""

IDENTITY_KEYS = ("name", "targets", "devices", "slots", "buffers", "modules", "functions", "may_alias")
"""The keys of a program's header that are part of what it means."""


def sha256(data: Bytes) -> str:
    """Return the SHA-256 of bytes, in lowercase hex."""
    return hashlib.sha256(data).hexdigest()


def identity_digest(program: Mapping[str, Any], index: int, sections: Mapping[str, str]) -> str:
    """Return the `program` digest of one program from its header and the digests of its sections.

    ``index`` is the program's row, which names its sections; it is not part of the digest.
    """
    record = {key: program[key] for key in IDENTITY_KEYS}
    tables = {name: sections[program_section(index, name)] for name in PROGRAM_SECTIONS}
    return sha256(pack({"planc program": IDENTITY, "header": record, "tables": tables}))


def combined_digest(programs: Sequence[str]) -> str:
    """Return the `program` digest of a whole plan from those of its programs; of one program, its own."""
    if len(programs) == 1:
        return programs[0]
    return sha256(pack({"planc programs": IDENTITY, "programs": list(programs)}))
