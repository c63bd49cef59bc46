"""Straight-line cases on the CPU, by the functions of :mod:`planc.simt.arith`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from planc.simt.arith import UNSIGNED, decode
from tools.fuzz.emit import LETTERS, Case

Bits = npt.NDArray[Any]
Registers = dict[str, Bits]
WIDTH = {letter: width for width, letter in LETTERS.items()}
"""The width of a register by the letter after ``%``."""


def register_dtype(name: str) -> np.dtype[Any]:
    """The dtype of a named register."""
    return UNSIGNED[WIDTH[name[1]]]


def from_words(words: npt.NDArray[np.uint64], names: Sequence[str]) -> Registers:
    """Registers from the rows of words of all threads, one column each."""
    columns = (np.ascontiguousarray(words[:, i]) for i in range(len(names)))
    return {
        n: (c != 0) if n[1] == "p" else c.astype(register_dtype(n))
        for n, c in zip(names, columns, strict=True)
    }


def to_words(registers: Mapping[str, Bits], names: Sequence[str]) -> npt.NDArray[np.uint64]:
    """Rows of words, as the kernels store them."""
    return np.stack([registers[name].astype(np.uint64) for name in names], axis=1)


def _operand(case: Case, place: int, registers: Mapping[str, Bits], width: int, threads: int) -> Bits:
    name = case.sources[place]
    if name.startswith("%"):
        return registers[name]
    bits = int(name) & ((1 << width) - 1)
    return np.full(threads, bits, UNSIGNED[max(width, 8)])


def run_case(case: Case, registers: Mapping[str, Bits], threads: int) -> Registers:
    """The results of one case for all threads, as its target registers hold them."""
    decoded = decode(case.instruction)
    widths = decoded.operand_widths
    operands = [_operand(case, i, registers, w, threads) for i, w in enumerate(widths)]
    result = decoded.function(*operands)
    results = result if isinstance(result, tuple) else (result,)
    return {
        name: np.broadcast_to(bits, (threads,)).astype(register_dtype(name))
        for name, bits in zip(case.targets, results, strict=True)
    }


def run_program(cases: Sequence[Case], inputs: Registers) -> Registers:
    """All registers after the last case."""
    registers = dict(inputs)
    threads = len(next(iter(inputs.values())))
    for case in cases:
        registers |= run_case(case, registers, threads)
    return registers
