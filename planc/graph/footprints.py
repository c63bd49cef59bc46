"""Overlap between the views of one node."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from planc.graph.binding import Bound
from planc.graph.names import KnownBuffer
from planc.graph.report import Reporter
from planc.graph.views import View
from planc.plan.boxes import boxes_meet
from planc.plan.regions import meet_regions, region_of, region_text
from planc.source.flat import RunOp

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


def check_arguments(
    op: RunOp, bound: Sequence[Bound], inplace: bool, aliases: Aliases, reporter: Reporter
) -> bool:
    """Report pairs of arguments that overlap where one is written (PLC321, PLC322).

    A kernel, or both buffers, with ``inplace`` may read what they write. Two ``reduce`` or two ``out``
    arguments may never overlap. Returns whether nothing was reported.
    """
    fine = True
    pointers = [(b, b.view) for b in bound if b.view is not None]
    for (first, view), (second, other) in combinations(pointers, 2):
        effects = {first.parameter.effect, second.parameter.effect}
        if effects == {"in"} or not views_meet(view, other, aliases):
            continue
        reads = "in" in effects
        if reads and (inplace or _may_overlap(view.known, other.known)):
            continue
        _report(op, (first, view), (second, other), reads, reporter)
        fine = False
    return fine


def _may_overlap(first: KnownBuffer, second: KnownBuffer) -> bool:
    return first.inplace and second.inplace


def _report(
    op: RunOp, first: tuple[Bound, View], second: tuple[Bound, View], reads: bool, reporter: Reporter
) -> None:
    (one, view), (two, other) = first, second
    names = (one.parameter.name, two.parameter.name)
    words = (one.parameter.effect or "", two.parameter.effect or "")
    reporter.add(
        "PLC321" if reads else "PLC322",
        f"`{names[0]}` ({words[0]}) and `{names[1]}` ({words[1]}) of `{op.kernel}` overlap: "
        f"{shared_text(view, other)}",
        two.span,
        help=(
            "give it another buffer, or write `inplace: true` at the kernel if each thread reads only what "
            "it writes"
            if reads
            else "give them views that share no element"
        ),
        kernel=op.kernel,
        parameters=list(names),
        buffer=view.known.buffer.name,
    )
