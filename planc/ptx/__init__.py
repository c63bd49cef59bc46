"""PTX: lexer, parser, instruction table, control flow."""

from planc.ptx.parser import parse
from planc.ptx.printer import format_instruction, format_module, format_operand, source_line

__all__ = ["format_instruction", "format_module", "format_operand", "parse", "source_line"]
