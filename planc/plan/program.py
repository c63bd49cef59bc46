"""Program and Schedule: what a graph means, and one way to run it, as NumPy tables.

Nothing here is changed once built. Large things (nodes, edges, effects, relocations) are
structured arrays that the plan file stores byte for byte; small things (buffers, slots, kernels)
are frozen dataclasses. Indices are rows of the table they name; ``NONE`` stands for "no row".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

NONE = 0xFFFF_FFFF

Table = NDArray[Any]
Bytes = bytes | memoryview
"""Bytes that nobody changes: a plan that was read gives read-only views of its file (``bytes(x)`` copies)."""


class NodeKind(IntEnum):
    """What a node does; ``op`` of the node is a row of that kind's own table."""

    KERNEL = 1
    FILL = 2
    COPY = 3
    JOIN = 4


class Role(IntEnum):
    """What a buffer is for."""

    INPUT = 1
    OUTPUT = 2
    INOUT = 3
    CONSTANT = 4
    STATE = 5
    SCRATCH = 6
    GLOBAL = 7


class EffectKind(IntEnum):
    """What a node does to bytes. EXTERNAL has no buffer and is never pruned."""

    READ = 1
    WRITE = 2
    READ_WRITE = 3
    REDUCE = 4
    EXTERNAL = 5


class Provenance(IntEnum):
    """How a kind or a range is known, strongest first."""

    OPERATION = 1
    PROVED = 2
    DECLARED = 3
    ASSUMED = 4
    UNKNOWN = 5


class EdgeOrigin(IntEnum):
    """Who asked for an edge of the program."""

    AUTHOR = 1
    INFERRED = 2


class EdgeType(IntEnum):
    """The driver's edge types (CUgraphDependencyType)."""

    FULL = 0
    PROGRAMMATIC = 1


class RelocationKind(IntEnum):
    """What the 8 bytes at a relocation become."""

    ADDRESS = 1


NODE = np.dtype(
    [("kind", "<u4"), ("op", "<u4"), ("body", "<u4"), ("device", "<u4")], align=False
)  # body: NONE is the top level; device: 0
KERNEL_OP = np.dtype(
    [
        ("function", "<u4"),
        ("grid", "<u4", (3,)),
        ("block", "<u4", (3,)),
        ("shared", "<u4"),  # dynamic shared memory, bytes
        ("args_size", "<u4"),
        ("args_offset", "<u8"),  # into the argument blob; 16-byte aligned
        ("flags", "<u4"),  # zero
    ],
    align=False,
)
FILL_OP = np.dtype(
    [("buffer", "<u4"), ("box", "<u4"), ("pattern", "<u4"), ("item", "<u4")], align=False
)  # item: 1, 2 or 4 bytes; pattern's low bytes
COPY_OP = np.dtype(
    [("target", "<u4"), ("target_box", "<u4"), ("source", "<u4"), ("source_box", "<u4")], align=False
)
EDGE = np.dtype([("before", "<u4"), ("after", "<u4"), ("origin", "<u4")], align=False)
BOX = np.dtype(
    [("offset", "<i8"), ("item", "<u4"), ("axis", "<u4"), ("axes", "<u4"), ("pad", "<u4")], align=False
)  # axis: first row of AXIS; axes: how many; bytes from the buffer's start
AXIS = np.dtype([("count", "<u8"), ("stride", "<i8")], align=False)  # stride in bytes
EFFECT = np.dtype(
    [
        ("node", "<u4"),
        ("buffer", "<u4"),
        ("kind", "<u1"),
        ("kind_provenance", "<u1"),
        ("range_provenance", "<u1"),
        ("pad", "<u1"),
        ("parameter", "<u4"),  # of the kernel; NONE for other nodes
        ("may", "<u4"),  # first row of BOX
        ("may_count", "<u4"),
        ("must", "<u4"),
        ("must_count", "<u4"),
    ],
    align=False,
)
RELOCATION = np.dtype(
    [
        ("offset", "<u8"),
        ("addend", "<i8"),
        ("buffer", "<u4"),
        ("kind", "<u4"),
        ("node", "<u4"),
        ("parameter", "<u4"),
    ],
    align=False,
)
PATCH = np.dtype(
    [("offset", "<u8"), ("slot", "<u4"), ("size", "<u4"), ("node", "<u4"), ("parameter", "<u4")], align=False
)  # "these bytes of the argument blob are the value of scalar slot S"
EMITTED_EDGE = np.dtype([("before", "<u4"), ("after", "<u4"), ("type", "<u4")], align=False)
PLACEMENT = np.dtype([("buffer", "<u4"), ("pad", "<u4"), ("offset", "<u8")], align=False)


