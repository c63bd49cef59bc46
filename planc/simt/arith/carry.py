"""Extended-precision arithmetic (PTX ISA, "Extended-Precision Integer Arithmetic Instructions").

CC.CF is an operand after those of the text (``carry_in``) and a result after the others (``carry_out``),
both ``bool``. Subtraction keeps the borrow in it: ``subc`` is ``a - (b + CC.CF)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planc.simt.arith.forms import Form, spellings
from planc.simt.arith.integer import PRODUCTS
from planc.simt.arith.types import UNSIGNED, Bits, Function, cut, width

Step = Callable[[Bits, Bits, Bits], tuple[Bits, Bits]]


def _sum(a: Bits, b: Bits, carry: Bits) -> tuple[Bits, Bits]:
    total = a + b
    result = total + carry
    return result, (total < a) | (result < total)


def _difference(a: Bits, b: Bits, borrow: Bits) -> tuple[Bits, Bits]:
    gap = a - b
    return gap - borrow, (a < b) | ((gap == 0) & borrow)


def _extended(name: str, step: Step, *, carry_in: bool, carry_out: bool) -> Function:
    dtype = UNSIGNED[width(name)]

    def function(a: Bits, b: Bits, *carry: Bits) -> Bits | tuple[Bits, Bits]:
        flag = cut(carry[0], np.bool_) if carry_in else np.zeros(1, np.bool_)
        result, out = step(cut(a, dtype), cut(b, dtype), flag)
        return (result, out) if carry_out else result

    return function


def _fused(product: Function, total: Function) -> Function:
    return lambda a, b, c, *carry: total(product(a, b), c, *carry)


def _make(function: Function, text: str, operands: tuple[str, ...], name: str) -> Form:
    flags = _flags(text)
    taken = (*operands, "pred") if flags["carry_in"] else operands
    given = (name, "pred") if flags["carry_out"] else (name,)
    return Form(text, taken, given, lambda _: function, (), flags["carry_in"], flags["carry_out"])


def _flags(text: str) -> dict[str, bool]:
    return {"carry_in": text.partition(".")[0].endswith("c"), "carry_out": ".cc." in text}


def forms() -> Iterator[Form]:
    """add.cc, addc, sub.cc, subc, mad.cc and madc in all their types."""
    types = "u32 s32 u64 s64"
    for text in spellings("add sub", "cc", types) + spellings("addc subc", "- cc", types):
        name = text.rpartition(".")[2]
        step = _sum if text.startswith("add") else _difference
        yield _make(_extended(name, step, **_flags(text)), text, (name, name), name)
    for text in spellings("mad", "lo hi", "cc", types) + spellings("madc", "lo hi", "- cc", types):
        mode, name = text.split(".")[1], text.rpartition(".")[2]
        total = _extended(name, _sum, **_flags(text))
        yield _make(_fused(PRODUCTS[mode](name), total), text, (name, name, name), name)
