"""Expressions: a subset of Python's, parsed by ``ast`` and evaluated by planc."""

from planc.source.expressions.compiler import (
    RESERVED,
    Environment,
    Expression,
    compile_node,
    compile_text,
    constant,
)
from planc.source.expressions.fault import BROKEN, Fault, Mistake
from planc.source.expressions.lexical import is_plain_name, parse
from planc.source.expressions.operators import CONSTANTS, FUNCTIONS, Number, checked, kind_of

__all__ = [
    "BROKEN",
    "CONSTANTS",
    "FUNCTIONS",
    "RESERVED",
    "Environment",
    "Expression",
    "Fault",
    "Mistake",
    "Number",
    "checked",
    "compile_node",
    "compile_text",
    "constant",
    "is_plain_name",
    "kind_of",
    "parse",
]
