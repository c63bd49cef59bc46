"""What each kind of node does on the CPU device, one row per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Diagnostic, PlancError, Related
from planc.plan.program import NodeKind, Program
from planc.runtime.boxes import Box, box_of
from planc.runtime.device import Octets
from planc.runtime.errors import node_facts, node_span
from planc.runtime.links import ArgumentBlob
from planc.simt import Memory, Observer, PreparedKernel, Variables


@dataclass(frozen=True, slots=True)
class Machine:
    """What nodes work on: storage by buffer row, kernels by function row, variables by module row."""

    program: Program
    memory: Memory
    blob: ArgumentBlob
    arrays: list[Octets]
    kernels: Sequence[PreparedKernel]
    variables: Sequence[Variables]
    stdout: Callable[[str], None]
    budget: int | None
    observer: Observer | None = None


def view(array: Octets, box: Box, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the items of a box as an array of ``dtype`` over the buffer's own bytes.

    NumPy itself refuses a box that leaves the buffer. One axis more than the box where ``dtype`` is
    smaller than its items.
    """
    counts, strides = [c for c, _ in box.axes], [s for _, s in box.axes]
    if box.item != dtype.itemsize:
        counts.append(box.item // dtype.itemsize)
        strides.append(dtype.itemsize)
    return np.ndarray(counts, dtype, buffer=array.data, offset=box.offset, strides=strides)


def _kernel(machine: Machine, node: int) -> None:
    op = int(machine.program.nodes["op"][node])
    row = machine.program.kernel_ops[op]
    function = machine.program.functions[int(row["function"])]
    try:
        machine.kernels[int(row["function"])].run(
            _three(row["grid"]),
            _three(row["block"]),
            int(row["shared"]),
            machine.blob.arguments(op),
            machine.memory,
            variables=machine.variables[function.module],
            stdout=machine.stdout,
            budget=machine.budget,
            observer=machine.observer,
        )
    except PlancError as error:
        raise type(error)([_at_node(machine.program, node, d) for d in error.diagnostics]) from None


def _three(dimensions: NDArray[np.uint32]) -> tuple[int, int, int]:
    x, y, z = dimensions.tolist()
    return x, y, z


def _at_node(program: Program, node: int, found: Diagnostic) -> Diagnostic:
    """Say in which node of which file it happened; the line of the kernel stays the main place."""
    name, span = program.node_names[node], node_span(program, node)
    return replace(
        found,
        message=f"node `{name}`: {found.message}",
        span=found.span or span,
        related=(*found.related, Related(f"node `{name}`", span)) if found.span else found.related,
        facts={**found.facts, **node_facts(program, node)},
    )


def _fill(machine: Machine, node: int) -> None:
    row = machine.program.fill_ops[machine.program.nodes["op"][node]]
    dtype = np.dtype(f"<u{int(row['item'])}")
    pattern = int(row["pattern"]) & ((1 << 8 * dtype.itemsize) - 1)
    view(machine.arrays[int(row["buffer"])], box_of(machine.program, int(row["box"])), dtype)[...] = pattern


def _copy(machine: Machine, node: int) -> None:
    row = machine.program.copy_ops[machine.program.nodes["op"][node]]
    boxes = [box_of(machine.program, int(row[side])) for side in ("target_box", "source_box")]
    size = min(b.item for b in boxes)
    item = np.dtype(f"<u{size}") if size in (1, 2, 4, 8) else np.dtype((np.void, size))
    target = view(machine.arrays[int(row["target"])], boxes[0], item)
    source = view(machine.arrays[int(row["source"])], boxes[1], item)
    target[...] = source.reshape(target.shape)


def _join(machine: Machine, node: int) -> None:
    """Do nothing: a join only orders others."""


RUN: Mapping[NodeKind, Callable[[Machine, int], None]] = MappingProxyType(
    {
        NodeKind.KERNEL: _kernel,
        NodeKind.FILL: _fill,
        NodeKind.COPY: _copy,
        NodeKind.JOIN: _join,
    }
)
