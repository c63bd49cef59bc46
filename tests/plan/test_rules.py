"""The rules on tables, cell by cell: the writer and the reader say the same, and legal neighbours pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from planc.plan import decode, encode, limits, put_together, take_apart, validate
from planc.plan.example import example_plan, with_cells, with_row
from planc.plan.layout import row_type
from planc.plan.program import NONE
from tests.plan.refusals import codes

Case = tuple[str, int, dict[str, Any], str | None]

CASES: tuple[Case, ...] = (
    # nodes
    ("nodes", 0, {"kind": 0}, "PLC635 PLC672"),
    ("nodes", 3, {"kind": 5}, "PLC635"),
    ("nodes", 3, {"op": 0}, "PLC672"),
    ("nodes", 2, {"op": 1}, "PLC672"),
    ("nodes", 1, {"body": 3}, "PLC673"),
    ("nodes", 1, {"device": limits.DEVICES}, "PLC636"),
    # kernel_ops
    ("kernel_ops", 0, {"function": 1}, "PLC636"),
    ("kernel_ops", 0, {"grid": (2**31 - 1, 65_535, 65_535)}, None),
    ("kernel_ops", 0, {"grid": (2**31, 1, 1)}, "PLC650"),
    ("kernel_ops", 0, {"grid": (1, 65_536, 1)}, "PLC650"),
    ("kernel_ops", 0, {"grid": (1, 1, 0)}, "PLC650"),
    ("kernel_ops", 0, {"block": (1024, 1, 1)}, None),
    ("kernel_ops", 0, {"block": (1, 1, 64)}, None),
    ("kernel_ops", 0, {"block": (1, 1, 65)}, "PLC650"),
    ("kernel_ops", 0, {"block": (32, 32, 1)}, None),
    ("kernel_ops", 0, {"block": (32, 33, 1)}, "PLC650"),
    ("kernel_ops", 0, {"block": (0, 1, 1)}, "PLC650"),
    ("kernel_ops", 0, {"shared": 227 * 1024}, None),
    ("kernel_ops", 0, {"shared": 227 * 1024 + 1}, "PLC650"),
    ("kernel_ops", 0, {"args_size": 27}, "PLC651"),
    ("kernel_ops", 0, {"args_size": 32}, "PLC651"),
    ("kernel_ops", 0, {"args_offset": 16}, "PLC651"),
    ("kernel_ops", 0, {"args_offset": 2**64 - 16}, "PLC651"),
    ("kernel_ops", 0, {"flags": 0x8000_0000}, "PLC637"),
    # fill_ops
    ("fill_ops", 0, {"buffer": 4}, "PLC636"),
    ("fill_ops", 0, {"buffer": 0}, "PLC668 PLC670"),
    ("fill_ops", 0, {"box": 2}, "PLC636"),
    ("fill_ops", 0, {"box": 1}, "PLC668"),
    ("fill_ops", 0, {"pattern": 0xFFFF_FFFF}, None),
    ("fill_ops", 0, {"item": 2, "pattern": 0xFFFF}, None),
    ("fill_ops", 0, {"item": 2, "pattern": 0x1_0000}, "PLC647"),
    ("fill_ops", 0, {"item": 1, "pattern": 0xFF}, None),
    ("fill_ops", 0, {"item": 1, "pattern": 0x100}, "PLC647"),
    ("fill_ops", 0, {"item": 0}, "PLC647"),
    ("fill_ops", 0, {"item": 8}, "PLC647"),
    # copy_ops
    ("copy_ops", 0, {"target": NONE}, "PLC636"),
    ("copy_ops", 0, {"target": 2}, "PLC668 PLC670"),
    ("copy_ops", 0, {"source": 1}, "PLC668"),
    ("copy_ops", 0, {"source_box": 0}, "PLC648"),
    ("copy_ops", 0, {"source_box": 0, "target_box": 0}, "PLC668"),
    # edges
    ("edges", 0, {"before": 4}, "PLC636"),
    ("edges", 2, {"after": NONE}, "PLC636"),
    ("edges", 0, {"after": 0}, "PLC658"),
    ("edges", 1, {"before": 0, "after": 1}, "PLC659"),
    ("edges", 1, {"before": 0, "after": 2}, None),
    ("edges", 1, {"before": 0, "after": 3}, None),
    ("edges", 2, {"before": 2, "after": 1}, "PLC660"),
    ("edges", 2, {"before": 2, "after": 0}, "PLC660"),
    ("edges", 2, {"before": 3, "after": 1}, "PLC662"),
    ("edges", 0, {"origin": 2}, None),
    ("edges", 0, {"origin": 0}, "PLC635"),
    # boxes and axes
    ("boxes", 0, {"offset": -4}, "PLC644"),
    ("boxes", 0, {"offset": 4}, "PLC644"),
    ("boxes", 1, {"offset": 8}, None),
    ("boxes", 1, {"offset": 12}, "PLC644"),
    ("boxes", 1, {"offset": -(2**63)}, "PLC645"),
    ("boxes", 1, {"offset": 2**63 - 1}, "PLC645"),
    ("boxes", 1, {"item": 0}, "PLC645"),
    ("boxes", 1, {"item": 0xFFFF_FFFF}, "PLC644 PLC646 PLC649"),
    ("boxes", 1, {"axis": 2}, "PLC636"),
    ("boxes", 1, {"axis": 0xFFFF_FFFF}, "PLC636"),
    ("boxes", 1, {"axes": 0}, None),
    ("boxes", 1, {"axes": 2}, "PLC636"),
    ("boxes", 0, {"axes": 2}, "PLC644 PLC646"),
    ("boxes", 0, {"pad": 1}, "PLC637"),
    ("axes", 0, {"count": 7}, None),
    ("axes", 0, {"count": 9}, "PLC644"),
    ("axes", 0, {"count": 0}, "PLC645"),
    ("axes", 0, {"count": 2**64 - 1}, "PLC645"),
    ("axes", 0, {"count": 2**46, "stride": 1}, "PLC644 PLC646 PLC649"),
    ("axes", 0, {"count": 2**46, "stride": 2}, "PLC645"),
    ("axes", 0, {"stride": 2**63 - 1}, "PLC645"),
    ("axes", 0, {"stride": -(2**63)}, "PLC645"),
    ("axes", 1, {"stride": -4}, "PLC644"),
    ("axes", 1, {"stride": 0}, "PLC646"),
    ("axes", 1, {"stride": 5}, "PLC649"),
    ("axes", 1, {"count": 1, "stride": 3}, None),
    ("axes", 1, {"count": 4, "stride": 8}, None),
    ("axes", 1, {"count": 5, "stride": 8}, "PLC644"),
    # effects
    ("effects", 0, {"node": 4}, "PLC636"),
    ("effects", 0, {"node": 1}, "PLC668"),
    ("effects", 1, {"node": 0}, "PLC668"),
    ("effects", 3, {"node": 0}, "PLC636"),
    ("effects", 0, {"buffer": 4}, "PLC636"),
    ("effects", 0, {"buffer": 1}, "PLC668"),
    ("effects", 0, {"kind": 6}, "PLC635"),
    ("effects", 5, {"kind": 3}, None),
    ("effects", 5, {"kind": 5}, "PLC636"),
    ("effects", 5, {"kind": 5, "buffer": NONE}, "PLC668"),
    ("effects", 5, {"kind": 5, "buffer": NONE, "parameter": NONE, "may_count": 0, "must_count": 0}, None),
    ("effects", 4, {"kind": 2}, "PLC670"),
    ("effects", 4, {"kind": 4}, "PLC670"),
    ("effects", 5, {"kind": 4}, None),
    ("effects", 0, {"kind_provenance": 0}, "PLC635"),
    ("effects", 0, {"range_provenance": 6}, "PLC635"),
    ("effects", 0, {"pad": 1}, "PLC637"),
    ("effects", 3, {"parameter": 4}, "PLC636"),
    ("effects", 3, {"parameter": 1}, "PLC668"),
    ("effects", 3, {"parameter": 3}, "PLC668"),
    ("effects", 3, {"parameter": NONE}, None),
    ("effects", 0, {"parameter": 0}, "PLC636"),
    ("effects", 3, {"may": 1, "may_count": 1}, None),
    ("effects", 3, {"may": 0, "may_count": 2}, None),
    ("effects", 3, {"may": 1, "may_count": 2}, "PLC636"),
    ("effects", 3, {"may": NONE, "may_count": NONE}, "PLC636"),
    ("effects", 0, {"may": 1}, "PLC668"),
    ("effects", 0, {"must_count": 0}, "PLC668"),
    ("effects", 1, {"must_count": 1}, "PLC668"),
    # relocations
    ("relocations", 0, {"buffer": 4}, "PLC636"),
    ("relocations", 0, {"kind": 2}, "PLC635"),
    ("relocations", 0, {"node": 4}, "PLC636"),
    ("relocations", 0, {"node": 1}, "PLC653"),
    ("relocations", 0, {"parameter": 4}, "PLC636"),
    ("relocations", 0, {"parameter": 1}, "PLC653"),
    ("relocations", 0, {"parameter": 3}, "PLC653"),
    ("relocations", 0, {"offset": 1}, "PLC653"),
    ("relocations", 0, {"offset": 2**64 - 8}, "PLC653 PLC655"),
    ("relocations", 0, {"addend": 28}, None),
    ("relocations", 0, {"addend": 32}, "PLC654"),
    ("relocations", 0, {"addend": -4}, "PLC654"),
    ("relocations", 0, {"addend": 2}, "PLC654"),
    ("relocations", 0, {"buffer": 1}, "PLC668"),
    ("relocations", 1, {"offset": 0, "parameter": 0}, "PLC655"),
    # patches
    ("patches", 0, {"slot": 1}, "PLC636"),
    ("patches", 0, {"size": 8}, "PLC656"),
    ("patches", 0, {"offset": 16}, "PLC656"),
    ("patches", 0, {"offset": 16, "parameter": 2}, "PLC656"),
    ("patches", 0, {"node": 0}, "PLC656"),
    ("patches", 0, {"parameter": 4}, "PLC636"),
    # the schedule
    ("schedule.order", 0, {"": 1}, "PLC661"),
    ("schedule.order", 0, {"": 4}, "PLC636"),
    ("schedule.lanes", 0, {"": 3}, None),
    ("schedule.lanes", 0, {"": 4}, "PLC636"),
    ("schedule.edges", 0, {"before": 4}, "PLC636"),
    ("schedule.edges", 0, {"after": 0}, "PLC658"),
    ("schedule.edges", 1, {"before": 0}, "PLC663"),
    ("schedule.edges", 1, {"before": 0, "after": 1}, "PLC659"),
    ("schedule.edges", 2, {"before": 2, "after": 1}, "PLC660"),
    ("schedule.edges", 2, {"before": 3, "after": 2}, "PLC662"),
    ("schedule.edges", 0, {"type": 1}, "PLC671"),
    ("schedule.edges", 1, {"type": 2}, "PLC635"),
    ("schedule.placements", 0, {"buffer": 4}, "PLC636"),
    ("schedule.placements", 0, {"buffer": 1}, "PLC664"),
    ("schedule.placements", 0, {"pad": 1}, "PLC637"),
    ("schedule.placements", 0, {"offset": 256}, "PLC665"),
    ("schedule.placements", 0, {"offset": 2**64 - 256}, "PLC665"),
)


def _cells(table: np.ndarray[Any, Any], row: int, cells: dict[str, Any]) -> np.ndarray[Any, Any]:
    if "" in cells:
        table = table.copy()
        table[row] = cells[""]
        return table
    return with_cells(table, row, **cells)


def _sealed(table: str, row: int, cells: dict[str, Any]) -> bytes:
    """Return the example with other cells, sealed again: only the rules can notice."""
    parts = take_apart(encode(example_plan()))
    name = f"program/0/{table.replace('schedule.', 'schedule/0/')}"
    rows = np.frombuffer(parts.sections[name], row_type(name))
    parts.sections[name] = _cells(rows, row, cells).tobytes()
    return put_together(parts)


@pytest.mark.parametrize(("table", "row", "cells", "code"), CASES)
def test_reader(table: str, row: int, cells: dict[str, Any], code: str | None) -> None:
    data = _sealed(table, row, cells)
    if code is None:
        assert encode(decode(data)) == data
    else:
        assert codes(lambda: decode(data)) == set(code.split())


@pytest.mark.parametrize(("table", "row", "cells", "code"), [case for case in CASES if "" not in case[2]])
def test_writer(table: str, row: int, cells: dict[str, Any], code: str | None) -> None:
    plan = with_row(example_plan(), table, row, **cells)
    if code is None:
        validate(plan)
    else:
        assert codes(lambda: validate(plan)) == set(code.split())


def test_order_of_rows_is_demanded_of_a_file() -> None:
    for name in ("edges", "relocations", "effects", "schedule/0/edges"):
        parts = take_apart(encode(example_plan()))
        section = f"program/0/{name}"
        rows = np.frombuffer(parts.sections[section], row_type(section))
        parts.sections[section] = rows[::-1].tobytes()
        assert codes(lambda parts=parts: decode(put_together(parts))) == {"PLC655"}, name


@pytest.mark.parametrize(
    ("at", "code"),
    [(0, "PLC657"), (7, "PLC657"), (23, "PLC657"), (24, "PLC657"), (27, "PLC657")],
)
def test_every_byte_of_the_arguments_is_accounted_for(at: int, code: str) -> None:
    parts = take_apart(encode(example_plan()))
    blob = bytearray(parts.sections["program/0/arguments"])
    blob[at] ^= 1
    parts.sections["program/0/arguments"] = bytes(blob)
    assert codes(lambda: decode(put_together(parts))) == {code}


def test_padding_after_arguments_is_zero() -> None:
    parts = take_apart(encode(example_plan()))
    blob = bytes(parts.sections["program/0/arguments"])
    parts.sections["program/0/arguments"] = blob + bytes(4)
    decode(put_together(parts))
    parts.sections["program/0/arguments"] = blob + b"\0\0\0\1"
    assert codes(lambda: decode(put_together(parts))) == {"PLC657"}
    parts.sections["program/0/arguments"] = blob[:-1]
    assert codes(lambda: decode(put_together(parts))) == {"PLC651"}


def test_findings_of_one_stage_come_together() -> None:
    plan = with_row(example_plan(), "kernel_ops", 0, block=(2048, 1, 1))
    plan = with_row(plan, "relocations", 0, addend=64)
    plan = with_row(plan, "schedule.placements", 0, offset=256)
    assert codes(lambda: validate(plan)) == {"PLC650", "PLC654", "PLC665"}


def test_messages_name_nodes_and_count_rows() -> None:
    plan = with_row(example_plan(), "kernel_ops", 0, block=(2048, 1, 1))
    with pytest.raises(Exception, match="node `run` has a block that no device takes"):
        validate(plan)
    plan = with_row(with_row(example_plan(), "relocations", 0, addend=64), "relocations", 2, addend=64)
    with pytest.raises(Exception, match=r"points outside its buffer \(and 1 more rows\)") as caught:
        validate(plan)
    assert caught.value.diagnostics[0].facts == {"table": "relocations", "row": 0, "rows": 2}
