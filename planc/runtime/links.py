"""Which nodes an address or a value reaches, and the blob of arguments that holds both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from planc.plan.program import NodeKind, Program

Rows = NDArray[np.intp]
_WORD = 8  # a relocation is eight bytes wide


class Groups:
    """Rows of a table by the value of one column."""

    def __init__(self, keys: NDArray[np.uint32], count: int) -> None:
        """Sort once; keys are below ``count``."""
        self._rows = np.argsort(keys, kind="stable")
        self._starts = np.searchsorted(keys[self._rows], np.arange(count + 1))

    def __getitem__(self, key: int) -> Rows:
        """Return the rows whose key is ``key``, in the table's order."""
        return self._rows[self._starts[key] : self._starts[key + 1]]


class Links:
    """For each buffer its relocations and nodes, for each slot its patches and nodes. Never changes."""

    def __init__(self, program: Program) -> None:
        """Build the groups."""
        buffers, slots = len(program.buffers), len(program.slots)
        self._program = program
        self._relocations = Groups(program.relocations["buffer"], buffers)
        self._patches = Groups(program.patches["slot"], slots)
        nodes, touched = _operands(program)
        self._operand_nodes = nodes
        self._operands = Groups(touched, buffers)

    def relocations(self, buffers: Iterable[int]) -> Rows:
        """Return the relocations to these buffers."""
        return _join(self._relocations[b] for b in buffers)

    def patches(self, slot: int) -> Rows:
        """Return the patches of a slot."""
        return self._patches[slot]

    def nodes_of_buffers(self, buffers: Iterable[int]) -> list[int]:
        """Return the nodes whose parameters hold the address of one of these buffers, ascending."""
        wanted = list(buffers)
        kernels = self._program.relocations["node"][self.relocations(wanted)]
        others = self._operand_nodes[_join(self._operands[b] for b in wanted)]
        return _distinct(np.concatenate([kernels, others]))

    def nodes_of_slots(self, slots: Iterable[int]) -> list[int]:
        """Return the nodes that a slot feeds, ascending."""
        rows = _join(self._patches[s] for s in slots)
        return _distinct(self._program.patches["node"][rows])


def _distinct(nodes: NDArray[np.uint32]) -> list[int]:
    """Return each node once, ascending. np.unique would import numpy.ma in the first replay."""
    return sorted(set(nodes.tolist()))


def _join(parts: Iterable[Rows]) -> Rows:
    found = list(parts)
    return np.concatenate(found) if found else np.empty(0, np.intp)


def _operands(program: Program) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return (node, buffer) of every operand of a fill or copy."""
    kinds, ops = program.nodes["kind"], program.nodes["op"]
    fills = np.flatnonzero(kinds == NodeKind.FILL)
    copies = np.flatnonzero(kinds == NodeKind.COPY)
    nodes = np.concatenate([fills, copies, copies]).astype(np.uint32)
    touched = np.concatenate(
        [
            program.fill_ops["buffer"][ops[fills]],
            program.copy_ops["target"][ops[copies]],
            program.copy_ops["source"][ops[copies]],
        ]
    )
    return nodes, touched


class ArgumentBlob:
    """The executable's own copy of a program's argument blob, and pointers to every parameter in it.

    ``pointers`` holds, kernel op by kernel op, the host addresses of its parameters: what the driver
    takes as ``kernelParams``.
    """

    def __init__(self, program: Program) -> None:
        """Copy the blob and compute the pointers."""
        arguments = np.frombuffer(program.arguments, np.uint8)
        self._words = np.zeros(-(-len(arguments) // _WORD), np.int64)
        self.octets = self._words.view(np.uint8)[: len(arguments)]
        self.octets[:] = arguments
        self._program = program
        self._firsts, self.pointers = self._table()

    def _table(self) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
        functions, ops = self._program.functions, self._program.kernel_ops
        counts = np.array([len(f.parameters) for f in functions], np.intp)
        offsets = np.array([p.offset for f in functions for p in f.parameters], np.uint64)
        called = ops["function"].astype(np.intp)
        per_op = counts[called]
        firsts = np.concatenate([np.zeros(1, np.intp), np.cumsum(per_op)])
        # Where the offsets of each op's function start, counted from the op's own place in the table.
        shifts = (np.cumsum(counts) - counts)[called] - firsts[:-1]
        table = offsets[np.repeat(shifts, per_op) + np.arange(firsts[-1])]
        table += np.repeat(ops["args_offset"], per_op) + np.uint64(self.octets.ctypes.data)
        return firsts, table

    def pointer_arrays(self, ops: Rows) -> tuple[NDArray[np.uint64], Rows]:
        """Return (address of the array of pointers, how many) of each of these kernel ops."""
        step = np.uint64(self.pointers.itemsize)
        starts = np.uint64(self.pointers.ctypes.data) + self._firsts[ops].astype(np.uint64) * step
        return starts, self._firsts[ops + 1] - self._firsts[ops]

    def arguments(self, op: int) -> bytes:
        """Return the arguments of a kernel op, packed as its parameters lie."""
        row = self._program.kernel_ops[op]
        start = int(row["args_offset"])
        return self.octets[start : start + int(row["args_size"])].tobytes()

    def relocate(self, rows: Rows | slice, addresses: NDArray[np.uint64]) -> None:
        """Write the addresses of buffers to these relocations (addresses by buffer row)."""
        table = self._program.relocations
        values = addresses[table["buffer"][rows]].view(np.int64) + table["addend"][rows]
        offsets = table["offset"][rows]
        if np.bitwise_or.reduce(offsets, initial=0) % _WORD:  # a pointer within a packed structure
            self._store(offsets, values.astype("<i8").view(np.uint8).reshape(-1, _WORD))
        else:
            self._words[(offsets // _WORD).astype(np.intp)] = values

    def patch(self, rows: Rows, value: bytes) -> None:
        """Write the bytes of a slot to these patches."""
        offsets = self._program.patches["offset"][rows]
        octets = np.frombuffer(value, np.uint8)
        self._store(offsets, np.broadcast_to(octets, (len(offsets), len(octets))))

    def _store(self, offsets: NDArray[np.uint64], values: NDArray[np.uint8]) -> None:
        places = offsets.astype(np.intp)[:, None] + np.arange(values.shape[1])
        self.octets[places] = values


def default_values(program: Program) -> Mapping[int, bytes]:
    """Return the bytes that each slot has in the blob as compiled, where a patch shows them."""
    arguments, patches = program.arguments, program.patches
    slots, first = np.unique(patches["slot"], return_index=True)
    starts = patches["offset"][first]
    ends = starts + patches["size"][first]
    places = zip(slots.tolist(), starts.tolist(), ends.tolist(), strict=True)
    return {slot: bytes(arguments[start:end]) for slot, start, end in places}
