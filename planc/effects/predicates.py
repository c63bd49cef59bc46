"""Comparisons, selections and the logic of predicates."""

from __future__ import annotations

from collections.abc import Callable

from planc.effects.compare import compare
from planc.effects.conditions import TRUE, UNKNOWN, Condition, both, decided, either, negate
from planc.effects.forms import Form, wrap
from planc.effects.operands import Transfer, number_type
from planc.effects.state import State, assume, merge
from planc.effects.values import Number, Option, options_of
from planc.ptx.syntax import Discard, Instruction, Pair, Symbol
from planc.ptx.widths import TYPE_BYTES


def combine_predicates(t: Transfer, instruction: Instruction, state: State) -> bool:
    """``and``, ``or`` and ``xor`` of predicates."""
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


def set_predicate(t: Transfer, instruction: Instruction, state: State) -> bool:
    """``setp`` on whole numbers; comparisons of floats are unknown."""
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


def select(t: Transfer, instruction: Instruction, state: State) -> bool:
    """``selp``."""
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
