"""Decoding: from instructions to steps with resolved register slots."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from planc.ptx.syntax import (
    Address,
    Discard,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)
from planc.simt.arith import Decoded, UnsupportedForm, decode
from planc.simt.faults import Unsupported
from planc.simt.frames import Fragment
from planc.simt.geometry import CLOCKS, is_supported, is_uniform, read_clock, special_width
from planc.simt.program import FunctionCode, Given, Step
from planc.simt.ranges import Addresses
from planc.simt.registers import BY_WIDTH, Bits
from planc.simt.roles import CARRY, reads_and_writes
from planc.simt.spaces import PARAM_WINDOW

_MASK64 = 0xFFFF_FFFF_FFFF_FFFF


@dataclass(slots=True, eq=False)
class Names:
    """What symbols mean in one function.

    ``fixed`` are addresses known now (shared variables, functions, kernel parameters), ``local`` offsets
    of local variables, ``variables`` the global and constant variables of the module,
    ``entry_parameters`` the offset of each kernel parameter; ``read`` the names that some instruction reads,
    ``used`` those without what only a guarded write of the same name keeps.
    """

    fixed: Mapping[str, int] = field(default_factory=dict)
    local: Mapping[str, int] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    entry_parameters: Mapping[str, int] = field(default_factory=dict)
    read: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


class Decoder:
    """Resolves operands of one function to slots; one per function.

    ``touched`` collects the given slots that the current instruction reads.
    """

    def __init__(self, code: FunctionCode, slots: Mapping[str, int], names: Names) -> None:
        """Decode into ``code``, whose register slots are ``slots``."""
        self.code = code
        self.slots = slots
        self.names = names
        self.touched: set[int] = set()
        self.uniform: set[int] = set()
        self._given: dict[Given, int] = {}

    # Operands.

    def given(self, given: Given, width: int, *, uniform: bool = True) -> int:
        """Return the slot of a given value."""
        slot = self._given.get(given)
        if slot is None:
            slot = self._given[given] = len(self.code.kinds)
            self.code.kinds.append(("bits", width))
            self.code.given.append((slot, given))
            if uniform:
                self.uniform.add(slot)
        self.touched.add(slot)
        return slot

    def constant(self, width: int, bits: int) -> int:
        """Return the slot of a constant."""
        return self.given(("imm", width, bits & ((1 << width) - 1)), width)

    def width(self, slot: int) -> int:
        """Return the width in bits of what a slot holds."""
        return self.code.kinds[slot][1]

    def source(self, operand: Operand, width: int, form: str = "") -> int:
        """Return the slot of an operand that is read; ``width`` is that of an immediate, 1 a predicate's."""
        if isinstance(operand, Register):
            slot = self._register(operand.name)
            if (width == 1) != (self.width(slot) == 1):
                raise Unsupported(form, f"with `{operand.name}`, a register of {self.width(slot)} bits")
            return slot
        if isinstance(operand, Immediate):
            return self.constant(width, immediate_bits(operand, width))
        if isinstance(operand, Symbol):
            return self.symbol(operand, form)
        raise Unsupported(form, f"with the operand {type(operand).__name__.lower()}")

    def predicate(self, operand: Operand, form: str = "") -> tuple[int, bool]:
        """Return the slot of a predicate and whether it is negated."""
        if isinstance(operand, Negated):
            return self.source(operand.register, 1, form), True
        return self.source(operand, 1, form), False

    def _register(self, name: str) -> int:
        slot = self.slots.get(name)
        if slot is not None and self.code.kinds[slot][0] == "bits":
            return slot
        if name in CLOCKS or not is_supported(name):
            raise Unsupported(name, "as a register in this place")
        return self.given(("special", name), special_width(name), uniform=is_uniform(name))

    def symbol(self, operand: Symbol, form: str) -> int:
        """Return the slot of the address of a variable or function, in its own space."""
        name, offset = operand.name, operand.offset
        names = self.names
        if name in names.local:
            return self.given(("local", names.local[name] + offset), 64)
        if name in names.fixed:
            return self.constant(64, names.fixed[name] + offset)
        if name in names.entry_parameters:
            return self.constant(64, PARAM_WINDOW + names.entry_parameters[name] + offset)
        if name in names.variables:
            return self.given(("symbol", name, offset), 64)
        raise Unsupported(form, f"with the address of `{name}`")

    def target(self, operand: Operand, form: str = "", width: int = 0) -> int:
        """Return the slot of an operand that is written, -1 for ``_``; 0 stands for any width."""
        if isinstance(operand, Discard):
            return -1
        if isinstance(operand, Register) and operand.name in self.slots:
            slot = self.slots[operand.name]
            if width in (0, self.width(slot)):
                return slot
        raise Unsupported(form, "with this destination")

    def targets(self, operand: Operand, form: str = "") -> tuple[int, ...]:
        """Return the slots of a register, a vector or a pair."""
        if isinstance(operand, Vector):
            return tuple(self.target(item, form) for item in operand.items)
        if isinstance(operand, Pair):
            return (self.target(operand.first, form), self.target(operand.second, form))
        return (self.target(operand, form),)

    def address(self, operand: Operand, form: str = "") -> Callable[[Fragment], Addresses]:
        """Return a function from a fragment to the addresses of ``[base+offset]``."""
        if not isinstance(operand, Address) or operand.more:
            raise Unsupported(form, "with this address")
        if operand.base is None:
            return _plain_address(self.constant(64, operand.offset))
        if isinstance(operand.base, Symbol):
            base = operand.base
            return _plain_address(self.symbol(Symbol(base.name, base.offset + operand.offset), form))
        slot = self.source(operand.base, 64, form)
        return _register_address(slot, self.width(slot), operand.offset)

    def is_predicate(self, operand: Register) -> bool:
        """Whether an operand is a predicate register."""
        return operand.name in self.slots and self.width(self.slots[operand.name]) == 1

    def is_read(self, operand: Operand) -> bool:
        """Whether any instruction of the function reads a register: False for results nobody uses."""
        return isinstance(operand, Register) and operand.name in self.names.read

    def is_used(self, operand: Operand) -> bool:
        """Whether anything depends on a register; :meth:`is_read` counts guarded writes of it too."""
        return isinstance(operand, Register) and operand.name in self.names.used


