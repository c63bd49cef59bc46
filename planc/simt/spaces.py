"""State spaces: the windows of generic addresses, and where a thread's bytes lie.

Addresses of ``.shared`` and ``.local`` are offsets into the block's or the thread's memory. A generic address
is a global one, or an offset plus the base of its window (PTX ISA, "Generic Addressing"). The
windows lie below every buffer, and no two touch. ``.const`` variables are read-only buffers in global
memory, so their addresses are the same in both spaces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from planc.simt.faults import AccessFault
from planc.simt.memory import GLOBAL_BASE, Region
from planc.simt.ranges import Addresses, Outside, split_by

if TYPE_CHECKING:
    from planc.simt.frames import Fragment

LOCAL_WINDOW = 0x1_0000_0000
"""Generic address of local offset 0."""
SHARED_WINDOW = 0x3_0000_0000
"""Generic address of shared offset 0."""
PARAM_WINDOW = 0x5_0000_0000
"""Generic (and ``.param``) address of the kernel's first parameter byte."""
FUNCTION_WINDOW = 0x7_0000_0000
"""Address of the first function; functions are not readable."""
WINDOW_SIZE = 0x1_0000_0000
"""Bytes of each window."""

WINDOWS: Mapping[str, int] = MappingProxyType(
    {"local": LOCAL_WINDOW, "shared": SHARED_WINDOW, "param": PARAM_WINDOW, "global": 0, "const": 0}
)
"""What ``cvta`` adds to an address of the space."""

FUNCTION_STRIDE = 16
"""Bytes between the addresses of two functions."""


class Piece(NamedTuple):
    """Part of an access: byte ``offsets`` into ``region`` for the threads at ``positions`` (None: all).

    ``addresses`` are their global addresses where the region is a buffer of global memory, else None.
    """

    region: Region
    offsets: NDArray[np.int64]
    positions: NDArray[np.intp] | None
    addresses: Addresses | None


def check_alignment(addresses: Addresses, size: int, space: str) -> None:
    """Raise :class:`AccessFault` unless every address is a multiple of ``size``, a power of two."""
    mask = size - 1
    if int(np.bitwise_or.reduce(addresses)) & mask:
        lane = int(np.argmax(addresses & np.uint64(mask) != 0))
        raise AccessFault("misaligned", lane, int(addresses[lane]), size, space)


def global_pieces(f: Fragment, addresses: Addresses, size: int, write: bool) -> list[Piece]:
    """Find buffers of global memory."""
    memory = f.chunk.launch.memory
    try:
        found = memory.table.find(addresses, size)
    except Outside as outside:
        raise AccessFault("outside", outside.lane, int(addresses[outside.lane]), size, "global") from None
    regions = memory.regions
    if isinstance(found, int):
        pieces = [_piece(regions[found], addresses, None)]
    else:
        pieces = [_piece(regions[index], addresses[at], at) for index, at in split_by(found)]
    if write:
        _check_writable(pieces, size)
    return pieces


def _piece(region: Region, addresses: Addresses, positions: NDArray[np.intp] | None) -> Piece:
    offsets = (addresses - np.uint64(region.start)).view(np.int64)
    return Piece(region, offsets, positions, addresses)


def _check_writable(pieces: list[Piece], size: int) -> None:
    for piece in pieces:
        if not piece.region.writable:
            lane = 0 if piece.positions is None else int(piece.positions[0])
            assert piece.addresses is not None
            raise AccessFault("readonly", lane, int(piece.addresses[0]), size, "global")


def shared_pieces(f: Fragment, addresses: Addresses, size: int, write: bool) -> list[Piece]:
    """Find the block's copy of shared variables."""
    chunk = f.chunk
    _check_inside(chunk.shared_table, addresses, size, "shared")
    offsets = addresses.view(np.int64)
    if chunk.blocks > 1:
        offsets = offsets + f.shared_base
    return [Piece(chunk.shared, offsets, None, None)]


def local_pieces(f: Fragment, addresses: Addresses, size: int, write: bool) -> list[Piece]:
    """Find the thread's own local variables."""
    chunk = f.chunk
    _check_inside(chunk.local_table, addresses, size, "local")
    offsets = addresses.view(np.int64) + f.threads * chunk.local_stride
    return [Piece(chunk.local, offsets, None, None)]


def param_pieces(f: Fragment, addresses: Addresses, size: int, write: bool) -> list[Piece]:
    """Find the kernel's parameters; they are read-only."""
    launch = f.chunk.launch
    _check_inside(launch.param_table, addresses, size, "param")
    if write:
        raise AccessFault("readonly", 0, int(addresses[0]), size, "param")
    return [Piece(launch.parameters, (addresses - np.uint64(PARAM_WINDOW)).view(np.int64), None, None)]


def _check_inside(table: object, addresses: Addresses, size: int, space: str) -> None:
    try:
        table.find(addresses, size)  # type: ignore[attr-defined]
    except Outside as outside:
        raise AccessFault("outside", outside.lane, int(addresses[outside.lane]), size, space) from None


def generic_pieces(f: Fragment, addresses: Addresses, size: int, write: bool) -> list[Piece]:
    """Find what generic addresses point to, window by window."""
    if int(addresses.min()) >= GLOBAL_BASE:
        return global_pieces(f, addresses, size, write)
    window = np.minimum(addresses >> np.uint64(32), np.uint64(GLOBAL_BASE >> 32)).astype(np.int64)
    pieces: list[Piece] = []
    for index, at in split_by(window):
        pieces.extend(_in_window(f, index, addresses, at, size, write))
    return pieces


def _in_window(
    f: Fragment, index: int, addresses: Addresses, at: NDArray[np.intp], size: int, write: bool
) -> list[Piece]:
    find = _BY_WINDOW.get(index)
    if find is None:
        lane = int(at[0])
        raise AccessFault("outside", lane, int(addresses[lane]), size, "global")
    base, resolve = find
    everyone = len(at) == f.n
    part = f if everyone else f.part(at, f.block)
    try:
        pieces = resolve(part, addresses[at] - np.uint64(base), size, write)
    except AccessFault as fault:
        fault.lane = int(at[fault.lane])
        raise
    return pieces if everyone else [p._replace(positions=_within(at, p.positions)) for p in pieces]


def _within(outer: NDArray[np.intp], inner: NDArray[np.intp] | None) -> NDArray[np.intp]:
    return outer if inner is None else outer[inner]


Resolve = Callable[["Fragment", Addresses, int, bool], list[Piece]]
"""Finds where the bytes of an access lie: fragment, addresses, bytes per thread, whether it writes."""

_BY_WINDOW: Mapping[int, tuple[int, Resolve]] = MappingProxyType(
    {
        LOCAL_WINDOW >> 32: (LOCAL_WINDOW, local_pieces),
        SHARED_WINDOW >> 32: (SHARED_WINDOW, shared_pieces),
        PARAM_WINDOW >> 32: (0, param_pieces),
        GLOBAL_BASE >> 32: (0, global_pieces),
    }
)

RESOLVERS: Mapping[str, Resolve] = MappingProxyType(
    {
        "global": global_pieces,
        "const": global_pieces,
        "shared": shared_pieces,
        "local": local_pieces,
        "param": param_pieces,
        "": generic_pieces,
    }
)
"""The resolver of each state space; the empty name is generic addressing."""
