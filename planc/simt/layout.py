"""Where variables of shared and local memory lie."""

from __future__ import annotations

from collections.abc import Iterable

from planc.ptx.syntax import Function, Module, Variable
from planc.simt.program import SharedLayout
from planc.simt.roles import names_in

SHARED_GAP = 64
"""Bytes between two shared variables, so that a run over the end of one is caught."""


def local_layout(function: Function) -> tuple[dict[str, int], int]:
    """Return the offset of each local variable of a function, and the room they take together."""
    offsets: dict[str, int] = {}
    end = 0
    for variable in function.variables:
        if variable.space == "local":
            offsets[variable.name] = -(-end // variable.align) * variable.align
            end = offsets[variable.name] + variable.size
    return offsets, end


def shared_layout(
    module: Module, functions: Iterable[Function]
) -> tuple[SharedLayout, dict[str, dict[str, int]]]:
    """Place the shared variables that ``functions`` may use.

    Returns the layout, and for each function the addresses of the shared variables that it can name.
    ``extern`` arrays all start at the dynamic shared memory, after the others.
    """
    functions = list(functions)
    used = {name for each in functions for name in _symbols(each)}
    outer = [v for v in module.variables.values() if v.space == "shared" and v.name in used]
    owned = [(f.name, v) for f in functions for v in f.variables if v.space == "shared"]
    everything = [("", v) for v in outer] + owned
    offsets: dict[str, int] = {}
    sizes: dict[str, int] = {}
    end = static = 0
    align = 16
    for owner, variable in everything:
        align = max(align, variable.align)
        if not _is_dynamic(variable):
            key = _key(owner, variable.name)
            offsets[key] = -(-end // max(variable.align, 16)) * max(variable.align, 16)
            sizes[key] = variable.size
            end = offsets[key] + variable.size + SHARED_GAP
            static = -(-static // variable.align) * variable.align + variable.size
    dynamic = -(-end // align) * align
    for owner, variable in everything:
        if _is_dynamic(variable):
            offsets[_key(owner, variable.name)] = dynamic
            sizes[_key(owner, variable.name)] = 0
    named = {f.name: {v.name: offsets[_key("", v.name)] for v in outer} for f in functions}
    for owner, variable in owned:
        named[owner][variable.name] = offsets[_key(owner, variable.name)]
    return SharedLayout(offsets, sizes, dynamic, static), named


def _is_dynamic(variable: Variable) -> bool:
    return variable.size == 0


def _key(owner: str, name: str) -> str:
    return f"{owner}.{name}" if owner else name


def _symbols(function: Function) -> set[str]:
    return {name for each in function.body for operand in each.operands for name in names_in(operand)}
