"""PTX text for single forms and for straight-line programs.

Each entry takes (source, destination, count): thread i reads row i of 64-bit words at ``source``, one word
for each input, and writes one word for each result. Registers of every width are thus compared whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planc.ptx.syntax import Discard, Immediate, Instruction, Negated, Operand, Pair, Register, Vector
from planc.simt.arith import WIDTHS, Form

HEADER = ".version 8.5\n.target sm_90\n.address_size 64\n"
LETTERS = {1: "p", 8: "b", 16: "h", 32: "r", 64: "d"}
"""The first letter of the registers of each width."""

TABLES = (0x96, 0xE8, 0x1A, 0x01, 0x80, 0xFE)
"""The truth tables with which ``lop3`` is tried."""


def register_width(form: Form, name: str) -> int:
    """The register in which an operand of type ``name`` is held: at least 16 bits, mostly 32.

    Numbers of 8 bits and less live in 32-bit registers, but beside bf16 the assembler wants 8.
    """
    bits = WIDTHS[name]
    if bits == 1 or bits > 8:
        return bits
    return 8 if "bf16" in (*form.operands, *form.results) else 32


@dataclass(frozen=True, slots=True)
class Case:
    """One instruction on named registers, and the widths of what it reads and writes.

    ``form`` is None for a mov between a register and a vector. ``sources`` and ``targets`` stand in the
    order of the decoded function's operands and results, CC.CF among them as a predicate register; a source
    that does not begin with ``%`` is an integer immediate.
    """

    instruction: Instruction
    form: Form | None
    sources: tuple[str, ...]
    targets: tuple[str, ...]


def operand_text(operand: Operand) -> str:
    """An operand as PTX writes it."""
    if isinstance(operand, Register):
        return operand.name
    if isinstance(operand, Immediate):
        return str(operand.bits)
    if isinstance(operand, Vector):
        return "{" + ", ".join(operand_text(x) for x in operand.items) + "}"
    if isinstance(operand, Pair):
        return f"{operand_text(operand.first)}|{operand_text(operand.second)}"
    if isinstance(operand, Negated):
        return f"!{operand.register.name}"
    if isinstance(operand, Discard):
        return "_"
    raise TypeError(operand)


def instruction_text(instruction: Instruction) -> str:
    """One line of PTX."""
    return f"{instruction.form} {', '.join(operand_text(x) for x in instruction.operands)};"


def _subtracts(case: Case) -> bool:
    return case.instruction.opcode.startswith("sub")


def case_lines(case: Case) -> list[str]:
    """The instruction, between the lines that set and read CC.CF where it has to do with it."""
    lines = [instruction_text(case.instruction)]
    form = case.form
    if form is not None and form.carry_in:
        flag = case.sources[-1]
        # 1 + 0xffffffff carries, 0 - 1 borrows; with 0 neither happens.
        setting = "sub.cc.u32 %x1, 0, %x0;" if _subtracts(case) else "add.cc.u32 %x1, %x0, -1;"
        lines = [f"selp.u32 %x0, 1, 0, {flag};", setting, *lines]
    if form is not None and form.carry_out:
        reading = "subc.u32 %x1, 0, 0;" if _subtracts(case) else "addc.u32 %x1, 0, 0;"
        lines += [reading, f"setp.ne.u32 {case.targets[-1]}, %x1, 0;"]
    return lines


_SIZES = {letter: width for width, letter in LETTERS.items()}


def _load(name: str, place: int) -> list[str]:
    address = f"[%src+{8 * place}]"
    if name[1] == "p":
        return [f"ld.global.u32 %x0, {address};", f"setp.ne.u32 {name}, %x0, 0;"]
    size = _SIZES[name[1]]
    return [f"ld.global.u{size} {name}, {address};"]


def _store(name: str, place: int) -> list[str]:
    address, letter = f"[%dst+{8 * place}]", name[1]
    if letter == "d":
        return [f"st.global.u64 {address}, {name};"]
    if letter == "p":
        return [f"selp.u64 %w, 1, 0, {name};", f"st.global.u64 {address}, %w;"]
    return [f"cvt.u64.u{_SIZES[letter]} %w, {name};", f"st.global.u64 {address}, %w;"]


def _prologue(row: int, results: int) -> list[str]:
    return [
        *("mov.u32 %x0, %ctaid.x;", "mov.u32 %x1, %ntid.x;", "mov.u32 %x2, %tid.x;"),
        *("mad.lo.s32 %i, %x0, %x1, %x2;", "ld.param.u32 %x0, [count];"),
        *("setp.ge.u32 %over, %i, %x0;", "@%over ret;"),
        *("ld.param.u64 %src, [source];", "cvta.to.global.u64 %src, %src;"),
        *(f"mul.wide.u32 %w, %i, {8 * row};", "add.s64 %src, %src, %w;"),
        *("ld.param.u64 %dst, [destination];", "cvta.to.global.u64 %dst, %dst;"),
        *(f"mul.wide.u32 %w, %i, {8 * results};", "add.s64 %dst, %dst, %w;"),
    ]


def entry(name: str, inputs: Sequence[str], cases: Sequence[Case], outputs: Sequence[str]) -> str:
    """A kernel that loads ``inputs``, runs ``cases`` and stores ``outputs``; all are register names."""
    names = [*inputs, *outputs, *(r for c in cases for r in (*c.sources, *c.targets))]
    count = 1 + max(int(name[2:]) for name in names if name.startswith("%"))
    body = _prologue(len(inputs), len(outputs))
    for place, register in enumerate(inputs):
        body += _load(register, place)
    for case in cases:
        body += case_lines(case)
    for place, register in enumerate(outputs):
        body += _store(register, place)
    registers = [f".reg .pred %p<{count}>, %over;", f".reg .b16 %h<{count}>;", f".reg .b8 %b<{count}>;"]
    registers += [f".reg .b32 %r<{count}>, %x<3>, %i;", f".reg .b64 %d<{count}>, %src, %dst, %w;"]
    head = f".visible .entry {name}(.param .u64 source, .param .u64 destination, .param .u32 count)"
    return "\n".join([head, "{", *(f"    {line}" for line in [*registers, *body, "ret;"]), "}", ""])


def module(entries: Sequence[str]) -> str:
    """A whole PTX module."""
    return HEADER + "\n".join(entries)


def form_case(form: Form, *, pair: bool = False, table: int = 0) -> Case:
    """One instruction of a form on registers of its own."""
    number = iter(range(len(form.operands) + 4))

    def fresh(name: str) -> str:
        return f"%{LETTERS[register_width(form, name)]}{next(number)}"

    sources = [fresh(name) for name in form.operands]
    targets = [fresh(name) for name in (form.pair if pair else form.results)]
    return case_on(form, sources, targets, table=table)


def case_on(form: Form, sources: Sequence[str], targets: Sequence[str], *, table: int = 0) -> Case:
    """One instruction of a form on given registers or immediates, two targets written ``d|p``."""
    written = targets[: len(targets) - form.carry_out]
    first: Operand = Register(written[0])
    if len(written) == 2:
        first = Pair(first, Register(written[1]))
    given = list(sources)
    if form.opcode == "lop3":
        given[3] = str(table)
    operands = [_source(text) for text in given[: len(given) - form.carry_in]]
    opcode, *modifiers = form.text.split(".")
    instruction = Instruction(opcode, tuple(modifiers), (first, *operands))
    return Case(instruction, form, tuple(given), tuple(targets))


def _source(text: str) -> Operand:
    return Register(text) if text.startswith("%") else Immediate("int", int(text))


def input_registers(case: Case) -> list[str]:
    """The registers that a case reads, each once, immediates left out."""
    return list(dict.fromkeys(name for name in case.sources if name.startswith("%")))
