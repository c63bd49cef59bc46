"""Decoding: what is accepted, refused, and how registers go in and results come out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from planc.ptx.syntax import Discard, Immediate, Instruction, Operand, Pair, Register, Vector
from planc.simt.arith import (
    OPCODES,
    OPERATIONS,
    WIDTHS,
    Form,
    UnsupportedForm,
    decode,
    forms,
    supports_arith,
)
from tests.simt_arith.hard_cases import cases
from tests.simt_arith.running import instruction

ALL = [f for opcode in OPCODES for f in forms(opcode)]
A, B, C = Register("%a"), Register("%b"), Register("%c")


def _instruction(text: str, *operands: Operand) -> Instruction:
    opcode, *modifiers = text.split(".")
    return Instruction(opcode, tuple(modifiers), operands)


def test_every_form_of_the_census_is_supported() -> None:
    wanted = (Path(__file__).parent / "census_forms.txt").read_text().split()
    missing = [text for text in wanted if not supports_arith(text.split(".")[0], text.split(".")[1:])]
    assert len(wanted) > 250
    assert missing == []


def test_forms_are_unique_and_found_again() -> None:
    assert len({f.text for f in ALL}) == len(ALL)
    for f in ALL:
        opcode, *modifiers = f.text.split(".")
        assert supports_arith(opcode, modifiers)
        assert opcode in OPERATIONS


def test_modifiers_may_stand_in_any_order_but_types_may_not() -> None:
    assert supports_arith("max", ("s16x2", "relu"))
    assert supports_arith("max", ("relu", "s16x2"))
    to_float = decode(_instruction("cvt.rn.f32.s32", A, B)).function(np.array([1], np.uint32))
    to_integer = decode(_instruction("cvt.rni.s32.f32", A, B)).function(to_float)
    assert to_float.tolist() == [0x3F800000]
    assert to_integer.tolist() == [1]
    assert not supports_arith("cvt", ("rn", "s32", "f32"))


@pytest.mark.parametrize(
    "text",
    [
        *("add.oob.f32", "add.f16.f32", "add.u8", "add.b32", "add.rn.s32", "add.ftz.f64", "add.sat.u32"),
        *("fma.f32", "fma.rn.oob.f16", "fma.rn.f32x2", "mul.s32", "mul.wide.s64", "div.f32", "sqrt.rn.f16"),
        *("cvt.f32.s32", "cvt.s32.f32", "cvt.rn.f64.f32", "cvt.rs.f16x2.f32", "cvt.sat.s64.s32", "mov.b128"),
        *("setp.lo.s32", "setp.lt.b32", "set.eq.u64.u32", "selp.pred", "lop3.xor.b32", "prmt.b32.xyz"),
        *("ex2.approx.ftz.f16", "tanh.approx.ftz.f32", "min.f32.f32", "nosuch.f32", "ld.global.f32"),
    ],
)
def test_other_forms_are_refused(text: str) -> None:
    opcode, *modifiers = text.split(".")
    assert not supports_arith(opcode, modifiers)
    with pytest.raises(UnsupportedForm) as refusal:
        decode(_instruction(text, A, B, C))
    assert refusal.value.form == text


@pytest.mark.parametrize(
    ("text", "operands"),
    [
        ("add.s32", (A, B)),
        ("add.s32", (A, B, C, A)),
        ("add.s32", (Pair(A, B), B, C)),
        ("neg.s32", (A, B, C)),
        ("setp.lt.and.s32", (A, B, C)),
        ("setp.lt.f16", (Pair(A, B), B, C)),
        ("lop3.or.b32", (A, B, C, A, Immediate("int", 1), B)),
        ("lop3.b32", (A, B, C, A, B)),
        ("lop3.b32", (A, B, C, A, Immediate("int", 256))),
        ("mov.b32", (Vector((A, B)), Vector((C, C)))),
        ("mov.b32", (A, Vector((A, B, C)))),
        ("mov.u32", (A, Vector((B, C)))),
    ],
)
def test_operands_that_do_not_fit_are_refused(text: str, operands: tuple[Operand, ...]) -> None:
    with pytest.raises(UnsupportedForm, match=text.replace(".", r"\.")):
        decode(_instruction(text, *operands))


def test_widths_follow_the_types() -> None:
    wide = decode(_instruction("mad.wide.s32", A, B, C, A))
    assert (wide.operand_widths, wide.result_widths) == ((32, 32, 64), (64,))
    compared = decode(_instruction("setp.lt.and.f64", Pair(A, Discard()), B, C, A))
    assert (compared.operand_widths, compared.result_widths) == ((64, 64, 1), (1, 1))
    carried = decode(_instruction("madc.hi.cc.u32", A, B, C, A))
    assert (carried.operand_widths, carried.result_widths) == ((32, 32, 32, 1), (32, 1))
    assert carried.carry_in and carried.carry_out
    plain = decode(_instruction("add.cc.u32", A, B, C))
    assert (plain.carry_in, plain.carry_out) == (False, True)


def test_mov_packs_the_first_element_lowest() -> None:
    packed = decode(_instruction("mov.b32", A, Vector((B, C))))
    assert (packed.operand_widths, packed.result_widths) == ((16, 16), (32,))
    low, high = np.array([0x1111, 1], np.uint16), np.array([0x2222, 0xFFFF], np.uint16)
    assert packed.function(low, high).tolist() == [0x22221111, 0xFFFF0001]
    bytes_ = decode(_instruction("mov.b32", A, Vector((A, B, C, A))))
    parts = [np.array([x], np.uint8) for x in (1, 2, 3, 0xF4)]
    assert bytes_.function(*parts).tolist() == [0xF4030201]


def test_mov_unpacks_and_keeps_the_place_of_a_discarded_element() -> None:
    unpacked = decode(_instruction("mov.b64", Vector((Discard(), B)), C))
    assert (unpacked.operand_widths, unpacked.result_widths) == ((64,), (32, 32))
    low, high = unpacked.function(np.array([0x1234567890ABCDEF], np.uint64))
    assert (low.tolist(), high.tolist()) == ([0x90ABCDEF], [0x12345678])


def test_signed_conversions_extend_to_any_register() -> None:
    for text in ("cvt.s32.s8", "cvt.s8.s32", "cvt.s16.s32", "cvt.rzi.s32.f32"):
        operand = np.array([0xC1000000 if text.endswith("f32") else 0xF8], np.uint32)
        result = decode(_instruction(text, A, B)).function(operand)
        assert result.astype(np.uint64).tolist() in ([2**64 - 8], [0xF8])
        assert result.dtype == np.uint64
    unsigned = decode(_instruction("cvt.u8.s32", A, B)).function(np.array([0x1F8], np.uint32))
    assert unsigned.astype(np.uint64).tolist() == [0xF8]


def test_operands_wider_than_the_type_are_cut() -> None:
    result = decode(_instruction("cvt.s32.s8", A, B)).function(np.array([0xFFFF0080], np.uint32))
    assert result.astype(np.uint32).tolist() == [0xFFFFFF80]
    half = decode(_instruction("cvt.u32.u16", A, B)).function(np.array([0xABCD_1234_5678], np.uint64))
    assert half.tolist() == [0x5678]


def _columns(form: Form) -> tuple[np.ndarray, ...]:
    return cases(form.operands, 12, seed=3)


def _made(form: Form) -> Instruction:
    """An instruction of the form; lop3 with a predicate cannot do without its second result."""
    return instruction(form, table=0x96, pair=form.opcode == "lop3" and bool(form.pair))


def test_functions_neither_write_to_operands_nor_return_them() -> None:
    for f in ALL:
        if f.opcode == "set":
            continue  # built of the same parts as setp
        columns = _columns(f)
        before = [c.copy() for c in columns]
        result = decode(_made(f)).function(*columns)
        for got in result if isinstance(result, tuple) else (result,):
            assert not any(np.shares_memory(got, c) for c in columns), f.text
        assert all((c == b).all() for c, b in zip(columns, before, strict=True)), f.text


def test_a_single_value_stands_for_all_threads() -> None:
    for f in ALL:
        if f.opcode == "set" or len(f.operands) < 2:
            continue
        columns = _columns(f)
        function = decode(_made(f)).function
        full = function(*(np.full_like(c, c[1]) if i else c for i, c in enumerate(columns)))
        short = function(*(c[1:2] if i else c for i, c in enumerate(columns)))
        for a, b in zip(*(r if isinstance(r, tuple) else (r,) for r in (full, short)), strict=True):
            assert (np.broadcast_to(b, a.shape) == a).all(), f.text


def test_no_threads_are_no_trouble() -> None:
    for f in ALL:
        result = decode(_made(f)).function(*(c[:0] for c in _columns(f)))
        assert all(r.size == 0 for r in (result if isinstance(result, tuple) else (result,))), f.text


def test_results_have_the_width_they_say() -> None:
    for f in ALL:
        decoded = decode(_made(f))
        result = decoded.function(*_columns(f))
        results = result if isinstance(result, tuple) else (result,)
        assert len(results) == len(decoded.result_widths) == len(f.results), f.text
        for got, name in zip(results, f.results, strict=True):
            assert (got.dtype == np.bool_) == (name == "pred"), f.text
            assert name == "pred" or 8 * got.dtype.itemsize >= WIDTHS[name], f.text
