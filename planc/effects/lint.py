"""Effects of every kernel of a module for launches that nobody has fixed yet.

Grid, block and arguments stay symbols, so that kinds are as for a launch, and ranges are formulas.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from planc.effects.analyse import FirstStage
from planc.effects.bounds import Facts
from planc.effects.collect import collect_effects
from planc.effects.engine import Engine, TooLargeError
from planc.effects.launch import IntegerFact, LaunchFacts, ParameterFact, PointerFact
from planc.effects.memory import access_bytes
from planc.effects.result import Effect, KernelEffects
from planc.effects.state import State
from planc.effects.symbols import Origin
from planc.effects.walk import Walker
from planc.kernels.demangle import demangle
from planc.ptx.instructions import written_registers
from planc.ptx.syntax import Address, Function, Module, Register, Symbol


@dataclass(frozen=True, slots=True)
class LintAccess:
    """One access: its lines, bytes per thread, and the byte offset from the pointer as a formula."""

    kind: str
    line: int
    file: str
    source_line: int
    width: int
    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class LintEffect:
    """What a kernel does through one pointer.

    ``name`` is the PTX name of the parameter (with ``+offset`` inside a struct) or of a module variable;
    ``offset`` is the place in the parameter block, -1 for a variable. ``kind`` and ``reason`` are those of
    :class:`planc.effects.Effect`.
    """

    name: str
    offset: int
    kind: str
    reason: str
    operator: str
    accesses: tuple[LintAccess, ...]


@dataclass(frozen=True, slots=True)
class KernelLint:
    """The effects of one kernel; ``name`` is its demangled name, ``entry`` its PTX name."""

    entry: str
    name: str
    parameters: tuple[LintEffect, ...]
    globals: tuple[LintEffect, ...]
    external: tuple[str, ...]
    unknown: tuple[str, ...]


def lint(module: Module) -> tuple[KernelLint, ...]:
    """Return the effects of every kernel of a module, in the order of the text."""
    stage = FirstStage.of(module)
    return tuple(_kernel(stage, function) for function in module.entries)


def as_json(kernels: Iterable[KernelLint]) -> list[dict[str, object]]:
    """Return what ``planc lint --format json`` prints."""
    return [asdict(kernel) for kernel in kernels]


def _kernel(stage: FirstStage, function: Function) -> KernelLint:
    words = {offset: name for name, offset in _words(function)}
    pointers = _bases(stage, function, set(words))
    facts: dict[int, ParameterFact] = {
        offset: PointerFact() if offset in pointers else IntegerFact(8, -(1 << 63), (1 << 63) - 1)
        for offset in words
    }
    effects, _ = _analysed(stage, function, facts)
    demangled = demangle(function.name)
    return KernelLint(
        function.name,
        demangled.name if demangled is not None else function.name,
        tuple(_effect(words[offset], offset, effect) for offset, effect in effects.parameters.items()),
        tuple(_effect(name, -1, effect) for name, effect in effects.globals.items()),
        effects.external,
        effects.unknown,
    )


def _effect(name: str, offset: int, effect: Effect) -> LintEffect:
    accesses = tuple(
        LintAccess(a.kind, a.line, a.file, a.source_line, a.width, a.address, a.reason)
        for a in effect.accesses
    )
    return LintEffect(name, offset, effect.kind, effect.reason, effect.operator, accesses)


def _words(function: Function) -> list[tuple[str, int]]:
    """Return name and offset of every 8 bytes of the parameters that may hold a pointer."""
    wide = [p for p in function.parameters if p.size == 8 and p.type not in ("f64", "s64")]
    found = {(p.name, p.offset) for p in wide}
    places = {p.name: p for p in function.parameters if p.size > 8}
    for instruction in function.body:
        address = instruction.operands[-1] if instruction.operands else None
        is_wide = instruction.opcode == "ld" and instruction.modifiers[-1] in ("u64", "b64")
        if not is_wide or not isinstance(address, Address) or not isinstance(address.base, Symbol):
            continue
        parameter = places.get(address.base.name)
        if parameter is not None:
            first = address.base.offset + address.offset
            for inside in range(first, first + access_bytes(instruction), 8):
                found.add((f"{parameter.name}+{inside}", parameter.offset + inside))
    return sorted(found, key=lambda pair: pair[1])


def _bases(stage: FirstStage, function: Function, words: set[int]) -> set[int]:
    """Return which words are used as addresses, when all of them are taken for pointers."""
    _, engine = _analysed(stage, function, dict.fromkeys(words, PointerFact()))
    converted = _converted(function)
    found: set[int] = set()
    for symbols in _pointer_symbols(engine):
        keys = [engine.symbols.key(symbol) for symbol in symbols]
        offsets = [key[2] for key in keys if isinstance(key, tuple) and key[1] == "argument"]
        if len(offsets) == 1:
            found.update(offsets)
        elif not found.intersection(offsets):
            found.update(converted.intersection(offsets) or offsets)
    return found


def _converted(function: Function) -> set[int]:
    """Return the words that are loaded and then turned into addresses of global memory."""
    sources = {
        operand.name
        for instruction in function.body
        if instruction.opcode == "cvta"
        for operand in instruction.operands[1:]
        if isinstance(operand, Register)
    }
    places = {p.name: p.offset for p in function.parameters}
    found: set[int] = set()
    for instruction in function.body:
        if instruction.opcode != "ld" or not sources.intersection(written_registers(instruction)):
            continue
        address = instruction.operands[-1]
        if isinstance(address, Address) and isinstance(address.base, Symbol) and address.base.name in places:
            found.add(places[address.base.name] + address.base.offset + address.offset)
    return found


def _pointer_symbols(engine: Engine) -> list[list[int]]:
    """Return the pointers of each address, the addresses with the fewest first."""
    found = [
        [s for s, c in access.form.terms if c == 1 and engine.symbols[s].origin is Origin.POINTER]
        or sorted(engine.symbols.taint(access.form))
        for access in engine.accesses
    ]
    found += [[symbol] for symbol in engine.escapes]
    return sorted(found, key=len)


def _analysed(
    stage: FirstStage, function: Function, facts: dict[int, ParameterFact]
) -> tuple[KernelEffects, Engine]:
    launch = LaunchFacts((1, 1, 1), (1, 1, 1), 0, facts)
    engine = Engine(stage.module, launch, is_symbolic=True)
    flow = stage.flows.get(function.name)
    if flow is None:
        return KernelEffects(function.name, {o: Effect("none") for o in facts}), engine
    reason = "" if flow.graph.is_reducible else "the kernel has a loop with two entries"
    try:
        if not reason:
            Walker(engine, stage.flows, flow).run(State({}, Facts()))
    except TooLargeError:
        reason = "the kernel is too large to be followed"
    effects, _ = collect_effects(engine, function.name)
    if reason:
        unknown = {o: Effect("unknown", (), None, (), False, reason) for o in effects.parameters}
        effects = replace(effects, parameters=unknown, unknown=(reason,))
    return effects, engine
