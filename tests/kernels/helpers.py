"""Flat kernels and builds in few words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planc.diagnostics import CATALOGUE, Collector, Diagnostic, Severity, Span
from planc.kernels import Cache, KernelArtifact, build_kernels
from planc.source.flat import DeclaredParameter, FlatKernel

GRAPH = "graph.yaml"


def declared(text: str) -> DeclaredParameter:
    """Read ``in f32* src``."""
    *effect, dtype, name = text.split()
    span = Span(GRAPH, 7, 9)
    return DeclaredParameter(
        name, dtype.rstrip("*"), dtype.endswith("*"), effect[0] if effect else None, span
    )


def kernel(
    folder: Path,
    file: str,
    entry: str,
    *,
    name: str = "",
    form: str = "source",
    parameters: Sequence[str] | None = None,
    **more: Any,
) -> FlatKernel:
    """Return a kernel of a graph file in ``folder``; its entry stands on line 5, its path on line 4."""
    return FlatKernel(
        name or entry,
        form,
        folder / file,
        file,
        Span(GRAPH, 4, 13),
        entry,
        Span(GRAPH, 5, 12),
        None if parameters is None else tuple(declared(p) for p in parameters),
        Span(GRAPH, 3, 3),
        **more,
    )


@dataclass(frozen=True)
class Outcome:
    """What a build gave and said."""

    artifacts: Mapping[str, KernelArtifact]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def codes(self) -> list[str]:
        return [d.code for d in self.diagnostics]

    @property
    def errors(self) -> list[Diagnostic]:
        return [d for d in self.diagnostics if CATALOGUE[d.code].severity is Severity.ERROR]

    def only(self) -> KernelArtifact:
        """Return the one artifact of a build without errors."""
        assert not self.errors, self.errors
        (artifact,) = self.artifacts.values()
        return artifact

    def one(self, code: str) -> Diagnostic:
        """Return the one report, which must have ``code``."""
        assert self.codes == [code], self.diagnostics
        return self.diagnostics[0]


class Builder:
    """Builds below one folder with one cache."""

    def __init__(self, folder: Path, cache: Cache) -> None:
        self.folder = folder
        self.cache = cache

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def build(self, *kernels: FlatKernel, targets: Sequence[Any] = ("sm_80",), **more: Any) -> Outcome:
        collector = Collector()
        settings: dict[str, Any] = {"root": self.folder, "cache": self.cache, **more}
        artifacts = build_kernels(kernels, targets, collector=collector, **settings)
        return Outcome(artifacts, collector.diagnostics)

    def source(self, text: str, entry: str, *, targets: Sequence[Any] = ("sm_80",), **more: Any) -> Outcome:
        """Build one entry of a source text."""
        self.write("k.cu", text)
        return self.build(kernel(self.folder, "k.cu", entry, **more), targets=targets)


def image(artifact: KernelArtifact, form: str, target: str = "sm_80") -> bytes:
    """Return one image's bytes."""
    (data,) = [i.data for i in artifact.module.images if i.form == form and i.target == target]
    return bytes(data)
