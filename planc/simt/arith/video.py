"""Packed video instructions (PTX ISA, "Video Instructions"): two or four lanes of a register.

Only the form without lane selection and masks, which compute every lane. With ``.add`` the whole results
of the lanes are added up, as the manual's pseudo-code does it: a difference of bytes is an integer from
-255 to 255, whatever the sign of the destination's type. Only a merge cuts them to their lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planc.simt.arith.fields import lanes
from planc.simt.arith.forms import Form, form, spellings
from planc.simt.arith.types import Bits, Function, cut, is_signed

_OPERATIONS: dict[str, Callable[[Bits, Bits], Bits]] = {
    "vadd": lambda a, b: a + b,
    "vsub": lambda a, b: a - b,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
}


def _limits(name: str, size: int) -> tuple[int, int]:
    if is_signed(name):
        return -(1 << (size - 1)), (1 << (size - 1)) - 1
    return 0, (1 << size) - 1


def _function(opcode: str, types: list[str], modifiers: list[str]) -> Function:
    operation, size = _OPERATIONS[opcode[:-1]], 32 // int(opcode[-1])
    result, left, right = types

    def function(a: Bits, b: Bits, c: Bits) -> Bits:
        sides = lanes(a, size, is_signed(left)), lanes(b, size, is_signed(right))
        results = [operation(x, y) for x, y in zip(*sides, strict=True)]
        if "add" in modifiers:
            total = cut(c, np.uint32).astype(np.int64)
            return sum(results, total).astype(np.uint32)
        if "sat" in modifiers:
            results = [np.clip(x, *_limits(result, size)) for x in results]
        words = [(lane & ((1 << size) - 1)) << (size * i) for i, lane in enumerate(results)]
        merged: Bits = np.bitwise_or.reduce(words).astype(np.uint32)
        return merged

    return function


def forms() -> Iterator[Form]:
    """The packed forms on all lanes, merged or added up."""
    names = " ".join(name + size for name in _OPERATIONS for size in "24")
    for text in spellings(names, "u32 s32", "u32 s32", "u32 s32", "- sat add"):
        opcode, *types = text.split(".")[:4]
        operands = f"{types[1]} {types[2]} {types[0]}"
        yield form(text, operands, types[0], _function(opcode, types, text.split(".")[4:]))
