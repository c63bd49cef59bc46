"""What one instruction does to registers, as far as forms can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from planc.effects.arithmetic import Arithmetic, type_range
from planc.effects.bounds import Facts
from planc.effects.conditions import negate
from planc.effects.forms import Form, add, constant, scale, subtract, wrap
from planc.effects.operands import Transfer, number_type
from planc.effects.predicates import combine_predicates, select, set_predicate
from planc.effects.state import State
from planc.effects.values import Choice, Number
from planc.ptx.syntax import Instruction, Operand, Register, Vector

Handler = Callable[[Transfer, Instruction, State], bool]


def run_plain(t: Transfer, instruction: Instruction, state: State) -> None:
    """Run one instruction that neither touches memory nor branches."""
    handler = _HANDLERS.get(instruction.opcode)
    if handler is None or not handler(t, instruction, state):
        t.generic(instruction, state)


def _typed(instruction: Instruction) -> tuple[int, bool] | None:
    """Return the whole-number type of an instruction without saturation or carry."""
    if not instruction.modifiers or {"sat", "cc"} & set(instruction.modifiers):
        return None
    return number_type(instruction.modifiers[-1])


def _binary(calculate: Callable[[Arithmetic, Form, Form, int, bool, Facts], Form]) -> Handler:
    def handle(t: Transfer, instruction: Instruction, state: State) -> bool:
        kind = _typed(instruction)
        if instruction.modifiers[-1:] == ("pred",):
            return combine_predicates(t, instruction, state)
        if kind is None or len(instruction.operands) != 3:
            return False
        width, signed = kind

        def run(a: Arithmetic, forms: tuple[Form, ...], facts: Facts) -> Form:
            one, other = (wrap(f, width) for f in forms)
            return calculate(a, one, other, width, signed, facts)

        t.write(instruction.operands[0], t.lift(instruction.operands[1:3], width, state, run), state)
        return True

    return handle


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
        "setp": set_predicate,
        "selp": select,
        "bfe": _bit_field,
        "popc": _bounded(lambda width: width),
        "clz": _bounded(lambda width: width),
    }
)
"""What is understood; any other instruction gives results of which nothing is known."""
