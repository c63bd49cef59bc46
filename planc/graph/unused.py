"""Declarations that no node uses, and outputs that no node writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from planc.diagnostics import Span
from planc.effects import WRITES
from planc.graph.names import KnownBuffer
from planc.graph.nodes import NodeTables
from planc.graph.report import Reporter
from planc.plan.program import NONE, Role
from planc.source.flat import FlatGraph, RunOp

WRITTEN_ROLES: Mapping[Role, tuple[str, str]] = MappingProxyType(
    {
        Role.OUTPUT: ("PLC319", "write it in a node, or leave it out"),
        Role.STATE: ("PLC334", "make it a constant or an input, or write it in a node"),
    }
)
"""Roles of buffers that some node must write, with the code and the cure."""


def check_unused(
    flat: FlatGraph,
    nodes: NodeTables,
    buffers: Mapping[str, KnownBuffer],
    scalars: Collection[str],
    reporter: Reporter,
) -> None:
    """Report unused buffers (PLC236), scalars (PLC237), kernels (PLC238), and what is never written.

    ``scalars`` are the names that runs use. Only for graphs without errors: a node that failed would make its
    arguments look unused.
    """
    effects = nodes.effects
    given = np.concatenate([effects["buffer"], nodes.relocations["buffer"]])
    touched = set(np.unique(given).tolist()) - {NONE}
    writes = np.isin(effects["kind"], [int(k) for k in WRITES])
    written = set(np.unique(effects["buffer"][writes]).tolist())
    for known in buffers.values():
        _buffer(known, known.row in touched, known.row in written, reporter)
    for scalar in flat.scalars:
        if scalar.name not in scalars:
            what = "slot" if scalar.slot else "scalar"
            _warn("PLC237", what, scalar.name, scalar.span, "pass it to a kernel, or take it out", reporter)
    run = {node.op.kernel for node in flat.nodes if isinstance(node.op, RunOp)}
    for kernel in flat.kernels:
        if kernel.name not in run:
            _warn("PLC238", "kernel", kernel.name, kernel.span, "run it in a node, or take it out", reporter)


def _buffer(known: KnownBuffer, touched: bool, written: bool, reporter: Reporter) -> None:
    buffer = known.buffer
    if not touched and buffer.role is not Role.OUTPUT:
        what = "global" if buffer.role is Role.GLOBAL else "buffer"
        _warn("PLC236", what, buffer.name, known.span, "use it in a node, or take it out", reporter)
    elif buffer.role in WRITTEN_ROLES and not written:
        code, cure = WRITTEN_ROLES[buffer.role]
        role = buffer.role.name.lower()
        message = f"no node writes {role} `{buffer.name}`"
        reporter.add(code, message, known.span, help=cure, buffer=buffer.name)


def _warn(code: str, what: str, name: str, span: Span, cure: str, reporter: Reporter) -> None:
    reporter.add(code, f"no node uses {what} `{name}`", span, help=cure, name=name)
