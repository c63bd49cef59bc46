"""Results that were seen on an NVIDIA H200, so that they are held without one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from planc.simt.arith import APPROXIMATE, UNSIGNED, WIDTHS, Form, decode, forms, violations
from tests.simt_arith.running import expected, instruction

Row = tuple[str, tuple[int, ...], tuple[int, ...]]


def _parsed(line: str) -> Row:
    given, _, results = line.partition("=")
    form, *operands = given.split()
    return form, tuple(int(x, 16) for x in operands), tuple(int(x, 16) for x in results.split())


def _rows() -> list[Row]:
    text = (Path(__file__).parent / "measured_h200.txt").read_text()
    return [_parsed(line) for line in text.splitlines() if not line.startswith("#")]


ROWS = _rows()


@cache
def _form(text: str) -> Form:
    (found,) = (f for f in forms(text.split(".")[0]) if f.text == text)
    return found


def _ours(row: Row) -> tuple[int, ...]:
    text, operands, _ = row
    form = _form(text)
    columns = (np.array([x], UNSIGNED[WIDTHS[n]]) for x, n in zip(operands, form.operands, strict=True))
    return (int(decode(instruction(form)).function(*columns)[0]),)


@pytest.mark.parametrize("opcode", sorted({text.split(".")[0] for text, _, _ in ROWS}))
def test_results_are_those_of_the_machine(opcode: str) -> None:
    rows = [r for r in ROWS if r[0].split(".")[0] == opcode]
    wrong = [f"{r[0]} {[*map(hex, r[1])]}: {[*map(hex, _ours(r))]}" for r in rows if _ours(r) != r[2]]
    assert wrong == []


def test_the_oracle_knows_them_too() -> None:
    wrong = [r for r in ROWS if expected(_form(r[0]), r[1], pair=False) != r[2]]
    assert wrong == []


def test_the_table_has_each_finding() -> None:
    met = {text for text, _, _ in ROWS}
    found = "vsub4.u32.s32.u32.add bfi.b64 bfe.s64 fns.b32 mul.ftz.f32 fma.rn.ftz.f32 div.rm.ftz.f32 neg.f64"
    found += " cvt.rp.ftz.f16.f32 cvt.rna.satfinite.tf32.f32 cvt.rn.tf32.f32 cvt.f32.bf16 cvt.rz.f16.f64"
    found += " fma.rn.f64 sub.f64 cvt.ftz.f64.f32 mul.ftz.f16x2"
    assert set(found.split()) <= met


EX2 = [
    (0xCC4E, 0x6D),
    (0xCD6F, 4),
    (0xCBE8, 0x123),
    (0xCB95, 0x1C8),
    (0xCDCC, 1),
    (0xCB4A, 0x2AD),
    (0xCDA2, 2),
]


def test_subnormal_powers_may_be_cut_but_not_more() -> None:
    operands, results = (np.array(x, np.uint16) for x in zip(*EX2, strict=True))
    assert not violations("ex2.approx.f16", (operands,), results).any()
    assert violations("ex2.approx.f16", (operands[:1],), results[:1] - np.uint16(1)).all()
    # 2**-1 is normal: there the relative bound of the manual holds alone.
    half = np.array([0xBC00], np.uint16)
    assert violations("ex2.approx.f16", (half,), np.array([0x37FD], np.uint16)).all()
    assert APPROXIMATE["ex2.approx.f16x2"].cut


def test_the_hyperbolic_tangent_of_bf16_is_a_little_worse_than_the_manual_says() -> None:
    operand = np.array([0x3F3F], np.uint16)
    assert not violations("tanh.approx.bf16", (operand,), np.array([0x3F21], np.uint16)).any()
    assert violations("tanh.approx.bf16", (operand,), np.array([0x3F20], np.uint16)).all()
    assert not APPROXIMATE["tanh.approx.bf16"].documented
