"""Caps: what a plan may hold at most. All are checked before memory is reserved for what they bound."""

from __future__ import annotations

FILE_BYTES = 1 << 40
HEADER_BYTES = 1 << 26
HEADER_DEPTH = 12
LIST_ENTRIES = 1 << 20
PROGRAMS = 1 << 10
SCHEDULES = 64
TARGETS = 64
DEVICES = 64
NODES = 1 << 24
ROWS = 1 << 28
RANK = 16
BOX_AXES = 16
BUFFER_BYTES = 1 << 46
BUFFER_ALIGN = 1 << 21
ARENA_BYTES = 1 << 47
NAME_BYTES = 1 << 10
SYMBOL_BYTES = 1 << 14
TEXT_BYTES = 1 << 16

# CUDA C++ Programming Guide, "Compute Capabilities", technical specifications per compute capability.
GRID = (2**31 - 1, 65_535, 65_535)
BLOCK = (1_024, 1_024, 64)
BLOCK_THREADS = 1_024
SHARED_BYTES = 227 * 1_024
PARAMETER_BYTES = 32_764
PARAMETER_ALIGN = 128
ARGUMENT_ALIGN = 16
