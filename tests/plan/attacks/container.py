"""Attempts on the container: hiding bytes, saying a thing twice, costing memory."""

from __future__ import annotations

from planc.plan import Parts, encode
from planc.plan.container import seal
from planc.plan.digests import sha256
from planc.plan.example import example_plan
from planc.plan.layout import FORMAT, MAGIC, PRELUDE, SEALED
from tests.plan.attacks.attempt import Attempt, program, resealed


def _sealed_header(packed: bytes) -> bytes:
    size = PRELUDE.size + len(packed)
    body = -(-size // 64) * 64
    head = PRELUDE.pack(MAGIC, *FORMAT, len(packed), body, bytes(8), bytes(32))[:SEALED]
    return (head + seal(head, packed) + packed).ljust(body, b"\0")


def hide_in_padding() -> bytes:
    data = bytearray(encode(example_plan()))
    at = data.index(bytes(40))
    data[at + 20] = 1
    return bytes(data)


def second_plan_behind() -> bytes:
    return encode(example_plan()) * 2


def two_values_for_one_key() -> bytes:
    return _sealed_header(b"\x82\xa8producer\xa1a\xa8producer\xa1b")


def four_billion_entries() -> bytes:
    return _sealed_header(b"\xdd\xff\xff\xff\xff" + bytes(64))


def nested_ten_thousand_deep() -> bytes:
    return _sealed_header(b"\x91" * 10_000 + b"\xc0")


def code_object_in_header() -> bytes:
    return _sealed_header(b"\x81\xa8producer\xc7\x05\x2a" + b"evil!")


def true_as_one() -> bytes:
    def change(parts: Parts) -> None:
        program(parts)["buffers"][0]["device"] = True

    return resealed(change)


def one_section_under_two_names() -> bytes:
    def change(parts: Parts) -> None:
        table = parts.header["sections"]
        table[15]["offset"] = table[14]["offset"]

    return resealed(change, fill=False)


def section_past_the_end() -> bytes:
    def change(parts: Parts) -> None:
        parts.header["sections"][-1]["length"] = (1 << 63) - 1

    return resealed(change, fill=False)


def code_under_the_digest_of_other_code() -> bytes:
    def change(parts: Parts) -> None:
        name = next(name for name in parts.sections if name.startswith("image/"))
        parts.sections[name] = bytes(parts.sections[name]).replace(b"mul.rn", b"add.rn")

    return resealed(change)


def program_digest_of_a_trusted_plan() -> bytes:
    """Claim the digest of the plan that the service has on its list, with other launch dimensions."""
    trusted = encode(example_plan())

    def change(parts: Parts) -> None:
        parts.sections["program/0/arguments"] = bytes(28)
        row = next(s for s in parts.header["sections"] if s["name"] == "program/0/arguments")
        row["sha256"] = sha256(bytes(28))

    assert trusted
    return resealed(change, fill=False)


ATTEMPTS = (
    Attempt(1, "hide bytes in the padding", hide_in_padding, "PLC606", "padding is zero"),
    Attempt(2, "put a second plan behind the first", second_plan_behind, "PLC605", "nothing may follow"),
    Attempt(
        3, "give one key two values", two_values_for_one_key, "PLC610", "libraries differ in which they take"
    ),
    Attempt(
        4, "ask for four billion entries", four_billion_entries, "PLC608", "counts are capped before use"
    ),
    Attempt(5, "nest ten thousand deep", nested_ten_thousand_deep, "PLC623", "no recursion on foreign depth"),
    Attempt(6, "an extension type", code_object_in_header, "PLC609", "no type that means code or time"),
    Attempt(7, "true where a number belongs", true_as_one, "PLC614", "types are exact"),
    Attempt(
        8, "one run of bytes as two tables", one_section_under_two_names, "PLC619", "sections do not overlap"
    ),
    Attempt(
        9, "a section past the end", section_past_the_end, "PLC604", "places are checked in whole numbers"
    ),
    Attempt(
        10, "other code under a known digest", code_under_the_digest_of_other_code, "PLC641", "hashed on read"
    ),
    Attempt(
        11, "claim a trusted program digest", program_digest_of_a_trusted_plan, "PLC627", "it is recomputed"
    ),
)
