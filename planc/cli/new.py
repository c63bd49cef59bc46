"""``planc new``: a graph file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from planc.cli.failures import guarded
from planc.cli.writing import write_new

_KERNEL = """\
__global__ void axpy(const float* __restrict__ x, float* __restrict__ y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
"""
_GRAPH = """\
planc: 1
name: {name}
symbols: {{n: 1024}}
scalars:
  a: f32 slot = 2.0
buffers:
  x: f32[n] input
  y: f32[n] inout
kernels:
  axpy:
    source: axpy.cu
    entry: axpy(in f32* x, inout f32* y, f32 a, i32 n)
    block: 128
    cover: n                       # grid = ceildiv(cover, block)
nodes:
  - id: first
    run: axpy(x=x, y=y)            # missing arguments bind by name
  - id: second
    run: axpy(x=x, y=y)
    after: first
"""


@guarded
def new(
    folder: Annotated[
        Path | None, typer.Argument(help="A folder to make, with a graph and a kernel.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="A CUDA file to write a graph for.", exists=True, dir_okay=False),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="With --from: the file; default: graph.yaml beside it."),
    ] = None,
) -> None:
    """Write a graph file to start from: for a CUDA file (--from), or a new folder with both."""
    if source is not None:
        from planc.kernels import new_graph_text

        target = output or source.parent / "graph.yaml"
        write_new(target, new_graph_text(source, target.parent))
        typer.echo(f"wrote {target}; next: planc check {target}")
        return
    if folder is None:
        raise typer.BadParameter("name a folder to make, or a CUDA file with --from")
    if folder.exists():
        raise typer.BadParameter(f"{str(folder)!r} exists; planc does not overwrite it")
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise typer.BadParameter(f"cannot make {str(folder)!r}: {error.strerror}") from None
    write_new(folder / "axpy.cu", _KERNEL)
    write_new(folder / "graph.yaml", _GRAPH.format(name=_name(folder)))
    typer.echo(f"wrote {folder}/graph.yaml and axpy.cu; next: planc check {folder}/graph.yaml")


def _name(folder: Path) -> str:
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in folder.resolve().name)
    return name if name[:1].isalpha() else f"g_{name}"
