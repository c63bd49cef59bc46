"""What an entry needs and takes on one target, from its PTX and its cubin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from planc.kernels.artifact import EntryParameter, GlobalSymbol, Resources
from planc.kernels.cubin import Cubin, CubinEntry, is_hidden
from planc.kernels.limits import LIMITS, LaunchLimits, threads_for_registers
from planc.kernels.target import Target
from planc.ptx.syntax import Function, Instruction, Module, Symbol, Variable


@dataclass(frozen=True, slots=True)
class EntryFacts:
    """One entry on one target."""

    parameters: tuple[EntryParameter, ...]
    resources: Resources


def facts_of_ptx(module: Module, cubin: Cubin | None, target: Target) -> dict[str, EntryFacts]:
    """Return the facts of each kernel; registers and memory from the cubin where there is one."""
    limits = LIMITS[target.number]
    return {
        entry.name: EntryFacts(
            tuple(EntryParameter(p.offset, p.size, p.align) for p in entry.parameters),
            _resources(entry, module, cubin.entries.get(entry.name) if cubin else None, limits),
        )
        for entry in module.entries
        if not entry.is_declaration
    }


def facts_of_cubin(cubin: Cubin, target: Target) -> dict[str, EntryFacts]:
    """Return the facts of each kernel of a cubin that has no PTX."""
    limits = LIMITS[target.number]
    return {name: EntryFacts(e.parameters, _linked(e, limits)) for name, e in cubin.entries.items()}


def _linked(entry: CubinEntry, limits: LaunchLimits) -> Resources:
    bound = limits.threads_block if entry.max_threads is None else prod(entry.max_threads)
    return Resources(
        static_shared=entry.static_shared,
        local=entry.local,
        parameter_bytes=entry.parameter_bytes,
        max_threads=min(bound, threads_for_registers(entry.registers, limits)),
        registers=entry.registers,
        required_block=entry.required_block,
    )


def _resources(entry: Function, module: Module, linked: CubinEntry | None, limits: LaunchLimits) -> Resources:
    bound = prod(entry.directives.get("maxntid", (limits.threads_block,)))
    size = max((p.offset + p.size for p in entry.parameters), default=0)
    required = _block(entry.directives.get("reqntid"))
    if linked is None:
        return Resources(
            static_shared=_bytes(_shared(entry, module)),
            local=_bytes(v for v in entry.variables if v.space == "local"),
            parameter_bytes=size,
            max_threads=min(bound, limits.threads_block),
            required_block=required,
        )
    return Resources(
        static_shared=linked.static_shared,
        local=linked.local,
        parameter_bytes=size,
        max_threads=min(bound, threads_for_registers(linked.registers, limits)),
        registers=linked.registers,
        required_block=required,
    )


def _block(values: tuple[int, ...] | None) -> tuple[int, int, int] | None:
    if values is None:
        return None
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _shared(entry: Function, module: Module) -> list[Variable]:
    """Return the static shared variables that an entry declares, or names of the module's."""
    own = [v for v in entry.variables if v.space == "shared" and v.linkage != "extern"]
    used = {name for instruction in entry.body for name in _symbols(instruction)}
    shared = [v for v in module.variables.values() if v.space == "shared" and v.linkage != "extern"]
    return own + [v for v in shared if v.name in used]


def _symbols(instruction: Instruction) -> list[str]:
    bases = [getattr(operand, "base", operand) for operand in instruction.operands]
    return [base.name for base in bases if isinstance(base, Symbol)]


def _bytes(variables: Iterable[Variable]) -> int:
    total = 0
    for variable in variables:
        total = -(-total // variable.align) * variable.align + variable.size
    return total


def globals_of_ptx(module: Module) -> Mapping[str, GlobalSymbol]:
    """Return the ``__device__`` and ``__constant__`` variables, without the compiler's own strings."""
    return {
        v.name: GlobalSymbol(v.name, v.space, v.size, v.align, v.initial is not None or bool(v.symbols))
        for v in module.variables.values()
        if v.space in ("global", "const") and not is_hidden(v.name)
    }
