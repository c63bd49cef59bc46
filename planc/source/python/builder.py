"""The Python form of a graph file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from planc.diagnostics import Collector, Span
from planc.source.collection import paused_collection
from planc.source.expressions import Number
from planc.source.flat import FlatGraph
from planc.source.project import Project
from planc.source.python.flatten import Flattening
from planc.source.python.handles import (
    After,
    BufferHandle,
    Call,
    KernelHandle,
    NodeHandle,
    ScalarHandle,
    View,
)
from planc.source.python.places import CallPlaces
from planc.source.python.records import BufferRecord, KernelRecord, NodeRecord, ScalarRecord
from planc.source.report import Report

N = TypeVar("N", int, float, bool)
Extents = int | Iterable[int]

# What `--set` gives, while a file is run that builds a graph.
SETTINGS: ContextVar[Mapping[str, Number] | None] = ContextVar("SETTINGS", default=None)


class Graph:
    """A graph, built call by call; it means what the same graph means as a file.

    Methods declare symbols, scalars, buffers, globals and kernels, and add nodes in program order.
    Nothing is checked until :meth:`flatten` (which :func:`planc.check` and :func:`planc.compile` call), so
    that all mistakes are reported at once, each at the line of its call.
    """

    def __init__(
        self,
        name: str,
        *,
        order: str = "explicit",
        targets: Iterable[str] = (),
        may_alias: Iterable[Iterable[str | BufferHandle]] = (),
        folder: str | Path | None = None,
        settings: Mapping[str, Number] | None = None,
    ) -> None:
        """Begin an empty graph.

        ``order`` is ``explicit`` or ``inferred``; ``targets`` are architectures as ``sm_90``; ``may_alias``
        are groups of buffers that the service may bind to overlapping memory. Files are named from
        ``folder``, by default that of the calling file. ``settings`` replace symbols.
        """
        self._places = CallPlaces()
        self.name = name
        self.order = order
        self.targets = tuple(targets)
        self.may_alias = tuple(tuple(group) for group in may_alias)
        self.span = self._places.caller()
        self.file = _file(self.span)
        self.folder = Path(folder) if folder is not None else self.file.parent
        self.settings: Mapping[str, Number] = settings if settings is not None else (SETTINGS.get() or {})
        self.symbols: list[tuple[str, object, Span]] = []
        self.scalars: list[ScalarRecord] = []
        self.buffers: list[BufferRecord] = []
        self.kernels: list[KernelRecord] = []
        self.nodes: list[NodeRecord] = []

    # -- declarations ---------------------------------------------------------------------------

    def symbol(self, name: str, value: N) -> N:
        """Declare a number and return it, or what the settings give in its place.

        A symbol binds to kernel parameters of its name, as in a file.
        """
        self.symbols.append((name, value, self._places.caller()))
        given = self.settings.get(name)
        if type(given) is type(value):
            return given
        if type(value) is float and type(given) is int:
            return float(given)
        return value

    def scalar(
        self,
        name: str,
        dtype: str,
        value: Number,
        *,
        slot: bool = False,
        range: tuple[Number, Number] | None = None,
    ) -> ScalarHandle:
        """Declare a scalar of element type ``dtype``; a ``slot`` can change between replays, in ``range``."""
        self.scalars.append(ScalarRecord(name, dtype, value, slot, range, self._places.caller()))
        return ScalarHandle(self, name)

    def buffer(
        self,
        name: str,
        dtype: str,
        shape: Extents,
        role: str = "scratch",
        *,
        data: object = None,
        embed: bool | None = None,
        align: int | None = None,
        inplace: bool = False,
    ) -> BufferHandle:
        """Declare an array of ``shape`` elements in C order.

        ``role`` is ``input``, ``output``, ``inout``, ``constant``, ``state`` or ``scratch``. ``data`` of a
        constant is a file (``"weights.npz:w1"``), a number, or nested lists (a NumPy array is taken by
        value).
        """
        span = self._places.caller()
        self.buffers.append(BufferRecord(name, dtype, shape, role, data, embed, align, inplace, span))
        return BufferHandle(self, name, (), _shape(shape))

    def global_(
        self,
        name: str,
        kernel: KernelHandle,
        dtype: str,
        shape: Extents,
        *,
        data: object = None,
        embed: bool | None = None,
    ) -> BufferHandle:
        """Declare the data of a ``__device__`` or ``__constant__`` variable in the module of ``kernel``."""
        span = self._places.caller()
        owner = kernel.name if isinstance(kernel, KernelHandle) else str(kernel)
        self.buffers.append(BufferRecord(name, dtype, shape, "", data, embed, None, False, span, owner))
        return BufferHandle(self, name, (), _shape(shape))

    def kernel(
        self,
        name: str,
        *,
        entry: str,
        source: str | Path | None = None,
        ptx: str | Path | None = None,
        cubin: str | Path | None = None,
        block: Extents | None = None,
        grid: Extents | None = None,
        cover: Extents | None = None,
        shared: int = 0,
        defines: Mapping[str, str | Number] | None = None,
        include_dirs: Iterable[str | Path] = (),
        options: Iterable[str] = (),
        exact: bool = False,
        inplace: bool = False,
    ) -> KernelHandle:
        """Declare a kernel of a file (``source``, ``ptx`` or ``cubin``), with the keys of a graph file."""
        self.kernels.append(
            KernelRecord(
                name,
                {"source": source, "ptx": ptx, "cubin": cubin},
                entry,
                {"block": block, "grid": grid, "cover": cover},
                shared,
                defines,
                tuple(include_dirs),
                tuple(options),
                exact,
                inplace,
                self._places.caller(),
            )
        )
        return KernelHandle(self, name)

    # -- nodes ----------------------------------------------------------------------------------

    def run(
        self,
        call: Call,
        *,
        id: str | None = None,
        after: After = None,
        grid: Extents | None = None,
        cover: Extents | None = None,
        block: Extents | None = None,
        shared: int | None = None,
    ) -> NodeHandle:
        """Launch a kernel: ``g.run(step(src=u, dst=v), after=seed)``."""
        dims = {"grid": grid, "cover": cover, "block": block}
        return self._node("run", id, after, {"call": call, "dims": dims, "shared": shared})

    def fill(
        self,
        target: View,
        value: Number,
        *,
        item: int | None = None,
        id: str | None = None,
        after: After = None,
    ) -> NodeHandle:
        """Set every element to ``value``; with ``item`` (1, 2 or 4) to a raw pattern of so many bytes."""
        return self._node("fill", id, after, {"target": target, "value": value, "item": item})

    def copy(self, target: View, source: View, *, id: str | None = None, after: After = None) -> NodeHandle:
        """Copy ``source`` to ``target``, of the same shape and element type."""
        return self._node("copy", id, after, {"target": target, "source": source})

    def join(self, *, after: After, id: str | None = None) -> NodeHandle:
        """Add a node that does nothing itself: a name for the moment when everything in ``after`` is done."""
        return self._node("join", id, after, {})

    def _node(self, kind: str, id: str | None, after: After, parts: Mapping[str, object]) -> NodeHandle:
        row = len(self.nodes)
        name = f"{kind}#{row}" if id is None else id
        self.nodes.append(NodeRecord(kind, name, after, self._places.caller(), parts))
        return NodeHandle(self, row, name)

    # -- result ---------------------------------------------------------------------------------

    def flatten(
        self,
        *,
        settings: Mapping[str, Number] | None = None,
        allow_outside: bool = False,
        collector: Collector | None = None,
    ) -> FlatGraph | None:
        """Return the graph as the rest of planc reads it.

        Mistakes go to ``collector``; without one, errors raise :class:`planc.diagnostics.GraphError`.
        ``settings`` can only repeat what the graph was built with: Python has used the symbols already.
        """
        found = collector or Collector()
        project = Project.around(self.folder, allow_outside)
        with paused_collection():
            given = self.settings if settings is None else settings
            flat = Flattening(self, project, Report(found)).flat(given)
        if collector is None:
            found.raise_errors()
        return flat


def _file(span: Span) -> Path:
    return Path.cwd() / span.file if not span.file.startswith("<") else Path.cwd() / "graph.py"


def _shape(shape: Extents) -> tuple[int, ...]:
    """Return the shape for a handle; what is wrong with it is reported later."""
    if isinstance(shape, Iterable):
        return tuple(shape)
    return (shape,)
