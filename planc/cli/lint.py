"""``planc lint``: what kernels read and write, from their PTX alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planc.cli.failures import guarded
from planc.cli.options import Format, ReportFormat
from planc.cli.progress import progress_bar

if TYPE_CHECKING:
    from planc.effects import KernelLint, LintEffect
    from planc.ptx.syntax import Module


@guarded
def lint(
    paths: Annotated[
        list[Path], typer.Argument(help="PTX (.ptx) or CUDA C++ files.", exists=True, dir_okay=False)
    ],
    format: Format = ReportFormat.TEXT,
) -> None:
    """Say per kernel and parameter what is read, written, reduced or unknown, and where."""
    from planc.effects import lint_as_json, lint_module

    found: dict[str, list[KernelLint]] = {}
    with progress_bar() as report:
        for number, path in enumerate(paths):
            report(str(path), number, len(paths))
            found[str(path)] = [kernel for module in _modules(path) for kernel in lint_module(module)]
    if format is ReportFormat.JSON:
        files = [{"file": file, "kernels": lint_as_json(kernels)} for file, kernels in found.items()]
        typer.echo(json.dumps({"files": files}, indent=2))
        return
    typer.echo("\n".join(line for file, kernels in found.items() for line in _text(file, kernels)))


def _modules(path: Path) -> list[Module]:
    """Return the PTX of a file: its own, or what its kernels compile to for the newest default target.

    Raises :class:`planc.diagnostics.GraphError` where the file does not compile or parse.
    """
    from planc.ptx import parse

    if path.suffix == ".ptx":
        return [parse(path.read_text(encoding="utf-8", errors="replace"), str(path))]
    from planc.diagnostics import Collector
    from planc.kernels import build_kernels, new_graph_text
    from planc.source import load_text

    collector = Collector()
    flat = load_text(new_graph_text(path), folder=path.parent, collector=collector)
    collector.raise_errors()
    if flat is None:
        return []
    artifacts = build_kernels(flat.kernels, flat.targets, root=flat.root, collector=collector)
    collector.raise_errors()
    modules = {a.module.key: a.module for a in artifacts.values()}
    images = [[i for i in module.images if i.form == "ptx"] for module in modules.values()]
    return [parse(bytes(ptx[-1].data).decode(), str(path)) for ptx in images if ptx]


def _text(file: str, kernels: Iterable[KernelLint]) -> Iterable[str]:
    for kernel in kernels:
        yield f"{file}: {kernel.name}"
        for effect in (*kernel.parameters, *kernel.globals):
            yield from _effect(effect)
        yield from (f"  external: {what}" for what in kernel.external)
        yield from (f"  unknown: {what}" for what in kernel.unknown)


def _effect(effect: LintEffect) -> Iterable[str]:
    kind = f"{effect.kind} ({effect.operator})" if effect.operator else effect.kind
    yield f"  {effect.name}: {kind}{f': {effect.reason}' if effect.reason else ''}"
    for access in effect.accesses:
        place = f"{access.file}:{access.source_line}" if access.file else f"line {access.line} of the PTX"
        yield f"    {access.kind} of {access.width} bytes at {access.address or '?'}  ({place})"
