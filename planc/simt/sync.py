"""Decoding of gates: barriers and warp operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from planc.ptx.syntax import Instruction, Operand, Pair
from planc.simt import warp
from planc.simt.arity import check_operands
from planc.simt.barriers import Arrive, BarrierGate
from planc.simt.decode import Decoder
from planc.simt.faults import Unsupported
from planc.simt.frames import Fragment
from planc.simt.program import Gate, Step
from planc.simt.registers import SIGNED
from planc.simt.warp import WarpGate

Gated = tuple[Gate | None, Step | None]
"""Where threads wait, and what they do once they pass."""

_PLAIN_WORDS = frozenset({"cta", "aligned"})
_REDUCTIONS = frozenset({"popc", "and", "or"})


def gate(d: Decoder, instruction: Instruction) -> Gated:
    """Decode an instruction at which threads may wait; raises :class:`Unsupported`."""
    check_operands(instruction)
    return _GATES[instruction.opcode](d, instruction)


def _barrier(d: Decoder, instruction: Instruction) -> Gated:
    words = [word for word in instruction.modifiers if word not in _PLAIN_WORDS]
    if words == ["warp", "sync"]:
        return WarpGate(instruction, d.source(instruction.operands[0], 32)), None
    if words == ["sync"]:
        return BarrierGate(instruction, *_number_and_count(d, instruction.operands)), None
    if words[:1] == ["red"] and len(words) == 3 and words[1] in _REDUCTIONS:
        return _reducing(d, instruction, words[1]), None
    raise Unsupported(instruction.form)


def _number_and_count(d: Decoder, operands: tuple[Operand, ...]) -> tuple[int, int]:
    number = d.source(operands[0], 32)
    return number, d.source(operands[1], 32) if len(operands) > 1 else -1


def _reducing(d: Decoder, instruction: Instruction, reduction: str) -> BarrierGate:
    target, *middle, predicate = instruction.operands
    number, count = _number_and_count(d, tuple(middle))
    slot, negated = d.predicate(predicate, instruction.form)
    width = 32 if reduction == "popc" else 1
    return BarrierGate(
        instruction, number, count, reduction, slot, negated, d.target(target, instruction.form, width)
    )


def arrive(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``bar.arrive``, which does not wait."""
    words = [word for word in instruction.modifiers if word not in _PLAIN_WORDS]
    if words != ["arrive"] or len(instruction.operands) != 2:
        raise Unsupported(instruction.form)
    return Arrive(instruction, d.source(instruction.operands[0], 32))


def _members(d: Decoder, instruction: Instruction) -> tuple[Gate | None, Callable[[Fragment], warp.Lanes]]:
    """Return the gate, and the function that gives the member masks (all lanes present without ``.sync``)."""
    if "sync" not in instruction.modifiers:
        return None, warp.present
    slot = d.source(instruction.operands[-1], 32)
    return WarpGate(instruction, slot), lambda f: warp.member_masks(f, slot)


def _words(instruction: Instruction) -> tuple[str, ...]:
    return tuple(word for word in instruction.modifiers if word != "sync")


def _targets(d: Decoder, instruction: Instruction) -> tuple[int, int]:
    operand = instruction.operands[0]
    if isinstance(operand, Pair):
        form = instruction.form
        return d.target(operand.first, form, 32), d.target(operand.second, form, 1)
    return d.target(operand, instruction.form, 32), -1


def _set(f: Fragment, targets: tuple[int, int], results: tuple[object, object]) -> None:
    for slot, bits in zip(targets, results, strict=True):
        if slot >= 0:
            f.regs[slot] = bits


def _shuffle(d: Decoder, instruction: Instruction) -> Gated:
    words = _words(instruction)
    if len(words) != 2 or words[0] not in warp.SHUFFLES or words[1] != "b32":
        raise Unsupported(instruction.form)
    choose, targets = warp.SHUFFLES[words[0]], _targets(d, instruction)
    a, b, c = (d.source(each, 32) for each in instruction.operands[1:4])
    if d.width(a) != 32:
        raise Unsupported(instruction.form, "with this operand")
    waits = None
    if "sync" in instruction.modifiers:
        waits = WarpGate(instruction, d.source(instruction.operands[4], 32))

    def step(f: Fragment) -> None:
        regs = f.regs
        _set(f, targets, warp.shuffle(f, choose, regs[a], regs[b], regs[c]))

    return waits, step


def _vote(d: Decoder, instruction: Instruction) -> Gated:
    words = _words(instruction)
    mode = words[0] if words else ""
    if words not in (("all", "pred"), ("any", "pred"), ("uni", "pred"), ("ballot", "b32")):
        raise Unsupported(instruction.form)
    target = d.target(instruction.operands[0], instruction.form, 32 if mode == "ballot" else 1)
    slot, negated = d.predicate(instruction.operands[1], instruction.form)
    waits, members = _members(d, instruction)

    def step(f: Fragment) -> None:
        holds = ~f.regs[slot] if negated else f.regs[slot]
        if target >= 0:
            f.regs[target] = warp.vote(f, mode, holds, members(f))

    return waits, step


def _match(d: Decoder, instruction: Instruction) -> Gated:
    words = _words(instruction)
    if len(words) != 2 or words[0] not in ("any", "all") or words[1] not in ("b32", "b64"):
        raise Unsupported(instruction.form)
    targets, mode = _targets(d, instruction), words[0]
    a = d.source(instruction.operands[1], int(words[1][1:]))
    waits, members = _members(d, instruction)

    def step(f: Fragment) -> None:
        _set(f, targets, warp.match(f, mode, f.regs[a], members(f)))

    return waits, step


_REDUX = {("add", "u32"), ("add", "s32"), ("min", "u32"), ("min", "s32"), ("max", "u32"), ("max", "s32")} | {
    (mode, "b32") for mode in ("and", "or", "xor")
}


def _redux(d: Decoder, instruction: Instruction) -> Gated:
    words = _words(instruction)
    if words not in _REDUX:
        raise Unsupported(instruction.form)
    mode, dtype = words[0], SIGNED[32] if words[1] == "s32" else np.dtype(np.uint32)
    target = d.target(instruction.operands[0], instruction.form, 32)
    a = d.source(instruction.operands[1], 32)
    if d.width(a) != 32:
        raise Unsupported(instruction.form, "with this operand")
    waits, members = _members(d, instruction)

    def step(f: Fragment) -> None:
        if target >= 0:
            f.regs[target] = warp.reduce(f, mode, f.regs[a].view(dtype), members(f)).view(np.uint32)

    return waits, step


def _elect(d: Decoder, instruction: Instruction) -> Gated:
    if instruction.modifiers != ("sync",):
        raise Unsupported(instruction.form)
    targets = _targets(d, instruction)
    waits, members = _members(d, instruction)
    return waits, lambda f: _set(f, targets, warp.elect(f, members(f)))


_GATES: Mapping[str, Callable[[Decoder, Instruction], Gated]] = MappingProxyType(
    {
        "bar": _barrier,
        "barrier": _barrier,
        "shfl": _shuffle,
        "vote": _vote,
        "match": _match,
        "redux": _redux,
        "elect": _elect,
    }
)


def activemask(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``activemask.b32``: the lanes that run this instruction together."""
    if instruction.modifiers != ("b32",):
        raise Unsupported(instruction.form)
    target = d.target(instruction.operands[0], instruction.form, 32)

    def step(f: Fragment) -> None:
        if target >= 0:
            f.regs[target] = warp.present(f).astype(np.uint32)

    return step
