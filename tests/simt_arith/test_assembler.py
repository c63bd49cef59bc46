"""The assembler takes every form that planc takes, and every program of the fuzzer."""

from __future__ import annotations

import pytest

from planc.simt.arith import OPCODES, forms
from tools.fuzz.driver import assembler_log
from tools.fuzz.emit import Case, entry, form_case, module
from tools.fuzz.programs import programs

pytest.importorskip("cuda.bindings.nvjitlink")


def _cases(opcode: str) -> list[Case]:
    cases = []
    for f in forms(opcode):
        if f.opcode != "lop3" or not f.pair:
            cases.append(form_case(f, table=0x96))
        if f.pair:
            cases.append(form_case(f, pair=True, table=0x96))
    return cases


@pytest.mark.parametrize("opcode", OPCODES)
def test_every_form_assembles(opcode: str) -> None:
    cases = _cases(opcode)
    assert cases
    assert assembler_log(module([entry("all", [], cases, [])])) == ""


def test_what_is_no_form_does_not_assemble() -> None:
    text = module([entry("one", [], [form_case(forms("fma")[0])], [])])
    assert "fma.rn.f32" in text
    assert "error" in assembler_log(text.replace("fma.rn.f32", "fma.rn.sat.sat.oops.f32"))


def test_programs_assemble() -> None:
    texts = [entry(p.name, p.input_names, p.cases, p.outputs) for p in programs(12, seed=5)]
    assert assembler_log(module(texts)) == ""
