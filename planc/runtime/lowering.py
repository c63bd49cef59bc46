"""From a node of a program to the driver nodes that do it, one row per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from planc.diagnostics import Diagnostic, ReplayError
from planc.plan.program import NodeKind, Program
from planc.runtime.boxes import MAX_PIECES, TooManyPieces, Unlike, box_of, copy_pieces, fill_pieces
from planc.runtime.driver import DriverNode, EmptyNode, Handle, KernelNode, MemcpyNode, MemsetNode
from planc.runtime.errors import node_facts, node_span
from planc.runtime.links import ArgumentBlob


class Lowering:
    """Makes driver nodes from the addresses now in force.

    ``addresses`` (uint64, by buffer row) and ``blob`` are read at every call, and changed by their
    owner between calls. ``functions`` are driver handles by function row.
    """

    def __init__(
        self,
        program: Program,
        functions: Sequence[Handle],
        addresses: NDArray[np.uint64],
        blob: ArgumentBlob,
        max_pitch: int,
    ) -> None:
        """Keep what the rows need."""
        self.program = program
        self.functions = functions
        self.addresses = addresses
        self.blob = blob
        self.max_pitch = max_pitch

    def nodes(self, row: int) -> list[DriverNode]:
        """Return the driver nodes of a program node: one, or a chain whose ends are its entry and exit.

        Raises :class:`ReplayError` PLC727 where the driver cannot do it.
        """
        node = self.program.nodes[row]
        try:
            return LOWER[NodeKind(int(node["kind"]))](self, int(node["op"])) or [EmptyNode()]
        except TooManyPieces as error:
            reason = f"needs {error.count} driver nodes; more than {MAX_PIECES} are refused"
            raise self._refusal(row, reason, "copy or fill a more regular view, or use a kernel") from None
        except (Unlike, _Misfit) as error:
            raise self._refusal(row, f"cannot be given to the driver: {error}", "use a kernel") from None

    def _refusal(self, row: int, reason: str, cure: str) -> ReplayError:
        return ReplayError(
            Diagnostic(
                "PLC727",
                f"node `{self.program.node_names[row]}` {reason}",
                span=node_span(self.program, row),
                help=cure,
                facts=node_facts(self.program, row),
            )
        )


class _Misfit(Exception):
    """A fill whose bytes are not whole items."""


def _kernel(lowering: Lowering, op: int) -> list[DriverNode]:
    row = lowering.program.kernel_ops[op]
    parameters, count = lowering.blob.parameters(op)
    grid, block = (tuple(int(n) for n in row[axis]) for axis in ("grid", "block"))
    return [
        KernelNode(
            function=lowering.functions[int(row["function"])],
            grid=(grid[0], grid[1], grid[2]),
            block=(block[0], block[1], block[2]),
            shared=int(row["shared"]),
            parameters=parameters,
            count=count,
        )
    ]


def _fill(lowering: Lowering, op: int) -> list[DriverNode]:
    row = lowering.program.fill_ops[op]
    item, pattern = int(row["item"]), int(row["pattern"])
    value = pattern & ((1 << 8 * item) - 1)
    base = int(lowering.addresses[row["buffer"]])
    pieces = fill_pieces(box_of(lowering.program, int(row["box"])), lowering.max_pitch)
    for piece in pieces[:1]:
        if piece.width % item or piece.pitch % item or (base + piece.offset) % item:
            raise _Misfit(f"it sets {piece.width} bytes at {piece.offset} by items of {item}")
    return [
        MemsetNode(base + p.offset, value, item, p.width // item, p.height, p.pitch if p.height > 1 else 0)
        for p in pieces
    ]


def _copy(lowering: Lowering, op: int) -> list[DriverNode]:
    row, program = lowering.program.copy_ops[op], lowering.program
    boxes = (box_of(program, int(row["target_box"])), box_of(program, int(row["source_box"])))
    target, source = (int(lowering.addresses[row[side]]) for side in ("target", "source"))
    return [
        MemcpyNode(
            target=target + p.target.offset,
            source=source + p.source.offset,
            width=p.width,
            height=p.height,
            depth=p.depth,
            target_pitch=p.target.pitch,
            target_rows=p.target.rows,
            source_pitch=p.source.pitch,
            source_rows=p.source.rows,
        )
        for p in copy_pieces(*boxes, lowering.max_pitch)
    ]


def _join(lowering: Lowering, op: int) -> list[DriverNode]:
    return [EmptyNode()]


LOWER: Mapping[NodeKind, Callable[[Lowering, int], list[DriverNode]]] = MappingProxyType(
    {
        NodeKind.KERNEL: _kernel,
        NodeKind.FILL: _fill,
        NodeKind.COPY: _copy,
        NodeKind.JOIN: _join,
    }
)
