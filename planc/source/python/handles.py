"""What a builder hands out: names of a graph that arguments, targets and ``after`` take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from planc.source.python.builder import Graph

Indices = object


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A part of a buffer: ``u[1:-1, :]``; of a part again, each with its indices as given."""

    graph: Graph
    name: str
    chain: tuple[Indices, ...] = ()

    def __getitem__(self, indices: Indices) -> View:
        """Return a part of this part, with NumPy's meaning."""
        return View(self.graph, self.name, (*self.chain, indices))


@dataclass(frozen=True, slots=True, eq=False)
class BufferHandle(View):
    """A buffer of a graph; index it for a part of it. ``shape`` counts elements."""

    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ScalarHandle:
    """A scalar of a graph."""

    graph: Graph
    name: str


Value = Union[View, ScalarHandle, int, float, bool]  # noqa: UP007 - View is a string to the runtime


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A kernel with its arguments, for :meth:`Graph.run`."""

    kernel: KernelHandle
    positional: tuple[Value, ...]
    named: tuple[tuple[str, Value], ...]


@dataclass(frozen=True, slots=True, eq=False)
class KernelHandle:
    """A kernel of a graph; call it with its arguments: ``step(src=u, dst=v)``."""

    graph: Graph
    name: str

    def __call__(self, *arguments: Value, **named: Value) -> Call:
        """Return the kernel with arguments; missing ones bind by name."""
        return Call(self, arguments, tuple(named.items()))


@dataclass(frozen=True, slots=True, eq=False)
class NodeHandle:
    """A node of a graph, for ``after`` of later ones."""

    graph: Graph
    row: int
    name: str


After = Union[NodeHandle, None, Iterable["After"]]  # noqa: UP007 - it names itself
