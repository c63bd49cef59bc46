"""Walks over a function: blocks in order, branches with their facts, joins, loops, calls."""

from __future__ import annotations

from dataclasses import replace

from planc.effects.calls import run_call
from planc.effects.conditions import UNKNOWN, Condition, decided
from planc.effects.engine import Engine
from planc.effects.flow import Flow
from planc.effects.memory import MemoryTransfer
from planc.effects.operands import Transfer
from planc.effects.state import Domain, State, assume, join, merge
from planc.effects.transfer import run_plain
from planc.effects.values import Option, options_of
from planc.ptx.control_flow import EXIT, targets_of
from planc.ptx.instructions import LEAVES, written_registers
from planc.ptx.syntax import Address, Instruction

Edge = tuple[int, State]


class Walker:
    """One activation of a function; ``calls`` are the call instructions that led to it."""

    def __init__(
        self, engine: Engine, flows: dict[str, Flow], flow: Flow, calls: tuple[Instruction, ...] = ()
    ) -> None:
        """Walk over ``flow``; ``flows`` holds the first stage of every function of the module."""
        self.engine = engine
        self.flows = flows
        self.flow = flow
        self.calls = calls
        self.transfer = Transfer(engine, flow.function)
        self.memory = MemoryTransfer(self.transfer, flow.dead_results)
        self.turns: tuple[int, ...] = ()
        self.returns: list[State] = []
        self.leaves_early = False
        self.bases: dict[int, Domain] = {}
        self.is_broken = False

    def run(self, state: State) -> State | None:
        """Walk from the start; return what holds where the function returns, None if it never does."""
        everything = frozenset(range(len(self.flow.graph.blocks)))
        self.region(everything, 0, state, None)
        if not self.returns:
            return None
        domain = None if self.leaves_early else state.domain
        results = frozenset(result.name for result in self.flow.function.results)
        return join(self.engine, self.returns, results, domain)

    def region(
        self, blocks: frozenset[int], start: int, state: State, header: int | None
    ) -> tuple[list[State], list[Edge]]:
        """Walk over the blocks of a loop (or all); return the states that go back to ``header`` and out."""
        incoming: dict[int, list[tuple[State, bool]]] = {start: [(state, False)]}
        backs: list[State] = []
        exits: list[Edge] = []
        for block in self.flow.graph.order:
            found = incoming.pop(block, None) if block in blocks else None
            if found is None:
                continue
            for target, each, is_exit in self._block(block, found, header):
                if target == header:
                    backs.append(each)
                elif target in blocks:
                    incoming.setdefault(target, []).append((each, is_exit))
                else:
                    exits.append((target, each))
        return backs, exits

    def _block(
        self, block: int, found: list[tuple[State, bool]], header: int | None
    ) -> list[tuple[int, State, bool]]:
        states = [state for state, _ in found]
        domain = states[0].domain if block == header else self._domain(block, found)
        state = join(self.engine, states, self.flow.live[block] if len(states) > 1 else None, domain)
        self.bases[block] = state.domain
        if block in self.flow.graph.loops and block != header:
            from planc.effects.loops import solve_loop

            return [(target, each, True) for target, each in solve_loop(self, block, state)]
        return [(target, each, False) for target, each in self._edges(block, state.copy())]

    def _domain(self, block: int, found: list[tuple[State, bool]]) -> Domain:
        """Return where exactly threads enter a block.

        That is where they enter its dominator, if every path from there comes here (loops end); or,
        where one edge alone leads here, where they take it.
        """
        if len(found) == 1 and not found[0][1]:
            return found[0][0].domain
        if self.is_broken:
            return None
        upper = self.flow.graph.dominators[block]
        if upper is not None:
            left = [h for h in self.flow.around[upper] if h not in self.flow.around[block]]
            upper = left[0] if left else upper
        if upper is not None and self.flow.always_reaches(block, upper):
            return self.bases.get(upper)
        return None

    def _edges(self, block: int, state: State) -> list[Edge]:
        shape = self.flow.graph.blocks[block]
        body = self.flow.function.body
        for index in range(shape.start, shape.stop):
            instruction = body[index]
            self.engine.step()
            if instruction.opcode in LEAVES:
                return self._leave(instruction, index, state)
            following = self.execute(index, instruction, state)
            if following is None:
                self.leaves_early = self.is_broken = True
                return []
            state = following
        if shape.stop == len(body):
            self.returns.append(state)
            return []
        return [(self.flow.graph.block_of(shape.stop), state)]

    def _leave(self, instruction: Instruction, index: int, state: State) -> list[Edge]:
        taken, passed = self._split(instruction, state)
        edges: list[Edge] = []
        if passed is not None:
            edges.append(self._target(index + 1, passed))
        if taken is None:
            return [e for e in edges if e[0] != EXIT]
        if instruction.opcode in ("bra", "brx"):
            targets = dict.fromkeys(targets_of(self.flow.function, instruction))
            single = len(targets) == 1
            reached = taken if single else replace(taken, domain=None)
            edges += [self._target(target, reached) for target in targets]
        elif instruction.opcode == "ret":
            self.returns.append(taken)
        else:
            self.leaves_early = True
        return [e for e in edges if e[0] != EXIT]

    def _target(self, index: int, state: State) -> Edge:
        block = self.flow.graph.block_of(index)
        if block == EXIT:
            self.returns.append(state)
        return block, state

    def _split(self, instruction: Instruction, state: State) -> tuple[State | None, State | None]:
        """Return the states of the threads that obey an instruction and of those that pass it."""
        if instruction.guard is None:
            return state, None
        condition = self._guard(instruction, state)
        return assume(self.engine, state, condition.true), assume(self.engine, state, condition.false)

    def _guard(self, instruction: Instruction, state: State) -> Condition:
        from planc.effects.conditions import negate

        assert instruction.guard is not None
        held = state.registers.get(instruction.guard.register, UNKNOWN)
        condition = held if isinstance(held, Condition) else UNKNOWN
        return negate(condition) if instruction.guard.negated else condition

    def execute(self, index: int, instruction: Instruction, state: State) -> State | None:
        """Run an instruction that does not branch; None where the thread ends in it."""
        if instruction.guard is None:
            return self._run(index, instruction, state)
        known = decided(self._guard(instruction, state))
        if known is not None:
            return self._run(index, instruction, state) if known else state
        obeying, passing = self._split(instruction, state)
        if obeying is None or passing is None:
            return state if obeying is None else self._run(index, instruction, obeying)
        done = self._run(index, instruction, obeying)
        return passing if done is None else self._mixed(instruction, done, passing, state)

    def _mixed(self, instruction: Instruction, done: State, passing: State, before: State) -> State:
        """Join the registers that a guarded instruction wrote with what they held before."""
        for name in written_registers(instruction):
            new, old = done.registers.get(name), passing.registers.get(name)
            if new is None or isinstance(new, Condition) or isinstance(old, Condition):
                before.registers[name] = UNKNOWN if isinstance(new, Condition) else old or UNKNOWN
                continue
            held = self.transfer.unknown_number(new.width, passing) if old is None else old
            parts = [(Option(o.form, (*o.facts, *_new(done, before))), done) for o in options_of(new)]
            parts += [(Option(o.form, (*o.facts, *_new(passing, before))), passing) for o in options_of(held)]
            before.registers[name] = merge(self.engine, parts, new.width)
        for name, value in done.registers.items():
            if name[0] == "[" and before.registers.get(name) != value:
                before.registers.pop(name, None)
        return before

    def _run(self, index: int, instruction: Instruction, state: State) -> State | None:
        if instruction.opcode == "call":
            return run_call(self, instruction, state)
        if any(isinstance(operand, Address) for operand in instruction.operands):
            self.memory.run(index, instruction, state, self.turns, self.calls)
        else:
            run_plain(self.transfer, instruction, state)
        return state


def _new(state: State, before: State) -> tuple:  # type: ignore[type-arg]
    return tuple(f for f in state.facts.items if f not in before.facts.items)
