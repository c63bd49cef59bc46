"""A progress bar on standard error, where that is a terminal and the work takes over a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Report = Callable[[str, int, int], None]
PATIENCE = 1.0
"""Seconds before a bar is drawn."""


def _silent(stage: str, done: int, total: int) -> None:
    del stage, done, total


@contextmanager
def progress_bar() -> Iterator[Report]:
    """Give a function ``(stage, done, total)`` that draws a bar, or does nothing off a terminal."""
    import sys

    if not sys.stderr.isatty():
        yield _silent
        return
    bar = _Bar()
    try:
        yield bar.report
    finally:
        bar.stop()


class _Bar:
    """Draws nothing until :data:`PATIENCE` is over, so that short work leaves no flicker."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._start = time.monotonic()
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._task = self._progress.add_task("", total=1)

    def report(self, stage: str, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` steps of ``stage`` are over."""
        self._progress.update(self._task, description=stage, completed=done, total=total)
        if time.monotonic() - self._start >= PATIENCE:
            self._progress.start()

    def stop(self) -> None:
        """Take the bar away."""
        self._progress.stop()
