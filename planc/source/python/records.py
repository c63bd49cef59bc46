"""What a builder was told, before anything is checked: one record for each call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from planc.diagnostics import Span


@dataclass(frozen=True, slots=True)
class ScalarRecord:
    """A call of :meth:`Graph.scalar`."""

    name: str
    dtype: object
    value: object
    slot: object
    range: object
    span: Span


@dataclass(frozen=True, slots=True)
class BufferRecord:
    """A call of :meth:`Graph.buffer`, or with a ``kernel`` of :meth:`Graph.global_`."""

    name: str
    dtype: object
    shape: object
    role: object
    data: object
    embed: bool | None
    align: object
    inplace: bool
    span: Span
    kernel: str | None = None


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """A call of :meth:`Graph.kernel`; ``files`` by form, ``dims`` by block, grid and cover."""

    name: str
    files: Mapping[str, object]
    entry: object
    dims: Mapping[str, object]
    shared: object
    defines: object
    include_dirs: object
    options: object
    exact: bool
    inplace: bool
    span: Span


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A call of :meth:`Graph.run`, ``fill``, ``copy`` or ``join``; ``parts`` are what it was given."""

    kind: str
    name: str
    after: object
    span: Span
    parts: Mapping[str, object] = field(default_factory=dict)
