"""Calls: device functions are walked in place, everything else is unknown or external."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from planc.effects.conditions import UNKNOWN, Condition
from planc.effects.state import State
from planc.effects.values import Value, options_of
from planc.ptx.syntax import Discard, Function, Instruction, Operand, Register, Symbol
from planc.simt.roles import CallParts, call_parts

if TYPE_CHECKING:
    from planc.effects.walk import Walker

_DEPTH = 12
_EXTERNAL: Mapping[str, str] = MappingProxyType(
    {"vprintf": "prints", "__assertfail": "may stop with an assertion"}
)
_ENDS = frozenset({"__assertfail"})


def run_call(walker: Walker, instruction: Instruction, state: State) -> State | None:
    """Run a ``call``; None where the thread does not come back."""
    parts = call_parts(instruction)
    name = parts.target.name if isinstance(parts.target, Symbol) else None
    function = walker.engine.module.functions.get(name) if name is not None else None
    if name in _EXTERNAL:
        return _external(walker, instruction, name or "", parts, state)
    reason = _refusal(walker, name, function)
    if reason:
        return _unknown(walker, instruction, parts, reason, state)
    assert function is not None
    return _inline(walker, instruction, parts, function, state)


def _refusal(walker: Walker, name: str | None, function: Function | None) -> str:
    if name is None:
        return "is an indirect call"
    if function is None or function.is_declaration or not function.body:
        return f"calls `{name}`, whose code is not in the module"
    path = [walker.flow.function.name, *(_callee(each) for each in walker.calls)]
    if name in path:
        return f"calls `{name}` recursively"
    if len(walker.calls) >= _DEPTH:
        return f"calls `{name}` more than {_DEPTH} calls deep"
    return (
        "" if walker.flows[name].graph.is_reducible else f"calls `{name}`, which has a loop with two entries"
    )


def _callee(instruction: Instruction) -> str:
    target = call_parts(instruction).target
    return target.name if isinstance(target, Symbol | Register) else ""


def _external(
    walker: Walker, instruction: Instruction, name: str, parts: CallParts, state: State
) -> State | None:
    if walker.engine.recording:
        walker.engine.external.append((instruction, _EXTERNAL[name]))
    if name in _ENDS:
        return None
    _forget(walker, parts, state)
    return state


def _unknown(walker: Walker, instruction: Instruction, parts: CallParts, reason: str, state: State) -> State:
    if walker.engine.recording:
        walker.engine.unknown.append((instruction, reason))
    for value in (_argument(walker, each, state) for each in parts.arguments):
        for held in value:
            if not isinstance(held, Condition):
                for option in options_of(held):
                    walker.memory.escape(option.form, f"is passed away at PTX line {instruction.line}")
    _forget(walker, parts, state)
    walker.is_broken = walker.leaves_early = True
    return replace(state, domain=None)


def _argument(walker: Walker, operand: Operand, state: State) -> list[Value]:
    """Return the numbers that an argument holds: a register, or the pieces of a ``.param`` variable."""
    if isinstance(operand, Symbol):
        return [v for name, v in state.registers.items() if name.startswith(f"[{operand.name}+")]
    return [walker.transfer.read(operand, state)]


def _forget(walker: Walker, parts: CallParts, state: State) -> None:
    for operand in parts.results:
        if isinstance(operand, Register):
            is_predicate = walker.flow.function.registers.get(operand.name) == "pred"
            width = walker.transfer.width_of(operand.name)
            unknown = walker.transfer.unknown_number(width, state)
            state.registers[operand.name] = UNKNOWN if is_predicate else unknown
        elif isinstance(operand, Symbol):
            for name in [n for n in state.registers if n.startswith(f"[{operand.name}+")]:
                del state.registers[name]


def _inline(
    walker: Walker, instruction: Instruction, parts: CallParts, function: Function, state: State
) -> State | None:
    entry = _entry_registers(walker, parts, function, state)
    inner = type(walker)(
        walker.engine, walker.flows, walker.flows[function.name], (*walker.calls, instruction)
    )
    inner.turns = walker.turns
    after = inner.run(replace(state, registers=entry))
    if inner.leaves_early:
        walker.leaves_early = walker.is_broken = True
    if after is None:
        return None
    registers = dict(state.registers)
    _forget(walker, parts, state)
    for operand, result in zip(parts.results, function.results, strict=False):
        _return_value(registers, after, operand, result.name)
    return State(registers, after.facts, state.raw, after.domain)


def _entry_registers(walker: Walker, parts: CallParts, function: Function, state: State) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for operand, parameter in zip(parts.arguments, function.parameters, strict=False):
        if isinstance(operand, Symbol):
            prefix = f"[{operand.name}+"
            for name, value in state.registers.items():
                if name.startswith(prefix):
                    found[f"[{parameter.name}+{name[len(prefix) :]}"] = value
        elif parameter.register:
            found[parameter.name] = walker.transfer.read(operand, state)
        else:
            found[f"[{parameter.name}+0]"] = walker.transfer.read(operand, state)
    return found


def _return_value(registers: dict[str, Value], after: State, operand: Operand, result: str) -> None:
    if isinstance(operand, Symbol):
        for name in [n for n in registers if n.startswith(f"[{operand.name}+")]:
            del registers[name]
        prefix = f"[{result}+"
        for name, value in after.registers.items():
            if name.startswith(prefix):
                registers[f"[{operand.name}+{name[len(prefix) :]}"] = value
    elif isinstance(operand, Register) and not isinstance(operand, Discard):
        held = after.registers.get(result)
        if held is None:
            registers.pop(operand.name, None)
        else:
            registers[operand.name] = held
