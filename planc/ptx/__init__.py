"""PTX: lexer, parser, instruction table, control flow."""

from planc.ptx.parser import parse

__all__ = ["parse"]
