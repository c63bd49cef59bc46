"""Fills and copies: values, shapes, and the rows of FILL_OP and COPY_OP."""

from __future__ import annotations

from math import prod

from planc.graph.binding import check_writable
from planc.graph.footprints import Aliases, shared_text, views_meet
from planc.graph.names import Names, find_buffer
from planc.graph.report import Reporter
from planc.graph.values import encode, value_fault
from planc.graph.views import View, resolve_view
from planc.plan.boxes import Axis, Box, canonical
from planc.source.flat import CopyOp, FillOp, ViewRef

DRIVER_PATTERN = 4
"""The widest pattern of the driver's memset (CUDA driver API, CUDA_MEMSET_NODE_PARAMS), in bytes."""

Fill = tuple[int, Box, int, int]  # buffer, box of `item`-byte items, pattern, item
Copy = tuple[View, View, Box, Box]  # target, source, and the boxes walked in step


def _target(ref: ViewRef, how: str, names: Names, reporter: Reporter) -> View | None:
    known = find_buffer(names, ref.buffer, ref.span, reporter)
    view = None if known is None else resolve_view(ref, known, reporter)
    if known is None or view is None or not check_writable(known, ref.span, how, reporter):
        return None
    return view


def resolve_fill(op: FillOp, names: Names, reporter: Reporter) -> tuple[View, Fill] | None:
    """Return the view and the row of a fill, or report PLC311 to PLC315 and return None."""
    view = _target(op.target, "this fills it", names, reporter)
    pattern = None if view is None else _pattern(op, view, reporter)
    if view is None or pattern is None:
        return None
    box = _box_of_items(view, len(pattern))
    if box is None:
        reporter.add(
            "PLC313",
            f"a pattern of {len(pattern)} bytes does not fit `{op.target.text}`, whose runs are no multiple "
            "of it",
            op.target.span,
            help="use a smaller `item`, or a view whose rows hold whole patterns",
            buffer=view.known.buffer.name,
            item=len(pattern),
        )
        return None
    if not _is_aligned(op, view, len(pattern), reporter):
        return None
    return view, (view.known.row, box, int.from_bytes(pattern, "little"), len(pattern))


def _is_aligned(op: FillOp, view: View, item: int, reporter: Reporter) -> bool:
    """Say whether the buffer is aligned to the pattern, as the driver's fills need; report PLC313 if not."""
    buffer = view.known.buffer
    if buffer.align % item == 0:
        return True
    reporter.add(
        "PLC313",
        f"a pattern of {item} bytes does not fit `{op.target.text}`: `{buffer.name}` is aligned to "
        f"{buffer.align}",
        op.target.span,
        help=f"use `item: {buffer.align}`, or declare `{buffer.name}` with `align: {item}` or more",
        buffer=buffer.name,
        item=item,
    )
    return False


def _pattern(op: FillOp, view: View, reporter: Reporter) -> bytes | None:
    if op.item is not None:
        return _raw_pattern(op, op.item, view, reporter)
    dtype = view.known.dtype
    fault = value_fault(op.value.value, dtype)
    if fault is not None:
        reporter.add(
            "PLC311",
            f"`{op.target.text}` cannot be filled: {fault}",
            op.value.span,
            help=f"give a value of type `{dtype.name}`",
            buffer=view.known.buffer.name,
            dtype=dtype.name,
        )
        return None
    data = encode(op.value.value, dtype)
    if len(data) <= DRIVER_PATTERN:
        return data
    if data[:DRIVER_PATTERN] == data[DRIVER_PATTERN:]:
        return data[:DRIVER_PATTERN]
    reporter.add(
        "PLC312",
        f"`{op.value.value}` as `{dtype.name}` is {len(data)} bytes that do not repeat after "
        f"{DRIVER_PATTERN}",
        op.value.span,
        help="fill with 0, or write the values with a copy from a constant or with a kernel",
        buffer=view.known.buffer.name,
        dtype=dtype.name,
    )
    return None


def _raw_pattern(op: FillOp, item: int, view: View, reporter: Reporter) -> bytes | None:
    value = op.value.value
    if item in (1, 2, 4) and isinstance(value, int) and 0 <= value < 1 << (8 * item):
        return int(value).to_bytes(item, "little")
    reporter.add(
        "PLC311",
        f"`{value}` is no pattern of {item} bytes",
        op.value.span,
        help="give `item` 1, 2 or 4, and a whole number from 0 that fits it",
        buffer=view.known.buffer.name,
        item=item,
    )
    return None


