"""A plan file in parts: its header as plain maps and its sections, to look into or to damage on purpose."""

from __future__ import annotations

from dataclasses import dataclass

from planc.plan.container import check_table, chunks, read_header_map, read_prelude
from planc.plan.header import Map
from planc.plan.layout import PRELUDE
from planc.plan.program import Bytes


@dataclass(slots=True)
class Parts:
    """The header (plain maps) and the bytes of each section, in file order. Both may be changed."""

    header: Map
    sections: dict[str, Bytes]


def take_apart(data: Bytes) -> Parts:
    """Split the bytes of a plan; only the container is checked, not what it contains.

    Raises :class:`planc.diagnostics.PlanError` (PLC601 to PLC620).
    """
    view = memoryview(data).toreadonly().cast("B")
    prelude = read_prelude(bytes(view[: PRELUDE.size]), len(view))
    header = read_header_map(prelude, bytes(view[PRELUDE.size : PRELUDE.size + prelude.header_length]))
    check_table(header, prelude)
    sections: dict[str, Bytes] = {
        section["name"]: view[prelude.body + section["offset"] :][: section["length"]]
        for section in header["sections"]
    }
    return Parts(header, sections)


def put_together(parts: Parts, *, fill: bool = True) -> bytes:
    """Seal parts to the bytes of a plan file: prelude, padding and all digests made anew.

    The header's section table and `program` digests are filled in; with ``fill`` false they stay as they
    are, and only the prelude's digest is right. Nothing else is checked or mended:
    :func:`planc.plan.decode` judges the result.
    """
    return b"".join(chunks(parts.header, parts.sections, fill=fill))
