"""``planc inspect``: what a plan holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from planc.cli.failures import guarded
from planc.cli.options import Format, ReportFormat


@guarded
def inspect(
    path: Annotated[Path, typer.Argument(help="A plan.", exists=True, dir_okay=False)],
    format: Format = ReportFormat.TEXT,
) -> None:
    """Show a plan: digests, memory, buffers, slots, kernels, nodes, edges and effects."""
    from planc.plan.inspect import inspect_plan
    from planc.plan.render import render_inspection

    inspection = inspect_plan(path)
    if format is ReportFormat.JSON:
        typer.echo(json.dumps(inspection.to_json(), indent=2))
    else:
        typer.echo(render_inspection(inspection), nl=False)
