"""The container, rule by rule: each damage has its code, and its legal neighbour is taken."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import msgpack
import pytest

from planc.plan import Parts, decode, encode, limits, put_together, take_apart
from planc.plan.container import read_prelude, seal
from planc.plan.example import example_plan
from planc.plan.layout import FORMAT, MAGIC, PRELUDE, SEALED, aligned
from planc.plan.packing import pack, unpack
from tests.plan.refusals import codes

DATA = encode(example_plan())


def _parts(change: Callable[[Parts], object], fill: bool = True) -> Callable[[], object]:
    parts = take_apart(DATA)
    change(parts)
    return lambda: decode(put_together(parts, fill=fill))


def _program(parts: Parts) -> dict[str, Any]:
    program: dict[str, Any] = parts.header["programs"][0]
    return program


def _with_header(packed: bytes) -> bytes:
    """Return the plan with other header bytes, sealed."""
    old = read_prelude(DATA[: PRELUDE.size], len(DATA)).body
    body = aligned(PRELUDE.size + len(packed))
    size = body + len(DATA) - old
    head = PRELUDE.pack(MAGIC, *FORMAT, len(packed), size, bytes(8), bytes(32))[:SEALED]
    return (head + seal(head, packed) + packed).ljust(body, b"\0") + DATA[old:]


def test_prelude() -> None:
    assert codes(lambda: decode(b"")) == {"PLC601"}
    assert codes(lambda: decode(b"\x89PLAN\n" + DATA[7:])) == {"PLC601"}, "a text-mode copy"
    assert codes(lambda: decode(DATA[:63])) == {"PLC604"}
    for major, minor in ((0, 0), (0, 2), (1, 1), (0x100, 1)):
        changed = DATA[:8] + struct.pack("<HH", major, minor) + DATA[12:]
        assert codes(lambda data=changed: decode(data)) == {"PLC602"}
    too_long = DATA[:12] + struct.pack("<I", limits.HEADER_BYTES + 1) + DATA[16:]
    assert codes(lambda: decode(too_long)) == {"PLC603"}
    longest = DATA[:12] + struct.pack("<I", limits.HEADER_BYTES) + DATA[16:]
    assert codes(lambda: decode(longest)) == {"PLC604"}
    giant = DATA[:16] + struct.pack("<Q", limits.FILE_BYTES + 1) + DATA[24:]
    assert codes(lambda: decode(giant)) == {"PLC603"}
    for at in range(24, 32):
        assert codes(lambda at=at: decode(DATA[:at] + b"\1" + DATA[at + 1 :])) == {"PLC606"}


def test_a_header_longer_than_the_file_is_cut_short() -> None:
    head = struct.pack("<8sHHIQ8s", DATA[:8], 0, 1, 100, 64, bytes(8))
    assert codes(lambda: decode(head + bytes(32))) == {"PLC604"}


@pytest.mark.parametrize(
    ("packed", "code"),
    [
        (b"\xc1", "PLC608"),
        (b"\x81", "PLC608"),
        (b"\x92\x01", "PLC608"),
        (b"\x01\x01", "PLC608"),
        (b"", "PLC608"),
        (b"\x81\x01\x02", "PLC608"),
        (b"\xa2\xff\xfe", "PLC608"),
        (b"\xdd\xff\xff\xff\xff", "PLC608"),
        (b"\xdf\xff\xff\xff\xff", "PLC608"),
        (b"\xd4\x05\x00", "PLC609"),
        (b"\xd6\xff\x00\x00\x00\x00", "PLC609"),
        (b"\x91\xc4\x01a", "PLC609"),
        (b"\x81\xc4\x01a\x01", "PLC609"),
        (b"\x82\xa1a\x01\xa1a\x01", "PLC610"),
        (b"\x91\x82\xa1a\x01\xa1a\x01", "PLC610"),
        (b"\xcc\x01", "PLC611"),
        (b"\xd9\x01a", "PLC611"),
        (b"\xdc\x00\x00", "PLC611"),
        (b"\xde\x00\x00", "PLC611"),
        (b"\xca\x3f\x80\x00\x00", "PLC611"),
        (b"\x91" * limits.HEADER_DEPTH + b"\x01", "PLC623"),
        (b"\x91" * 5000 + b"\x01", "PLC623"),
        (b"\x81\xa1a" * limits.HEADER_DEPTH + b"\x01", "PLC623"),
    ],
)
def test_msgpack_is_read_strictly(packed: bytes, code: str) -> None:
    assert codes(lambda: unpack(packed)) == {code}
    assert codes(lambda: decode(_with_header(packed))) == {code}


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        "a" * 40,
        -1,
        127,
        128,
        2**64 - 1,
        -(2**63),
        1.5,
        float("inf"),
        None,
        True,
        [[[[1]]]],
        {"a": {"b": []}},
    ],
)
def test_canonical_values_are_read(value: object) -> None:
    assert unpack(pack(value)) == value


def test_nan_in_a_header_has_no_place() -> None:
    for nan in (b"\x7f\xf8", b"\xff\xf8", b"\x7f\xf0"):

        def change(parts: Parts, nan: bytes = nan) -> None:
            value = struct.unpack(">d", nan + b"\0\0\0\0\0\1")[0]
            _program(parts)["slots"][0]["value"] = value

        assert codes(_parts(change)) == {"PLC643"}


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("producer", 3, "PLC614"),
        ("producer", "p" * (limits.TEXT_BYTES + 1), "PLC603"),
        ("producer", "\x1b[2J", "PLC630"),
        ("facts", "all", "PLC614"),
        ("facts", [1], "PLC614"),
        ("program", None, "PLC614"),
        ("programs", {}, "PLC614"),
        ("programs.0.name", "", "PLC630"),
        ("programs.0.targets", ["sm_80"] * 65, "PLC603"),
        ("programs.0.devices", True, "PLC614"),
        ("programs.0.devices", 0, "PLC603"),
        ("programs.0.devices", 2, "PLC622"),
        ("programs.0.memory.input", 33, "PLC622"),
        ("programs.0.memory.input", -1, "PLC603"),
        ("programs.0.memory.input", 32.0, "PLC614"),
        ("programs.0.files", ["graph.yaml", "never used"], "PLC611"),
        ("programs.0.files", ["other.json"], None),
        ("programs.0.files", [], "PLC636"),
        ("programs.0.buffers.0.name", 5, "PLC614"),
        ("programs.0.buffers.0.name", "n" * 1025, "PLC603"),
        ("programs.0.buffers.0.dtype", "f128", "PLC634"),
        ("programs.0.buffers.0.role", "INPUT", "PLC634"),
        ("programs.0.buffers.0.shape", [0], "PLC603"),
        ("programs.0.buffers.0.shape", [8.0], "PLC614"),
        ("programs.0.buffers.0.shape", [1] * 17, "PLC603"),
        ("programs.0.buffers.0.shape", [1 << 32, 1 << 32, 1 << 32], "PLC638"),
        ("programs.0.buffers.0.embedded", 1, "PLC614"),
        ("programs.0.buffers.0.align", 0, "PLC603"),
        ("programs.0.buffers.0.align", 1 << 22, "PLC603"),
        ("programs.0.buffers.0.device", 64, "PLC603"),
        ("programs.0.may_alias", [[0]], "PLC614"),
        ("programs.0.may_alias", [[1, 0]], "PLC636"),
        ("programs.0.may_alias", [[0, 1], [0, 1]], "PLC655"),
        ("programs.0.slots.0.value", 2, "PLC643"),
        ("programs.0.slots.0.value", True, "PLC643"),
        ("programs.0.slots.0.value", "2", "PLC614"),
        ("programs.0.functions.0.parameters.0.align", 0, "PLC603"),
        ("programs.0.functions.0.parameters.0.size", 0, "PLC603"),
        ("programs.0.modules.0.images.0.form", "fatbin", "PLC634"),
        ("programs.0.schedules.0.arena_bytes", (1 << 47) + 1, "PLC603"),
        ("programs.0.schedules", [], "PLC615"),
    ],
)
def test_header_fields(path: str, value: object, code: str | None) -> None:
    def change(parts: Parts) -> None:
        *steps, last = path.split(".")
        owner: Any = parts.header
        for step in steps:
            owner = owner[int(step)] if step.isdigit() else owner[step]
        owner[last] = value

    action = _parts(change, fill=path != "program")
    if code is None:
        action()
    else:
        assert codes(action) == {code}


def test_a_header_over_64_bits_is_not_even_written() -> None:
    with pytest.raises(OverflowError):
        pack(1 << 64)


def test_keys() -> None:
    def add(parts: Parts) -> None:
        _program(parts)["extra"] = 1

    def drop(parts: Parts) -> None:
        del _program(parts)["buffers"][0]["align"]

    def turn(parts: Parts) -> None:
        parts.header["verdict"] = parts.header.pop("verdict")

    assert codes(_parts(add)) == {"PLC612"}
    assert codes(_parts(drop)) == {"PLC613"}
    assert codes(_parts(turn)) == {"PLC611"}


@pytest.mark.parametrize(("step", "code"), [(64, "PLC617"), (-64, "PLC619"), (1, "PLC618"), (0, None)])
@pytest.mark.parametrize("row", [1, 5, -1])
def test_section_offsets(step: int, code: str | None, row: int) -> None:
    def change(parts: Parts) -> None:
        parts.header["sections"][row]["offset"] += step

    action = _parts(change, fill=False)
    if code is None:
        action()
    else:
        assert codes(action) == {code}


def test_section_lengths() -> None:
    def longer(parts: Parts) -> None:
        parts.header["sections"][-1]["length"] += 1

    def shorter(parts: Parts) -> None:
        parts.header["sections"][-1]["length"] -= 1

    def ragged(parts: Parts) -> None:
        parts.header["sections"][0]["length"] -= 1

    def row_less(parts: Parts) -> None:
        parts.header["sections"][0]["length"] -= 16

    assert codes(_parts(longer, fill=False)) == {"PLC604"}
    assert codes(_parts(shorter, fill=False)) == {"PLC605"}
    assert codes(_parts(ragged, fill=False)) == {"PLC620"}
    assert codes(_parts(row_less, fill=False)) == {"PLC606", "PLC621"}


def test_section_names() -> None:
    def rename(parts: Parts) -> None:
        parts.header["sections"][0]["name"] = "program/1/nodes"

    def twice(parts: Parts) -> None:
        parts.header["sections"].insert(1, dict(parts.header["sections"][0]))

    def swap(parts: Parts) -> None:
        table = parts.header["sections"]
        table[0], table[1] = table[1], table[0]

    assert codes(_parts(rename, fill=False)) == {"PLC615", "PLC616"}
    assert codes(_parts(twice, fill=False)) == {"PLC615"}
    assert codes(_parts(swap, fill=False)) == {"PLC611"}


def test_digests() -> None:
    def of_section(parts: Parts) -> None:
        parts.header["sections"][13]["sha256"] = "0" * 64

    def of_table(parts: Parts) -> None:
        parts.header["sections"][0]["sha256"] = "0" * 64

    def of_program(parts: Parts) -> None:
        _program(parts)["digest"] = "0" * 64

    def of_plan(parts: Parts) -> None:
        parts.header["program"] = _program(parts)["digest"][::-1]

    def of_image(parts: Parts) -> None:
        name = next(name for name in parts.sections if name.startswith("image/"))
        parts.sections[name] = b"// other code\n"

    def spelling(parts: Parts) -> None:
        image = _program(parts)["modules"][0]["images"][0]
        old = image["digest"]
        image["digest"] = old.upper()
        parts.sections = {
            name.replace(old, old.upper()) if name.startswith("image") else name: data
            for name, data in parts.sections.items()
        }

    assert codes(_parts(of_section, fill=False)) == {"PLC621"}
    assert codes(_parts(of_table, fill=False)) == {"PLC627"}, "the program digest notices first"
    assert codes(_parts(of_program, fill=False)) == {"PLC627"}
    assert codes(_parts(of_plan, fill=False)) == {"PLC627"}
    assert codes(_parts(of_image)) == {"PLC641"}
    assert codes(_parts(spelling)) == {"PLC641"}


def test_name_table() -> None:
    def ends(*values: int) -> Callable[[Parts], None]:
        def change(parts: Parts) -> None:
            parts.sections["program/0/name_ends"] = struct.pack(f"<{len(values)}I", *values)

        return change

    def letters(text: bytes) -> Callable[[Parts], None]:
        def change(parts: Parts) -> None:
            parts.sections["program/0/name_text"] = text

        return change

    assert codes(_parts(ends(5, 9, 12, 16))) == {"PLC624"}
    assert codes(_parts(ends(5, 9, 8, 15))) == {"PLC624"}
    assert codes(_parts(ends(5, 9, 15))) == {"PLC628"}
    assert codes(_parts(ends(5, 9, 9, 15))) == {"PLC630"}
    assert codes(_parts(letters(b"clearloadrun\xff\xfe\xfd"))) == {"PLC624"}
    assert codes(_parts(letters("clearloadruéab".encode()))) == {"PLC624"}, "an end inside a character"
    _parts(letters("clearloadrunéa".encode()))()


def test_everything_wrong_in_a_header_is_said_at_once() -> None:
    def change(parts: Parts) -> None:
        parts.header["producer"] = 1
        _program(parts)["buffers"][0]["role"] = "ghost"
        _program(parts)["slots"][0]["dtype"] = None

    assert codes(_parts(change)) == {"PLC614", "PLC634"}


def test_a_flood_of_findings_is_cut() -> None:
    def change(parts: Parts) -> None:
        parts.header["facts"] = [1] * 100_000

    with pytest.raises(Exception) as caught:
        _parts(change)()
    assert len(caught.value.diagnostics) == 50  # type: ignore[attr-defined]


def test_msgpack_itself_would_take_what_is_refused_here() -> None:
    """The strict reader is needed: the library keeps the last of two keys and makes times of timestamps."""
    assert msgpack.unpackb(b"\x82\xa1a\x01\xa1a\x02") == {"a": 2}
    assert isinstance(msgpack.unpackb(b"\xd6\xff\x00\x00\x00\x00"), msgpack.Timestamp)
