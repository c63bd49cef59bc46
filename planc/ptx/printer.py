"""Parsed PTX back to text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from planc.ptx.syntax import (
    Address,
    Arguments,
    Discard,
    Function,
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Pair,
    Parameter,
    Register,
    SourceLine,
    Symbol,
    Variable,
    Vector,
)
from planc.ptx.widths import OPAQUE_TYPES, TYPE_BYTES


def source_line(instruction: Instruction) -> str | None:
    """Return ``file:line`` of the CUDA source of an instruction, None where the PTX has no ``.loc``."""
    source = instruction.source
    return None if source is None else f"{source.file}:{source.line}"


def format_instruction(instruction: Instruction) -> str:
    """Return an instruction as PTX with its guard and ``;``, on one line."""
    guard = ""
    if instruction.guard is not None:
        guard = f"@{'!' if instruction.guard.negated else ''}{instruction.guard.register} "
    operands = ", ".join(format_operand(operand) for operand in instruction.operands)
    return f"{guard}{instruction.form}{' ' if operands else ''}{operands};"


def format_operand(operand: Operand) -> str:
    """Return an operand as PTX."""
    return _FORMATS[type(operand)](operand)


def _plus(offset: int) -> str:
    return f"+{offset}" if offset else ""


def _register(operand: Register) -> str:
    return operand.name


def _symbol(operand: Symbol) -> str:
    return operand.name + _plus(operand.offset)


def _immediate(operand: Immediate) -> str:
    if operand.kind == "f32":
        return f"0f{operand.bits:08X}"
    return f"0d{operand.bits:016X}" if operand.kind == "f64" else str(operand.bits)


def _address(operand: Address) -> str:
    if operand.base is None:
        inside = str(operand.offset)
    else:
        inside = format_operand(operand.base) + _plus(operand.offset)
    return f"[{', '.join([inside, *map(format_operand, operand.more)])}]"


def _vector(operand: Vector) -> str:
    return f"{{{_joined(operand.items)}}}"


def _arguments(operand: Arguments) -> str:
    return f"({_joined(operand.items)})"


def _discard(operand: Discard) -> str:
    return "_"


def _negated(operand: Negated) -> str:
    return operand.sign + operand.register.name


def _pair(operand: Pair) -> str:
    return f"{format_operand(operand.first)}|{format_operand(operand.second)}"


def _joined(items: Iterable[Operand]) -> str:
    return ", ".join(map(format_operand, items))


_FORMATS: Mapping[type, Callable[..., str]] = MappingProxyType(
    {
        Register: _register,
        Symbol: _symbol,
        Immediate: _immediate,
        Address: _address,
        Vector: _vector,
        Arguments: _arguments,
        Discard: _discard,
        Negated: _negated,
        Pair: _pair,
    }
)


def format_module(module: Module) -> str:
    """Return a whole module as PTX that parses to an equal one but for the lines of its instructions.

    Blocks are gone (their names are unique), and so are pragmas, debug sections and comments.
    """
    major, minor = module.version
    lines = [f".version {major}.{minor}", f".target {', '.join(module.target)}"]
    lines.append(f".address_size {module.address_size}")
    lines += [f'.file {number} "{name}"' for number, name in module.files.items()]
    for function in module.functions.values():
        if function.is_declaration or not function.is_entry:
            lines.append(_head(function) + ";")
    lines += [_declare(variable) for variable in module.variables.values()]
    files = {name: number for number, name in module.files.items()}
    for function in module.functions.values():
        if not function.is_declaration:
            lines += _function(function, files)
    return "\n".join(lines) + "\n"


def _function(function: Function, files: Mapping[str, int]) -> list[str]:
    parameters = {p.name for p in (*function.parameters, *function.results)}
    directives = [f".{name} {', '.join(map(str, values))}" for name, values in function.directives.items()]
    lines = [_head(function), *directives, "{"]
    lines += [f".reg .{kind} {name};" for name, kind in function.registers.items() if name not in parameters]
    lines += [_declare(variable) for variable in function.variables]
    for name, labels in function.branch_targets.items():
        lines.append(f"{name}: .branchtargets {', '.join(labels)};")
    for name, functions in function.call_targets.items():
        lines.append(f"{name}: .calltargets {', '.join(functions)};")
    for name, prototype in function.prototypes.items():
        results = f"({_parameters(prototype.results)}) " if prototype.results else ""
        lines.append(f"{name}: .callprototype {results}_ ({_parameters(prototype.parameters)});")
    return lines + _body(function, files) + ["}"]


def _body(function: Function, files: Mapping[str, int]) -> list[str]:
    at: dict[int, list[str]] = {}
    for name, index in function.labels.items():
        at.setdefault(index, []).append(f"{name}:")
    lines: list[str] = []
    place: SourceLine | None = None
    for index, instruction in enumerate(function.body):
        lines += at.get(index, ())
        if instruction.source != place:
            place = instruction.source
            lines.append(_place(place, files))
        lines.append(format_instruction(instruction))
    return lines + at.get(len(function.body), [])


def _place(place: SourceLine | None, files: Mapping[str, int]) -> str:
    if place is None:
        return f".loc {min(files.values(), default=1)} 0 0"
    return f".loc {files.get(place.file, 0)} {place.line} {place.column}"


def _head(function: Function) -> str:
    linkage = f".{function.linkage} " if function.linkage else ""
    results = f"({_parameters(function.results)}) " if function.results else ""
    kind = ".entry" if function.is_entry else ".func"
    return f"{linkage}{kind} {results}{function.name} ({_parameters(function.parameters)})"


def _parameters(parameters: Iterable[Parameter]) -> str:
    return ", ".join(map(_parameter, parameters))


def _parameter(parameter: Parameter) -> str:
    if parameter.register:
        return f".reg .{parameter.type} {parameter.name}"
    if parameter.pointer is not None:
        space = "" if parameter.pointer == "generic" else f" .{parameter.pointer}"
        return f".param .{parameter.type} .ptr{space} {parameter.name}"
    count = parameter.size // TYPE_BYTES[parameter.type]
    length = "" if count == 1 else f"[{count or ''}]"
    return f".param .align {parameter.align} .{parameter.type} {parameter.name}{length}"


def _declare(variable: Variable) -> str:
    linkage = f".{variable.linkage} " if variable.linkage else ""
    if variable.type in OPAQUE_TYPES:
        return f"{linkage}.{variable.space} .{variable.type} {variable.name};"
    length = "" if variable.count == 1 else f"[{variable.count or ''}]"
    head = f"{linkage}.{variable.space} .align {variable.align} .{variable.type} {variable.name}{length}"
    if variable.initial is None:
        return head + ";"
    values = ", ".join(_values(variable, variable.initial))
    return f"{head} = {{{values}}};" if length else f"{head} = {values};"


def _values(variable: Variable, initial: bytes) -> list[str]:
    width = TYPE_BYTES[variable.type]
    prefix = {"f32": "0f", "f64": "0d"}.get(variable.type, "0x")
    values = [
        f"{prefix}{int.from_bytes(initial[start : start + width], 'little'):0{2 * width}X}"
        for start in range(0, len(initial), width)
    ]
    for start, name, addend, generic in variable.symbols:
        text = (f"generic({name})" if generic else name) + _plus(addend)
        if width > 1:
            values[start // width] = text
            continue
        for byte in range(8):
            values[start + byte] = f"0x{0xFF << 8 * byte:X}({text})"
    return values
