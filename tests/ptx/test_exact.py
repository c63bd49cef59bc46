"""The rewriting to rounded arithmetic touches what it must and nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planc.diagnostics import GraphError
from planc.ptx import make_exact, parse
from planc.ptx.syntax import Instruction
from tests.ptx.helpers import SAMPLES, wrap

OPEN = {"f32", "f64", "f32x2", "f16", "f16x2", "bf16", "bf16x2"}


def expected(instruction: Instruction) -> Instruction:
    """Say it again in terms of the tree."""
    modifiers = instruction.modifiers
    is_open = instruction.opcode in ("add", "sub", "mul") and OPEN.intersection(modifiers)
    if not is_open or {"rn", "rz", "rm", "rp"}.intersection(modifiers):
        return instruction
    return replace(instruction, modifiers=("rn", *modifiers))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_samples(path: object) -> None:
    text = path.read_text()  # type: ignore[attr-defined]
    before, after = parse(text), parse(make_exact(text))
    assert after.variables == before.variables
    for name, function in before.functions.items():
        changed = after.functions[name]
        assert changed.body == tuple(expected(i) for i in function.body)
        assert replace(changed, body=()) == replace(function, body=())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("add.f32", "add.rn.f32"),
        ("sub.ftz.f32", "sub.rn.ftz.f32"),
        ("mul.ftz.sat.f32", "mul.rn.ftz.sat.f32"),
        ("add.f64", "add.rn.f64"),
        ("mul.f16", "mul.rn.f16"),
        ("sub.f16x2", "sub.rn.f16x2"),
        ("add.bf16x2", "add.rn.bf16x2"),
        ("add.f32x2", "add.rn.f32x2"),
        ("add.f32.bf16", "add.rn.f32.bf16"),
        ("add .f32", "add.rn .f32"),
        ("@%p1 mul.f32", "@%p1 mul.rn.f32"),
        ("add.rz.f32", "add.rz.f32"),
        ("add.rn.f32", "add.rn.f32"),
        ("add.s32", "add.s32"),
        ("mul.lo.s32", "mul.lo.s32"),
        ("mul.wide.u32", "mul.wide.u32"),
        ("fma.rn.f32", "fma.rn.f32"),
        ("min.f32", "min.f32"),
        ("addc.u32", "addc.u32"),
        ("atom.global.add.f32", "atom.global.add.f32"),
        ("red.add.f32", "red.add.f32"),
        ("div.full.f32", "div.full.f32"),
        ("// add.f32", "// add.f32"),
        ('.pragma "add.f32"', '.pragma "add.f32"'),
    ],
)
def test_forms(before: str, after: str) -> None:
    assert make_exact(wrap(f"{before} %r1, %r2;")) == wrap(f"{after} %r1, %r2;")


def test_twice_is_once() -> None:
    for path in SAMPLES:
        once = make_exact(path.read_text())
        assert make_exact(once) == once


def test_what_is_no_ptx() -> None:
    with pytest.raises(GraphError) as caught:
        make_exact("add.f32 \x00", "k.ptx")
    assert caught.value.code == "PLC490"
    assert str(caught.value.diagnostics[0].span) == "k.ptx:1:9"
