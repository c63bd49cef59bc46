"""The options of ``planc check`` that replay on the CPU device, and what they do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from planc.cli.arrays import load_array
from planc.cli.options import number, pairs
from planc.cli.progress import Report

if TYPE_CHECKING:
    from planc.api import CheckReport
    from planc.tracing_api import Feed

Trace = Annotated[
    bool, typer.Option("--trace", help="Replay once on the CPU and compare each access with the effects.")
]
Shuffle = Annotated[
    int,
    typer.Option("--shuffle", min=0, metavar="N", help="Replay N other legal orders and compare memory."),
]
Input = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="NAME=FILE.npy", help="Bytes of a buffer for replays; else random."),
]
Constant = Annotated[
    list[str] | None, typer.Option("--constant", metavar="NAME=FILE.npy", help="Supply a constant.")
]
Arg = Annotated[
    list[str] | None, typer.Option("--arg", metavar="NAME=VALUE", help="Value of a scalar slot for replays.")
]
Seed = Annotated[int, typer.Option("--seed", help="Of random inputs and orders.")]
Budget = Annotated[
    int | None, typer.Option("--budget", min=1, help="Most thread-instructions of one node in replays.")
]


@dataclass(frozen=True, slots=True)
class Replays:
    """What the options ask for."""

    trace: bool
    shuffle: int
    inputs: list[str] | None
    constants: list[str] | None
    arguments: list[str] | None
    seed: int
    budget: int | None

    @property
    def wanted(self) -> bool:
        """Whether a replay is asked for. Raises typer.BadParameter for an option that needs one."""
        given = {"--input": self.inputs, "--constant": self.constants, "--arg": self.arguments}
        replays = self.trace or bool(self.shuffle)
        for option, value in given.items():
            if value and not replays:
                raise typer.BadParameter("it needs --trace or --shuffle", param_hint=option)
        return replays

    def run(
        self, path: Path, settings: Mapping[str, int | float], allow_outside: bool, report: Report
    ) -> CheckReport:
        """Trace, shuffle, or both; the second only where the first finds no error."""
        from dataclasses import replace

        from planc.tracing_api import shuffle, trace

        feed = self._feed()
        found = None
        if self.trace:
            found = trace(path, feed=feed, settings=settings, allow_outside=allow_outside, progress=report)
        if self.shuffle and (found is None or found.ok):
            second = shuffle(
                path,
                self.shuffle,
                feed=feed,
                settings=settings,
                allow_outside=allow_outside,
                progress=report,
            )
            first = found.diagnostics if found is not None else ()
            every = (*first, *(d for d in second.diagnostics if d not in first))
            verdict = second.verdict if found is None or not second.ok else _joined(found, second)
            found = replace(second, diagnostics=every, verdict=verdict)
        assert found is not None
        return found

    def _feed(self) -> Feed:
        from planc.tracing_api import BUDGET, Feed

        return Feed(
            {name: load_array(Path(file)) for name, file in pairs(self.inputs, "--input").items()},
            {name: number(text, "--arg") for name, text in pairs(self.arguments, "--arg").items()},
            {name: load_array(Path(file)) for name, file in pairs(self.constants, "--constant").items()},
            self.seed,
            self.budget or BUDGET,
        )


def _joined(first: CheckReport, second: CheckReport) -> str:
    """Return the first verdict and the last sentence of the second: they begin alike."""
    return f"{first.verdict}; {second.verdict.rpartition('; ')[2]}"
