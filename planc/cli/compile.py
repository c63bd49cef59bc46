"""``planc compile``: a graph file to a plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from planc.cli.failures import guarded, show
from planc.cli.options import AllowOutside, Format, ReportFormat, Settings, settings
from planc.cli.progress import progress_bar
from planc.cli.writing import check_target


@guarded
def compile_command(
    path: Annotated[Path, typer.Argument(help="A graph file.", exists=True, dir_okay=False)],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The plan to write; by default NAME.plan here.")
    ] = None,
    set_: Settings = None,
    allow_outside: AllowOutside = False,
    format: Format = ReportFormat.TEXT,
) -> None:
    """Check a graph and compile it to a plan. An existing plan is replaced only by a good one."""
    from planc.api import check as check_graph
    from planc.api import plan_of
    from planc.plan import file_digest, program_digest, write
    from planc.plan.layout import MAGIC

    if output is not None:
        check_target(output, begins=MAGIC, what="a plan")
    with progress_bar() as report:
        checked = check_graph(path, settings=settings(set_), allow_outside=allow_outside, progress=report)
        plan = plan_of(checked)
        target = output or Path(f"{plan.programs[0].name}.plan")
        check_target(target, begins=MAGIC, what="a plan")
        write(target, plan)
    if checked.diagnostics and format is ReportFormat.TEXT:
        show(checked.diagnostics, "text")
    program = plan.programs[0]
    facts = {
        "plan": str(target),
        "bytes": target.stat().st_size,
        "nodes": len(program.nodes),
        "edges": len(program.edges),
        "program": program_digest(program),
        "file": file_digest(target.read_bytes()),
        "verdict": plan.verdict,
    }
    if format is ReportFormat.JSON:
        typer.echo(json.dumps(facts, indent=2))
    else:
        typer.echo(
            f"{target}: {facts['bytes']:,} bytes, {facts['nodes']} nodes, {facts['edges']} edges; "
            f"{plan.verdict}\nprogram {facts['program']}"
        )
