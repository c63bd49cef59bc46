"""Claims: what the effects of a program say of each node's bytes, as sets of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import numpy as np

from planc.hazards.footprints import read_boxes
from planc.plan.program import NONE, EffectKind, NodeKind, Program, Provenance
from planc.runtime.tracing import EMPTY, ByteSet
from planc.runtime.tracing.bytesets import from_box

SURE = frozenset({Provenance.OPERATION, Provenance.PROVED})
"""Provenances for which planc answers, not the author."""
WORDS: Mapping[EffectKind, str] = MappingProxyType(
    {
        EffectKind.READ: "in",
        EffectKind.WRITE: "out",
        EffectKind.READ_WRITE: "inout",
        EffectKind.REDUCE: "reduce",
    }
)
"""The words of the description language."""
SUITING: Mapping[str, frozenset[EffectKind]] = MappingProxyType(
    {
        "read": frozenset({EffectKind.READ, EffectKind.READ_WRITE}),
        "write": frozenset({EffectKind.WRITE, EffectKind.READ_WRITE}),
        "reduce": frozenset({EffectKind.REDUCE, EffectKind.READ_WRITE}),
    }
)
"""The kinds of effects that allow a deed."""


class Claims:
    """The effects of a program by node and buffer; effects are rows of its table."""

    def __init__(self, program: Program) -> None:
        """Read the effects of ``program``."""
        self.program = program
        self.wild: set[int] = set()
        self._boxes = read_boxes(program)
        self._bytes: dict[tuple[int, int], ByteSet] = {}
        self._of: dict[int, dict[int, list[int]]] = {}
        names = ("node", "buffer", "kind", "range_provenance")
        columns = zip(*(program.effects[name].tolist() for name in names), strict=True)
        for row, (node, buffer, kind, known) in enumerate(columns):
            if kind == EffectKind.EXTERNAL:
                continue
            if buffer == NONE or known == Provenance.UNKNOWN:
                self.wild.add(node)
            else:
                self._of.setdefault(node, {}).setdefault(buffer, []).append(row)

    def on(self, node: int, buffer: int) -> list[int]:
        """Return the effects of a node on a buffer."""
        return self._of.get(node, {}).get(buffer, [])

    def of(self, node: int) -> Mapping[int, list[int]]:
        """Return the effects of a node by buffer."""
        return self._of.get(node, {})

    def may(self, effects: Iterable[int]) -> ByteSet:
        """Return all bytes that these effects may touch."""
        return self._union(effects, "may")

    def must(self, effects: Iterable[int]) -> ByteSet:
        """Return all bytes that these effects write for sure."""
        return self._union(effects, "must")

    def _union(self, effects: Iterable[int], which: str) -> ByteSet:
        found = EMPTY
        for effect in effects:
            row = self.program.effects[effect]
            found |= self._set(int(row[which]), int(row[f"{which}_count"]))
        return found

    def _set(self, first: int, count: int) -> ByteSet:
        key = (first, count)
        if key not in self._bytes:
            found = EMPTY
            for box in self._boxes[first : first + count]:
                found |= from_box(box.offset, box.item, box.axes)
            self._bytes[key] = found
        return self._bytes[key]

    def suiting(self, effects: Iterable[int], deed: str) -> list[int]:
        """Return those of the effects that allow a deed."""
        kinds = self.program.effects["kind"]
        return [row for row in effects if EffectKind(int(kinds[row])) in SUITING[deed]]

    def of_kind(self, effects: Iterable[int], kind: EffectKind) -> list[int]:
        """Return those of the effects that are of one kind."""
        kinds = self.program.effects["kind"]
        return [row for row in effects if kinds[row] == kind]

    def is_sure(self, effects: Iterable[int], column: str) -> bool:
        """Return whether ``column``, kind or range provenance, says for all that planc knows it itself."""
        known = self.program.effects[column]
        return all(Provenance(int(known[row])) in SURE for row in effects)

    def operates(self, node: int) -> bool:
        """Return whether the node is a fill, a copy or a join, whose bytes its operation gives."""
        return bool(self.program.nodes["kind"][node] != NodeKind.KERNEL)

    def function(self, node: int) -> int:
        """Return the function that a kernel node runs, -1 for other nodes."""
        row = self.program.nodes[node]
        if row["kind"] != NodeKind.KERNEL:
            return -1
        return int(self.program.kernel_ops["function"][int(row["op"])])

    def parameter(self, effect: int) -> str | None:
        """Return the name of the kernel parameter of an effect."""
        row = self.program.effects[effect]
        function = self.function(int(row["node"]))
        if function < 0 or row["parameter"] == np.uint32(NONE):
            return None
        return self.program.functions[function].parameters[int(row["parameter"])].name

    def word(self, effect: int) -> str:
        """Return ``in``, ``out``, ``inout`` or ``reduce``."""
        return WORDS[EffectKind(int(self.program.effects["kind"][effect]))]
