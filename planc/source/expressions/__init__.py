"""Expressions: a subset of Python's, parsed by ``ast`` and evaluated by planc."""

from planc.source.expressions.compiler import (
    RESERVED,
    Environment,
    Expression,
    compile_node,
    compile_text,
)
from planc.source.expressions.fault import Fault, Mistake
from planc.source.expressions.lexical import parse
from planc.source.expressions.operators import FUNCTIONS, Number, kind_of

__all__ = [
    "FUNCTIONS",
    "RESERVED",
    "Environment",
    "Expression",
    "Fault",
    "Mistake",
    "Number",
    "compile_node",
    "compile_text",
    "kind_of",
    "parse",
]
