"""The expanded graph: loops unrolled, sub-graphs inlined, expressions evaluated.

This is what ``planc.source`` hands to ``planc.graph``. Names of buffers, kernels and scalars are
still names (the graph folder resolves them and reports what is missing); node references are
already rows of ``FlatGraph.nodes``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from planc.diagnostics import Span

Number = int | float | bool


class FlatKind(StrEnum):
    """The node kinds of the description language."""

    RUN = "run"
    FILL = "fill"
    COPY = "copy"
    JOIN = "join"


@dataclass(frozen=True, slots=True)
class SliceIndex:
    """``start:stop:step`` with NumPy's meaning; None where left out."""

    start: int | None
    stop: int | None
    step: int | None


class EllipsisIndex:
    """``...`` in a view: as many full axes as are missing."""


Index = int | SliceIndex | EllipsisIndex


@dataclass(frozen=True, slots=True)
class ViewRef:
    """``u[1:-1, :]``: a buffer's name and evaluated indices (None: the whole buffer)."""

    buffer: str
    indices: tuple[Index, ...] | None
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class ScalarRef:
    """A scalar of the file by name (a slot or a fixed value)."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Literal:
    """A value known now: an evaluated expression."""

    value: Number
    span: Span


ArgumentValue = ViewRef | ScalarRef | Literal


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a ``run``: by name, or by position when ``name`` is None.

    A bare name that could be a buffer or a scalar is a ViewRef with ``indices`` None; the graph
    folder turns it into a ScalarRef where a scalar has that name.
    """

    name: str | None
    value: ArgumentValue
    span: Span


@dataclass(frozen=True, slots=True)
class Dims:
    """Three extents (x, y, z), evaluated; missing ones are 1."""

    values: tuple[int, int, int]
    span: Span


@dataclass(frozen=True, slots=True)
class RunOp:
    """``run: step(src=u, dst=v)``; grid, cover, block and shared override the kernel's."""

    kernel: str
    kernel_span: Span
    arguments: tuple[Argument, ...]
    grid: Dims | None = None
    cover: Dims | None = None
    block: Dims | None = None
    shared: int | None = None


@dataclass(frozen=True, slots=True)
class FillOp:
    """``fill: v[...] = 0``.

    ``value`` takes the buffer's element type; ``item`` (1, 2 or 4 bytes) and an integer ``value`` give
    a raw pattern instead.
    """

    target: ViewRef
    value: Literal
    item: int | None = None


@dataclass(frozen=True, slots=True)
class CopyOp:
    """``copy: v <- u``."""

    target: ViewRef
    source: ViewRef


@dataclass(frozen=True, slots=True)
class After:
    """One edge that the author wrote: from node ``node`` (a row) to the node that holds this."""

    node: int
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Site:
    r"""Where the text of a node stands, so that a fix can be spliced into it.

    ``after`` is the span of the value of ``after:`` when there is one (``after_text`` its text as in the
    file, ``after_flow`` true when it is a YAML list). ``insert`` is an empty span where a whole new
    ``after:`` can be put: in a block mapping the end of the node's last line, before its line break
    (insert ``"\n" + " " * indent + "after: …"``; ``indent`` columns stand before the node's keys); in a flow
    mapping (``{id: a, …}``, or JSON) ``flow`` is true and ``insert`` is the end of the last value (insert
    ``, "after": "…"``). :func:`planc.source.edit_after` writes the edit in all of these cases. ``key`` is
    equal for all nodes that one text made; ``scope`` is the prefix that an instance of a sub-graph gives
    (``r1.``), so that ``pattern``, the ``id`` as written (``fwd[t]``), names the node inside that scope only;
    ``loops`` are the loop variables of the scope and their values, outermost first. There is no place
    for Python graphs, nor where an anchor lets several nodes share one text.
    """

    key: int
    pattern: str
    loops: tuple[tuple[str, int], ...]
    insert: Span | None = None
    indent: int = 0
    flow: bool = False
    after: Span | None = None
    after_text: str = ""
    after_flow: bool = False
    scope: str = ""


@dataclass(frozen=True, slots=True)
class FlatNode:
    """One node of the expanded graph, in program order."""

    name: str
    kind: FlatKind
    span: Span
    op: RunOp | FillOp | CopyOp | None
    after: tuple[After, ...]
    site: Site


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where the bytes of a constant or a global come from: a file (with a member) or literal values."""

    span: Span
    file: Path | None = None
    member: str | None = None
    values: object = None
    embed: bool | None = None


@dataclass(frozen=True, slots=True)
class FlatBuffer:
    """A declared buffer; ``role`` is a word of the language (``input``, …, ``scratch``)."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str
    span: Span
    align: int | None = None
    data: DataSource | None = None
    inplace: bool = False


@dataclass(frozen=True, slots=True)
class FlatGlobal:
    """``globals:`` data for a ``__device__`` or ``__constant__`` symbol of a kernel's module."""

    name: str
    kernel: str
    dtype: str
    shape: tuple[int, ...]
    span: Span
    data: DataSource | None


@dataclass(frozen=True, slots=True)
class FlatScalar:
    """A scalar; ``slot`` when the service may change it. ``low``/``high`` None: the type's range."""

    name: str
    dtype: str
    value: Number
    slot: bool
    span: Span
    low: Number | None = None
    high: Number | None = None


@dataclass(frozen=True, slots=True)
class DeclaredParameter:
    """One parameter in ``entry: step(in f32* src, f32 alpha)``. ``effect``: in, out, inout, reduce."""

    name: str
    dtype: str | None
    pointer: bool
    effect: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class FlatKernel:
    """A kernel of the file. ``form`` is ``source``, ``ptx`` or ``cubin``; ``path`` is absolute.

    ``entry`` is the function's name with template arguments (``gemm<float, 32>``); ``parameters`` is
    None where ``entry:`` gave only a name. ``path_label`` is the path relative to the graph file.
    """

    name: str
    form: str
    path: Path
    path_label: str
    path_span: Span
    entry: str
    entry_span: Span
    parameters: tuple[DeclaredParameter, ...] | None
    span: Span
    block: Dims | None = None
    grid: Dims | None = None
    cover: Dims | None = None
    shared: int = 0
    defines: Mapping[str, str] | None = None
    include_dirs: tuple[tuple[str, Path], ...] = ()
    options: tuple[str, ...] = ()
    exact: bool = False
    inplace: bool = False


@dataclass(frozen=True, slots=True)
class FlatGraph:
    """Everything that one graph file says, expanded.

    ``broken`` names the buffers, scalars, kernels and nodes that the file has but that could not be
    read; the reason is reported already. Such a declaration is missing from its tuple; such a node
    stands as a JOIN with its edges. A mistake that concerns no such name, as in an ``after:``, puts the
    file's own name there: after any error ``broken`` is not empty. Then a name in it is not unknown, and
    checks that need the whole graph (unused, never written, races) have nothing to stand on.
    """

    name: str
    file: str
    root: Path
    order: str
    targets: tuple[tuple[str, Span], ...]
    span: Span
    symbols: Mapping[str, Number]
    scalars: tuple[FlatScalar, ...]
    buffers: tuple[FlatBuffer, ...]
    globals: tuple[FlatGlobal, ...]
    kernels: tuple[FlatKernel, ...]
    nodes: tuple[FlatNode, ...]
    may_alias: tuple[tuple[str, str, Span], ...] = ()
    allow_outside: bool = False
    broken: frozenset[str] = frozenset()
