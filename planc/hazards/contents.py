"""Reads of bytes that nobody wrote, and outputs that stay unwritten in part.

Works on an ordered program: every write that meets a read is before or after it, so the writes passed in any
legal order are exactly those that can have filled the bytes. May boxes are used, so only what certainly
nobody wrote is an error: a write that may leave bytes out still counts. Where a pair of nodes races, only the
race is reported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planc.diagnostics import Diagnostic, Related
from planc.effects import READS, WRITES
from planc.graph import topological_order
from planc.hazards.coverage import Coverage
from planc.hazards.sweep import Access, Accesses
from planc.plan.program import Program, Provenance, Role
from planc.plan.regions import Progression, Region, region_text
from planc.source.flat import FlatGraph

_READS = frozenset(int(k) for k in READS)
_WRITES = frozenset(int(k) for k in WRITES)
_EMPTY_AT_START: Mapping[Role, str] = MappingProxyType({Role.SCRATCH: "PLC316", Role.OUTPUT: "PLC317"})
"""Roles of buffers whose bytes mean nothing before a node writes them. State starts with zeros."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A read of bytes that may be unwritten: the node, its access, the first such element."""

    node: int
    access: Access
    region: Region
    first: tuple[int, ...]
    nothing: bool


def check_contents(
    flat: FlatGraph, program: Program, accesses: Accesses, racing: Collection[tuple[int, int]]
) -> list[Diagnostic]:
    """Return PLC316, PLC317, PLC318 and PLC320 for a program in a legal order.

    ``accesses`` are the program's; ``racing`` are (node, buffer) pairs whose races are reported already.
    """
    if accesses.wild:
        return []
    covers = _coverages(program, accesses)
    found: list[Diagnostic] = []
    for read in _unwritten_reads(program, accesses, covers):
        if (read.node, read.access.buffer) not in racing:
            found.append(_read_diagnostic(flat, program, accesses, read))
    for buffer, cover in covers.items():
        if program.buffers[buffer].role is Role.OUTPUT:
            found.extend(_output_diagnostic(flat, program, buffer, cover))
    return found


def _coverages(program: Program, accesses: Accesses) -> dict[int, Coverage]:
    covers = {}
    for row, buffer in enumerate(program.buffers):
        if buffer.role in _EMPTY_AT_START:
            members = accesses.footprints.of_buffer.get(row, ())
            regions = [accesses.footprints.all[index].region for index in members]
            covers[row] = Coverage(buffer.shape, regions)
    return covers


def _unwritten_reads(program: Program, accesses: Accesses, covers: Mapping[int, Coverage]) -> Iterator[_Read]:
    """Yield the reads in a legal order, then let each node's writes count."""
    footprints = accesses.footprints.all
    for node in topological_order(program.edges, len(program.nodes)):
        mine = [a for a in accesses.by_node[node] if a.buffer in covers]
        for access in mine:
            region = footprints[access.footprint].region
            if access.kind in _READS and region is not None:
                missing = covers[access.buffer].missing(region)
                if missing is not None:
                    yield _Read(node, access, region, *missing)
        for access in mine:
            if access.kind in _WRITES:
                covers[access.buffer].write(footprints[access.footprint].region)


def _read_diagnostic(flat: FlatGraph, program: Program, accesses: Accesses, read: _Read) -> Diagnostic:
    buffer = program.buffers[read.access.buffer]
    node = flat.nodes[read.node]
    view = region_text(buffer.name, read.region, buffer.shape)
    exact = program.effects[read.access.effect]["range_provenance"] == Provenance.OPERATION
    element = region_text(buffer.name, tuple(Progression(i, 1, 1) for i in read.first), buffer.shape)
    if read.nothing:
        message = f"`{node.name}` reads `{view}`, which no node before it writes"
    else:
        message = f"`{node.name}` reads `{view}`, of which no node before it writes `{element}`"
    code = _EMPTY_AT_START[buffer.role] if read.nothing or exact else "PLC318"
    later = _later_writer(accesses, read)
    related = () if later is None else (_writes_it(flat, later, buffer.name),)
    return Diagnostic(
        code,
        message,
        node.span,
        help=_cure(flat, buffer.name, node.name, later),
        related=related,
        facts={"node": node.name, "buffer": buffer.name, "element": list(read.first), "view": view},
    )


def _later_writer(accesses: Accesses, read: _Read) -> int | None:
    """Return the first other node of the text that writes bytes of the read."""
    for node, mine in enumerate(accesses.by_node):
        if node != read.node and any(
            a.kind in _WRITES
            and a.buffer == read.access.buffer
            and accesses.footprints.meet(a.footprint, read.access.footprint)
            for a in mine
        ):
            return node
    return None


def _writes_it(flat: FlatGraph, node: int, buffer: str) -> Related:
    return Related(f"`{flat.nodes[node].name}` writes `{buffer}`", flat.nodes[node].span)


def _cure(flat: FlatGraph, buffer: str, reader: str, later: int | None) -> str:
    fill = f"write `{buffer}` first, with a fill, a copy or a kernel"
    if later is None:
        return f"{fill}; or make it an input or state"
    return f"{fill}; or let `{reader}` come after `{flat.nodes[later].name}`"


def _output_diagnostic(flat: FlatGraph, program: Program, row: int, cover: Coverage) -> Iterator[Diagnostic]:
    buffer = program.buffers[row]
    whole = tuple(Progression(0, extent, 1) for extent in buffer.shape)
    missing = cover.missing(whole)
    if missing is None or missing[1]:
        return
    first = missing[0]
    element = region_text(buffer.name, tuple(Progression(i, 1, 1) for i in first), buffer.shape)
    span = next((b.span for b in flat.buffers if b.name == buffer.name), None)
    yield Diagnostic(
        "PLC320",
        f"output `{buffer.name}` is written in part: no node writes `{element}`",
        span,
        help="write all of it, or declare it `inout` if the rest is to keep its bytes",
        facts={"buffer": buffer.name, "element": list(first)},
    )
