"""Instruction forms: the one table of what is supported, and how an instruction finds its row.

A form is an opcode with its modifiers (``fma.rn.ftz.f32``). Modifiers may stand in any order, as
ptxas allows (nvcc writes ``max.s16x2.relu``), but types keep theirs: ``cvt.f32.s32`` is not
``cvt.s32.f32``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from planc.ptx.syntax import Instruction, Pair
from planc.simt.arith.types import WIDTHS, Function, width

Key = tuple[tuple[str, ...], tuple[str, ...]]


class UnsupportedForm(Exception):
    """An instruction form that is not implemented; ``form`` says which, ``add.oob.f32``."""

    def __init__(self, form: str) -> None:
        """Keep the form as written."""
        super().__init__(form)
        self.form = form


@dataclass(frozen=True, slots=True)
class Decoded:
    """One instruction made ready to run.

    ``function`` takes the bits of each source operand in the order of the text (1-D arrays,
    ``bool`` for predicates, unsigned otherwise; shapes broadcast) and returns the bits of the result, or a
    tuple of them where ``result_widths`` has several. It never writes to its operands and never returns one
    of them. Widths are in bits; 1 is a predicate.

    A result may be wider than its width says: then it is extended by the type's own rule, so that
    ``result.astype(register dtype)`` is always what the ISA asks (PTX ISA, "Operand Size Exceeding
    Instruction-Type Size").

    ``carry_in``: after the operands of the text, ``function`` takes CC.CF (``bool``), and
    ``operand_widths`` ends in 1. ``carry_out``: the last result is the new CC.CF, and
    ``result_widths`` ends in 1. For subtraction CC.CF is the borrow.
    """

    function: Function
    operand_widths: tuple[int, ...]
    result_widths: tuple[int, ...]
    carry_in: bool = False
    carry_out: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A row of the table: ``text``, the types of operands and results, and the maker of the function.

    ``pair`` are the result types where the destination is written ``d|p``. ``make`` sees the
    instruction because a few functions depend on it (``lop3`` on its table, ``setp`` on ``p|q``).
    """

    text: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    make: Callable[[Instruction], Function]
    pair: tuple[str, ...] = ()
    carry_in: bool = False
    carry_out: bool = False

    @property
    def opcode(self) -> str:
        """The first word of the form."""
        return self.text.partition(".")[0]

    def decode(self, instruction: Instruction) -> Decoded:
        """The function for ``instruction``, which has this form; raises :class:`UnsupportedForm`."""
        if len(instruction.operands) != 1 + len(self.operands) - self.carry_in:
            raise UnsupportedForm(f"{instruction.form} with {len(instruction.operands)} operands")
        paired = isinstance(instruction.operands[0], Pair)
        if paired and not self.pair:
            raise UnsupportedForm(f"{instruction.form} with two results")
        return Decoded(
            function=self.make(instruction),
            operand_widths=tuple(width(name) for name in self.operands),
            result_widths=tuple(width(name) for name in (self.pair if paired else self.results)),
            carry_in=self.carry_in,
            carry_out=self.carry_out,
        )


def form(text: str, operands: str, result: str, function: Function) -> Form:
    """A form with one result whose function is the same for all its instructions.

    ``operands`` are types divided by spaces.
    """
    return Form(text, tuple(operands.split()), (result,), lambda _: function)


def key(modifiers: Iterable[str]) -> Key:
    """What two spellings of one form have in common: sorted modifiers, and types in order."""
    words = tuple(modifiers)
    return (tuple(sorted(w for w in words if w not in WIDTHS)), tuple(w for w in words if w in WIDTHS))


def spellings(*parts: str) -> list[str]:
    """All texts from ``parts``, each a list of choices divided by spaces, ``-`` meaning nothing.

    ``spellings("add", "- rn", "f32")`` is ``["add.f32", "add.rn.f32"]``.
    """
    texts = [""]
    for part in parts:
        texts = [f"{t}.{c}" if c != "-" else t for t in texts for c in part.split()]
    return [t.removeprefix(".") for t in texts]
