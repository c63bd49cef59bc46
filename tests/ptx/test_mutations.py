"""Broken PTX of any kind ends in a PlancError or a module, never in another exception."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from planc.diagnostics import PlancError
from planc.ptx import format_module, parse
from tests.ptx.helpers import DATA, SAMPLES, wrap

TEXTS = [path.read_text() for path in SAMPLES if path.stat().st_size < 9000]
PIECES = [
    "{", "}", "(", ")", "[", "]", ";", ",", ":", "|", "@", "!", "+", "-", "=", "<", ">", "?", "/*", "//", '"',
    ".reg", ".b32", ".param", ".entry", ".func", ".global", ".align", ".loc", ".file 1", ".section", ".v4",
    ".extern", ".alias", ".branchtargets", ".callprototype", ".pragma", ".ptr", ".version", ".target",
    "0", "1", "-1", "0x", "0f3F800000", "0d7FF0000000000000", "1e999", "99999999999999999999", "09", "_",
    "WARP_SZ", "%r1", "%p1", "%rd1", "%tid.x", "L:", "generic(", "0xFF(", "call", "bra", "<1048577>", "[1]",
    "\0", "\n", "\r", "ü", "\u2028", "\ud800", "%", "$", ".", "..", "::",
]  # fmt: skip


def survives(text: str) -> bool:
    """Parse, and print what parses; whether it did parse."""
    try:
        module = parse(text, "k.ptx")
    except PlancError as error:
        assert error.diagnostics
        assert all(d.span is not None and d.span.line >= 1 and d.span.column >= 1 for d in error.diagnostics)
        return False
    format_module(module)
    return True


def mutate(text: str, chance: random.Random) -> str:
    """One to four small changes at random places."""
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(text))
        stop = start + chance.choice((0, 0, 1, 2, 8, 40))
        kind = chance.randrange(4)
        if kind == 0:
            text = text[:start] + text[stop:]
        elif kind == 1:
            text = text[:start] + chance.choice(PIECES) + text[start:]
        elif kind == 2:
            text = text[:start] + chance.choice(PIECES) + text[stop:]
        else:
            place = chance.randrange(len(text))
            text = text[:start] + text[place : place + 30] + text[stop:]
    return text


@pytest.mark.parametrize("seed", range(4))
def test_mutations_of_good_ptx(seed: int) -> None:
    chance = random.Random(seed)
    outcomes = [survives(mutate(chance.choice(TEXTS), chance)) for _ in range(900)]
    assert 0.02 < sum(outcomes) / len(outcomes) < 0.9, "both ends must be met"


def test_every_prefix_of_a_file() -> None:
    text = (DATA / "tricky.ptx").read_text()
    outcomes = [survives(text[:end]) for end in range(0, len(text), 7)]
    assert not all(outcomes)


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
@example(".reg .b32 " + ", ".join(f"x{k}<1048576>" for k in range(40)) + ";")
@example("{" * 100_000)
@example("mov.u32 %r1, " + "-" * 100_000 + "1;")
@example("mov.u32 %r1, " + "(" * 100_000)
@example("mov.b64 %rd1, {" + "%r1," * 100_000)
@example("mov.u32 %r1, " + "9" * 100_000 + ";")
@example("/*" * 100_000)
@example(".section a {" * 1000)
def test_pieces_in_a_body(text: str) -> None:
    survives(wrap(text))


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
@example(".global .b8 " + ", ".join(f"x{k}[60000000] = {{1}}" for k in range(100)) + ";")
@example(".global .b8 x[2] = " + "{" * 100_000)
@example(".entry k(" + ".param .b8 a," * 1000)
@example(".global .b8 a" + "[9]" * 100_000)
def test_pieces_at_the_top(text: str) -> None:
    survives(".version 9.0\n.target sm_90\n" + text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    survives(text)
    survives(".version 9.0 .target sm_90 " + text)
