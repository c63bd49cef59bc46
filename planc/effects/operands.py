"""Operands and results of instructions: what registers, immediates, symbols and special registers hold."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType

from planc.effects.arithmetic import Arithmetic, type_range
from planc.effects.bounds import Facts
from planc.effects.conditions import UNKNOWN, Condition, negate
from planc.effects.engine import Engine
from planc.effects.forms import Form, add, centred, constant
from planc.effects.state import State, merge
from planc.effects.values import Choice, Number, Option, Value, choice_of, options_of
from planc.ptx.instructions import read_registers, written_registers
from planc.ptx.syntax import Function, Immediate, Instruction, Negated, Operand, Register, Symbol
from planc.ptx.widths import TYPE_BYTES

Calculation = Callable[[Arithmetic, tuple[Form, ...], Facts], Form]


def number_type(word: str) -> tuple[int, bool] | None:
    """Return (bits, signed) of a whole-number type word, ``s32``; None for any other word."""
    if word[:1] not in ("s", "u", "b") or not word[1:].isdigit():
        return None
    bits = int(word[1:])
    return (bits, word[0] == "s") if bits in (8, 16, 32, 64) else None


class Transfer:
    """Runs instructions of one function over states."""

    def __init__(self, engine: Engine, function: Function) -> None:
        """Run instructions of ``function``."""
        self.engine = engine
        self.function = function
        self.selected: dict[Form, tuple[Condition, int, int]] = {}

    # Operands

    def read(self, operand: Operand, state: State) -> Value:
        """Return what an operand holds."""
        if isinstance(operand, Immediate):
            return Number(constant(centred(operand.bits, 64)), 64)
        if isinstance(operand, Register):
            return self._register(operand.name, state)
        if isinstance(operand, Symbol):
            return Number(add(self.address_of(operand.name), constant(operand.offset)), 64)
        if isinstance(operand, Negated):
            held = self._register(operand.register.name, state)
            return negate(held) if isinstance(held, Condition) else self.unknown_number(32, state)
        return self.unknown_number(64, state)

    def _register(self, name: str, state: State) -> Value:
        held = state.registers.get(name)
        if held is not None:
            return held
        if name not in self.function.registers:
            return Number(self.special(name), 32)
        if self.function.registers[name] == "pred":
            return UNKNOWN
        return self.unknown_number(self.width_of(name), state)

    def width_of(self, name: str) -> int:
        """Return the bits of a register."""
        return TYPE_BYTES.get(self.function.registers.get(name, "b64"), 8) * 8

    def unknown_number(self, width: int, state: State, *sources: Form) -> Number:
        """Return a number of which only the width is known."""
        return Number(self.engine.fresh("value", *type_range(min(width, 64), True), *sources), width)

    def address_of(self, name: str) -> Form:
        """Return the address of a variable, parameter or function."""
        for variable in self.function.variables:
            if variable.name == name:
                return self.engine.pointer(variable.space, f"{self.function.name}/{name}", name)
        known = self.engine.module.variables.get(name)
        if known is not None:
            return self.engine.pointer(known.space, name, name)
        space = "param" if any(p.name == name for p in self.function.parameters) else "code"
        return self.engine.pointer(space, name, name)

    def special(self, name: str) -> Form:
        """Return what a special register holds."""
        base, _, axis = name[1:].partition(".")
        if axis in ("x", "y", "z"):
            place = "xyz".index(axis)
            block, grid = self.engine.launch.block[place], self.engine.launch.grid[place]
            if base in ("tid", "ctaid"):
                return self.engine.index(name[1:], block if base == "tid" else grid)
            if base in ("ntid", "nctaid"):
                return self.engine.count(name[1:], block if base == "ntid" else grid)
        low, high = _RANGES.get(name[1:], (-(1 << 31), (1 << 32) - 1))
        if high == -1:
            low, high = type_range(64 if "64" in name or name == "%globaltimer" else 32, True)
        return self.engine.fresh(name, low, min(high, (1 << 63) - 1))

    def number(self, operand: Operand, state: State) -> Number | Choice:
        """Return the number that an operand holds."""
        value = self.read(operand, state)
        return self.unknown_number(64, state) if isinstance(value, Condition) else value

    def condition(self, operand: Operand, state: State) -> Condition:
        """Return the predicate that an operand holds."""
        value = self.read(operand, state)
        return value if isinstance(value, Condition) else UNKNOWN

    # Results

    def write(self, operand: Operand, value: Value, state: State) -> None:
        """Store into a register; ``_`` is thrown away."""
        if isinstance(operand, Register):
            state.registers[operand.name] = value

    def lift(
        self, operands: tuple[Operand, ...], width: int, state: State, calculate: Calculation
    ) -> Number | Choice:
        """Apply ``calculate`` to every combination of what the operands may hold."""
        values = [options_of(self.number(operand, state)) for operand in operands]
        arithmetic = self.engine.arithmetic
        if all(len(each) == 1 for each in values):
            forms = tuple(each[0].form for each in values)
            return Number(calculate(arithmetic, forms, state.facts), width)
        found: list[Option] = []
        for combination in itertools.product(*values):
            facts = tuple(dict.fromkeys(f for option in combination for f in option.facts))
            forms = tuple(option.form for option in combination)
            found.append(Option(calculate(arithmetic, forms, state.facts.with_more(facts)), facts))
        parts = [(option, state) for option in found]
        return merge(self.engine, parts, width) if len(parts) > 1 else choice_of(found, width)

    def generic(self, instruction: Instruction, state: State) -> None:
        """Results become unknown; they remember which pointers they may come from."""
        sources = self._sources(instruction, state)
        for name in written_registers(instruction):
            if self.function.registers.get(name) == "pred":
                state.registers[name] = UNKNOWN
            else:
                state.registers[name] = self.unknown_number(self.width_of(name), state, *sources)

    def _sources(self, instruction: Instruction, state: State) -> list[Form]:
        found: list[Form] = []
        for name in read_registers(instruction):
            held = state.registers.get(name)
            if held is not None and not isinstance(held, Condition):
                found += [option.form for option in options_of(held)]
        return found


_RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "laneid": (0, 31),
        "warpid": (0, 63),
        "nwarpid": (0, 64),
        "clock64": (0, -1),
        "globaltimer": (0, -1),
        "clock": (0, -1),
        "globaltimer_lo": (0, -1),
        "globaltimer_hi": (0, -1),
    }
)
