"""PTX: lexer, parser, instruction table, control flow."""

from planc.ptx.control_flow import EXIT, Block, ControlFlow, control_flow, targets_of
from planc.ptx.exact import make_exact
from planc.ptx.instructions import (
    KINDS,
    Kind,
    MemoryAccess,
    is_barrier,
    is_control_flow,
    is_warp_wide,
    memory_accesses,
    read_registers,
    result_operands,
    written_registers,
)
from planc.ptx.parser import parse
from planc.ptx.printer import format_instruction, format_module, format_operand, source_line
from planc.ptx.requirements import Requirement, lowest_version, requirement, with_version

__all__ = [
    "EXIT",
    "KINDS",
    "Block",
    "ControlFlow",
    "Kind",
    "MemoryAccess",
    "Requirement",
    "control_flow",
    "format_instruction",
    "format_module",
    "format_operand",
    "is_barrier",
    "is_control_flow",
    "is_warp_wide",
    "lowest_version",
    "make_exact",
    "memory_accesses",
    "parse",
    "read_registers",
    "requirement",
    "result_operands",
    "source_line",
    "targets_of",
    "with_version",
    "written_registers",
]
