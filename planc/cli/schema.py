"""``planc schema``: the JSON Schema of graph files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from planc.cli.failures import guarded
from planc.cli.writing import write_new


@guarded
def schema(
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write it here, replacing what is there.")
    ] = None,
) -> None:
    """Print the JSON Schema of graph files, for editors and validators."""
    from planc.model import json_schema

    text = json.dumps(json_schema(), indent=2) + "\n"
    if output is None:
        typer.echo(text, nl=False)
    else:
        write_new(output, text, replace=True)
        typer.echo(f"wrote {output}")
