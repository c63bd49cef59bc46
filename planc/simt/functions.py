"""Building one function: blocks of steps from blocks of instructions."""

from __future__ import annotations

from collections.abc import Mapping

from planc.diagnostics import Diagnostic
from planc.ptx.syntax import Function, Guard, Instruction, Module, Operand, Register, Symbol
from planc.simt import ends
from planc.simt.arity import check_operands
from planc.simt.barriers import BarrierGate
from planc.simt.closure import Closure
from planc.simt.decode import Decoder, Names, guarded, slots_touched
from planc.simt.faults import Unsupported
from planc.simt.flow import Flow, RawBlock, RawEnd, is_barrier
from planc.simt.intrinsics import call_intrinsic
from planc.simt.layout import local_layout
from planc.simt.opcodes import STEPS
from planc.simt.polling import names_read, names_used, polling_loops
from planc.simt.program import Block, CallSite, End, FunctionCode, Step
from planc.simt.registers import WIDTHS
from planc.simt.report import line_facts, place, span
from planc.simt.roles import CARRY, call_parts
from planc.simt.slots import Kind, assign_slots
from planc.simt.sync import gate
from planc.simt.warp import WarpGate


def register_kinds(function: Function) -> dict[str, Kind]:
    """Return what each register and ``.param`` variable of a function holds."""
    kinds: dict[str, Kind] = {
        name: ("bits", WIDTHS[kind]) for name, kind in function.registers.items() if kind in WIDTHS
    }
    kinds[CARRY] = ("bits", 1)
    for variable in function.variables:
        if variable.space == "param":
            kinds[variable.name] = ("bytes", max(variable.size, 1))
    if not function.is_entry:
        for each in (*function.parameters, *function.results):
            kinds[each.name] = ("bits", WIDTHS[each.type]) if each.register else ("bytes", max(each.size, 1))
    return kinds


