"""``planc check``: everything that can be said about graph files without a GPU."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from planc.cli.failures import EXIT_USER, guarded, read_text
from planc.cli.find import find_files
from planc.cli.options import AllowOutside, CheckFormat, Settings, settings
from planc.cli.progress import progress_bar
from planc.cli.tracing import Arg, Budget, Constant, Input, Replays, Seed, Shuffle, Trace
from planc.diagnostics import CATALOGUE, Diagnostic, Severity
from planc.diagnostics.render import RENDERERS


@guarded
def check(
    paths: Annotated[list[Path], typer.Argument(help="Graph files, plans, or folders that hold them.")],
    set_: Settings = None,
    fix: Annotated[bool, typer.Option("--fix", help="Apply the fixes that planc is sure of.")] = False,
    allow_outside: AllowOutside = False,
    format: Annotated[CheckFormat, typer.Option("--format", help="How to report.")] = CheckFormat.TEXT,
    trace: Trace = False,
    shuffle: Shuffle = 0,
    input: Input = None,
    constant: Constant = None,
    arg: Arg = None,
    seed: Seed = 0,
    budget: Budget = None,
) -> None:
    """Check graph files (and plans): syntax, names, views, kernels, limits, order and races.

    With `--trace` or `--shuffle` they are also replayed on the CPU.
    """
    from planc.api import check as check_graph
    from planc.api import check_plan
    from planc.cli.fixing import fix_files

    values = settings(set_)
    replays = Replays(trace, shuffle, input, constant, arg, seed, budget)
    wanted = replays.wanted
    found: list[Diagnostic] = []
    verdicts: list[tuple[str, str]] = []
    with progress_bar() as report:
        files = find_files(paths)
        for number, path in enumerate(files):
            report(str(path), number, len(files))
            if path.suffix == ".plan":
                result = check_plan(path)
            else:
                result = check_graph(path, settings=values, allow_outside=allow_outside)
                if fix and fix_files(result.diagnostics):
                    result = check_graph(path, settings=values, allow_outside=allow_outside)
            if result.ok and wanted:
                result = replays.run(path, values, allow_outside, report)
            found += result.diagnostics
            verdicts.append((str(path), result.verdict))
    typer.echo(_report(tuple(found), verdicts, format), nl=False)
    if any(CATALOGUE[d.code].severity is Severity.ERROR for d in found):
        raise typer.Exit(EXIT_USER)


def _report(found: tuple[Diagnostic, ...], verdicts: list[tuple[str, str]], form: CheckFormat) -> str:
    text = RENDERERS[form](found, read_text)
    if form is CheckFormat.JSON:
        body = json.loads(text)
        body["files"] = [{"file": file, "verdict": verdict} for file, verdict in verdicts]
        return json.dumps(body, indent=2) + "\n"
    if form is not CheckFormat.TEXT:
        return text
    gap = "\n" if text else ""
    return text + gap + "".join(f"{file}: {verdict}\n" for file, verdict in verdicts)
