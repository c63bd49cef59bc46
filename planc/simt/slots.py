"""Where registers live: liveness, and a slot for each register.

Registers of PTX are in single-assignment form and there may be thousands; with one array per
register and thread, memory would run out long before time. Registers of one width that are never
alive together share a slot (linear scan over the blocks in the order of the text).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from planc.simt.flow import Flow
from planc.simt.roles import reads_and_writes

Kind = tuple[str, int]
"""What a slot holds: ``("bits", width)``, or ``("bytes", size)`` for a ``.param`` variable."""


@dataclass(slots=True)
class Liveness:
    """Bit sets of registers per block: read before written, written, alive at the start, alive at the end."""

    uses: list[int] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)
    live: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)


@dataclass(slots=True)
class SlotMap:
    """The slot of each register, what each slot holds, and liveness in terms of slots."""

    slots: dict[str, int]
    kinds: list[Kind]
    uses: list[tuple[int, ...]]
    writes: list[int]
    live: list[int]


def assign_slots(flow: Flow, kinds: Mapping[str, Kind], results: Sequence[str]) -> SlotMap:
    """Give every register of ``kinds`` that occurs a slot.

    ``results`` are alive where the function returns. Registers that are read before they are
    written are alive at the entry; the frame sets them to zero there.
    """
    names = list(kinds)
    number = {name: index for index, name in enumerate(names)}
    steps = [[_numbers(reads_and_writes(i), number) for i in b.instructions()] for b in flow.blocks]
    liveness = _liveness(flow, steps, sum(1 << number[name] for name in results))
    spans = _spans(steps, liveness)
    slot_of, slot_kinds = _scan(spans, [kinds[name] for name in names])
    return SlotMap(
        {names[index]: slot for index, slot in slot_of.items()},
        slot_kinds,
        [tuple(sorted({slot_of[index] for index in _members(bits)})) for bits in liveness.uses],
        [_translate(bits, slot_of) for bits in liveness.writes],
        [_translate(bits, slot_of) for bits in liveness.live],
    )


Step = tuple[list[int], list[int]]


def _numbers(roles: tuple[list[str], list[str]], number: Mapping[str, int]) -> Step:
    reads, writes = roles
    return [number[n] for n in reads if n in number], [number[n] for n in writes if n in number]


def _liveness(flow: Flow, steps: Sequence[Sequence[Step]], results: int) -> Liveness:
    found = Liveness()
    for each in steps:
        uses, writes = _block_roles(each)
        found.uses.append(uses)
        found.writes.append(writes)
    found.live = list(found.uses)
    returns = [results if block.end.kind == "return" else 0 for block in flow.blocks]
    _solve(flow, found, returns)
    for number, result in enumerate(returns):
        found.after.append(_after(flow, found.live, number) | result)
        # A returning block needs its results even where another path wrote them.
        found.uses[number] |= result & ~found.writes[number]
    return found


def _block_roles(steps: Sequence[Step]) -> tuple[int, int]:
    """Return the bit sets of what a block reads before it writes it, and of what it writes."""
    uses = writes = 0
    for reads, written in steps:
        for index in reads:
            uses |= (1 << index) & ~writes
        for index in written:
            writes |= 1 << index
    return uses, writes


def _solve(flow: Flow, found: Liveness, returns: Sequence[int]) -> None:
    """Iterate ``live = uses | (live after - writes)`` to its least fixed point."""
    predecessors: list[list[int]] = [[] for _ in flow.blocks]
    for number, block in enumerate(flow.blocks):
        for target in block.end.targets:
            predecessors[target].append(number)
    todo = list(range(len(flow.blocks)))
    while todo:
        number = todo.pop()
        out = returns[number] | _after(flow, found.live, number)
        live = found.uses[number] | (out & ~found.writes[number])
        if live != found.live[number]:
            found.live[number] = live
            todo.extend(predecessors[number])


def _spans(steps: Sequence[Sequence[Step]], liveness: Liveness) -> dict[int, tuple[int, int]]:
    """Return the first and last place where each register is touched or alive."""
    spans: dict[int, tuple[int, int]] = {}

    def touch(index: int, place: int) -> None:
        first, last = spans.get(index, (place, place))
        spans[index] = (min(first, place), max(last, place))

    place = 0
    for number, block in enumerate(steps):
        for index in _members(liveness.live[number]):
            touch(index, place)
        for reads, writes in block:
            place += 2
            for index in reads:
                touch(index, place)
            for index in writes:
                touch(index, place + 1)
        place += 2
        for index in _members(liveness.after[number]):
            touch(index, place)
    return spans


def _after(flow: Flow, live: Sequence[int], number: int) -> int:
    found = 0
    for target in flow.blocks[number].end.targets:
        found |= live[target]
    return found


def _scan(spans: Mapping[int, tuple[int, int]], kinds: Sequence[Kind]) -> tuple[dict[int, int], list[Kind]]:
    slots: dict[int, int] = {}
    slot_kinds: list[Kind] = []
    free: dict[Kind, list[int]] = {}
    active: list[tuple[int, int]] = []
    for index in sorted(spans, key=lambda each: spans[each]):
        first, last = spans[index]
        while active and active[0][0] < first:
            other = heappop(active)[1]
            free.setdefault(kinds[other], []).append(slots[other])
        pool = free.get(kinds[index])
        if pool:
            slots[index] = pool.pop()
        else:
            slots[index] = len(slot_kinds)
            slot_kinds.append(kinds[index])
        heappush(active, (last, index))
    return slots, slot_kinds


def _members(bits: int) -> list[int]:
    found: list[int] = []
    while bits:
        low = bits & -bits
        found.append(low.bit_length() - 1)
        bits ^= low
    return found


def _translate(bits: int, slot_of: Mapping[int, int]) -> int:
    result = 0
    for index in _members(bits):
        result |= 1 << slot_of[index]
    return result
