"""Overlap between the views of one node."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, product

from planc.effects import READS, WRITES
from planc.graph.binding import check_writable
from planc.graph.launch import Launch
from planc.graph.names import KnownBuffer
from planc.graph.report import Reporter
from planc.graph.threads import share_between_threads
from planc.graph.uses import Pointer
from planc.graph.views import View
from planc.plan.boxes import boxes_meet
from planc.plan.program import EffectKind
from planc.plan.regions import meet_regions, region_of, region_text
from planc.source.flat import FlatKernel, RunOp

ANY = READS | WRITES
Aliases = frozenset[tuple[int, int]]


def views_meet(first: View, second: View, aliases: Aliases) -> bool:
    """Return whether two views can share a byte: exactly, or by the author's ``may_alias``."""
    one, two = first.known.row, second.known.row
    if one != two:
        return (min(one, two), max(one, two)) in aliases
    return boxes_meet(first.footprint, second.footprint)


def shared_text(first: View, second: View) -> str:
    """Return what two views share, in the words of the file."""
    name, other = first.known.buffer.name, second.known.buffer.name
    if name != other:
        return f"`{name}` and `{other}` may share memory"
    shape, item = first.known.buffer.shape, first.known.dtype.itemsize
    one, two = (region_of(v.footprint, shape, item) for v in (first, second))
    common = None if one is None or two is None else meet_regions(one, two)
    return f"both hold `{name if common is None else region_text(name, common, shape)}`"


def check_pointers(
    op: RunOp,
    kernel: FlatKernel,
    pointers: Sequence[Pointer],
    launch: Launch | None,
    aliases: Aliases,
    reporter: Reporter,
) -> bool:
    """Report writes of what is read-only (PLC314, PLC315) and overlapping pointers (PLC321, PLC322).

    A kernel, or both buffers, with ``inplace`` may read what they write, and so may a run each of whose
    threads is shown to touch its own bytes alone. Returns whether nothing was reported.
    """
    fine = True
    for pointer in pointers:
        if pointer.writes:
            how = f"`{op.kernel}` writes it through `{pointer.bound.parameter.name}`"
            fine &= check_writable(pointer.view.known, pointer.bound.span, how, reporter)
    for first, second in combinations(pointers, 2):
        if not _conflict(first, second, launch, aliases):
            continue
        reads = not (first.writes and second.writes)
        if reads and (kernel.inplace or _may_overlap(first.view.known, second.view.known)):
            continue
        _report(op, first, second, reads, reporter)
        fine = False
    return fine


def _conflict(first: Pointer, second: Pointer, launch: Launch | None, aliases: Aliases) -> bool:
    """Return whether the threads of one launch may get into each other's way through two pointers."""
    if not (first.writes or second.writes) or not views_meet(first.view, second.view, aliases):
        return False
    one, two = first.view.known.row, second.view.known.row
    if one != two:
        return True
    if not (_share(first, WRITES, second, ANY) or _share(first, ANY, second, WRITES)):
        return False
    proved = bool(first.accesses and second.accesses) and first.is_proved and second.is_proved
    return launch is None or not proved or share_between_threads(first, second, launch)


def _share(
    first: Pointer, kinds: AbstractSet[EffectKind], second: Pointer, others: AbstractSet[EffectKind]
) -> bool:
    return any(boxes_meet(one, two) for one, two in product(first.boxes(kinds), second.boxes(others)))


def _may_overlap(first: KnownBuffer, second: KnownBuffer) -> bool:
    return first.inplace and second.inplace


def _report(op: RunOp, first: Pointer, second: Pointer, reads: bool, reporter: Reporter) -> None:
    one, two = first.bound, second.bound
    names = (one.parameter.name, two.parameter.name)
    reporter.add(
        "PLC321" if reads else "PLC322",
        f"`{names[0]}` ({first.word}) and `{names[1]}` ({second.word}) of `{op.kernel}` overlap: "
        f"{shared_text(first.view, second.view)}",
        two.span,
        help=(
            "give it another buffer, or write `inplace: true` at the kernel if each thread reads only what "
            "it writes"
            if reads
            else "give them views that share no element"
        ),
        kernel=op.kernel,
        parameters=list(names),
        buffer=first.view.known.buffer.name,
    )
