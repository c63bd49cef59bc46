"""Bytes of an area in the words of the graph file."""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from planc.diagnostics import Span
from planc.plan.boxes import Axis, Box
from planc.plan.dtypes import DTYPES
from planc.plan.program import Buffer, Program
from planc.plan.regions import region_of, region_text
from planc.runtime.tracing import Area, ByteSet
from planc.runtime.tracing.bytesets import Ints


def bytes_text(held: ByteSet) -> str:
    """Return ``byte 4`` or ``bytes 4 to 7``, with ``some of`` where there are gaps."""
    if held.first == held.last:
        return f"byte {held.first}"
    gaps = "some of " if len(held.starts) > 1 else ""
    return f"{gaps}bytes {held.first} to {held.last}"


def box_of_bytes(held: ByteSet) -> Box | None:
    """Return the strided box that has exactly these bytes, where the intervals are regular."""
    widths = held.ends - held.starts
    if not held or (widths != widths[0]).any():
        return None
    starts, axes = held.starts, list[Axis]()
    while len(starts) > 1:
        step = int(starts[1] - starts[0])
        count = _run_length(starts, step)
        if len(starts) % count:
            return None
        rows = starts.reshape(-1, count)
        if (rows - rows[:, :1] != np.arange(count) * step).any():
            return None
        axes.insert(0, (count, step))
        starts = rows[:, 0]
    return Box(int(starts[0]), tuple(axes), int(widths[0]))


def _run_length(starts: Ints, step: int) -> int:
    breaks = np.flatnonzero(np.diff(starts) != step)
    return int(breaks[0]) + 1 if len(breaks) else len(starts)


def elements_text(program: Program, area: Area, held: ByteSet) -> str | None:
    """Return the elements as a view, ``u[2:4, :]``; else the first and the last; None for a variable."""
    if area.buffer is None:
        return None
    buffer = program.buffers[area.buffer]
    item = DTYPES[buffer.dtype].itemsize
    box = box_of_bytes(held)
    region = None if box is None else region_of(box, buffer.shape, item)
    if region is not None:
        return region_text(buffer.name, region, buffer.shape)
    first, last = (element_text(buffer, byte) for byte in (held.first, held.last))
    return first if first == last else f"{first} … {last}"


def element_text(buffer: Buffer, byte: int) -> str:
    """Return the element that holds a byte, ``u[2, 0]``."""
    index = element_index(buffer, byte)
    return f"{buffer.name}[{', '.join(map(str, index))}]" if index else buffer.name


def element_index(buffer: Buffer, byte: int) -> list[int]:
    """Return the indices of the element that holds a byte."""
    flat = byte // DTYPES[buffer.dtype].itemsize
    return [int(i) for i in np.unravel_index(flat, buffer.shape)] if buffer.shape else []


def span_of(program: Program, node: int, folder: str) -> Span | None:
    """Return where a node stands; ``folder`` is that of the graph file, as the person types it."""
    if node >= len(program.places):
        return None
    place = program.places[node]
    return Span(beside(place.file, folder), place.line, place.column)


def beside(file: str, folder: str) -> str:
    """Return a path of the graph's folder as the person would type it."""
    return (PurePosixPath(folder) / file).as_posix()