def _box_of_items(view: View, item: int) -> Box | None:
    """Return the footprint with items of ``item`` bytes, or None where they do not fit."""
    box = view.footprint
    if item < box.item:
        return canonical(Box(box.offset, (*box.axes, (box.item // item, item)), item))
    if item == box.item:
        return box
    runs = box.axes and box.axes[-1][1] == box.item
    length = box.axes[-1][0] * box.item if runs else box.item
    if (
        length % item
        or box.offset % item
        or any(stride % item for _, stride in box.axes[: -1 if runs else None])
    ):
        return None
    outer = box.axes[:-1] if runs else box.axes
    return canonical(Box(box.offset, (*outer, (length // item, item)), item))


def resolve_copy(op: CopyOp, names: Names, aliases: Aliases, reporter: Reporter) -> Copy | None:
    """Return the views of a copy and the boxes that walk them in step, or report PLC308 to PLC315."""
    target = _target(op.target, "this copies to it", names, reporter)
    known = find_buffer(names, op.source.buffer, op.source.span, reporter)
    source = None if known is None else resolve_view(op.source, known, reporter)
    if target is None or source is None:
        return None
    if not _copy_is_right(op, target, source, aliases, reporter):
        return None
    return target, source, *_in_step(target, source)


def _copy_is_right(op: CopyOp, target: View, source: View, aliases: Aliases, reporter: Reporter) -> bool:
    to, fro = op.target.text, op.source.text
    types = target.known.dtype.name, source.known.dtype.name
    before = reporter.errors
    if types[0] != types[1]:
        reporter.add(
            "PLC309",
            f"`{to}` holds `{types[0]}`, and `{fro}` holds `{types[1]}`",
            op.source.span,
            help="copy between buffers of one element type, or convert in a kernel",
            buffers=[target.known.buffer.name, source.known.buffer.name],
        )
    elif not _shapes_agree(target, source):
        reporter.add(
            "PLC308",
            f"`{to}` has shape {list(target.shape)}, and `{fro}` has {list(source.shape)}",
            op.source.span,
            help="copy between views of one shape; contiguous views of as many elements also do",
            buffers=[target.known.buffer.name, source.known.buffer.name],
        )
    if views_meet(target, source, aliases):
        reporter.add(
            "PLC310",
            f"`{to}` and `{fro}` overlap: {shared_text(target, source)}",
            op.source.span,
            help="copy through another buffer; the order of the bytes in one copy is open",
            buffers=[target.known.buffer.name, source.known.buffer.name],
        )
    return reporter.errors == before


def _long_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for n in shape if n != 1)


def _shapes_agree(target: View, source: View) -> bool:
    if _long_axes(target.shape) == _long_axes(source.shape):
        return True
    return prod(target.shape) == prod(source.shape) and target.contiguous and source.contiguous


def _in_step(target: View, source: View) -> tuple[Box, Box]:
    """Return two boxes with equal counts that pair the elements in C order.

    Axes of one go, the target's strides become positive, and neighbours that continue each other on both
    sides are merged.
    """
    item = target.box.item
    if target.contiguous and source.contiguous:
        count = prod(target.shape)
        axes: tuple[Axis, ...] = ((count, item),) if count > 1 else ()
        return Box(target.box.offset, axes, item), Box(source.box.offset, axes, item)
    to, fro = target.box.offset, source.box.offset
    steps: list[tuple[int, int, int]] = []
    targets = [axis for axis in target.box.axes if axis[0] != 1]
    sources = [axis for axis in source.box.axes if axis[0] != 1]
    for (count, ahead), (_, along) in zip(targets, sources, strict=True):
        if ahead < 0:
            to, fro = to + (count - 1) * ahead, fro + (count - 1) * along
            ahead, along = -ahead, -along
        if steps and steps[-1][1:] == (count * ahead, count * along):
            steps[-1] = (steps[-1][0] * count, ahead, along)
        else:
            steps.append((count, ahead, along))
    return (
        Box(to, tuple((count, ahead) for count, ahead, _ in steps), item),
        Box(fro, tuple((count, along) for count, _, along in steps), item),
    )
