"""What one instruction does to registers, as far as forms can tell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from types import MappingProxyType

from planc.effects.arithmetic import Arithmetic, type_range
from planc.effects.bounds import Facts
from planc.effects.compare import compare
from planc.effects.conditions import FALSE, TRUE, UNKNOWN, Condition, both, decided, either, negate
from planc.effects.engine import Engine
from planc.effects.forms import Form, add, centred, constant, scale, subtract, wrap
from planc.effects.state import State, assume, merge
from planc.effects.values import Choice, Number, Option, Value, choice_of, options_of
from planc.ptx.instructions import read_registers, written_registers
from planc.ptx.syntax import (
    Discard,
    Function,
    Immediate,
    Instruction,
    Negated,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)
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

    def run(self, instruction: Instruction, state: State) -> None:
        """Run one instruction that neither touches memory nor branches."""
        handler = _HANDLERS.get(instruction.opcode)
        if handler is None or not handler(self, instruction, state):
            self.generic(instruction, state)


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


def _typed(instruction: Instruction) -> tuple[int, bool] | None:
    """Return the whole-number type of an instruction without saturation or carry."""
    if not instruction.modifiers or {"sat", "cc"} & set(instruction.modifiers):
        return None
    return number_type(instruction.modifiers[-1])


def _binary(calculate: Callable[[Arithmetic, Form, Form, int, bool, Facts], Form]) -> Handler:
    def handle(t: Transfer, instruction: Instruction, state: State) -> bool:
        kind = _typed(instruction)
        if instruction.modifiers[-1:] == ("pred",):
            return _predicate(t, instruction, state)
        if kind is None or len(instruction.operands) != 3:
            return False
        width, signed = kind

        def run(a: Arithmetic, forms: tuple[Form, ...], facts: Facts) -> Form:
            one, other = (wrap(f, width) for f in forms)
            return calculate(a, one, other, width, signed, facts)

        t.write(instruction.operands[0], t.lift(instruction.operands[1:3], width, state, run), state)
        return True

    return handle


def _predicate(t: Transfer, instruction: Instruction, state: State) -> bool:
    combine = {"and": both, "or": either}.get(instruction.opcode)
    values = [t.condition(operand, state) for operand in instruction.operands[1:]]
    if instruction.opcode == "xor":
        found = _exclusive(*values)
    else:
        found = combine(*values) if combine is not None else UNKNOWN
    t.write(instruction.operands[0], found, state)
    return True


def _exclusive(first: Condition, second: Condition) -> Condition:
    for one, other in ((first, second), (second, first)):
        known = decided(one)
        if known is not None:
            return negate(other) if known else other
    return UNKNOWN


def _not(t: Transfer, instruction: Instruction, state: State) -> bool:
    target, source = instruction.operands
    if instruction.modifiers[-1] == "pred":
        t.write(target, negate(t.condition(source, state)), state)
        return True
    return _unary(lambda f: add(scale(f, -1), constant(-1)))(t, instruction, state)


def _unary(calculate: Callable[[Form], Form]) -> Handler:
    def handle(t: Transfer, instruction: Instruction, state: State) -> bool:
        kind = _typed(instruction)
        if kind is None:
            return False
        value = t.lift(
            instruction.operands[1:2], kind[0], state, lambda a, f, k: wrap(calculate(f[0]), kind[0])
        )
        t.write(instruction.operands[0], value, state)
        return True

    return handle


def _product(t: Transfer, instruction: Instruction, state: State) -> bool:
    """``mul`` and ``mad`` in their forms ``lo``, ``hi`` and ``wide``."""
    kind = _typed(instruction)
    if kind is None:
        return False
    half = next((word for word in ("lo", "hi", "wide") if word in instruction.modifiers), "lo")
    width, signed = kind
    result = 2 * width if half == "wide" else width

    def run(a: Arithmetic, forms: tuple[Form, ...], facts: Facts) -> Form:
        one, other = (wrap(f, width) for f in forms[:2])
        if half == "hi":
            found = a.high_product(one, other, width, signed, facts)
        elif half == "wide":
            left, right = (a.number(f, width, signed, facts) for f in (one, other))
            found = a.wide_product(left, right, width)
        else:
            found = a.product(one, other, width, facts)
        return wrap(add(found, forms[2]), result) if len(forms) == 3 else found

    operands = instruction.operands[1:]
    t.write(instruction.operands[0], t.lift(operands, result, state, run), state)
    return True


def _move(t: Transfer, instruction: Instruction, state: State) -> bool:
    target, source = instruction.operands[0], instruction.operands[1]
    if isinstance(target, Vector):
        return _unpack(t, target, source, state)
    if isinstance(source, Vector):
        return _pack(t, target, source, state)
    value = t.read(source, state)
    kind = number_type(instruction.modifiers[-1])
    if kind is not None and isinstance(value, Number):
        value = Number(wrap(value.form, kind[0]), kind[0])
    t.write(target, value, state)
    return True


def _unpack(t: Transfer, target: Vector, source: Operand, state: State) -> bool:
    value = t.number(source, state)
    if isinstance(value, Choice):
        return False
    width = value.width // len(target.items)
    for place, item in enumerate(target.items):
        if isinstance(item, Register):
            part = t.engine.arithmetic.shift_right(
                value.form, constant(place * width), value.width, False, state.facts
            )
            state.registers[item.name] = Number(wrap(part, width), width)
    return True


def _pack(t: Transfer, target: Operand, source: Vector, state: State) -> bool:
    if len(source.items) != 2 or not isinstance(target, Register):
        return False
    width = t.width_of(target.name) // 2

    def run(a: Arithmetic, forms: tuple[Form, ...], facts: Facts) -> Form:
        low, high = a.number(forms[0], width, False, facts), a.number(forms[1], width, False, facts)
        return wrap(add(low, high, 1 << width), 2 * width)

    state.registers[target.name] = t.lift(source.items, 2 * width, state, run)
    return True


def _same(t: Transfer, instruction: Instruction, state: State) -> bool:
    """``cvta``: the generic address of a byte of global memory is its address."""
    t.write(instruction.operands[0], t.number(instruction.operands[1], state), state)
    return True


def _convert(t: Transfer, instruction: Instruction, state: State) -> bool:
    words = instruction.modifiers
    target, source = (number_type(word) for word in words[-2:]) if len(words) >= 2 else (None, None)
    operand = instruction.operands[1]
    if target is None or "sat" in words or isinstance(instruction.operands[0], Vector):
        return False
    register = (
        t.width_of(instruction.operands[0].name) if isinstance(instruction.operands[0], Register) else 64
    )
    if source is None:
        bounds = type_range(*target)
        t.write(instruction.operands[0], Number(t.engine.fresh("converted", *bounds), register), state)
        return True

    def run(a: Arithmetic, forms: tuple[Form, ...], facts: Facts) -> Form:
        number = a.number(wrap(forms[0], source[0]), *source, facts)
        if target[0] < source[0]:
            number = a.number(wrap(forms[0], target[0]), *target, facts)
        return wrap(number, register)

    def narrow(a: Arithmetic, forms: tuple[Form, ...], facts: Facts) -> Form:
        return wrap(forms[0], target[0])

    calculate = narrow if target[0] == register and target[0] <= source[0] else run
    t.write(instruction.operands[0], t.lift((operand,), register, state, calculate), state)
    return True


def _set_predicate(t: Transfer, instruction: Instruction, state: State) -> bool:
    relation, kind = instruction.modifiers[0], number_type(instruction.modifiers[-1])
    found = UNKNOWN
    if kind is not None:
        values = [options_of(t.number(operand, state)) for operand in instruction.operands[1:3]]
        if all(len(each) == 1 for each in values):
            one, other = (wrap(each[0].form, kind[0]) for each in values)
            found = _recovered(t, relation, one, other)
            if found is UNKNOWN:
                found = compare(t.engine.arithmetic, relation, one, other, kind, state.facts)
    _store_predicate(t, instruction, found, state)
    return True


def _recovered(t: Transfer, relation: str, one: Form, other: Form) -> Condition:
    """Return the predicate that ``selp`` turned into a number and ``setp`` turns back."""
    known = t.selected.get(one)
    if known is None or not other.is_constant or relation not in ("eq", "ne"):
        return UNKNOWN
    condition, yes, no = known
    if other.const not in (yes, no):
        return UNKNOWN
    return condition if (other.const == yes) == (relation == "eq") else negate(condition)


def _store_predicate(t: Transfer, instruction: Instruction, found: Condition, state: State) -> None:
    combine: Callable[[Condition, Condition], Condition] | None = None
    other: Condition = TRUE
    if len(instruction.operands) == 4:
        combine = {"and": both, "or": either, "xor": _exclusive}.get(instruction.modifiers[1])
        other = t.condition(instruction.operands[3], state)
    target = instruction.operands[0]
    targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
    for place, (each, value) in enumerate(zip(targets, (found, negate(found)), strict=False)):
        if isinstance(each, Discard):
            continue
        if isinstance(each, Symbol) or place > 1:
            continue
        t.write(each, combine(value, other) if combine else value, state)


def _select(t: Transfer, instruction: Instruction, state: State) -> bool:
    target, yes, no, predicate = instruction.operands
    condition = t.condition(predicate, state)
    kind = number_type(instruction.modifiers[-1])
    width = kind[0] if kind else TYPE_BYTES.get(instruction.modifiers[-1], 4) * 8
    known = decided(condition)
    if known is not None:
        t.write(target, t.number(yes if known else no, state), state)
        return True
    parts: list[tuple[Option, State]] = []
    for operand, branch in ((yes, condition.true), (no, condition.false)):
        held = assume(t.engine, state, branch)
        if held is not None:
            options = options_of(t.number(operand, state))
            parts += [(Option(wrap(o.form, width), (*o.facts, *branch.facts)), held) for o in options]
    if not parts:
        return False
    value = merge(t.engine, parts, width) if len(parts) > 1 else Number(parts[0][0].form, width)
    if isinstance(value, Number) and len(parts) == 2 and all(o.form.is_constant for o, _ in parts):
        t.selected[value.form] = (condition, parts[0][0].form.const, parts[1][0].form.const)
    t.write(target, value, state)
    return True


def _bit_field(t: Transfer, instruction: Instruction, state: State) -> bool:
    """``bfe`` with constant place and length, unsigned."""
    kind = _typed(instruction)
    if kind is None or kind[1]:
        return False
    width = kind[0]

    def run(a: Arithmetic, forms: tuple[Form, ...], facts: Facts) -> Form:
        if not (forms[1].is_constant and forms[2].is_constant):
            return a.opaque(("bfe", forms, width), 0, type_range(width, False)[1], forms[0])
        place, length = forms[1].const & 0xFF, forms[2].const & 0xFF
        if place + length > width:
            return a.opaque(("bfe", forms, width), 0, type_range(width, False)[1], forms[0])
        field = a.quotient(a.number(wrap(forms[0], width), width, False, facts), 1 << place)
        return a.bit_and(field, constant((1 << length) - 1), width, facts) if length else constant(0)

    t.write(instruction.operands[0], t.lift(instruction.operands[1:4], width, state, run), state)
    return True


def _bounded(high: Callable[[int], int]) -> Handler:
    """An operation whose result lies between 0 and a number that depends on the width."""

    def handle(t: Transfer, instruction: Instruction, state: State) -> bool:
        kind = _typed(instruction)
        if kind is None:
            return False
        form = t.engine.fresh(instruction.opcode, 0, high(kind[0]))
        t.write(instruction.operands[0], Number(form, 32), state)
        return True

    return handle


def _absolute(a: Arithmetic, form: Form, width: int, facts: Facts) -> Form:
    number = a.number(form, width, True, facts)
    return wrap(a.extreme(number, scale(number, -1), 2 * width, True, facts, False), width)


def _abs(t: Transfer, instruction: Instruction, state: State) -> bool:
    kind = _typed(instruction)
    if kind is None:
        return False
    width = kind[0]
    value = t.lift(
        instruction.operands[1:2], width, state, lambda a, f, k: _absolute(a, wrap(f[0], width), width, k)
    )
    t.write(instruction.operands[0], value, state)
    return True


Handler = Callable[[Transfer, Instruction, State], bool]

_HANDLERS: Mapping[str, Handler] = MappingProxyType(
    {
        "add": _binary(lambda a, x, y, w, s, k: wrap(add(x, y), w)),
        "sub": _binary(lambda a, x, y, w, s, k: wrap(subtract(x, y), w)),
        "div": _binary(lambda a, x, y, w, s, k: a.divide(x, y, w, s, k)),
        "rem": _binary(lambda a, x, y, w, s, k: a.remainder(x, y, w, s, k)),
        "min": _binary(lambda a, x, y, w, s, k: a.extreme(x, y, w, s, k, True)),
        "max": _binary(lambda a, x, y, w, s, k: a.extreme(x, y, w, s, k, False)),
        "and": _binary(lambda a, x, y, w, s, k: a.bit_and(x, y, w, k)),
        "or": _binary(lambda a, x, y, w, s, k: a.bit_or(x, y, w, k)),
        "xor": _binary(lambda a, x, y, w, s, k: a.bit_or(x, y, w, k, "xor")),
        "shl": _binary(lambda a, x, y, w, s, k: a.shift_left(x, y, w, k)),
        "shr": _binary(lambda a, x, y, w, s, k: a.shift_right(x, y, w, s, k)),
        "neg": _unary(lambda f: scale(f, -1)),
        "not": _not,
        "abs": _abs,
        "mul": _product,
        "mad": _product,
        "mov": _move,
        "cvta": _same,
        "cvt": _convert,
        "setp": _set_predicate,
        "selp": _select,
        "bfe": _bit_field,
        "popc": _bounded(lambda width: width),
        "clz": _bounded(lambda width: width),
    }
)
"""What is understood; any other instruction gives results of which nothing is known."""

__all__ = ["FALSE", "Transfer", "number_type"]