def _plain_address(slot: int) -> Callable[[Fragment], Addresses]:
    def addresses(f: Fragment) -> Addresses:
        held: Addresses = f.regs[slot]
        return held

    return addresses


def _register_address(slot: int, width: int, offset: int) -> Callable[[Fragment], Addresses]:
    shift = np.uint64(offset & _MASK64)

    def addresses(f: Fragment) -> Addresses:
        held: NDArray[np.uint64] = f.regs[slot]
        if width != 64:
            held = held.astype(np.uint64)
        return held + shift if shift else held

    return addresses


def immediate_bits(operand: Immediate, width: int) -> int:
    """Return the bits of an immediate used where ``width`` bits are wanted.

    A decimal floating literal is written in double precision; where 32 bits are wanted it is
    rounded to single (PTX ISA, "Floating-Point Constants").
    """
    if operand.kind == "f64" and width == 32:
        (value,) = struct.unpack("<d", struct.pack("<Q", operand.bits))
        return int(np.float32(value).view(np.uint32))
    if width == 1:
        return int(operand.bits != 0)
    return operand.bits & ((1 << width) - 1)


Decode = Callable[[Decoder, Instruction], "Step | None"]
"""Makes the step of an instruction; None where it has no effect."""


def arithmetic(d: Decoder, instruction: Instruction) -> Step | None:
    """Decode an instruction of :mod:`planc.simt.arith`."""
    if instruction.opcode == "mov":
        step = _move(d, instruction)
        if step is not None:
            return step
    try:
        decoded = decode(instruction)
    except UnsupportedForm as found:
        raise Unsupported(found.form) from None
    sources, inverted = _sources(d, instruction, decoded)
    targets = list(d.targets(instruction.operands[0], instruction.form))
    if decoded.carry_in:
        sources.append(d.slots[CARRY])
    if decoded.carry_out:
        targets.append(d.slots[CARRY])
    function = _with_negation(decoded.function, inverted)
    if len(targets) == 1:
        into = targets[0]
        return _single(function, sources, into, BY_WIDTH[d.width(into)]) if into >= 0 else None
    dtypes = [BY_WIDTH[d.width(slot)] if slot >= 0 else np.dtype(np.bool_) for slot in targets]
    return _several(function, sources, targets, dtypes)


