"""Attempts to reach memory that a plan should not reach, or to make two users of it collide."""

from __future__ import annotations

import struct

import numpy as np

from planc.plan import Parts, encode, put_together, sha256, take_apart
from planc.plan.example import PTX, example_plan
from planc.plan.layout import row_type
from tests.plan.attacks.attempt import Attempt, cells, program, resealed

ADDRESS = 0x7F00_0000_0000


def _blob(at: int, data: bytes) -> bytes:
    def change(parts: Parts) -> None:
        blob = bytearray(parts.sections["program/0/arguments"])
        blob[at : at + len(data)] = data
        parts.sections["program/0/arguments"] = bytes(blob)

    return resealed(change)


def address_in_the_arguments() -> bytes:
    return _blob(0, struct.pack("<Q", ADDRESS))


def relocation_past_the_end() -> bytes:
    return resealed(cells("relocations", 2, addend=32))


def relocation_before_the_start() -> bytes:
    return resealed(cells("relocations", 2, addend=-8))


def half_of_two_pointers() -> bytes:
    return resealed(cells("relocations", 0, offset=4))


def copy_backwards_out() -> bytes:
    return resealed(cells("axes", 1, stride=-4))


def box_that_wraps_around() -> bytes:
    """(2**62 + 1 - 1) * 4 is 0 in 64 bits: the box would seem to end where it begins."""
    return resealed(cells("axes", 1, count=2**62 + 1, stride=4))


def offset_that_wraps_around() -> bytes:
    return resealed(cells("boxes", 1, offset=2**63 - 8))


def extents_that_wrap_around() -> bytes:
    """2**23 * 2**23 * 2**18 * 4 bytes is 2**66: nothing, in 64 bits."""

    def change(parts: Parts) -> None:
        program(parts)["buffers"][0]["shape"] = [1 << 23, 1 << 23, 1 << 18]

    return resealed(change)


def copy_into_a_constant() -> bytes:
    return resealed(cells("copy_ops", 0, target=2))


def constant_shorter_than_its_buffer() -> bytes:
    def change(parts: Parts) -> None:
        buffer = program(parts)["buffers"][2]
        (name,) = [name for name in parts.sections if name.startswith("constant/")]
        short = bytes(parts.sections.pop(name))[:16]
        buffer["data"] = sha256(short)
        parts.sections[f"constant/{sha256(short)}"] = short

    return resealed(change)


def arena_of_another_buffer() -> bytes:
    def change(parts: Parts) -> None:
        buffers = program(parts)["buffers"]
        buffers.append({**buffers[3], "name": "spy"})
        program(parts)["memory"]["scratch"] = 64
        rows = np.array([(3, 0, 0), (4, 0, 0)], row_type("program/0/schedule/0/placements"))
        parts.sections["program/0/schedule/0/placements"] = rows.tobytes()

    return resealed(change)


def placement_that_wraps_around() -> bytes:
    return resealed(cells("schedule/0/placements", 0, offset=2**64 - 256))


def arguments_of_the_neighbour() -> bytes:
    return resealed(cells("kernel_ops", 0, args_offset=16))


def slot_with_more_bytes_than_its_parameter() -> bytes:
    def change(parts: Parts) -> None:
        program(parts)["slots"][0].update(dtype="f64")
        cells("patches", 0, size=8)(parts)

    return resealed(change)


def address_as_a_number() -> bytes:
    """Say that a pointer is a u64, and put an address there: the kernel will use it as a pointer."""

    def change(parts: Parts) -> None:
        program(parts)["functions"][0]["parameters"][0].update(pointer=False, dtype="u64")
        rows = np.frombuffer(parts.sections["program/0/relocations"], row_type("program/0/relocations"))
        parts.sections["program/0/relocations"] = rows[1:].tobytes()
        effects = np.frombuffer(parts.sections["program/0/effects"], row_type("program/0/effects"))
        parts.sections["program/0/effects"] = np.delete(effects, 3).tobytes()
        blob = bytes(parts.sections["program/0/arguments"])
        parts.sections["program/0/arguments"] = struct.pack("<Q", ADDRESS) + blob[8:]

    return resealed(change)


