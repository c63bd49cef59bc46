"""Which decoder each opcode has, and which forms are supported."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from planc.ptx.syntax import Address, Immediate, Instruction, Operand, Pair, Register, Symbol, Vector
from planc.simt import access, atomics, misc, sync
from planc.simt.arith import OPERATIONS, supports_arith
from planc.simt.decode import Decode, Decoder, Names, arithmetic
from planc.simt.faults import Unsupported
from planc.simt.flow import is_gate
from planc.simt.program import FunctionCode
from planc.simt.slots import Kind

_NOTHING = (
    "applypriority bra discard fence griddepcontrol membar nanosleep pmevent prefetch prefetchu setmaxnreg"
)
_ENDS = frozenset({"bra", "brx", "call", "ret", "exit"})

STEPS: Mapping[str, Decode] = MappingProxyType(
    {
        **dict.fromkeys(OPERATIONS, arithmetic),
        **dict.fromkeys(_NOTHING.split(), misc.nothing),
        "activemask": sync.activemask,
        "atom": atomics.atomic,
        "bar": sync.arrive,
        "barrier": sync.arrive,
        "cp": misc.copy_async,
        "createpolicy": misc.create_policy,
        "cvta": misc.convert_address,
        "isspacep": misc.is_space,
        "ld": access.load,
        "ldu": access.load,
        "red": atomics.atomic,
        "st": access.store,
        "trap": misc.trap,
    }
)
"""The decoder of each opcode that is neither a gate nor the end of a block."""


def supports(form: str | Instruction) -> bool:
    """Whether the interpreter has an instruction form, ``supports("ld.global.v4.f32")``.

    Forms of calls and branches count as supported; what a call reaches is another question.
    """
    opcode, *modifiers = (form if isinstance(form, str) else form.form).split(".")
    if opcode in _ENDS:
        return all(word in ("uni", "idx") for word in modifiers)
    if opcode in OPERATIONS:
        return supports_arith(opcode, modifiers)
    instruction = Instruction(opcode, tuple(modifiers), _plausible_operands(opcode, modifiers))
    try:
        return _decode_alone(instruction)
    except Unsupported:
        return False


def _decode_alone(instruction: Instruction) -> bool:
    widths = {"%p": 1, "%q": 1, "%r": 32, "%d": 64} | {f"%v{k}": 64 for k in range(8)}
    kinds: list[Kind] = [("bits", width) for width in widths.values()]
    slots = {name: slot for slot, name in enumerate([*widths, "%m"])}
    code = FunctionCode("", kinds=[*kinds, ("bytes", 64)])
    decoder = Decoder(code, slots, Names(read=frozenset(widths)))
    if is_gate(instruction):
        sync.gate(decoder, instruction)
        return True
    decode = STEPS.get(instruction.opcode)
    if decode is None:
        return False
    decode(decoder, instruction)
    return True


def _plausible_operands(opcode: str, modifiers: list[str]) -> tuple[Operand, ...]:
    """Return operands of the right shape for a form, for the sake of its decoder."""
    shape = _SHAPES.get(opcode, "")
    if opcode in ("bar", "barrier"):
        shape = "rr" if "arrive" in modifiers else "rrp" if "red" in modifiers else "r"
    count = {"v2": 2, "v4": 4, "v8": 8}.get(next((m for m in modifiers if m in ("v2", "v4", "v8")), ""), 1)
    vector = Vector(tuple(Register(f"%v{k}") for k in range(count)))
    wide: Operand = vector if count > 1 else Register("%v0")
    kinds: Mapping[str, Operand] = {
        "r": Register("%r"),
        "d": Register("%d"),
        "p": Register("%p"),
        "a": Address(Symbol("%m") if "param" in modifiers else Register("%d")),
        "w": wide,
        "2": Pair(Register("%r"), Register("%p")),
        "i": Immediate("int", 16),
    }
    if opcode == "vote":
        shape = ("p" if modifiers[-1] == "pred" else "r") + "pr"
    if opcode in ("atom", "red") and "cas" in modifiers:
        shape += "d"
    return tuple(kinds[letter] for letter in shape)


_SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "activemask": "r",
        "atom": "dad",
        "cp": "aai",
        "createpolicy": "d",
        "cvta": "dd",
        "elect": "2r",
        "isspacep": "pd",
        "ld": "wa",
        "ldu": "wa",
        "match": "rdr",
        "red": "ad",
        "redux": "rrr",
        "shfl": "2rrrr",
        "st": "aw",
        "trap": "",
    }
)
