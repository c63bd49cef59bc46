"""``planc run``: replay a plan, or a graph, once or more, with inputs and outputs in NumPy files."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planc.cli.arrays import load_array, save_array
from planc.cli.failures import guarded, show
from planc.cli.options import AllowOutside, Format, ReportFormat, Settings, number, pairs, settings
from planc.cli.progress import Report, progress_bar
from planc.cli.writing import check_target

if TYPE_CHECKING:
    from planc.runtime import Executable, LoadedPlan

_GRAPHS = (".yaml", ".yml", ".json", ".py")
_NPY = b"\x93NUMPY"


@guarded
def run(
    path: Annotated[Path, typer.Argument(help="A plan, or a graph file.", exists=True, dir_okay=False)],
    device: Annotated[str, typer.Option(help="cpu (the slow, exact reference), cuda:0, …")] = "cpu",
    input: Annotated[
        list[str] | None,
        typer.Option("--input", metavar="NAME=FILE.npy", help="Write a buffer before replay."),
    ] = None,
    constant: Annotated[
        list[str] | None, typer.Option("--constant", metavar="NAME=FILE.npy", help="Supply a constant.")
    ] = None,
    arg: Annotated[
        list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="Give a scalar slot a value.")
    ] = None,
    save: Annotated[
        list[str] | None, typer.Option("--save", metavar="NAME=FILE.npy", help="Read a buffer after replay.")
    ] = None,
    replays: Annotated[int, typer.Option(min=1, help="How many times to replay.")] = 1,
    memory: Annotated[
        Literal["arena", "separate"], typer.Option(help="One arena for scratch, or an allocation each.")
    ] = "arena",
    set_: Settings = None,
    allow_outside: AllowOutside = False,
    format: Format = ReportFormat.TEXT,
) -> None:
    """Replay a plan on a device; a graph file is compiled in memory first.

    A buffer that takes input and is given none starts as zeros.
    """
    values = {name: number(text, "--arg") for name, text in pairs(arg, "--arg").items()}
    targets = {name: Path(file) for name, file in pairs(save, "--save").items()}
    for file in targets.values():
        check_target(file, begins=_NPY, what="a NumPy array")
    inputs = {name: load_array(Path(file)) for name, file in pairs(input, "--input").items()}
    constants = {name: load_array(Path(file)) for name, file in pairs(constant, "--constant").items()}
    with progress_bar() as report:
        plan = _plan(path, settings(set_), allow_outside, format, report)
        start = time.perf_counter()
        with plan.instantiate(device, memory=memory, constants=constants) as executable:
            loaded = time.perf_counter()
            for name in targets:
                executable.read(name)
            _write_inputs(executable, inputs)
            for count in range(replays):
                report("replaying", count, replays)
                executable.replay(**values).wait()
            done = time.perf_counter()
            for name, file in targets.items():
                save_array(file, executable.read(name))
    facts = {
        "graph" if path.suffix in _GRAPHS else "plan": str(path),
        "device": device,
        "replays": replays,
        "load_seconds": round(loaded - start, 6),
        "replay_seconds": round(done - loaded, 6),
        "saved": {name: str(file) for name, file in targets.items()},
    }
    if format is ReportFormat.JSON:
        typer.echo(json.dumps(facts, indent=2))
        return
    times = "once" if replays == 1 else f"{replays} times"
    typer.echo(f"replayed {path} {times} on {device} in {facts['replay_seconds']:.3f} s", err=True)


def _plan(
    path: Path, symbols: dict[str, int | float], allow_outside: bool, form: ReportFormat, report: Report
) -> LoadedPlan:
    """Load a plan, or compile a graph in memory. Raises typer.BadParameter for settings of a plan."""
    import planc.runtime as runtime

    if path.suffix not in _GRAPHS:
        if symbols or allow_outside:
            option = "--set" if symbols else "--allow-outside"
            raise typer.BadParameter("a plan is compiled already; give the graph file", param_hint=option)
        return runtime.load(path)
    from planc.api import check, plan_of

    checked = check(path, settings=symbols, allow_outside=allow_outside, progress=report)
    plan = plan_of(checked)
    if checked.diagnostics and form is ReportFormat.TEXT:
        show(checked.diagnostics, "text")
    return runtime.load(plan)


def _write_inputs(executable: Executable, arrays: dict[str, object]) -> None:
    import numpy as np

    from planc.plan.dtypes import DTYPES

    for name, array in arrays.items():
        executable.write(name, array)
    for name, buffer in executable.inputs.items():
        if name not in arrays:
            executable.write(name, np.zeros(buffer.shape, DTYPES[buffer.dtype].numpy))
