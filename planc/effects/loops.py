"""Loops: what the registers hold in turn ``k``, proved by induction.

First the body is walked once with nothing known of the registers that it writes; what a turn adds to a
register is its step. Then guesses (``init + step*k`` with ``0 <= k <= K``, intervals, facts of the guard at
the end) are assumed at the head, and kept only if the walk shows that they hold at the head of the next turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from planc.effects.arithmetic import type_range
from planc.effects.bounds import interval, lower, upper
from planc.effects.conditions import UNKNOWN, Condition, Raw
from planc.effects.forms import ZERO, Form, add, scale, shift, substitute, subtract, symbol_form, tight, wrap
from planc.effects.guesses import (
    Guess,
    Nothing,
    Picking,
    Ranging,
    Stepping,
    common_base,
    is_invariant,
    picked,
    remembered,
    widened,
)
from planc.effects.state import Domain, State, replace_symbol
from planc.effects.symbols import Definition, Origin
from planc.effects.values import Choice, Number, Option, Value, choice_of, options_of

if TYPE_CHECKING:
    from planc.effects.walk import Edge, Walker

ENDLESS = 1 << 62
"""More turns than any loop takes."""
_PASSES = 14


def solve_loop(walker: Walker, header: int, entry: State) -> list[Edge]:
    """Walk over a loop from the state before it; return the edges that leave it with their states."""
    solver = _Solver(walker, header, entry)
    engine = walker.engine
    recording, engine.recording = engine.recording, False
    try:
        solver.solve()
    finally:
        engine.recording = recording
    return solver.final()


class _Solver:
    def __init__(self, walker: Walker, header: int, entry: State) -> None:
        self.walker = walker
        self.engine = walker.engine
        self.header = header
        self.blocks = walker.flow.graph.loops[header]
        names = walker.flow.written[header] & walker.flow.live[header]
        self.changing = sorted(names)
        kept = {n: v for n, v in entry.registers.items() if self._stays(n, names)}
        self.entry = replace(entry, registers=kept)
        self.initial = {n: entry.registers.get(n) for n in self.changing}
        self.mark = len(self.engine.symbols.all)
        self.guesses: dict[str, Guess] = {}
        self.limit = ENDLESS
        self.candidates: list[int] = []
        self.turn = -1
        self.guards: tuple[Form, ...] = ()
        self.facts: tuple[Form, ...] = ()
        self.domain: Domain = None
        self.repeats = True

    def _stays(self, name: str, names: frozenset[str]) -> bool:
        if name[0] == "[":
            own = {p.name for p in self.walker.flow.function.parameters}
            return name[1:].rpartition("+")[0] in own
        return name not in names

    # Walks

    def _head(self, facts: tuple[Form, ...], domain: Domain) -> State:
        """Return the state at the head of turn ``k`` under the guesses."""
        self.engine.serial += 1
        definition = Definition(Origin.LOOP, "turn", 0, self.limit)
        self.turn = self.engine.symbols.make(("turn", self.engine.serial), definition)
        registers = dict(self.entry.registers)
        for name in self.changing:
            registers[name] = self._guessed(name)
        placed = tuple(substitute(fact, _TURN, symbol_form(self.turn)) for fact in facts)
        known = self.entry.facts.with_more(placed)
        if domain is not None:
            domain = tuple(substitute(fact, _TURN, symbol_form(self.turn)) for fact in domain)
        return State(registers, known, self.entry.raw, domain)

    def _guessed(self, name: str) -> Value:
        guess = self.guesses.get(name)
        if guess is None:
            return UNKNOWN
        if isinstance(guess, Stepping):
            return self._stepped(guess, symbol_form(self.turn))
        if isinstance(guess, Picking):
            return choice_of(list(guess.options), guess.width)
        if isinstance(guess, Ranging):
            value = self.engine.fresh("value", guess.low, guess.high)
            return Number(add(guess.base, value), guess.width)
        bounds = type_range(guess.width, True)
        return Number(self.engine.fresh("value", *bounds, *guess.sources), guess.width)

    def _stepped(self, guess: Stepping, turn: Form) -> Number | Choice:
        moved = [
            Option(wrap(add(o.form, scale(turn, guess.step)), guess.initial.width), o.facts)
            for o in options_of(guess.initial)
        ]
        return choice_of(moved, guess.initial.width)

    def _walk(self, state: State) -> tuple[list[State], list[Edge]]:
        walker = self.walker
        before = walker.turns
        if self.repeats:
            walker.turns = (*before, self.turn)
        try:
            return walker.region(self.blocks, self.header, state, self.header)
        finally:
            walker.turns = before

    # Guesses

    def solve(self) -> None:
        """Find guesses that hold."""
        backs = self._detect()
        if not backs:
            self.repeats = False
            return
        for _ in range(_PASSES):
            backs, _ = self._walk(self._head(self.guards, self.entry.domain))
            if not self._revise(backs):
                break
        else:
            self._give_up()
            backs, _ = self._walk(self._head((), self.entry.domain))
        self.repeats = bool(backs)
        self._keep_facts(backs)
        self._keep_domain(backs)

    def final(self) -> list[Edge]:
        """Walk once more with all that is known; accesses are recorded."""
        state = self._head(self.facts, self.domain) if self.repeats else self._once()
        _, exits = self._walk(state)
        self.walker.bases[self.header] = self.entry.domain
        return [(target, self._resolved(each)) for target, each in exits]

    def _once(self) -> State:
        registers = dict(self.entry.registers)
        registers.update({n: v for n, v in self.initial.items() if v is not None})
        return replace(self.entry, registers=registers)

    def _resolved(self, state: State) -> State:
        """Put the number of the last turn in its place where the facts tell it."""
        if not self.repeats:
            return state
        low, high = interval(self.engine.symbols, symbol_form(self.turn), state.facts)
        if low == high:
            return replace_symbol(state, self.turn, Form(low))
        for fact in state.facts.items:
            slope = fact.coefficient(self.turn)
            if abs(slope) != 1 or not self._is_invariant(substitute(fact, self.turn, Form(0))):
                continue
            if upper(self.engine.symbols, fact, state.facts) == 0:
                last = substitute(fact, self.turn, Form(0))
                return replace_symbol(state, self.turn, scale(last, -slope))
        return state

    def _detect(self) -> list[State]:
        for name in self.changing:
            held = self.initial[name]
            if isinstance(held, Condition) or self.walker.flow.function.registers.get(name) == "pred":
                continue
            width = held.width if held is not None else self.walker.transfer.width_of(name)
            sources = tuple(o.form for o in options_of(held)) if held is not None else ()
            self.guesses[name] = Nothing(width, sources)
        head = self._head((), None)
        phis = {n: v.form for n, v in head.registers.items() if n in self.guesses and isinstance(v, Number)}
        backs, _ = self._walk(head)
        for name in list(self.guesses):
            self.guesses[name] = self._first_guess(name, phis, backs)
        if backs:
            self.candidates = self._limits(phis, backs)
            self.guards = self._guards(phis, backs)
            self.limit = self.candidates.pop(0) if self.candidates else ENDLESS
        return backs

    def _first_guess(self, name: str, phis: Mapping[str, Form], backs: list[State]) -> Guess:
        initial = self.initial[name]
        guess = self.guesses[name]
        assert isinstance(guess, Nothing)
        if initial is None or isinstance(initial, Condition):
            return guess
        values = [state.registers.get(name) for state in backs]
        step = self._step(phis[name], values, guess.width)
        if step is not None:
            return Stepping(initial, step)
        return self._fallback(initial, values, guess.width, phis)

    def _step(self, phi: Form, values: list[Value | None], width: int) -> int | None:
        steps = {wrap(subtract(v.form, phi), width) if isinstance(v, Number) else None for v in values}
        if len(steps) != 1:
            return None
        (step,) = steps
        return step.const if step is not None and step.is_constant else None

    def _is_invariant(self, form: Form) -> bool:
        return is_invariant(form, self.mark)

    def _fallback(
        self,
        initial: Number | Choice,
        values: list[Value | None],
        width: int,
        phis: Mapping[str, Form] = MappingProxyType({}),
    ) -> Guess:
        """Return the first guess for a register without a step; ``phis`` began the first walk."""
        forms = [o.form for v in values if isinstance(v, Number | Choice) for o in options_of(v)]
        forms = [first for form in forms for first in self._first_forms(form, phis)]
        forms += [o.form for o in options_of(initial)]
        if any(self.engine.symbols.taint(form) for form in forms):
            options = tuple(Option(o.form) for o in options_of(initial))
            if all(self._is_invariant(form) for form in forms):
                return Picking(options, width)
            base = common_base(self.engine.symbols, [o.form for o in options])
            return self._ranging(options[0].form, base, width, forms)
        return self._ranging(options_of(initial)[0].form, ZERO, width, forms)

    def _first_forms(self, form: Form, phis: Mapping[str, Form]) -> list[Form]:
        """Return a form, or the first numbers of the register that it is the symbol of."""
        for name, phi in phis.items():
            held = self.initial[name]
            if form == phi and isinstance(held, Number | Choice):
                return [option.form for option in options_of(held)]
        return [form]

    def _ranging(self, initial: Form, base: Form, width: int, forms: list[Form]) -> Guess:
        """Return a guess that holds the first value; sums with one pointer keep it."""
        offset = subtract(initial, base)
        low, high = interval(self.engine.symbols, offset, self.entry.facts)
        if self.engine.symbols.taint(offset) or low > high:
            return Nothing(width, tuple(dict.fromkeys(forms)))
        return Ranging(low, high, width, 0, base)

    # Numbers of turns

    def _limits(self, phis: Mapping[str, Form], backs: list[State]) -> list[int]:
        """Return numbers of turns that the guards at the end of the body suggest, rising."""
        found: set[int] = set()
        for raw in dict.fromkeys(r for state in backs for r in state.raw if r not in self.entry.raw):
            limits = [self._limit((raw[0], form)) for form in self._in_turns(raw[1], phis)]
            found.update(limit for limit in limits if limit is not None and 0 <= limit < ENDLESS)
        return sorted(found)[:5]

    def _limit(self, raw: Raw) -> int | None:
        """Return the last turn for which a comparison at the end of the turn before can hold."""
        relation, form = raw
        slope = form.coefficient(_TURN)
        rest = Form(form.const, tuple((s, c) for s, c in form.terms if s != _TURN))
        if relation == "ne" and slope > 0:
            slope, rest = -slope, scale(rest, -1)
        if slope >= 0 or relation == "eq":
            return None
        most = upper(self.engine.symbols, rest, self.entry.facts)
        return most // -slope + (1 if relation == "ge" else 0)

    def _in_turns(self, form: Form, phis: Mapping[str, Form]) -> tuple[Form, ...]:
        """Write what the registers hold in turn ``k`` in the place of the symbols of the first walk.

        A comparison of 32 bits may have wrapped: both readings are guesses.
        """
        for name, phi in phis.items():
            guess = self.guesses[name]
            if isinstance(guess, Stepping) and isinstance(guess.initial, Number):
                moved = add(guess.initial.form, symbol_form(_TURN, guess.step) if guess.step else Form(0))
                form = substitute(form, phi.terms[0][0], moved)
        return tuple(dict.fromkeys((form, wrap(form, 32))))

    def _guards(self, phis: Mapping[str, Form], backs: list[State]) -> tuple[Form, ...]:
        """Return facts at the head of turn ``k`` that the guards at the end of the body suggest."""
        found: list[Form] = []
        raws = dict.fromkeys(r for s in backs for r in s.raw if r not in self.entry.raw)
        for relation, form in [(raw[0], form) for raw in raws for form in self._in_turns(raw[1], phis)]:
            if not form.coefficient(_TURN) or relation == "eq":
                continue
            if relation == "ne":
                form = tight(form if form.coefficient(_TURN) < 0 else scale(form, -1))
                form = shift(form, -1)
            form = substitute(tight(form), _TURN, shift(symbol_form(_TURN), -1))
            if all(s < self.mark for s in form.symbols) and self._holds_first(form):
                found.append(form)
        return tuple(dict.fromkeys(found))[:6]

    # Induction

    def _revise(self, backs: list[State]) -> bool:
        """Weaken the guesses that the walk does not show; return whether there were any."""
        revised = {n: self._revised(n, g, backs) for n, g in self.guesses.items()}
        changed = revised != self.guesses
        self.guesses = revised
        kept = tuple(f for f in self.guards if all(self._holds_next(f, state) for state in backs))
        changed |= kept != self.guards
        self.guards = kept
        if self.limit < ENDLESS and not all(self._ends(state) for state in backs):
            self.limit = self.candidates.pop(0) if self.candidates else ENDLESS
            changed = True
        return changed

    def _holds_next(self, guard: Form, state: State) -> bool:
        following = substitute(guard, _TURN, shift(symbol_form(self.turn), 1))
        return following in state.facts.items or lower(self.engine.symbols, following, state.facts) >= 0

    def _ends(self, state: State) -> bool:
        return upper(self.engine.symbols, symbol_form(self.turn), state.facts) + 1 <= self.limit

    def _revised(self, name: str, guess: Guess, backs: list[State]) -> Guess:
        for state in backs:
            value = state.registers.get(name)
            guess = self._checked(guess, value, state)
        return guess

    def _checked(self, guess: Guess, value: Value | None, state: State) -> Guess:
        if isinstance(guess, Stepping):
            following = self._stepped(guess, shift(symbol_form(self.turn), 1))
            same = value == following or (
                isinstance(value, Number)
                and isinstance(following, Number)
                and not wrap(subtract(value.form, following.form), value.width).terms
                and wrap(subtract(value.form, following.form), value.width).const == 0
            )
            return guess if same else self._fallback(guess.initial, [value], guess.initial.width)
        if isinstance(guess, Ranging):
            return widened(self.engine.symbols, guess, value, state)
        if isinstance(guess, Picking):
            return picked(guess, value, self.mark)
        return remembered(self.engine.symbols, guess, value)

    def _give_up(self) -> None:
        self.limit = ENDLESS
        self.guards = ()
        for name, guess in self.guesses.items():
            width = guess.initial.width if isinstance(guess, Stepping) else guess.width
            pointers = [
                symbol_form(s) for s, d in enumerate(self.engine.symbols.all) if d.origin is Origin.POINTER
            ]
            self.guesses[name] = Nothing(width, tuple(pointers))

    # Facts of the guard

    def _keep_facts(self, backs: list[State]) -> None:
        """Keep what every turn's end says of the next turn, if it holds in turn 0 too."""
        kept: list[Form] = []
        for fact in backs[0].facts.items if backs else ():
            placed = self._next(fact)
            if placed is None or not all(fact in each.facts.items for each in backs):
                continue
            if self._holds_first(placed):
                kept.append(placed)
        self.facts = tuple(dict.fromkeys((*self.guards, *kept)))

    def _next(self, fact: Form) -> Form | None:
        """Return a fact about turn ``k - 1`` in terms of ``k``, None where it says nothing of turns."""
        if not fact.coefficient(self.turn):
            return None
        if any(symbol >= self.mark and symbol != self.turn for symbol in fact.symbols):
            return None
        return substitute(fact, self.turn, shift(symbol_form(_TURN), -1))

    def _holds_first(self, fact: Form) -> bool:
        first = substitute(fact, _TURN, Form(0))
        return lower(self.engine.symbols, first, self.entry.facts) >= 0

    def _keep_domain(self, backs: list[State]) -> None:
        """Turn ``k`` runs exactly where the guard of turn ``k - 1`` holds, if the guard only closes."""
        self.domain = None
        before = self.entry.domain
        if before is None or len(backs) != 1 or backs[0].domain is None:
            return
        kept: list[Form] = []
        for fact in backs[0].domain:
            if fact in before:
                continue
            if not fact.coefficient(self.turn):
                return
            placed = self._next(fact)
            if placed is None or placed.coefficient(_TURN) > 0 or not self._holds_first(placed):
                return
            kept.append(placed)
        self.domain = before + tuple(kept)


_TURN = -1
"""Stands for the counter of the loop in facts that are not yet at a head."""
