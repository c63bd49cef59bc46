"""``planc run``: replay a plan once or more, with inputs and outputs in NumPy files."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from planc.cli.failures import guarded
from planc.cli.options import Format, ReportFormat, number, pairs
from planc.cli.progress import progress_bar

if TYPE_CHECKING:
    from planc.runtime import Executable


@guarded
def run(
    path: Annotated[Path, typer.Argument(help="A plan.", exists=True, dir_okay=False)],
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
    format: Format = ReportFormat.TEXT,
) -> None:
    """Replay a plan on a device. A buffer that takes input and is given none starts as zeros."""
    import planc.runtime as runtime

    values = {name: number(text, "--arg") for name, text in pairs(arg, "--arg").items()}
    targets = {name: Path(file) for name, file in pairs(save, "--save").items()}
    plan = runtime.load(path)
    constants = {name: _array(Path(file)) for name, file in pairs(constant, "--constant").items()}
    start = time.perf_counter()
    with (
        progress_bar() as report,
        plan.instantiate(device, memory=memory, constants=constants) as executable,
    ):
        loaded = time.perf_counter()
        _write_inputs(executable, {n: Path(f) for n, f in pairs(input, "--input").items()})
        for count in range(replays):
            report("replaying", count, replays)
            executable.replay(**values).wait()
        done = time.perf_counter()
        for name, file in targets.items():
            _save(file, executable.read(name))
    facts = {
        "plan": str(path),
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


def _write_inputs(executable: Executable, files: dict[str, Path]) -> None:
    import numpy as np

    from planc.plan.dtypes import DTYPES

    for name, file in files.items():
        executable.write(name, _array(file))
    for name, buffer in executable.inputs.items():
        if name not in files:
            executable.write(name, np.zeros(buffer.shape, DTYPES[buffer.dtype].numpy))


def _array(file: Path) -> object:
    import numpy as np

    try:
        return np.load(file, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"cannot read {str(file)!r} as a NumPy array: {error}") from None


def _save(file: Path, array: object) -> None:
    import numpy as np

    beside = file.with_name(f".{file.name}.partial")
    with beside.open("wb") as handle:
        np.save(handle, np.asarray(array))
    beside.replace(file)