def other_code() -> bytes:
    """Code that reads 4 GiB past its buffer, with every digest made anew."""
    code = PTX.replace(b"mul.wide.u32 %rd4, %r1, 4;", b"mov.u64 %rd4, 4294967296;")

    def change(parts: Parts) -> None:
        image = program(parts)["modules"][0]["images"][0]
        del parts.sections[f"image/{image['digest']}"]
        constant = parts.sections.popitem()
        image["digest"] = sha256(code)
        parts.sections[f"image/{image['digest']}"] = code
        parts.sections[constant[0]] = constant[1]

    assert code != PTX
    return resealed(change)


def effects_that_lie() -> bytes:
    """Drop the effects of the kernel: the plan no longer says that it writes ``y``."""
    parts = take_apart(encode(example_plan()))
    effects = np.frombuffer(parts.sections["program/0/effects"], row_type("program/0/effects"))
    parts.sections["program/0/effects"] = effects[:3].tobytes()
    return put_together(parts)


ATTEMPTS = (
    Attempt(
        20, "an address in the arguments", address_in_the_arguments, "PLC657", "pointers are zero in the file"
    ),
    Attempt(21, "a pointer past its buffer", relocation_past_the_end, "PLC654", "the addend stays inside"),
    Attempt(
        22, "a pointer before its buffer", relocation_before_the_start, "PLC654", "the addend stays inside"
    ),
    Attempt(23, "half of two pointers", half_of_two_pointers, "PLC653", "relocations stand at pointers only"),
    Attempt(24, "a copy that runs backwards out", copy_backwards_out, "PLC644", "all corners are checked"),
    Attempt(
        25, "a box that wraps around", box_that_wraps_around, "PLC645", "axes are bounded before any product"
    ),
    Attempt(26, "an offset that wraps around", offset_that_wraps_around, "PLC645", "offsets are bounded"),
    Attempt(
        27,
        "extents that wrap around",
        extents_that_wrap_around,
        "PLC638",
        "sizes are whole numbers of any length",
    ),
    Attempt(28, "a copy into a constant", copy_into_a_constant, "PLC668 PLC670", "constants may be shared"),
    Attempt(
        29, "a constant that is too short", constant_shorter_than_its_buffer, "PLC640", "length is checked"
    ),
    Attempt(
        30, "scratch over another's scratch", arena_of_another_buffer, "PLC666", "no sharing without a proof"
    ),
    Attempt(
        31, "a placement that wraps around", placement_that_wraps_around, "PLC665", "bounded before the sum"
    ),
    Attempt(
        32, "arguments outside the blob", arguments_of_the_neighbour, "PLC651", "blocks are inside, apart"
    ),
    Attempt(
        33,
        "a slot wider than its parameter",
        slot_with_more_bytes_than_its_parameter,
        "PLC656",
        "sizes agree",
    ),
    Attempt(
        34,
        "an address as a number",
        address_as_a_number,
        "accepted",
        "this is NOT ok, and no check of tables can stop it: a kernel may use any number as an address. The "
        "CPU device stops it at the access; on a GPU only a signature helps. docs/plan-format.md says so",
    ),
    Attempt(
        35,
        "other code, sealed again",
        other_code,
        "accepted",
        "this is NOT ok, and a digest cannot stop it: a plan is code, and whoever writes the file writes the "
        "digests. The CPU device stops it at the access. docs/plan-format.md says so",
    ),
    Attempt(
        36,
        "effects that lie",
        effects_that_lie,
        "accepted",
        "this is NOT ok for whoever relies on the effects, and harmless for a replay: what was "
        "proved can be derived again from the plan's own code",
    ),
)
