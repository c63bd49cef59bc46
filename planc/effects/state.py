"""The state of a thread at a point of the program, and what is common to several."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planc.effects.bounds import Facts, divided, interval, lower, upper
from planc.effects.conditions import UNKNOWN, Condition, Conjunction, Raw
from planc.effects.forms import Form, substitute, subtract
from planc.effects.values import MOST_OPTIONS, Choice, Number, Option, Value, choice_of, options_of

if TYPE_CHECKING:
    from planc.effects.engine import Engine

Domain = tuple[Form, ...] | None
"""Forms that are at least 0 exactly where a thread comes here, or None where that is not known."""

_MOST_IMPLIED = 10
_MOST_OPTION_FACTS = 6


@dataclass(frozen=True, slots=True)
class State:
    """``registers`` hold values, ``facts`` hold on every path to here, ``raw`` are comparisons passed."""

    registers: dict[str, Value]
    facts: Facts
    raw: tuple[Raw, ...] = ()
    domain: Domain = ()

    def copy(self) -> State:
        """Return the state with registers of its own."""
        return replace(self, registers=dict(self.registers))


def assume(engine: Engine, state: State, condition: Conjunction) -> State | None:
    """Return the state of the threads for which ``condition`` holds, or None where there are none."""
    if condition.is_impossible:
        return None
    if any(upper(engine.symbols, fact, state.facts) < 0 for fact in condition.facts):
        return None
    more = [each for fact in condition.facts for each in divided(engine.symbols, fact)]
    facts = state.facts.with_more((*condition.facts, *more))
    domain = None
    if state.domain is not None and condition.is_exact:
        domain = state.domain + tuple(f for f in condition.facts if f not in state.domain)
    raw = tuple(dict.fromkeys((*state.raw, *condition.raw)))
    return State(dict(state.registers), facts, raw, domain)


def join(engine: Engine, states: list[State], live: frozenset[str] | None, domain: Domain) -> State:
    """Return what holds in all of ``states``; only ``live`` registers are kept."""
    if len(states) == 1:
        return replace(states[0], domain=domain)
    names = set(states[0].registers)
    for each in states[1:]:
        names &= set(each.registers)
    if live is not None:
        names = {n for n in names if n in live or n[0] == "["}
    facts = _common_facts(engine, states)
    registers = {name: _join_register(engine, states, name, facts) for name in sorted(names)}
    raw = tuple(r for r in states[0].raw if all(r in each.raw for each in states[1:]))
    return State(registers, facts, raw, domain)


def _common_facts(engine: Engine, states: list[State]) -> Facts:
    kept: list[Form] = []
    for number, state in enumerate(states):
        for fact in state.facts.items[-_MOST_IMPLIED:] if number else state.facts.items:
            if fact not in kept and all(_holds(engine, fact, each) for each in states if each is not state):
                kept.append(fact)
    return Facts(tuple(kept))


def _holds(engine: Engine, fact: Form, state: State) -> bool:
    return fact in state.facts.items or lower(engine.symbols, fact, state.facts) >= 0


def _join_register(engine: Engine, states: list[State], name: str, facts: Facts) -> Value:
    values = [state.registers[name] for state in states]
    first = values[0]
    if all(each == first for each in values[1:]):
        return first
    agreed = _agreed(engine, states, values)
    if agreed is not None:
        return agreed
    numbers = [v for v in values if not isinstance(v, Condition)]
    if len(numbers) < len(values):
        return UNKNOWN
    parts = [
        (Option(o.form, _own_facts(o, state, facts)), state)
        for value, state in zip(numbers, states, strict=True)
        for o in options_of(value)
    ]
    return merge(engine, parts, numbers[0].width)


def _agreed(engine: Engine, states: list[State], values: list[Value]) -> Number | None:
    """Return the form of one state that the facts of every other show to be its number too."""
    for value in values:
        if not isinstance(value, Number):
            return None
        if all(_is_same(engine, value, other, state) for other, state in zip(values, states, strict=True)):
            return value
    return None


def _is_same(engine: Engine, value: Number, other: Value, state: State) -> bool:
    if not isinstance(other, Number):
        return False
    difference = subtract(value.form, other.form)
    if not difference.terms:
        return difference.const == 0
    return interval(engine.symbols, difference, state.facts) == (0, 0)


def _own_facts(option: Option, state: State, common: Facts) -> tuple[Form, ...]:
    own = [f for f in state.facts.items if f not in common.items]
    return tuple(dict.fromkeys((*option.facts, *own[-_MOST_OPTION_FACTS:])))


def merge(engine: Engine, parts: list[tuple[Option, State]], width: int) -> Number | Choice:
    """Return one of several numbers: options where pointers are among them, else one opaque number."""
    taints = [engine.symbols.taint(option.form) for option, _ in parts]
    if any(taints):
        found = choice_of([option for option, _ in parts], width)
        if len(options_of(found)) <= MOST_OPTIONS:
            return found
        forms = [option.form for option, _ in parts]
        return Number(engine.fresh("join", -(1 << 63), (1 << 64) - 1, *forms), width)
    return Number(hull(engine, parts, width), width)


def hull(engine: Engine, parts: Iterable[tuple[Option, State]], width: int) -> Form:
    """Return an opaque number within the bounds of all parts; it is congruent to the one that is taken."""
    lows: list[int] = []
    highs: list[int] = []
    for option, state in parts:
        low, high = interval(engine.symbols, option.form, state.facts.with_more(option.facts))
        lows.append(low)
        highs.append(high)
    low, high = min(lows), max(highs)
    if low > high:
        low, high = high, low
    if high - low >= 1 << width:
        low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
    return engine.fresh("join", low, high)


def replace_symbol(state: State, symbol: int, value: Form) -> State:
    """Return the state with ``value`` for a loop counter whose last turn is known."""

    def changed(form: Form) -> Form:
        return substitute(form, symbol, value)

    registers: dict[str, Value] = {}
    for name, held in state.registers.items():
        if isinstance(held, Number):
            held = Number(changed(held.form), held.width)
        elif isinstance(held, Choice):
            options = tuple(Option(changed(o.form), tuple(map(changed, o.facts))) for o in held.options)
            held = Choice(options, held.width)
        registers[name] = held
    facts = Facts().with_more(changed(f) for f in state.facts.items)
    return State(registers, facts, state.raw, state.domain)


def symbols_in(values: Mapping[str, Value]) -> set[int]:
    """Return the symbols of the numbers that registers hold."""
    found: set[int] = set()
    for value in values.values():
        if isinstance(value, Number | Choice):
            for option in options_of(value):
                found.update(option.form.symbols)
    return found