def _sources(d: Decoder, instruction: Instruction, decoded: Decoded) -> tuple[list[int], list[int]]:
    """Return the slots of the sources and the positions of negated predicates."""
    operands: list[Operand] = []
    for operand in instruction.operands[1:]:
        operands.extend(operand.items if isinstance(operand, Vector) else (operand,))
    sources: list[int] = []
    inverted: list[int] = []
    for position, (operand, width) in enumerate(zip(operands, decoded.operand_widths, strict=False)):
        if width == 1:
            slot, negated = d.predicate(operand, instruction.form)
            if negated:
                inverted.append(position)
        else:
            slot = d.source(operand, max(width, 8), instruction.form)
        sources.append(slot)
    return sources, inverted


def _with_negation(function: Callable[..., Bits], inverted: list[int]) -> Callable[..., Bits]:
    if not inverted:
        return function

    def negating(*operands: Bits) -> Bits:
        return function(*(~bits if k in inverted else bits for k, bits in enumerate(operands)))

    return negating


def _move(d: Decoder, instruction: Instruction) -> Step | None:
    """Decode a mov between registers of one width: it only binds the array again."""
    if len(instruction.operands) != 2:
        return None
    target, source = instruction.operands
    if isinstance(target, Vector) or isinstance(source, Vector | Negated):
        return None
    if not isinstance(target, Register) or target.name not in d.slots:
        return None
    into = d.slots[target.name]
    if isinstance(source, Register) and source.name in CLOCKS:
        return _read_clock(source.name, into, BY_WIDTH[d.width(into)])
    slot = d.source(source, d.width(into), instruction.form)
    have, want = d.width(slot), d.width(into)
    if have == want:
        return copy_step(slot, into)
    if have == 1 or want == 1:
        return None
    dtype = BY_WIDTH[want]

    def step(f: Fragment) -> None:
        f.regs[into] = f.regs[slot].astype(dtype)

    return step


def _read_clock(name: str, into: int, dtype: np.dtype[np.generic]) -> Step:
    def step(f: Fragment) -> None:
        f.regs[into] = np.full(f.n, read_clock(name, f.chunk), np.uint64).astype(dtype)
        # Who watches a clock does not wait in vain.
        f.chunk.launch.effects += 1

    return step


def copy_step(slot: int, into: int) -> Step:
    """Return a step that binds ``into`` to what ``slot`` holds."""

    def step(f: Fragment) -> None:
        regs = f.regs
        regs[into] = regs[slot]

    return step


def _single(
    function: Callable[..., Bits], sources: list[int], target: int, dtype: np.dtype[np.generic]
) -> Step:
    if len(sources) == 2:
        a, b = sources

        def two(f: Fragment) -> None:
            regs = f.regs
            bits = function(regs[a], regs[b])
            regs[target] = bits if bits.dtype == dtype else bits.astype(dtype)

        return two

    def step(f: Fragment) -> None:
        regs = f.regs
        bits = function(*[regs[slot] for slot in sources])
        regs[target] = bits if bits.dtype == dtype else bits.astype(dtype)

    return step


def _several(
    function: Callable[..., object],
    sources: list[int],
    targets: list[int],
    dtypes: list[np.dtype[np.generic]],
) -> Step:
    def step(f: Fragment) -> None:
        regs = f.regs
        results = function(*[regs[slot] for slot in sources])
        for bits, slot, dtype in zip(results, targets, dtypes, strict=True):  # type: ignore[call-overload]
            if slot >= 0:
                regs[slot] = bits if bits.dtype == dtype else bits.astype(dtype)

    return step


def guarded(step: Step, slot: int, negated: bool, reads: tuple[int, ...], writes: tuple[int, ...]) -> Step:
    """Return ``step`` for the threads whose guard holds.

    ``reads`` and ``writes`` are all slots that ``step`` touches.
    """

    def run(f: Fragment) -> None:
        regs = f.regs
        holds = ~regs[slot] if negated else regs[slot]
        count = int(np.count_nonzero(holds))
        if count == f.n:
            step(f)
        elif count:
            chosen = np.flatnonzero(holds)
            part = f.part(chosen, f.block)
            for each in reads:
                part.regs[each] = regs[each][chosen]
            step(part)
            for each in writes:
                merged = regs[each].copy()
                merged[chosen] = part.regs[each]
                regs[each] = merged

    return run


def slots_touched(d: Decoder, instruction: Instruction) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the slots that an instruction, just decoded, reads and writes."""
    reads, writes = reads_and_writes(instruction)
    read = {d.slots[name] for name in reads if name in d.slots} | d.touched
    return tuple(sorted(read)), tuple(sorted({d.slots[name] for name in writes if name in d.slots}))
