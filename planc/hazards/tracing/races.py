"""Races of a trace: two nodes without a path whose traced bytes conflict, whatever was declared.

One pass over the nodes in a legal order, as in :mod:`planc.hazards.sweep`, on sets of bytes instead of
boxes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from planc.graph import predecessors, topological_order
from planc.graph.reach import NOTHING, Past, missing, past_of
from planc.hazards.bitsets import Positions, bits
from planc.hazards.tracing.neighbours import Neighbours
from planc.plan.program import Program
from planc.runtime.tracing import Area, ByteSet, NodeTrace

MANY = 1 << 12
"""Races beyond this number are not looked for."""


@dataclass(frozen=True, slots=True)
class TracedRace:
    """Two nodes (rows) and the bytes of ``area`` that both touched; ``other_area`` may be an alias of it.

    ``deeds`` are what each did: ``read``, ``write`` or ``reduce``.
    """

    first: int
    second: int
    area: int
    other_area: int
    held: ByteSet
    deeds: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Access:
    area: int
    deed: str
    held: ByteSet


def clash(first: str, second: str) -> bool:
    """Return whether two deeds need an order: not two reads, nor two equal reductions."""
    return first != second or first == "write"


def accesses_of(trace: NodeTrace) -> list[_Access]:
    """Return what a node did; a reduction's deed is ``reduce`` and its operator."""
    found = []
    for area in trace.areas:
        named = {"write": area.write, "read": area.read} | {f"reduce {n}": s for n, s in area.reduce.items()}
        found += [_Access(area.area, deed, held) for deed, held in named.items() if held]
    return found


class _Board:
    """Who touched the sets of bytes of one area so far, by set and deed."""

    def __init__(self, sets: Sequence[ByteSet]) -> None:
        self.touching = 0
        self._near = Neighbours(sets)
        self._positions: list[dict[str, Positions]] = [{} for _ in sets]

    def enter(self, access: _Access, position: int) -> None:
        """Note that the node at ``position`` does this."""
        self.touching |= 1 << position
        table = self._positions[self._near.index(access.held)]
        table.setdefault(access.deed, Positions()).add(position)

    def conflicting(self, access: _Access, past: Past, alias: bool) -> int:
        """Return the positions not in ``past`` that conflict, from its base; an alias meets every set."""
        open_ = missing(past, self.touching)
        if not open_:
            return 0
        found = 0
        for place in range(len(self._positions)) if alias else self._near.of(access.held):
            for deed, positions in self._positions[place].items():
                if clash(access.deed, deed):
                    found |= positions.within(open_, past[0])
        return found


def find_traced_races(
    program: Program, areas: Sequence[Area], nodes: Sequence[NodeTrace]
) -> list[TracedRace]:
    """Return the races of a trace of an acyclic program, :data:`MANY` at most.

    Buffers that ``may_alias`` declares to share memory conflict whatever their bytes.
    """
    done = {trace.node: accesses_of(trace) for trace in nodes}
    aliases = _aliases(program)
    found: list[TracedRace] = []
    for first, second in _pairs(program, done, aliases):
        found.append(_explain(first, second, done, aliases))
        if len(found) == MANY:
            break
    return found


def _aliases(program: Program) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for one, two in program.may_alias:
        found.setdefault(one, []).append(two)
        found.setdefault(two, []).append(one)
    return found


def _pairs(
    program: Program, done: dict[int, list[_Access]], aliases: dict[int, list[int]]
) -> Iterator[tuple[int, int]]:
    count = len(program.nodes)
    order = topological_order(program.edges, count)
    position = {row: place for place, row in enumerate(order)}
    before = predecessors(program.edges, count)
    pasts: list[Past] = [NOTHING] * count
    waiting = [0] * count
    for earlier in before:
        for row in earlier:
            waiting[row] += 1
    boards = _boards(done)
    for place, row in enumerate(order):
        past = past_of([position[p] for p in before[row]], pasts)
        for previous in before[row]:
            waiting[previous] -= 1
            if not waiting[previous]:
                pasts[position[previous]] = NOTHING
        pasts[place] = past if waiting[row] else NOTHING
        mask = _unordered(done.get(row, ()), past, boards, aliases)
        for access in done.get(row, ()):
            boards[access.area].enter(access, place)
        for bit in bits(mask):
            yield order[past[0] + bit], row


def _boards(done: dict[int, list[_Access]]) -> dict[int, _Board]:
    sets: dict[int, dict[int, ByteSet]] = {}
    for accesses in done.values():
        for access in accesses:
            sets.setdefault(access.area, {})[id(access.held)] = access.held
    return {area: _Board(list(held.values())) for area, held in sets.items()}


def _unordered(
    accesses: Sequence[_Access], past: Past, boards: dict[int, _Board], aliases: dict[int, list[int]]
) -> int:
    found = 0
    for access in accesses:
        for partner in (access.area, *aliases.get(access.area, ())):
            if partner in boards:
                found |= boards[partner].conflicting(access, past, partner != access.area)
    return found


def _explain(
    first: int, second: int, done: dict[int, list[_Access]], aliases: dict[int, list[int]]
) -> TracedRace:
    """Return the race of two nodes by its gravest conflict: two writes before a write and a read."""
    conflicts = [
        (one, two)
        for one in done[first]
        for two in done[second]
        if clash(one.deed, two.deed) and _share(one, two, aliases)
    ]
    one, two = min(conflicts, key=lambda pair: sum(each.deed == "read" for each in pair))
    held = one.held & two.held if one.area == two.area else one.held
    deeds = (one.deed.partition(" ")[0], two.deed.partition(" ")[0])
    return TracedRace(first, second, one.area, two.area, held, deeds)


def _share(one: _Access, two: _Access, aliases: dict[int, list[int]]) -> bool:
    if one.area != two.area:
        return two.area in aliases.get(one.area, ())
    return one.held.meets(two.held)