@dataclass(frozen=True, slots=True)
class Buffer:
    """A named array. ``shape`` counts elements; C order; ``nbytes`` is their product times item.

    ``data`` is the digest (SHA-256, hex) of a constant's or global's initial bytes, a key of
    :attr:`Program.constants` when ``embedded``; otherwise the service supplies them at load.
    ``align`` is in bytes. ``symbol`` is (module row, name) for a role GLOBAL.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: Role
    nbytes: int
    align: int = 256
    data: str | None = None
    embedded: bool = True
    symbol: tuple[int, str] | None = None
    device: int = 0


@dataclass(frozen=True, slots=True)
class Slot:
    """A scalar that the service may change between replays, with its range (both ends legal)."""

    name: str
    dtype: str
    value: int | float | bool
    low: int | float | None = None
    high: int | float | None = None


@dataclass(frozen=True, slots=True)
class Image:
    """Code for one target: ``form`` is ``ptx`` or ``cubin``; ``target`` is ``sm_90`` and the like."""

    target: str
    form: str
    digest: str
    data: Bytes


@dataclass(frozen=True, slots=True)
class Module:
    """The images of one source under one set of options. ``exact``: adds and muls were made ``.rn``."""

    name: str
    images: tuple[Image, ...]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class FunctionParameter:
    """One kernel parameter: ``size`` bytes at ``offset``. ``dtype`` None: not known (a struct, PTX)."""

    name: str
    offset: int
    size: int
    align: int
    pointer: bool
    dtype: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A kernel: its author's name, its symbol in the module, its parameters."""

    name: str
    symbol: str
    module: int
    parameters: tuple[FunctionParameter, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands in the author's file (the debug section; outside the program digest)."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Program:
    """One program: what must be run, in what order at least, on which bytes. Never changed by a pass.

    Tables: ``nodes`` NODE, ``kernel_ops`` KERNEL_OP, ``fill_ops`` FILL_OP, ``copy_ops`` COPY_OP,
    ``edges`` EDGE, ``boxes`` BOX, ``axes`` AXIS, ``effects`` EFFECT (by node), ``relocations``
    RELOCATION and ``patches`` PATCH (both by offset). ``arguments`` is the argument blob with every
    constant and each slot's default value in place and zeros at relocations.
    """

    name: str
    targets: tuple[str, ...]
    buffers: tuple[Buffer, ...]
    slots: tuple[Slot, ...]
    modules: tuple[Module, ...]
    functions: tuple[Function, ...]
    node_names: tuple[str, ...]
    nodes: Table
    kernel_ops: Table
    fill_ops: Table
    copy_ops: Table
    edges: Table
    boxes: Table
    axes: Table
    effects: Table
    relocations: Table
    patches: Table
    arguments: Bytes
    constants: Mapping[str, Bytes]
    places: Sequence[Place] = ()
    may_alias: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Schedule:
    """One way to run a program. ``targets`` empty: on any architecture.

    ``order`` is the order in which nodes are handed to the driver (rows of Program.nodes; uint32),
    ``lanes`` a lane per entry of ``order``, ``edges`` EMITTED_EDGE between rows of Program.nodes,
    ``placements`` PLACEMENT of each scratch buffer in an arena of ``arena_bytes``.
    """

    name: str
    targets: tuple[str, ...]
    order: Table
    lanes: Table
    edges: Table
    placements: Table
    arena_bytes: int


@dataclass(frozen=True, slots=True)
class Plan:
    """Programs with their schedules, as one file holds them.

    ``schedules[i]`` belong to ``programs[i]``; each has at least ``written``. ``verdict`` is the
    sentence of the checks and ``facts`` the author's declarations that it rests on.
    """

    programs: tuple[Program, ...]
    schedules: tuple[tuple[Schedule, ...], ...]
    verdict: str = ""
    facts: tuple[str, ...] = ()
    producer: str = ""
