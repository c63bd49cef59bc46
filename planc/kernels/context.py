"""What building the kernels of one graph shares, and what building one module gives."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from planc.diagnostics import Collector, Diagnostic
from planc.kernels.artifact import GlobalSymbol, ModuleArtifact
from planc.kernels.cache import Cache
from planc.kernels.cudaheaders import CudaHeaders
from planc.kernels.declarations import SourceEntry
from planc.kernels.facts import EntryFacts
from planc.kernels.target import Target
from planc.kernels.toolkit import Toolkit
from planc.plan.digests import sha256
from planc.plan.program import Image
from planc.source.flat import FlatKernel


@dataclass(frozen=True, slots=True)
class Context:
    """The graph's targets and project, the tools, and where reports go."""

    targets: tuple[Target, ...]
    root: Path
    base: Path | None
    allow_outside: bool
    toolkit: Toolkit
    cache: Cache
    headers: CudaHeaders
    collector: Collector
    step: Callable[[str], None]

    @property
    def target_names(self) -> list[str]:
        """The targets as the graph names them."""
        return [target.real for target in self.targets]


@dataclass(frozen=True, slots=True)
class ModuleBuild:
    """A module with what is known of each entry on each target (by name of target, then symbol).

    ``names`` map template instances to symbols; ``declared`` are the source's declarations.
    """

    module: ModuleArtifact
    facts: Mapping[str, Mapping[str, EntryFacts]]
    names: Mapping[str, str] = field(default_factory=dict)
    declared: tuple[SourceEntry, ...] = ()


Group = tuple[FlatKernel, ...]
"""Kernels that share a source and everything that can change what is made of it."""


def report_all(found: Sequence[Diagnostic], context: Context) -> bool:
    """Hand over reports; return whether there were none."""
    context.collector.extend(found)
    return not found


def image(target: Target, form: str, data: bytes) -> Image:
    """Return an image with its digest (SHA-256, hexadecimal)."""
    return Image(target.real, form, sha256(data), data)


def module_artifact(
    group: Group, images: Sequence[Image], globals_: Mapping[str, GlobalSymbol]
) -> ModuleArtifact:
    """Return the module of a group. Its key hashes its images and name, nothing of the machine."""
    first = group[0]
    digest = hashlib.sha256()
    for part in (first.form, first.path_label, str(first.exact), *(f"{i.target} {i.digest}" for i in images)):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\0")
    return ModuleArtifact(digest.hexdigest(), first.path_label, tuple(images), dict(globals_), first.exact)
