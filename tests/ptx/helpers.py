"""What several tests of this folder share."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planc.diagnostics import GraphError
from planc.ptx import parse
from planc.ptx.syntax import Function, Module

DATA = Path(__file__).parent / "data"
SAMPLES = sorted(DATA.glob("*.ptx"))


def wrap(body: str, before: str = "", parameters: str = ".param .u64 p") -> str:
    """A module whose one kernel ``k`` holds ``body``; the body starts on line 7."""
    declarations = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<8>;"
    head = f".version 9.0\n.target sm_90\n.address_size 64\n{before}\n.visible .entry k({parameters}) {{\n"
    return f"{head}{declarations}\n{body}\n}}\n"


def kernel(body: str, before: str = "", parameters: str = ".param .u64 p") -> Function:
    """The parsed kernel of :func:`wrap`."""
    return parse(wrap(body, before, parameters), "k.ptx").functions["k"]


def codes(text: str) -> list[tuple[str, int, int]]:
    """Code, line and column of every diagnostic of a text that must not parse."""
    with pytest.raises(GraphError) as caught:
        parse(text, "k.ptx")
    found = []
    for diagnostic in caught.value.diagnostics:
        assert diagnostic.span is not None
        assert diagnostic.span.file == "k.ptx"
        found.append((diagnostic.code, diagnostic.span.line, diagnostic.span.column))
    return found


def without_lines(module: Module) -> Module:
    """The module with all PTX lines 0, and without the pragmas that printing drops."""
    functions = {
        name: replace(
            function,
            line=0,
            body=tuple(replace(instruction, line=0) for instruction in function.body),
            variables=tuple(replace(variable, line=0) for variable in function.variables),
        )
        for name, function in module.functions.items()
    }
    variables = {name: replace(variable, line=0) for name, variable in module.variables.items()}
    return replace(module, functions=functions, variables=variables, extras=frozenset())
