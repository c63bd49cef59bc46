"""Random straight-line programs over the forms whose results are exact."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from planc.ptx.syntax import Instruction, Operand, Register, Vector
from planc.simt.arith import APPROXIMATE, OPCODES, WIDTHS, Form, forms
from tools.fuzz.emit import LETTERS, TABLES, Case, case_on, register_width

INPUTS = {
    "d": ("f64", "b64", "f64", "u64"),
    "r": ("f32", "b32", "f16x2", "f32", "u32", "bf16x2", "s32", "b32"),
}
INPUTS |= {"h": ("f16", "u16", "bf16", "b16"), "p": ("pred", "pred"), "b": ("u8", "s8")}
"""The kinds of value that the input registers of each letter are filled with."""

_FLOATS = ("f16", "bf16", "f16x2", "bf16x2", "f32", "f64")
_ROUNDINGS = {"rn", "rz", "rm", "rp"}


@dataclass(frozen=True, slots=True)
class Program:
    """A straight-line program: its input registers with their kinds, its cases, each target written once."""

    name: str
    inputs: tuple[tuple[str, str], ...]
    cases: tuple[Case, ...]

    @property
    def input_names(self) -> tuple[str, ...]:
        """The registers that are loaded."""
        return tuple(name for name, _ in self.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The registers that are stored: every result."""
        return tuple(name for case in self.cases for name in case.targets)


def may_contract(form: Form) -> bool:
    """Whether the assembler may fuse this form with another (PTX ISA, add, sub, mul without rounding)."""
    words = form.text.split(".")
    return words[0] in ("add", "sub", "mul") and words[-1] in _FLOATS and not _ROUNDINGS & set(words)


def divides(form: Form) -> bool:
    """Whether the form is an integer division, which the ISA leaves open for the divisor 0."""
    return form.opcode in ("div", "rem") and form.operands[0] not in _FLOATS


def keeps_payloads_or_not(form: Form) -> bool:
    """Whether the assembler is free to move the bits or to convert, which differ in a NaN's payload.

    It was seen to do either on an NVIDIA H200 (ptxas 13.0) for a conversion to the same type.
    """
    return form.text in ("cvt.f32.f32", "cvt.f64.f64")


def shifts_wide(form: Form) -> bool:
    """Whether the form is a 64-bit shift.

    Without an integer instruction or a ``mov`` between, ptxas 13.0 converts an amount that an f32
    instruction wrote to an integer by its value, although the ISA shifts by its bits. No compiler writes
    such PTX, so the programs take their amounts from integer instructions.
    """
    return form.opcode in ("shl", "shr") and WIDTHS[form.results[0]] == 64


def exact_forms(opcode: str) -> list[Form]:
    """The forms of one opcode whose results the ISA fixes to the bit."""
    return [f for f in forms(opcode) if f.text not in APPROXIMATE]


@cache
def _choices() -> tuple[tuple[Form, ...], ...]:
    """The forms a program may hold, by opcode, so that opcodes with many forms are not more frequent."""
    left_open = (may_contract, divides, keeps_payloads_or_not)
    by_opcode = (
        tuple(f for f in exact_forms(o) if not any(is_so(f) for is_so in left_open)) for o in OPCODES
    )
    return tuple(rows for rows in by_opcode if rows)


class _Builder:
    """One program in the making."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.known: dict[str, list[str]] = {letter: [] for letter in LETTERS.values()}
        self.integers: list[str] = []
        self.cases: list[Case] = []
        self.next = 0

    def fresh(self, letter: str) -> str:
        """A register not used so far."""
        self.next += 1
        return f"%{letter}{self.next - 1}"

    def pick(self, letter: str) -> str:
        """A known register, late ones more often."""
        names = self.known[letter]
        return names[-1 - min(int(self.chance.expovariate(0.25)), len(names) - 1)]

    def source(self, form: Form, name: str) -> str:
        """A register for an operand of type ``name``, or now and then an integer immediate."""
        plain = name[0] in "bus" and name[1:].isdigit() and WIDTHS[name] >= 16 and form.opcode[0] != "v"
        if plain and self.chance.random() < 0.15:
            return str(self.chance.choice((0, 1, 2, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 255)))
        return self.pick(LETTERS[register_width(form, name)])

    def add(self, case: Case) -> None:
        """Append a case and let later ones read its results."""
        self.cases.append(case)
        for name in case.targets:
            self.known[name[1]].append(name)

    def instruction(self) -> None:
        """Append an instruction of a random form."""
        form = self.chance.choice(self.chance.choice(_choices()))
        pair = bool(form.pair) and (form.pair == form.results or self.chance.random() < 0.5)
        sources = [self.source(form, name) for name in form.operands]
        if shifts_wide(form):
            sources[-1] = self.chance.choice((*self.integers[-4:], "1", "31", "32", "63", "64"))
        if not any(s.startswith("%") for s in sources):
            sources[0] = self.pick(LETTERS[register_width(form, form.operands[0])])
        results = form.pair if pair else form.results
        targets = [self.fresh(LETTERS[register_width(form, name)]) for name in results]
        self.add(case_on(form, sources, targets, table=self.chance.choice(TABLES)))
        if form.results[0] in ("b32", "u32", "s32") and form.opcode not in ("mov", "selp", "slct"):
            self.integers.append(targets[0])

    def vector_move(self) -> None:
        """Append a mov that packs or unpacks a register."""
        whole, part, count = self.chance.choice((("r", "h", 2), ("d", "r", 2), ("d", "h", 4)))
        modifier = (f"b{'32' if whole == 'r' else '64'}",)
        if self.chance.random() < 0.5:
            sources = tuple(self.pick(part) for _ in range(count))
            targets: tuple[str, ...] = (self.fresh(whole),)
            operands: tuple[Operand, ...] = (Register(targets[0]), Vector(tuple(map(Register, sources))))
        else:
            sources = (self.pick(whole),)
            targets = tuple(self.fresh(part) for _ in range(count))
            operands = (Vector(tuple(map(Register, targets))), Register(sources[0]))
        self.add(Case(Instruction("mov", modifier, operands), None, sources, targets))


def program(name: str, seed: int) -> Program:
    """The program of a seed: 20 to 60 instructions."""
    builder = _Builder(random.Random(seed))
    inputs: list[tuple[str, str]] = []
    for letter, kinds in INPUTS.items():
        for kind in kinds:
            inputs.append((builder.fresh(letter), kind))
            builder.known[letter].append(inputs[-1][0])
    for _ in range(builder.chance.randint(20, 60)):
        builder.vector_move() if builder.chance.random() < 0.05 else builder.instruction()
    return Program(name, tuple(inputs), tuple(builder.cases))


def programs(count: int, seed: int) -> Sequence[Program]:
    """``count`` programs, the same for the same seed."""
    return [program(f"program_{i}", seed * 1_000_003 + i) for i in range(count)]
