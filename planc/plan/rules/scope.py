"""One program under check, with the columns that several rules need."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from planc.plan.dtypes import DTYPES
from planc.plan.findings import Findings
from planc.plan.program import Function, NodeKind, Program, Schedule
from planc.plan.rules.corners import Column, corners, elements


class Scope:
    """A program, its schedules, and where its mistakes go. Columns are int64 unless said otherwise."""

    def __init__(self, program: Program, schedules: tuple[Schedule, ...], found: Findings) -> None:
        """Keep the program; columns are made when a rule asks for them."""
        self.program = program
        self.schedules = schedules
        self.found = found

    def node(self, row: int) -> str:
        """Return a node's name for a message."""
        return f"`{self.program.node_names[row]}`"

    def buffer(self, row: int) -> str:
        """Return a buffer's name for a message."""
        return f"`{self.program.buffers[row].name}`"

    def launch(self, row: int) -> str:
        """Return the name of the node of a row of ``kernel_ops``."""
        return self._node_of(NodeKind.KERNEL, row)

    def fill(self, row: int) -> str:
        """Return the name of the node of a row of ``fill_ops``."""
        return self._node_of(NodeKind.FILL, row)

    def copy(self, row: int) -> str:
        """Return the name of the node of a row of ``copy_ops``."""
        return self._node_of(NodeKind.COPY, row)

    def _node_of(self, kind: NodeKind, row: int) -> str:
        nodes = np.flatnonzero(self.program.nodes["kind"] == kind)
        return f"node {self.node(int(nodes[row]))}"

    @cached_property
    def nbytes(self) -> Column:
        """Bytes of each buffer."""
        return np.array([buffer.nbytes for buffer in self.program.buffers], np.int64)

    @cached_property
    def itemsize(self) -> Column:
        """Bytes of an element of each buffer."""
        return np.array([DTYPES[buffer.dtype].itemsize for buffer in self.program.buffers], np.int64)

    @cached_property
    def align(self) -> Column:
        """Alignment of each buffer in bytes."""
        return np.array([buffer.align for buffer in self.program.buffers], np.int64)

    @cached_property
    def roles(self) -> Column:
        """Role of each buffer."""
        return np.array([buffer.role for buffer in self.program.buffers], np.int64)

    @cached_property
    def corners(self) -> tuple[Column, Column]:
        """First byte and end of each box, relative to its buffer; only for well-formed boxes."""
        return corners(self.program)

    @cached_property
    def elements(self) -> Column:
        """How many items each box counts (float64)."""
        return elements(self.program)

    @cached_property
    def first_parameter(self) -> Column:
        """Where each function's parameters begin in :attr:`parameters`; one more entry than functions."""
        return np.cumsum([0, *(len(function.parameters) for function in self.program.functions)])

    @cached_property
    def parameters(self) -> Column:
        """Offset, size, pointer (0 or 1) and pointee size (0: unknown) of all parameters of all functions."""
        rows = [
            (p.offset, p.size, p.pointer, DTYPES[p.dtype].itemsize if p.dtype else 0)
            for function in self.program.functions
            for p in function.parameters
        ]
        return np.array(rows, np.int64).reshape(-1, 4)

    @cached_property
    def function_of_node(self) -> Column:
        """Row of the function of each kernel node; -1 for the others."""
        nodes = self.program.nodes
        result = np.full(len(nodes), -1, np.int64)
        kernels = nodes["kind"] == NodeKind.KERNEL
        result[kernels] = self.program.kernel_ops["function"][nodes["op"][kernels]]
        return result

    @cached_property
    def argument_sizes(self) -> Column:
        """Bytes of each function's parameter block: the end of its last parameter."""
        return np.array([_block(function) for function in self.program.functions], np.int64)

    def parameter_rows(self, node: Column, parameter: Column) -> Column:
        """Return rows of :attr:`parameters` for parameters of kernel nodes."""
        rows: Column = self.first_parameter[self.function_of_node[node]] + parameter
        return rows

    def argument_offsets(self, node: Column) -> Column:
        """Return where the argument block of each kernel node begins, in bytes of the argument blob."""
        ops = self.program.nodes["op"][node]
        offsets: Column = self.program.kernel_ops["args_offset"][ops].astype(np.int64)
        return offsets


def _block(function: Function) -> int:
    last = function.parameters[-1:]
    return last[0].offset + last[0].size if last else 0


def strictly_rising(*keys: Column) -> Column:
    """Return, for each row but the first, whether it comes after the row before it (bool)."""
    rising = np.zeros(max(len(keys[0]) - 1, 0), np.bool_)
    equal = np.ones(len(rising), np.bool_)
    for key in keys:
        rising |= equal & (key[1:] > key[:-1])
        equal &= key[1:] == key[:-1]
    return rising
