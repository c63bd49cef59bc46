"""Views: NumPy's indices on a declared buffer, resolved to strided boxes.

The meaning is NumPy's basic indexing: integers drop an axis, slices keep it (also with negative steps), an
ellipsis stands for the axes that are missing, and so do absent last indices. One thing differs on purpose: a
slice that reaches beyond its axis is an error, not clamped, and so is a view of no elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from planc.diagnostics import Related
from planc.graph.names import KnownBuffer
from planc.graph.report import Reporter
from planc.plan.boxes import Axis, Box, canonical
from planc.plan.regions import strides_of
from planc.source.flat import EllipsisIndex, Index, SliceIndex, ViewRef


@dataclass(frozen=True, slots=True)
class View:
    """A region of ``known``: ``box`` has one axis per axis of ``shape``, in order, strides in bytes.

    ``footprint`` is the same byte set in canonical form.
    """

    known: KnownBuffer
    shape: tuple[int, ...]
    box: Box
    footprint: Box

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie one after the other in C order."""
        step = self.box.item
        for count, stride in reversed(self.box.axes):
            if count > 1 and stride != step:
                return False
            step *= count
        return True


def resolve_view(ref: ViewRef, known: KnownBuffer, reporter: Reporter) -> View | None:
    """Return the view that ``ref`` takes of ``known``, or report PLC301 to PLC306 and return None."""
    shape = known.buffer.shape
    item = known.dtype.itemsize
    indices = _filled(ref, known, reporter)
    if indices is None:
        return None
    offset = 0
    axes: list[Axis] = []
    for axis, (index, extent, stride) in enumerate(zip(indices, shape, strides_of(shape, item), strict=True)):
        if isinstance(index, int):
            start = _integer(index, extent, axis, ref, reporter)
            if start is None:
                return None
            offset += start * stride
            continue
        bounds = _slice(index, extent, axis, ref, reporter)
        if bounds is None:
            return None
        start, count, step = bounds
        offset += start * stride
        axes.append((count, step * stride))
    box = Box(offset, tuple(axes), item)
    return View(known, tuple(count for count, _ in axes), box, canonical(box))


_ALL = SliceIndex(None, None, None)


def _filled(ref: ViewRef, known: KnownBuffer, reporter: Reporter) -> Sequence[int | SliceIndex] | None:
    """Put full slices for the ellipsis and for missing last indices."""
    shape = known.buffer.shape
    if ref.indices is None:
        return (_ALL,) * len(shape)
    given: list[Index] = list(ref.indices)
    dots = [i for i, index in enumerate(given) if isinstance(index, EllipsisIndex)]
    if len(dots) > 1:
        reporter.add(
            "PLC306",
            f"`{ref.text}` has {len(dots)} ellipses",
            ref.span,
            help="keep one `...`, and write `:` for single axes",
            buffer=ref.buffer,
        )
        return None
    if len(given) - len(dots) > len(shape):
        reporter.add(
            "PLC304",
            f"`{ref.text}` has {len(given) - len(dots)} indices, and `{ref.buffer}` has {_axes(len(shape))}",
            ref.span,
            help=f"give at most {len(shape)}",
            related=(_declared(known),),
            buffer=ref.buffer,
        )
        return None
    place = dots[0] if dots else len(given)
    full = [_ALL] * (len(shape) - len(given) + len(dots))
    filled = [*given[:place], *full, *given[place + len(dots) :]]
    return [index for index in filled if not isinstance(index, EllipsisIndex)]


def _integer(index: int, extent: int, axis: int, ref: ViewRef, reporter: Reporter) -> int | None:
    if -extent <= index < extent:
        return index + extent if index < 0 else index
    reporter.add(
        "PLC301",
        f"index {index} of axis {axis} is out of bounds for `{ref.buffer}`, which has {extent} there",
        ref.span,
        help=f"use an index from {-extent} to {extent - 1}",
        buffer=ref.buffer,
        axis=axis,
        extent=extent,
        index=index,
    )
    return None


def _slice(
    index: SliceIndex, extent: int, axis: int, ref: ViewRef, reporter: Reporter
) -> tuple[int, int, int] | None:
    """Return (start, count, step) of one axis."""
    step = 1 if index.step is None else index.step
    if step == 0:
        reporter.add(
            "PLC305",
            f"`{ref.text}` has a step of 0",
            ref.span,
            help="use a step other than 0",
            buffer=ref.buffer,
        )
        return None
    # Legal ends, as NumPy reads them: a forward slice may start and stop at 0 to extent, a backward one
    # at 0 to extent - 1, and None alone means "down to the first".
    greatest = extent if step > 0 else extent - 1
    for word, end in (("start", index.start), ("stop", index.stop)):
        if end is not None and not -extent <= end <= greatest:
            _slice_fault(word, end, greatest, extent, axis, ref, reporter)
            return None
    start, stop, _ = slice(index.start, index.stop, step).indices(extent)
    count = len(range(start, stop, step))
    if count == 0:
        reporter.add(
            "PLC303",
            f"`{ref.text}` is a view of no elements: axis {axis} is empty",
            ref.span,
            help="let the slice hold one index at least, or leave the node out",
            buffer=ref.buffer,
            axis=axis,
        )
        return None
    return start, count, step


def _slice_fault(
    word: str, end: int, greatest: int, extent: int, axis: int, ref: ViewRef, reporter: Reporter
) -> None:
    reporter.add(
        "PLC302",
        f"{word} {end} of axis {axis} in `{ref.text}` is out of bounds for `{ref.buffer}`, "
        f"which has {extent} there",
        ref.span,
        help=f"use a {word} from {-extent} to {greatest}; slices are not clamped",
        buffer=ref.buffer,
        axis=axis,
        extent=extent,
        index=end,
    )


def _axes(count: int) -> str:
    return "1 axis" if count == 1 else f"{count} axes"


def _declared(known: KnownBuffer) -> Related:
    return Related(f"`{known.buffer.name}` is declared here", known.span)
