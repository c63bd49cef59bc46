"""Run one form of planc on columns of operands, and compare with the oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from planc.ptx.syntax import Immediate, Instruction, Operand, Pair, Register
from planc.simt.arith import WIDTHS, Form, decode
from tests.simt_arith.hard_cases import Columns, cases
from tests.simt_arith.oracle import evaluate
from tests.simt_arith.oracle_integer import lop3

Rows = list[tuple[int, ...]]


def instruction(form: Form, *, pair: bool = False, table: int = 0) -> Instruction:
    """An instruction of ``form`` on registers; ``table`` is the constant of a lop3."""
    first: Operand = Pair(Register("%a"), Register("%b")) if pair else Register("%a")
    sources: list[Operand] = [Register(f"%s{i}") for i in range(len(form.operands) - form.carry_in)]
    if form.opcode == "lop3":
        sources[3] = Immediate("int", table)
    opcode, *modifiers = form.text.split(".")
    return Instruction(opcode, tuple(modifiers), (first, *sources))


def run(made: Instruction, columns: Columns, widths: Sequence[int]) -> Rows:
    """Results of planc, one tuple per row, each cut to its width as a write to a register would."""
    result = decode(made).function(*columns)
    results = result if isinstance(result, tuple) else (result,)
    assert len(results) == len(widths)
    masks = [(1 << w) - 1 for w in widths]
    arrays = [np.broadcast_to(np.asarray(r), columns[0].shape).tolist() for r in results]
    return [tuple(int(v) & m for v, m in zip(row, masks, strict=True)) for row in zip(*arrays, strict=True)]


def expected(form: Form, row: tuple[int, ...], *, pair: bool, table: int = 0) -> tuple[int, ...]:
    """Results of the oracle for one row, cut to their widths."""
    if form.opcode == "lop3":
        value = lop3(table, *row[:3])
        result: Any = value
        if pair:
            nonzero, other = value != 0, bool(row[4])
            result = (value, int(nonzero or other if ".or." in form.text else nonzero and other))
    else:
        result = evaluate(form.text, list(row), pair=pair)
    values = result if isinstance(result, tuple) else (result,)
    names = form.pair if pair else form.results
    return tuple(v & ((1 << WIDTHS[n]) - 1) for v, n in zip(values, names, strict=True))


def differences(form: Form, limit: int, *, pair: bool = False, table: int = 0, seed: int = 0) -> list[str]:
    """The first rows on which planc and the oracle differ, in words."""
    columns = cases(form.operands, limit, seed)
    names = form.pair if pair else form.results
    ours = run(instruction(form, pair=pair, table=table), columns, [WIDTHS[n] for n in names])
    found = []
    for row, got in zip(zip(*(c.tolist() for c in columns), strict=True), ours, strict=True):
        want = expected(form, tuple(int(x) for x in row), pair=pair, table=table)
        if got != want:
            shown = ", ".join(hex(int(x)) for x in row)
            found.append(f"{form.text} {shown}: {[*map(hex, got)]}, expected {[*map(hex, want)]}")
            if len(found) == 5:
                break
    return found
