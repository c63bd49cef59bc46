"""Follows one thread through a kernel with its numbers, up to an access that breaks a rule.

Whatever depends on loaded data is not known here; where the way depends on it, the thread is given up.
So a thread that is found to touch a byte does touch it.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from planc.effects.bounds import Facts
from planc.effects.conditions import decided
from planc.effects.engine import Engine
from planc.effects.launch import Dimensions, IntegerFact, LaunchFacts
from planc.effects.state import State
from planc.effects.walk import Walker
from planc.ptx.control_flow import targets_of
from planc.ptx.instructions import LEAVES
from planc.ptx.syntax import Instruction

if TYPE_CHECKING:
    from planc.effects.analyse import FirstStage

_STEPS = 3_000


class _LostError(Exception):
    """The way of the thread depends on what is not known."""


class _EndError(Exception):
    """The thread has ended."""


@dataclass(frozen=True, slots=True)
class Thread:
    """One thread: ``place`` in its block, ``block`` in the grid."""

    place: Dimensions
    block: Dimensions


@dataclass(frozen=True, slots=True)
class Hit:
    """An access of a followed thread: the byte offset from the pointer of the parameter or variable."""

    line: int
    target: int | str
    offset: int


def follow(stage: FirstStage, entry: str, launch: LaunchFacts, thread: Thread) -> tuple[list[Hit], int]:
    """Return the accesses of a thread, as far as it can be followed, and the steps that it took.

    An argument with a range is taken at the lower end of it.
    """
    fixed = {
        o: _fixed(fact) if isinstance(fact, IntegerFact) else fact for o, fact in launch.parameters.items()
    }
    engine = Engine(stage.module, replace(launch, parameters=fixed), thread=(thread.place, thread.block))
    with suppress(_LostError, _EndError):
        _Follower(engine, stage.flows, stage.flows[entry]).run(State({}, Facts()))
    return _hits(engine), engine.steps


def _fixed(fact: IntegerFact) -> IntegerFact:
    return IntegerFact(fact.size, fact.low, fact.low)


def _hits(engine: Engine) -> list[Hit]:
    found: list[Hit] = []
    for access in engine.accesses:
        if len(access.form.terms) != 1 or access.form.terms[0][1] != 1:
            continue
        key = engine.symbols.key(access.form.terms[0][0])
        if isinstance(key, tuple) and key[0] == "pointer" and key[1] in ("argument", "global", "const"):
            found.append(Hit(access.instruction.line, key[2], access.form.const))
    return found


class _Follower(Walker):
    """Walks one way only."""

    def run(self, state: State) -> State | None:
        """Follow the thread to a return."""
        body = self.flow.function.body
        index = 0
        while index < len(body):
            instruction = body[index]
            self.engine.step()
            if self.engine.steps > _STEPS:
                raise _LostError
            if instruction.opcode in LEAVES:
                following = self._jump(index, instruction, state)
                if following is None:
                    return state
                index = following
                continue
            state = self._advance(index, instruction, state)
            index += 1
        return state

    def _advance(self, index: int, instruction: Instruction, state: State) -> State:
        if instruction.guard is not None and decided(self._guard(instruction, state)) is None:
            self.transfer.generic(instruction, state)
            return state
        following = self.execute(index, instruction, state)
        if following is None:
            raise _EndError
        return following

    def _jump(self, index: int, instruction: Instruction, state: State) -> int | None:
        """Return the next index; None for a return."""
        taken = True if instruction.guard is None else decided(self._guard(instruction, state))
        if taken is None:
            raise _LostError
        if not taken:
            return index + 1
        if instruction.opcode == "ret":
            return None
        if instruction.opcode not in ("bra", "brx"):
            raise _EndError
        targets = targets_of(self.flow.function, instruction)
        return (
            targets[0]
            if instruction.opcode == "bra"
            else targets[self._case(instruction, state, len(targets))]
        )

    def _case(self, instruction: Instruction, state: State, count: int) -> int:
        value = self.transfer.number(instruction.operands[0], state)
        form = getattr(value, "form", None)
        if form is None or not form.is_constant or not 0 <= form.const < count:
            raise _LostError
        return int(form.const)
