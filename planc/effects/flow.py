"""The first stage, the same for every launch: control flow, live registers, what loops write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planc.ptx.control_flow import EXIT, ControlFlow, control_flow
from planc.ptx.instructions import read_registers, written_registers
from planc.ptx.syntax import Function


@dataclass(frozen=True, slots=True)
class Flow:
    """A function with its blocks; ``live`` are the registers read later, per block at its start.

    ``written`` maps the header of a loop to the registers that its blocks write. ``around`` lists the headers
    of the loops around each block, outermost first.
    """

    function: Function
    graph: ControlFlow
    live: tuple[frozenset[str], ...]
    written: Mapping[int, frozenset[str]]
    around: tuple[tuple[int, ...], ...]
    dead_results: frozenset[int]

    def always_reaches(self, later: int, earlier: int) -> bool:
        """Whether every path from ``earlier`` comes to ``later`` in the same turn of the loops around it."""
        barriers = set(self.around[later])
        seen = {later}
        waiting = [earlier]
        while waiting:
            block = waiting.pop()
            if block in seen:
                continue
            seen.add(block)
            for following in self.graph.blocks[block].successors:
                if following == EXIT or (following in barriers and following != later):
                    return False
                waiting.append(following)
        return True


def function_flow(function: Function) -> Flow:
    """Return the first stage of a function with a body."""
    graph = control_flow(function)
    reads, writes = _block_sets(function, graph)
    live = _liveness(graph, reads, writes)
    loops = graph.loops
    written = {
        h: frozenset().union(*(_written(function, graph, b) for b in body)) for h, body in loops.items()
    }
    nesting = sorted(loops, key=lambda header: -len(loops[header]))
    around = tuple(tuple(h for h in nesting if b in loops[h]) for b in range(len(graph.blocks)))
    return Flow(function, graph, live, written, around, _dead_results(function))


def _block_sets(function: Function, graph: ControlFlow) -> tuple[list[set[str]], list[set[str]]]:
    """Return per block what it reads before it writes, and what it surely writes."""
    reads: list[set[str]] = []
    writes: list[set[str]] = []
    for block in graph.blocks:
        read: set[str] = set()
        wrote: set[str] = set()
        for instruction in function.body[block.start : block.stop]:
            read.update(n for n in read_registers(instruction) if n not in wrote)
            results = written_registers(instruction)
            if instruction.guard is None:
                wrote.update(results)
            else:
                read.update(n for n in results if n not in wrote)
        reads.append(read)
        writes.append(wrote)
    return reads, writes


def _liveness(
    graph: ControlFlow, reads: list[set[str]], writes: list[set[str]]
) -> tuple[frozenset[str], ...]:
    live: list[set[str]] = [set(r) for r in reads]
    changed = True
    while changed:
        changed = False
        for block in reversed(graph.order):
            out: set[str] = set()
            for following in graph.blocks[block].successors:
                if following != EXIT:
                    out |= live[following]
            more = reads[block] | (out - writes[block])
            if more != live[block]:
                live[block], changed = more, True
    return tuple(frozenset(each) for each in live)


def _written(function: Function, graph: ControlFlow, block: int) -> frozenset[str]:
    part = function.body[graph.blocks[block].start : graph.blocks[block].stop]
    return frozenset(name for instruction in part for name in written_registers(instruction))


def _dead_results(function: Function) -> frozenset[int]:
    """Return the indices of instructions none of whose results is read anywhere."""
    read = {name for instruction in function.body for name in read_registers(instruction)}
    return frozenset(
        index
        for index, instruction in enumerate(function.body)
        if not any(name in read for name in written_registers(instruction))
    )
