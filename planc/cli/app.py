"""The table of commands."""

from __future__ import annotations

from typing import Annotated

import typer

import planc
from planc.cli import check, compile, doctor, explain, inspect, lint, new, run, schema

app = typer.Typer(
    name="planc",
    help="Compile a written description of a GPU graph into a plan, check it offline, replay it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    epilog="Exit codes: 0 well; 1 errors in your files; 2 usage; 3 a fault of planc; 4 device or driver.",
)

COMMANDS = (
    ("new", new.new),
    ("check", check.check),
    ("compile", compile.compile_command),
    ("inspect", inspect.inspect),
    ("run", run.run),
    ("lint", lint.lint),
    ("explain", explain.explain),
    ("schema", schema.schema),
    ("doctor", doctor.doctor),
)

for name, command in COMMANDS:
    app.command(name)(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"planc {planc.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version
