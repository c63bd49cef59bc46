"""What building a kernel gives: images per target, entries, parameters, resources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planc.plan.program import Image


@dataclass(frozen=True, slots=True)
class SourceParameter:
    """A parameter as the ``__global__`` declaration writes it.

    ``dtype`` is a planc element type or None (a struct, an unknown typedef); ``text`` is the type as
    written; ``const`` is true for a pointer to const. ``file`` is the file of the declaration as a
    person types it (a header, maybe); ``line`` is 0 where there is no declaration to show.
    """

    name: str
    text: str
    dtype: str | None
    pointer: bool
    const: bool
    line: int
    column: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class EntryParameter:
    """A parameter as the PTX has it: bytes at ``offset`` of the parameter block."""

    offset: int
    size: int
    align: int


@dataclass(frozen=True, slots=True)
class Resources:
    """What one entry needs on one target; ``registers`` per thread, None where not known (PTX only).

    ``static_shared``, ``local`` and ``parameter_bytes`` are in bytes; ``max_threads`` is the least of
    ``.maxntid`` and what the registers allow; ``required_block`` is ``.reqntid``.
    """

    static_shared: int
    local: int
    parameter_bytes: int
    max_threads: int
    registers: int | None = None
    required_block: tuple[int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class GlobalSymbol:
    """A ``__device__`` or ``__constant__`` variable of a module."""

    name: str
    space: str
    size: int
    align: int
    initialised: bool


@dataclass(frozen=True, slots=True)
class ModuleArtifact:
    """The images of one source under one set of options.

    ``key`` is equal for kernels that share a module. ``globals`` maps a symbol as in the PTX.
    """

    key: str
    label: str
    images: tuple[Image, ...]
    globals: Mapping[str, GlobalSymbol]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class KernelArtifact:
    """One kernel of a graph, built. ``source_parameters`` None: no declaration to be had (PTX, cubin)."""

    name: str
    symbol: str
    module: ModuleArtifact
    parameters: tuple[EntryParameter, ...]
    source_parameters: tuple[SourceParameter, ...] | None
    resources: Mapping[str, Resources]
