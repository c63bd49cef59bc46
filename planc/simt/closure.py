"""Which functions a kernel may call, and their addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planc.diagnostics import Diagnostic, ReplayError
from planc.ptx.syntax import Function, Instruction, Module, Operand, Register, Symbol
from planc.simt.faults import Unsupported
from planc.simt.intrinsics import is_intrinsic
from planc.simt.report import line_facts, place, span
from planc.simt.roles import call_parts, names_in
from planc.simt.spaces import FUNCTION_STRIDE, FUNCTION_WINDOW


@dataclass(frozen=True, slots=True)
class Closure:
    """The functions that run, by their number in the module; ``entry`` is the kernel's.

    ``numbers`` are those of all functions of the module by name.
    """

    entry: int
    functions: Mapping[int, Function]
    numbers: Mapping[str, int]

    def addresses(self) -> dict[str, int]:
        """Return the address of every function of the module."""
        return {name: function_address(number) for name, number in self.numbers.items()}


def function_address(number: int) -> int:
    """Return the address of the function with this number."""
    return FUNCTION_WINDOW + number * FUNCTION_STRIDE


def function_numbers(module: Module) -> dict[str, int]:
    """Number the functions of a module in the order of the text."""
    return {name: number for number, name in enumerate(module.functions)}


def find_functions(module: Module, entry: str) -> Closure:
    """Follow the calls from kernel ``entry``.

    Where a function is called by address, every function whose address is taken may be meant. Raises
    :class:`planc.diagnostics.ReplayError` (PLC751) for what has no body.
    """
    kernel = module.functions.get(entry)
    if kernel is None or not kernel.is_entry:
        known = ", ".join(f"`{each.name}`" for each in module.entries)
        raise ReplayError(
            Diagnostic("PLC751", f"the PTX has no kernel `{entry}`", None, f"it has {known}" if known else "")
        )
    found: dict[str, Function] = {entry: kernel}
    missing: list[Diagnostic] = []
    todo = [kernel]
    while todo:
        for name, where in _callees(module, todo.pop()):
            function = module.functions.get(name)
            if function is None or function.is_declaration:
                missing.append(_missing(name, where))
            elif name not in found:
                found[name] = function
                todo.append(function)
    if missing:
        raise ReplayError(missing)
    numbers = function_numbers(module)
    return Closure(numbers[entry], {numbers[name]: each for name, each in found.items()}, numbers)


def _callees(module: Module, function: Function) -> list[tuple[str, Instruction]]:
    found: list[tuple[str, Instruction]] = []
    taken: list[tuple[str, Instruction]] = []
    indirect: Instruction | None = None
    for each in function.body:
        if each.opcode != "call":
            taken.extend((name, each) for name in _functions_named(module, each))
            continue
        target = _target(each)
        if isinstance(target, Register):
            indirect = each
        elif isinstance(target, Symbol) and not is_intrinsic(target.name):
            found.append((target.name, each))
    if indirect is not None:
        in_data = [name for v in module.variables.values() for _, name, _, _ in v.symbols]
        code = [each for other in module.functions.values() for each in other.body]
        taken.extend((name, indirect) for name in in_data if name in module.functions)
        taken.extend((name, indirect) for each in code for name in _functions_named(module, each))
    return found + [(name, where) for name, where in taken if not module.functions[name].is_entry]


def _target(call: Instruction) -> Operand | None:
    """Return what is called; None for a call without a target, which is refused when it is cut."""
    try:
        return call_parts(call).target
    except Unsupported:
        return None


def _functions_named(module: Module, instruction: Instruction) -> list[str]:
    if instruction.opcode == "call":
        return []
    names = [name for operand in instruction.operands for name in names_in(operand)]
    return [name for name in names if name in module.functions]


def _missing(name: str, where: Instruction) -> Diagnostic:
    message = f"function `{name}`, called at {place(where)}, has no body in this PTX"
    cure = "link its PTX in, or define it"
    return Diagnostic("PLC751", message, span(where.source), cure, facts=line_facts(where))