class FunctionBuilder:
    """Builds the code of one function; refusals are collected in ``found``."""

    def __init__(
        self,
        module: Module,
        function: Function,
        flow: Flow,
        closure: Closure,
        shared: Mapping[str, int],
        found: list[Diagnostic],
    ) -> None:
        """Give every register its slot; ``shared`` has the addresses of the shared variables in reach."""
        self.function = function
        self.flow = flow
        self.closure = closure
        self.found = found
        results = [each.name for each in function.results] if not function.is_entry else []
        self.slots = assign_slots(flow, register_kinds(function), results)
        self.code = FunctionCode(function.name, kinds=list(self.slots.kinds))
        local, self.code.local_size = local_layout(function)
        parameters = {each.name: each.offset for each in function.parameters} if function.is_entry else {}
        variables = {v.name: v.space for v in module.variables.values() if v.space in ("global", "const")}
        fixed = {**closure.addresses(), **shared}
        names = Names(fixed, local, variables, parameters, names_read(flow), names_used(flow))
        self.decoder = Decoder(self.code, self.slots.slots, names)

    def build(self, polling_calls: bool) -> FunctionCode:
        """Decode every block; ``polling_calls`` says that a called function may wait for other threads."""
        code = self.code
        code.blocks = [self._empty(number, raw) for number, raw in enumerate(self.flow.blocks)]
        self._mark_loops(polling_loops(self.flow, polling_calls))
        for block, raw in zip(code.blocks, self.flow.blocks, strict=True):
            self._fill(block, raw)
        undefined = {slot for slot in range(len(self.slots.kinds)) if code.blocks[0].live >> slot & 1}
        if not self.function.is_entry:
            code.parameters = tuple(self._slot(each.name) for each in self.function.parameters)
            code.results = tuple(self._slot(each.name) for each in self.function.results)
            undefined |= set(code.results)
        for block in code.blocks:
            if isinstance(block.end, ends.Return):
                block.end.results = code.results
        code.zeroed = tuple(sorted(undefined - set(code.parameters)))
        return code

    def _slot(self, name: str) -> int:
        """Return the slot of a parameter or result, a new one where the body never names it."""
        slot = self.slots.slots.get(name)
        if slot is None:
            slot = self.slots.slots[name] = len(self.code.kinds)
            self.code.kinds.append(register_kinds(self.function)[name])
        return slot

    def _empty(self, number: int, raw: RawBlock) -> Block:
        instructions = raw.instructions()
        first = instructions[0] if instructions else Instruction("exit", (), ())
        return Block(number, self.flow.order.ranks[number], first.line, first.source, cost=len(instructions))

    def _mark_loops(self, polling: set[int]) -> None:
        for block, header in zip(self.code.blocks, self.flow.order.loops, strict=True):
            if header >= 0:
                block.loop = self.code.blocks[header]
                block.polls = header in polling

    def _fill(self, block: Block, raw: RawBlock) -> None:
        decoder, number = self.decoder, block.index
        touched: set[int] = set()
        steps: list[Step] = []
        for each in ([raw.gate] if raw.gate is not None else []) + raw.steps:
            decoder.touched = set()
            try:
                step = self._gate(block, each) if each is raw.gate else self._step(each)
            except Unsupported as refused:
                self.found.append(refusal(refused, each))
                continue
            touched |= decoder.touched
            if step is not None:
                steps.append(step)
        decoder.touched = set()
        self._set_end(block, raw)
        touched |= decoder.touched
        block.steps = tuple(steps)
        block.constants = tuple(sorted(touched & decoder.uniform))
        block.uses = tuple(sorted({*self.slots.uses[number], *(touched - decoder.uniform)}))
        block.live = self.slots.live[number]
        # The results of a call are written when it returns, not when the block ends.
        results = block.end.site.results if isinstance(block.end, ends.Call) else ()
        block.writes = self.slots.writes[number] & ~sum({1 << slot for slot in results if slot >= 0})

    def _gate(self, block: Block, instruction: Instruction) -> Step | None:
        block.gate, step = gate(self.decoder, instruction)
        return step

    def _step(self, instruction: Instruction) -> Step | None:
        step = self._plain_step(instruction)
        if instruction.guard is None or step is None:
            return step
        slot = self._guard_slot(instruction.guard)
        reads, writes = slots_touched(self.decoder, instruction)
        return guarded(step, slot, instruction.guard.negated, reads, writes)

    def _plain_step(self, instruction: Instruction) -> Step | None:
        if instruction.opcode == "call":
            return call_intrinsic(self.decoder, instruction)
        decode = STEPS.get(instruction.opcode)
        if decode is None:
            raise Unsupported(instruction.form)
        check_operands(instruction)
        return decode(self.decoder, instruction)

    def _guard_slot(self, guard: Guard) -> int:
        return self.decoder.source(Register(guard.register), 1, "guard")

    def _set_end(self, block: Block, raw: RawBlock) -> None:
        try:
            block.end = self._end(raw.end, block)
        except Unsupported as refused:
            assert raw.end.instruction is not None
            self.found.append(refusal(refused, raw.end.instruction))
        waits = block.gate
        if raw.gate is not None and is_barrier(raw.gate) and isinstance(waits, BarrierGate | WarpGate):
            waits.following = self.code.blocks[raw.end.targets[0]]

    def _end(self, raw: RawEnd, block: Block) -> End:
        targets = [self.code.blocks[target] for target in raw.targets]
        if raw.kind == "jump":
            return ends.Jump(targets[0])
        if raw.kind == "exit":
            return ends.Exit()
        if raw.kind == "return":
            return ends.Return(())
        assert raw.instruction is not None
        if raw.kind == "table":
            index = self.decoder.source(raw.instruction.operands[0], 32, raw.instruction.form)
            return ends.Table(index, tuple(targets), raw.instruction)
        if raw.kind == "call":
            return self._call(raw.instruction, block, targets[0])
        guard = raw.instruction.guard
        assert guard is not None
        return ends.Branch(self._guard_slot(guard), guard.negated, targets[0], targets[1])

    def _call(self, instruction: Instruction, block: Block, following: Block) -> End:
        parts = call_parts(instruction)
        if isinstance(parts.target, Symbol):
            callees = [self.closure.numbers[parts.target.name]]
        else:
            counts = (len(parts.arguments), len(parts.results))
            callees = [number for number in self.closure.functions if self._fits(number, counts)]
        widths = [64] * len(parts.arguments)
        if callees:
            self._check_call(instruction, self.closure.functions[callees[0]])
            widths = _argument_widths(self.closure.functions[callees[0]])
        arguments = tuple(map(self._argument, parts.arguments, widths))
        results = tuple(map(self._result, parts.results))
        site = CallSite(arguments, results, block.rank, following, instruction)
        if isinstance(parts.target, Symbol):
            return ends.Call(site, callees[0])
        pointer = self.decoder.source(parts.target, 64, instruction.form)
        return ends.Call(site, -1, pointer, frozenset(callees))

    def _check_call(self, instruction: Instruction, callee: Function) -> None:
        parts = call_parts(instruction)
        if len(parts.arguments) != len(callee.parameters) or len(parts.results) != len(callee.results):
            takes = f"{len(callee.parameters)} arguments and {len(callee.results)} results"
            raise Unsupported(f"call {callee.name}", f"with other than {takes}")

    def _fits(self, number: int, counts: tuple[int, int]) -> bool:
        function = self.closure.functions[number]
        return not function.is_entry and counts == (len(function.parameters), len(function.results))

    def _argument(self, operand: Operand, width: int) -> int:
        if isinstance(operand, Symbol) and operand.name in self.slots.slots:
            return self.slots.slots[operand.name]
        return self.decoder.source(operand, width, "call")

    def _result(self, operand: Operand) -> int:
        if isinstance(operand, Symbol) and operand.name in self.slots.slots:
            return self.slots.slots[operand.name]
        return self.decoder.target(operand, "call")


def _argument_widths(function: Function) -> list[int]:
    return [WIDTHS.get(each.type, 64) for each in function.parameters]


def refusal(refused: Unsupported, instruction: Instruction) -> Diagnostic:
    """Return the diagnostic for an instruction that is not supported."""
    reason = f" {refused.reason}" if refused.reason else ""
    message = f"`{refused.form}` is not supported{reason}, at {place(instruction)}"
    cure = "replay this node on a GPU, or write the kernel without it"
    return Diagnostic(refused.code, message, span(instruction.source), cure, facts=line_facts(instruction))
