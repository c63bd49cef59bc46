"""Building one function: blocks of steps from blocks of instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from planc.simt.program import Block, CallSite, End, FunctionCode, Step
from planc.simt.registers import WIDTHS
from planc.simt.report import line_facts, place, span
from planc.simt.roles import CARRY, call_parts, reads_and_writes
from planc.simt.slots import Kind, SlotMap, assign_slots
from planc.simt.sync import gate
from planc.simt.warp import WarpGate

_POLLING_WORDS = frozenset({"volatile", "relaxed", "acquire", "cv", "cg", "mmio"})


def is_poll(instruction: Instruction, read: frozenset[str]) -> bool:
    """Whether a loop around ``instruction`` may wait for what other threads do."""
    if instruction.opcode == "atom":
        target = instruction.operands[0]
        return isinstance(target, Register) and target.name in read
    if instruction.opcode == "ld":
        return bool(_POLLING_WORDS & set(instruction.modifiers))
    return instruction.opcode == "nanosleep"


def polls(flow: Flow) -> bool:
    """Whether any instruction of a function may be polling."""
    read = names_read(flow)
    return any(is_poll(each, read) for block in flow.blocks for each in block.instructions())


def names_read(flow: Flow) -> frozenset[str]:
    """Return every name that some instruction reads."""
    return frozenset(
        name for block in flow.blocks for each in block.instructions() for name in reads_and_writes(each)[0]
    )


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
    """Builds the code of one function; refusals are collected."""

    def __init__(
        self,
        module: Module,
        function: Function,
        flow: Flow,
        closure: Closure,
        shared: Mapping[str, int],
        polling_calls: bool,
    ) -> None:
        """Take what surrounds the function; ``polling_calls``: a call may poll."""
        self.module = module
        self.function = function
        self.flow = flow
        self.closure = closure
        self.shared = shared
        self.polling_calls = polling_calls

    def build(self, found: list[Diagnostic]) -> FunctionCode:
        """Decode every block; adds a diagnostic for each instruction that is refused."""
        function = self.function
        code = FunctionCode(function.name)
        results = [each.name for each in function.results] if not function.is_entry else []
        slots = assign_slots(self.flow, register_kinds(function), results)
        code.kinds = list(slots.kinds)
        decoder = Decoder(code, slots.slots, self._names(code))
        code.blocks = [self._empty(number, raw) for number, raw in enumerate(self.flow.blocks)]
        self._mark_loops(code.blocks)
        for number, raw in enumerate(self.flow.blocks):
            self._fill(code.blocks[number], raw, number, slots, decoder, code, found)
        undefined = {slot for slot in range(len(slots.kinds)) if code.blocks[0].live >> slot & 1}
        if not function.is_entry:
            code.parameters = tuple(self._slot(code, slots, p.name) for p in function.parameters)
            code.results = tuple(self._slot(code, slots, r.name) for r in function.results)
            undefined |= set(code.results)
        for block in code.blocks:
            if isinstance(block.end, ends.Return):
                block.end.results = code.results
        code.zeroed = tuple(sorted(undefined - set(code.parameters)))
        return code

    def _slot(self, code: FunctionCode, slots: SlotMap, name: str) -> int:
        """Return the slot of a parameter or result, a new one where the body never names it."""
        slot = slots.slots.get(name)
        if slot is None:
            slot = slots.slots[name] = len(code.kinds)
            code.kinds.append(register_kinds(self.function)[name])
        return slot

    def _names(self, code: FunctionCode) -> Names:
        local, code.local_size = local_layout(self.function)
        parameters = {p.name: p.offset for p in self.function.parameters} if self.function.is_entry else {}
        outer = self.module.variables.values()
        variables = {v.name: v.space for v in outer if v.space in ("global", "const")}
        fixed = {**self.closure.addresses(), **self.shared}
        return Names(fixed, local, variables, parameters, names_read(self.flow))

    def _empty(self, number: int, raw: RawBlock) -> Block:
        instructions = raw.instructions()
        first = instructions[0] if instructions else Instruction("exit", (), ())
        return Block(number, self.flow.order.ranks[number], first.line, first.source, cost=len(instructions))

    def _mark_loops(self, blocks: Sequence[Block]) -> None:
        order = self.flow.order
        read = names_read(self.flow)
        polling: set[int] = set()
        for number, raw in enumerate(self.flow.blocks):
            may_poll = any(is_poll(each, read) for each in raw.instructions())
            may_poll |= self.polling_calls and raw.end.kind == "call"
            header = order.loops[number] if may_poll else -1
            while header >= 0:
                polling.add(header)
                header = order.outer[header]
        for number, block in enumerate(blocks):
            header = order.loops[number]
            if header >= 0:
                block.loop = blocks[header]
                block.polls = header in polling

    def _fill(
        self,
        block: Block,
        raw: RawBlock,
        number: int,
        slots: SlotMap,
        decoder: Decoder,
        code: FunctionCode,
        found: list[Diagnostic],
    ) -> None:
        steps: list[Step] = []
        touched: set[int] = set()
        for each in ([raw.gate] if raw.gate is not None else []) + raw.steps:
            decoder.touched = set()
            try:
                step = self._gate(block, each, decoder) if each is raw.gate else self._step(each, decoder)
            except Unsupported as refused:
                found.append(refusal(refused, each))
                continue
            touched |= decoder.touched
            if step is not None:
                steps.append(step)
        decoder.touched = set()
        try:
            block.end = self._end(raw.end, block, decoder, code)
        except Unsupported as refused:
            assert raw.end.instruction is not None
            found.append(refusal(refused, raw.end.instruction))
        touched |= decoder.touched
        block.steps = tuple(steps)
        block.constants = tuple(sorted(touched & decoder.uniform))
        block.uses = tuple(sorted({*slots.uses[number], *(touched - decoder.uniform)}))
        block.writes, block.live = slots.writes[number], slots.live[number]
        if isinstance(block.end, ends.Call):
            # The results of a call are written when it returns, not when the block ends.
            block.writes &= ~sum({1 << slot for slot in block.end.site.results if slot >= 0})
        waits = block.gate
        if raw.gate is not None and is_barrier(raw.gate) and isinstance(waits, BarrierGate | WarpGate):
            waits.following = code.blocks[raw.end.targets[0]]

    def _gate(self, block: Block, instruction: Instruction, decoder: Decoder) -> Step | None:
        block.gate, step = gate(decoder, instruction)
        return step

    def _step(self, instruction: Instruction, decoder: Decoder) -> Step | None:
        step = self._plain_step(instruction, decoder)
        if instruction.guard is None or step is None:
            return step
        guard = _guard_slot(decoder, instruction.guard)
        reads, writes = slots_touched(decoder, instruction)
        return guarded(step, guard, instruction.guard.negated, reads, writes)

    def _plain_step(self, instruction: Instruction, decoder: Decoder) -> Step | None:
        if instruction.opcode == "call":
            return call_intrinsic(decoder, instruction)
        decode = STEPS.get(instruction.opcode)
        if decode is None:
            raise Unsupported(instruction.form)
        check_operands(instruction)
        return decode(decoder, instruction)

    def _end(self, raw: RawEnd, block: Block, decoder: Decoder, code: FunctionCode) -> End:
        targets = [code.blocks[target] for target in raw.targets]
        if raw.kind == "jump":
            return ends.Jump(targets[0])
        if raw.kind == "exit":
            return ends.Exit()
        if raw.kind == "return":
            return ends.Return(())
        assert raw.instruction is not None
        if raw.kind == "table":
            index = decoder.source(raw.instruction.operands[0], 32, raw.instruction.form)
            return ends.Table(index, tuple(targets), raw.instruction)
        if raw.kind == "call":
            return self._call(raw.instruction, block, targets[0], decoder)
        guard = raw.instruction.guard
        assert guard is not None
        return ends.Branch(_guard_slot(decoder, guard), guard.negated, targets[0], targets[1])

    def _call(self, instruction: Instruction, block: Block, following: Block, decoder: Decoder) -> End:
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
        arguments = tuple(
            self._argument(decoder, operand, width, instruction)
            for operand, width in zip(parts.arguments, widths, strict=True)
        )
        results = tuple(self._result(decoder, operand, instruction) for operand in parts.results)
        site = CallSite(arguments, results, block.rank, following, instruction)
        if isinstance(parts.target, Symbol):
            return ends.Call(site, callees[0])
        pointer = decoder.source(parts.target, 64, instruction.form)
        return ends.Call(site, -1, pointer, frozenset(callees))

    def _check_call(self, instruction: Instruction, callee: Function) -> None:
        parts = call_parts(instruction)
        if len(parts.arguments) != len(callee.parameters) or len(parts.results) != len(callee.results):
            takes = f"{len(callee.parameters)} arguments and {len(callee.results)} results"
            raise Unsupported(f"call {callee.name}", f"with other than {takes}")

    def _fits(self, number: int, counts: tuple[int, int]) -> bool:
        function = self.closure.functions[number]
        return not function.is_entry and counts == (len(function.parameters), len(function.results))

    def _argument(self, decoder: Decoder, operand: Operand, width: int, instruction: Instruction) -> int:
        if isinstance(operand, Symbol) and operand.name in decoder.slots:
            return decoder.slots[operand.name]
        return decoder.source(operand, width, instruction.form)

    def _result(self, decoder: Decoder, operand: Operand, instruction: Instruction) -> int:
        if isinstance(operand, Symbol) and operand.name in decoder.slots:
            return decoder.slots[operand.name]
        return decoder.target(operand, instruction.form)


def _argument_widths(function: Function) -> list[int]:
    return [WIDTHS.get(each.type, 64) for each in function.parameters]


def _guard_slot(decoder: Decoder, guard: Guard) -> int:
    return decoder.source(Register(guard.register), 1, "guard")


def refusal(refused: Unsupported, instruction: Instruction) -> Diagnostic:
    """Return the diagnostic for an instruction that is not supported."""
    reason = f" {refused.reason}" if refused.reason else ""
    message = f"`{refused.form}` is not supported{reason}, at {place(instruction)}"
    cure = "replay this node on a GPU, or write the kernel without it"
    return Diagnostic(refused.code, message, span(instruction.source), cure, facts=line_facts(instruction))
