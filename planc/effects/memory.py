"""Loads, stores, atomics, copies: what they touch, and what comes out of them.

Widths and demands on addresses follow the PTX ISA, "Data Movement and Conversion Instructions" and
"Parallel Synchronization and Communication Instructions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from planc.effects.accesses import RawAccess, Touch
from planc.effects.arithmetic import type_range
from planc.effects.conditions import UNKNOWN, Condition
from planc.effects.engine import Engine
from planc.effects.forms import Form, shift, wrap
from planc.effects.operands import Transfer, number_type
from planc.effects.state import State
from planc.effects.symbols import Origin
from planc.effects.values import Choice, Number, Option, choice_of, options_of
from planc.ptx.instructions import MemoryAccess, memory_accesses
from planc.ptx.syntax import Address, Arguments, Immediate, Instruction, Operand, Register, Symbol, Vector
from planc.ptx.widths import TYPE_BYTES, VECTOR_LENGTHS

_COMMUTING = frozenset({"add", "min", "max", "and", "or", "xor"})
_PRIVATE = frozenset({"shared", "shared::cta", "shared::cluster", "local", "param", "param::entry"})
_PRIVATE_VARIABLES = frozenset({"shared", "local", "param"})
_HANDLE = frozenset({"tex", "tld4", "suld", "sust", "sured"})
_TEXTURE = "goes through a texture or surface, whose layout the PTX does not tell"
_TILE = "is a matrix tile, spread over the threads of a warp"
_TENSOR = "goes through a tensor map"


def element_bytes(instruction: Instruction) -> int:
    """Return the bytes of one element, from the last type among the modifiers."""
    types = [TYPE_BYTES[word] for word in instruction.modifiers if word in TYPE_BYTES]
    return types[-1] if types else 0


def access_bytes(instruction: Instruction) -> int:
    """Return the bytes that one thread touches with a load, a store or an atomic."""
    lengths = [VECTOR_LENGTHS[word] for word in instruction.modifiers if word in VECTOR_LENGTHS]
    return element_bytes(instruction) * (lengths[0] if lengths else 1)


def _plain(kind: str) -> Callable[[Instruction, MemoryAccess, bool], Touch]:
    def touch(instruction: Instruction, access: MemoryAccess, dead: bool) -> Touch:
        width = access_bytes(instruction)
        cached = "nc" in instruction.modifiers or instruction.opcode == "ldu"
        return Touch(kind, width, max(width, 1), is_cached=cached)

    return touch


def _atomic(instruction: Instruction, access: MemoryAccess, dead: bool) -> Touch:
    """``red``, or ``atom`` with an unread result, commutes at gpu scope (the default) or wider."""
    width = access_bytes(instruction)
    words = instruction.modifiers
    operation = next((w for w in words if w in _COMMUTING), "")
    is_narrow = bool({"cta", "cluster"} & set(words))
    if not operation or is_narrow or not (dead or instruction.opcode == "red"):
        return Touch("read-write", width, max(width, 1))
    return Touch("reduce", width, max(width, 1), f"{operation}.{words[-1]}")


def _copy(instruction: Instruction, access: MemoryAccess, dead: bool) -> Touch:
    words = instruction.modifiers
    kind = "write" if access.writes else "read"
    if "tensor" in words:
        return Touch("read-write" if "reduce" in words else kind, 0, reason=_TENSOR)
    sizes = [each for each in instruction.operands if isinstance(each, Immediate)]
    width = sizes[0].bits if sizes else 0
    reason = "" if sizes else "copies a number of bytes that is not a constant"
    align = 16 if "bulk" in words else max(width, 1)
    if "reduce" in words and access.writes:
        operation = next((w for w in words if w in _COMMUTING), "")
        kind = "reduce" if operation else "read-write"
        return Touch(kind, width, align, f"{operation}.{words[-1]}" if operation else "", reason=reason)
    return Touch(kind, width, align, reason=reason, is_certain="bulk" in words)


def _discard(instruction: Instruction, access: MemoryAccess, dead: bool) -> Touch:
    return Touch("write", 128, 128, is_certain=False)


def _other(instruction: Instruction, access: MemoryAccess, dead: bool) -> Touch:
    reason = _TEXTURE if instruction.opcode in _HANDLE else f"is done by `{instruction.form}`"
    reason = _TILE if instruction.opcode == "wmma" else reason
    kinds = {(True, False): "read", (False, True): "write"}
    return Touch(kinds.get((access.reads, access.writes), "read-write"), 0, reason=reason)


_TOUCHES: Mapping[str, Callable[[Instruction, MemoryAccess, bool], Touch]] = MappingProxyType(
    {
        "ld": _plain("read"),
        "ldu": _plain("read"),
        "st": _plain("write"),
        "atom": _atomic,
        "red": _atomic,
        "cp": _copy,
        "discard": _discard,
    }
)


class MemoryTransfer:
    """Runs the instructions that touch memory."""

    def __init__(self, transfer: Transfer, dead_results: frozenset[int]) -> None:
        """Run with the operands of ``transfer``; ``dead_results`` are indices whose results nobody reads."""
        self.transfer = transfer
        self.engine: Engine = transfer.engine
        self.dead_results = dead_results

    def run(
        self,
        index: int,
        instruction: Instruction,
        state: State,
        turns: tuple[int, ...],
        calls: tuple[Instruction, ...],
    ) -> None:
        """Run one instruction with addresses; it may also be a parameter load or store."""
        if self._parameter(instruction, state):
            return
        for access in memory_accesses(instruction):
            self._record(index, instruction, access, state, turns, calls)
        self._note_escapes(instruction, state)
        self._results(instruction, state)

    def _record(
        self,
        index: int,
        instruction: Instruction,
        access: MemoryAccess,
        state: State,
        turns: tuple[int, ...],
        calls: tuple[Instruction, ...],
    ) -> None:
        if access.space in _PRIVATE or not self.engine.recording:
            return
        touch = _TOUCHES.get(instruction.opcode, _other)(instruction, access, index in self.dead_results)
        options, is_single = self.options(access.address, state)
        for option in options:
            facts = tuple(dict.fromkeys((*state.facts.items, *option.facts)))
            domain = state.domain if is_single else None
            self.engine.accesses.append(
                RawAccess(instruction, touch, option.form, facts, domain, turns, calls)
            )

    def options(self, address: Address, state: State) -> tuple[list[Option], bool]:
        """Return what an address may be, and whether it is one number; private memory is left out."""
        if address.base is None:
            return [Option(Form(address.offset))], True
        found = options_of(self.transfer.number(address.base, state))
        moved = [Option(shift(o.form, address.offset), o.facts) for o in found]
        return [o for o in moved if not self._is_private(o.form)], len(found) == 1

    def _is_private(self, form: Form) -> bool:
        keys = [self.engine.symbols.key(s) for s in form.symbols]
        spaces = [key[1] for key in keys if isinstance(key, tuple) and key[0] == "pointer"]
        return len(spaces) == 1 and spaces[0] in _PRIVATE_VARIABLES

    # Results

    def _results(self, instruction: Instruction, state: State) -> None:
        kind = number_type(instruction.modifiers[-1]) if instruction.modifiers else None
        targets = instruction.operands[:1]
        if instruction.opcode in ("st", "red", "cp"):
            return
        for target in targets[0].items if targets and isinstance(targets[0], Vector) else targets:
            if isinstance(target, Register):
                self._loaded(target.name, kind, state)
        if instruction.opcode not in ("ld", "ldu", "atom"):
            self.transfer.generic(instruction, state)

    def _loaded(self, name: str, kind: tuple[int, bool] | None, state: State) -> None:
        if self.transfer.function.registers.get(name) == "pred":
            state.registers[name] = UNKNOWN
            return
        width = min(self.transfer.width_of(name), 64)
        low, high = type_range(width, True)
        if kind is not None and (kind[0] < width or not kind[1]):
            low, high = type_range(*kind)
        state.registers[name] = Number(self.engine.fresh("loaded", low, high), width)

    def _note_escapes(self, instruction: Instruction, state: State) -> None:
        """A pointer that is stored somewhere can be used by whoever loads it."""
        if instruction.opcode in ("ld", "ldu", *_HANDLE):
            return
        for form in self._stored(instruction.operands, state):
            self.escape(form, f"is stored to memory at PTX line {instruction.line}")

    def escape(self, form: Form, reason: str) -> None:
        """Remember that the pointers in ``form`` went where nobody follows."""
        for symbol in self.engine.symbols.taint(form):
            if self.engine.symbols[symbol].origin is Origin.POINTER:
                self.engine.escapes.setdefault(symbol, reason)

    def _stored(self, operands: Iterable[Operand], state: State) -> Iterable[Form]:
        for operand in operands:
            if isinstance(operand, Vector | Arguments):
                yield from self._stored(operand.items, state)
            elif isinstance(operand, Register):
                held = state.registers.get(operand.name)
                if held is not None and not isinstance(held, Condition):
                    yield from (option.form for option in options_of(held))

    # Parameters

    def _parameter(self, instruction: Instruction, state: State) -> bool:
        """``ld.param`` and ``st.param``; true where the instruction is done."""
        is_param = bool({"param", "param::entry", "param::func"} & set(instruction.modifiers))
        if not is_param or instruction.opcode not in ("ld", "st"):
            return self._constant_parameter(instruction, state)
        address = next(each for each in instruction.operands if isinstance(each, Address))
        values = [each for each in instruction.operands if not isinstance(each, Address)]
        items = values[0].items if isinstance(values[0], Vector) else (values[0],)
        size = element_bytes(instruction)
        place = self._place(address, state)
        for number, item in enumerate(items):
            at = None if place is None else (place[0], place[1] + number * size)
            if instruction.opcode == "st":
                self._pass(item, at, size, state)
            elif isinstance(item, Register):
                state.registers[item.name] = self._passed(item.name, at, size, instruction, state)
        return True

    def _constant_parameter(self, instruction: Instruction, state: State) -> bool:
        """A generic load whose address is that of a parameter, after ``cvta.param``."""
        if instruction.opcode != "ld" or set(instruction.modifiers) & {"global", "shared", "local", "const"}:
            return False
        address = instruction.operands[-1]
        if not isinstance(address, Address) or isinstance(address.base, Symbol) or address.base is None:
            return False
        place = self._place(address, state)
        target = instruction.operands[0]
        if place is None or not isinstance(target, Register):
            return False
        size = element_bytes(instruction)
        state.registers[target.name] = self._passed(target.name, place, size, instruction, state)
        return True

    def _place(self, address: Address, state: State) -> tuple[str, int] | None:
        """Return the parameter and the byte offset that an address means, where it is one."""
        if isinstance(address.base, Symbol):
            return address.base.name, address.offset + address.base.offset
        if address.base is None:
            return None
        value = self.transfer.number(address.base, state)
        if not isinstance(value, Number) or len(value.form.terms) != 1:
            return None
        key = self.engine.symbols.key(value.form.terms[0][0])
        if not isinstance(key, tuple) or key[:2] != ("pointer", "param"):
            return None
        return str(key[2]), value.form.const + address.offset

    def _pass(self, item: Operand, place: tuple[str, int] | None, size: int, state: State) -> None:
        value = self.transfer.number(item, state)
        if place is None:
            for option in options_of(value):
                self.escape(option.form, "is stored to a parameter that is not followed")
            return
        state.registers[f"[{place[0]}+{place[1]}]"] = value

    def _passed(
        self, name: str, place: tuple[str, int] | None, size: int, instruction: Instruction, state: State
    ) -> Number | Choice:
        width = self.transfer.width_of(name)
        if place is not None:
            held = state.registers.get(f"[{place[0]}+{place[1]}]")
            if held is not None and not isinstance(held, Condition) and held.width >= size * 8:
                return self._extended(held, size * 8, width, instruction, state)
            parameter = self._own_parameter(place[0])
            if parameter is not None:
                label = place[0] if place[1] == 0 else f"{place[0]}+{place[1]}"
                found = Number(self.engine.argument(parameter + place[1], size, label), size * 8)
                return self._extended(found, size * 8, width, instruction, state)
        kind = number_type(instruction.modifiers[-1])
        bounds = type_range(*kind) if kind else type_range(min(width, 64), True)
        return Number(self.engine.fresh("parameter", *bounds), width)

    def _extended(
        self, held: Number | Choice, bits: int, width: int, instruction: Instruction, state: State
    ) -> Number | Choice:
        """Widen a loaded value to its register: by its sign for a signed type, else with zeros."""
        if width <= bits and held.width == width:
            return held
        kind = number_type(instruction.modifiers[-1])
        signed = kind is not None and kind[1]

        def widened(form: Form) -> Form:
            form = wrap(form, bits)
            if width <= bits:
                return wrap(form, width)
            return wrap(self.engine.arithmetic.number(form, bits, signed, state.facts), width)

        return choice_of([Option(widened(o.form), o.facts) for o in options_of(held)], width)

    def _own_parameter(self, name: str) -> int | None:
        if not self.transfer.function.is_entry:
            return None
        found = [p.offset for p in self.transfer.function.parameters if p.name == name]
        return found[0] if found else None
