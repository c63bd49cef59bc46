"""The argument blob: blocks, and what relocations and patches do to it.

Every byte of the blob is accounted for: it belongs to a parameter of one launch, or it is zero. A pointer
holds zero until it is relocated, so that no file can carry an address.
"""

from __future__ import annotations

import numpy as np

from planc.plan import limits
from planc.plan.dtypes import DTYPES
from planc.plan.program import NodeKind, Slot, Table
from planc.plan.rules.corners import Column
from planc.plan.rules.scope import Scope, strictly_rising

_SIZE, _POINTER, _ITEM = 1, 2, 3


def arguments(scope: Scope) -> None:
    """Check argument blocks (PLC651), relocations (PLC653, PLC654), patches (PLC656), bytes (PLC657)."""
    if _blocks(scope):
        _relocations(scope)
        _bytes(scope)
        if _patches(scope):
            _defaults(scope)


def _blocks(scope: Scope) -> bool:
    ops, found = scope.program.kernel_ops, scope.found
    most = len(scope.program.arguments)
    size = ops["args_size"].astype(np.int64)
    wanted = scope.argument_sizes[ops["function"]]
    wrong = found.rows(
        "PLC651",
        "kernel_ops",
        size != wanted,
        "the launch of {row} has an argument block of another size than its kernel",
        scope.launch,
    )
    far = ops["args_offset"] > most
    start = np.where(far, 0, ops["args_offset"]).astype(np.int64)
    bad = far | (start + size > most) | (start % limits.ARGUMENT_ALIGN != 0)
    bad[1:] |= start[1:] < (start + size)[:-1]
    message = "the arguments of {row} are outside the blob, misaligned, or over those of another node"
    return not found.rows("PLC651", "kernel_ops", bad, message, scope.launch) and not wrong


def _relocations(scope: Scope) -> None:
    rows, found = scope.program.relocations, scope.found
    parameter = _parameter(scope, rows)
    wrong = _strayed(scope, rows, parameter) | (parameter[:, _POINTER] == 0)
    found.rows("PLC653", "relocations", wrong, "relocation {row} is not at a pointer parameter of its node")
    addend = rows["addend"]
    outside = (addend < 0) | (addend >= scope.nbytes[rows["buffer"]])
    found.rows("PLC654", "relocations", outside, "relocation {row} points outside its buffer")
    item = np.maximum(parameter[:, _ITEM], 1)
    split = addend % item != 0
    found.rows("PLC654", "relocations", split, "relocation {row} splits an element of its pointer")
    _in_order(scope, "relocations", rows)


def _patches(scope: Scope) -> bool:
    rows, found = scope.program.patches, scope.found
    parameter = _parameter(scope, rows)
    wrong = _strayed(scope, rows, parameter) | (parameter[:, _POINTER] != 0)
    stray = found.rows("PLC656", "patches", wrong, "patch {row} is not at a value parameter of its node")
    size = np.array([DTYPES[slot.dtype].itemsize for slot in scope.program.slots], np.int64)[rows["slot"]]
    wrong = (rows["size"] != size) | (rows["size"] != parameter[:, _SIZE])
    message = "patch {row} has another size than its slot or its parameter"
    wide = found.rows("PLC656", "patches", wrong, message)
    _in_order(scope, "patches", rows)
    return not stray and not wide


def _parameter(scope: Scope, rows: Table) -> Column:
    return scope.parameters[scope.parameter_rows(rows["node"], rows["parameter"])]


def _strayed(scope: Scope, rows: Table, parameter: Column) -> Column:
    """Return whether the offset of each row is not that of its node's parameter (bool)."""
    wanted = scope.argument_offsets(rows["node"]) + parameter[:, 0]
    strayed: Column = rows["offset"] != wanted.astype(np.uint64)
    return strayed


def _in_order(scope: Scope, name: str, rows: Table) -> None:
    late = np.append(np.zeros(1, np.bool_), ~strictly_rising(rows["offset"]))[: len(rows)]
    scope.found.rows("PLC655", name, late, f"row {{row}} of `{name}` is out of order or there twice")


def _bytes(scope: Scope) -> None:
    blob = np.frombuffer(scope.program.arguments, np.uint8)
    start, rows = _places(scope)
    parameter = scope.parameters[rows]
    owned = np.zeros(len(blob) + 1, np.int64)
    value = parameter[:, _POINTER] == 0
    np.add.at(owned, start[value], 1)
    np.add.at(owned, (start + parameter[:, _SIZE])[value], -1)
    stray = (np.cumsum(owned[:-1]) == 0) & (blob != 0)
    message = "byte {row} of the argument blob is not zero and belongs to no value (a pointer, or padding)"
    scope.found.rows("PLC657", "arguments", stray, message)


def _places(scope: Scope) -> tuple[Column, Column]:
    """Return the offset in the blob, and the row of the parameter, of every parameter of every launch."""
    nodes = np.flatnonzero(scope.program.nodes["kind"] == NodeKind.KERNEL)
    function = scope.function_of_node[nodes]
    first = scope.first_parameter[function]
    count = scope.first_parameter[function + 1] - first
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    rows = np.repeat(first, count) + within
    start = np.repeat(scope.argument_offsets(nodes), count) + scope.parameters[rows, 0]
    return start, rows


def _defaults(scope: Scope) -> None:
    blob = np.frombuffer(scope.program.arguments, np.uint8)
    patches = scope.program.patches
    values = np.frombuffer(b"".join(map(slot_bytes, scope.program.slots)), np.uint8).reshape(-1, 8)
    wrong = np.zeros(len(patches), np.bool_)
    for position in range(8):
        has = np.flatnonzero(patches["size"] > position)
        at = patches["offset"][has].astype(np.int64) + position
        wrong[has] |= blob[at] != values[patches["slot"][has], position]
    scope.found.rows("PLC657", "patches", wrong, "the bytes at patch {row} are not the value of its slot")


def slot_bytes(slot: Slot) -> bytes:
    """Return the value of a slot as a parameter holds it, little-endian, padded with zeros to 8 bytes."""
    with np.errstate(over="ignore"):
        value = np.array(slot.value).astype(DTYPES[slot.dtype].numpy)
    return value.tobytes().ljust(8, b"\0")
