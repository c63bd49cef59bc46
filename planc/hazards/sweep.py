"""One pass over the nodes in a legal order that finds every conflict no path orders.

Each node has the set of what comes before it (:mod:`planc.graph.reach`). The accesses passed that are
not in it are unordered with the node, since nothing passed can come after it; those that conflict are
the races. Per buffer one mask says whether any access is unordered at all, which mostly ends the
matter; only then the footprints that meet are looked at. A set is dropped after the node's last successor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from planc.graph import predecessors, topological_order
from planc.graph.reach import NOTHING, Past, holds, including, join, missing, past_of
from planc.hazards.bitsets import Positions
from planc.hazards.footprints import Footprints
from planc.plan.program import NONE, EffectKind, NodeKind, Program, Provenance

_READ = int(EffectKind.READ)
_REDUCE = int(EffectKind.REDUCE)
_EXTERNAL = int(EffectKind.EXTERNAL)
_UNKNOWN = int(Provenance.UNKNOWN)

Operators = Mapping[int, str]
"""The operator of each proved reduction, ``add.u32``, by the row of its effect."""
NO_OPERATORS: Operators = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Access:
    """One effect of a node: its row, buffer, kind, footprint; ``reduction`` names what it commutes with."""

    effect: int
    buffer: int
    kind: int
    footprint: int
    reduction: int


class Accesses:
    """The accesses of each node, and the nodes that may touch anything (``wild``)."""

    def __init__(self, program: Program, operators: Operators = NO_OPERATORS) -> None:
        """Read the effects of ``program``; ``operators`` are those of its proved reductions."""
        self.footprints = Footprints(program)
        self.by_node: list[list[Access]] = [[] for _ in range(len(program.nodes))]
        self.wild: set[int] = set()
        functions = _functions(program)
        reductions: dict[object, int] = {}
        effects = program.effects
        names = ("node", "buffer", "kind", "range_provenance", "parameter")
        columns = zip(*(effects[name].tolist() for name in names), strict=True)
        for row, (node, buffer, kind, provenance, parameter) in enumerate(columns):
            if kind == _EXTERNAL:
                continue
            if provenance == _UNKNOWN or buffer == NONE:
                self.wild.add(node)
                continue
            reduction = -1
            if kind == _REDUCE:
                key = operators.get(row) or (functions.get(node, 0), parameter)
                reduction = reductions.setdefault(key, len(reductions))
            footprint = self.footprints.of_effect[row]
            self.by_node[node].append(Access(row, buffer, kind, footprint, reduction))


def _functions(program: Program) -> dict[int, int]:
    """Return the function of each kernel node; a node that could not be built has no operation."""
    nodes = program.nodes
    rows = np.flatnonzero((nodes["kind"] == NodeKind.KERNEL) & (nodes["op"] != NONE))
    functions = program.kernel_ops["function"][nodes["op"][rows]]
    return dict(zip(rows.tolist(), functions.tolist(), strict=True))


def conflict(first: Access, second: Access) -> bool:
    """Return whether two accesses that share a byte need an order.

    Two reads do not. Two reductions with the same operator and type commute: atomics are aligned to their
    size (PTX ISA, ``atom``), so equal types have equal elements. Where the operator is not known, only the
    same parameter of the same kernel is taken to have the same one.
    """
    if first.kind == _READ and second.kind == _READ:
        return False
    return first.kind != _REDUCE or second.kind != _REDUCE or first.reduction != second.reduction


class _Board:
    """The accesses of the nodes already passed, by buffer and footprint."""

    def __init__(self, accesses: Accesses) -> None:
        self._accesses = accesses
        self._footprints = accesses.footprints
        self._touching: dict[int, int] = {}
        self._writing: dict[int, int] = {}
        self._plain: dict[tuple[int, bool], Positions] = {}
        self._reductions: dict[int, dict[int, Positions]] = {}
        self._any = 0
        self._wild = 0

    def enter(self, position: int, row: int) -> None:
        """Enter the accesses of the node ``row``, which is at ``position``."""
        bit = 1 << position
        mine = self._accesses.by_node[row]
        if row in self._accesses.wild:
            self._wild |= bit
        elif not mine:
            return
        self._any |= bit
        for access in mine:
            self._touching[access.buffer] = self._touching.get(access.buffer, 0) | bit
            if access.kind != _READ:
                self._writing[access.buffer] = self._writing.get(access.buffer, 0) | bit
            self._positions(access).add(position)

    def _positions(self, access: Access) -> Positions:
        if access.kind == _REDUCE:
            table = self._reductions.setdefault(access.footprint, {})
            return table.setdefault(access.reduction, Positions())
        key = (access.footprint, access.kind != _READ)
        if key not in self._plain:
            self._plain[key] = Positions()
        return self._plain[key]

    def unordered(self, row: int, past: Past) -> int:
        """Return the positions entered that conflict with the node ``row`` and are not in its past.

        Bits count from the base of ``past``.
        """
        if row in self._accesses.wild:
            return missing(past, self._any)
        mine = self._accesses.by_node[row]
        found = missing(past, self._wild) if mine and self._wild else 0
        for access in mine:
            found |= self._access(access, past)
        return found

    def _access(self, access: Access, past: Past) -> int:
        table = self._writing if access.kind == _READ else self._touching
        open_ = missing(past, table.get(access.buffer, 0))
        for partner in self._footprints.aliases(access.buffer):
            open_ |= missing(past, table.get(partner, 0))
        if not open_:
            return 0
        found = 0
        for other in self._footprints.meeting(access.footprint):
            found |= self._conflicting(access, other, open_, past[0])
        return found

    def _conflicting(self, access: Access, footprint: int, open_: int, base: int) -> int:
        found = 0
        if access.kind != _READ and (footprint, False) in self._plain:
            found |= self._plain[footprint, False].within(open_, base)
        if (footprint, True) in self._plain:
            found |= self._plain[footprint, True].within(open_, base)
        for reduction, positions in self._reductions.get(footprint, {}).items():
            if reduction != access.reduction:
                found |= positions.within(open_, base)
        return found


@dataclass(frozen=True, slots=True)
class Mended:
    """Edges (rows, before and after) that a program lacks, and the paths it has with them.

    ``pasts`` are what comes before each position of ``order``.
    """

    edges: tuple[tuple[int, int], ...]
    pasts: tuple[Past, ...]
    order: tuple[int, ...]

    def path_test(self) -> Callable[[int, int], bool]:
        """Return the test whether a path leads from one row to another."""
        position = {row: place for place, row in enumerate(self.order)}
        return lambda before, after: holds(self.pasts[position[after]], position[before])


class Sweep:
    """The nodes of an acyclic program in a legal order near the text's; ``order`` maps positions to rows."""

    def __init__(self, program: Program, operators: Operators = NO_OPERATORS) -> None:
        """Prepare passes over ``program``; ``operators`` as for :class:`Accesses`."""
        count = len(program.nodes)
        self.order = topological_order(program.edges, count)
        self.accesses = Accesses(program, operators)
        position = [0] * count
        for place, row in enumerate(self.order):
            position[row] = place
        before = predecessors(program.edges, count)
        self._before = [[position[p] for p in before[row]] for row in self.order]

    def conflicts(self) -> Iterator[tuple[int, int, int]]:
        """Yield (position, base, mask) wherever there is a race.

        The earlier positions that race with it are ``base`` plus each bit of ``mask``.
        """
        pasts: list[Past] = [NOTHING] * len(self.order)
        waiting = self._successor_counts()
        board = _Board(self.accesses)
        for position, row in enumerate(self.order):
            past = past_of(self._before[position], pasts)
            for previous in self._before[position]:
                waiting[previous] -= 1
                if not waiting[previous]:
                    pasts[previous] = NOTHING
            if waiting[position]:
                pasts[position] = past
            found = board.unordered(row, past)
            board.enter(position, row)
            if found:
                yield position, past[0], found

    def paths(self) -> Mended:
        """Return no edges, and the paths that the program has."""
        return self._least_edges(lambda position, past: 0)

    def infer(self) -> Mended:
        """Return the least edges that order all conflicts in the direction of the order.

        Of the edges that turn each race that way, exactly those are kept that no path of the program and the
        other kept ones implies; the transitive reduction of an acyclic graph is unique.
        """
        board = _Board(self.accesses)

        def conflicting(position: int, past: Past) -> int:
            row = self.order[position]
            found = board.unordered(row, past)
            board.enter(position, row)
            return found

        return self._least_edges(conflicting)

    def _least_edges(self, wanted: Callable[[int, Past], int]) -> Mended:
        """Return edges so that every position has ``wanted(position, past)``, bits from the past's base."""
        pasts: list[Past] = []
        edges: list[tuple[int, int]] = []
        for position, row in enumerate(self.order):
            past = past_of(self._before[position], pasts)
            open_ = wanted(position, past)
            while open_:
                # The latest one first: it may imply earlier ones, and they never imply it.
                base = past[0]
                latest = base + open_.bit_length() - 1
                edges.append((self.order[latest], row))
                past = join(past, including(pasts[latest], latest))
                open_ >>= past[0] - base
                open_ ^= open_ & past[1]
            pasts.append(past)
        return Mended(tuple(edges), tuple(pasts), tuple(self.order))

    def _successor_counts(self) -> list[int]:
        counts = [0] * len(self.order)
        for before in self._before:
            for previous in before:
                counts[previous] += 1
        return counts
