"""From exceptions to what the person sees and the exit code."""

from __future__ import annotations

import contextlib
import functools
import platform
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

import planc
from planc.diagnostics import DeviceError, Diagnostic, InternalFault, PlancError
from planc.diagnostics.render import RENDERERS

EXIT_USER, EXIT_USAGE, EXIT_FAULT, EXIT_DEVICE = 1, 2, 3, 4
_MOST_EXCERPT = 32 << 20
"""Bytes of a file that an excerpt may come from: more than planc reads of any text."""
_EXIT_BY_ERROR: tuple[tuple[type[PlancError], int], ...] = (
    (DeviceError, EXIT_DEVICE),
    (InternalFault, EXIT_FAULT),
    (PlancError, EXIT_USER),
)


def guarded(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command: every planc error is rendered, every other exception becomes PLC900.

    The wrapped command's ``format`` option, where it has one, chooses the form.
    """

    @functools.wraps(command)
    def wrapper(*args: Any, **kwargs: Any) -> None:
        form = str(kwargs.get("format", "text"))
        try:
            command(*args, **kwargs)
        except PlancError as error:
            show(error.diagnostics, form)
            if isinstance(error, InternalFault):
                typer.echo(_plea(error), err=True)
            raise typer.Exit(exit_code(error)) from None
        except (typer.Exit, typer.Abort, typer.BadParameter):
            raise
        except KeyboardInterrupt:
            raise typer.Exit(130) from None
        except BrokenPipeError:
            raise typer.Exit(EXIT_USER) from None
        except OSError as error:
            _surroundings(error)
            raise typer.Exit(EXIT_USAGE) from None
        except Exception as error:
            fault = InternalFault(Diagnostic("PLC900", f"planc failed: {type(error).__name__}: {error}"))
            show(fault.diagnostics, form)
            typer.echo(_plea(error), err=True)
            raise typer.Exit(EXIT_FAULT) from None

    return wrapper


def _surroundings(error: OSError) -> None:
    """Say what of the machine failed: a full disk, a folder that is gone, a file that may not be read."""
    what = f"`{error.filename}`" if error.filename else "standard output"
    why = (error.strerror or type(error).__name__).lower()
    try:
        Path.cwd()
    except FileNotFoundError:
        what, why = "the working folder", "it does not exist any more; change to one that does"
    with contextlib.suppress(OSError):
        typer.echo(f"Error: {what} cannot be used: {why}", err=True)


def exit_code(error: PlancError) -> int:
    """Return the exit code for an error."""
    return next(code for kind, code in _EXIT_BY_ERROR if isinstance(error, kind))


def show(diagnostics: tuple[Diagnostic, ...], form: str) -> None:
    """Print diagnostics: text to standard error, forms for programs to standard output."""
    renderer = RENDERERS.get(form, RENDERERS["text"])
    typer.echo(renderer(diagnostics, read_text), err=form not in RENDERERS or form == "text", nl=False)


def read_text(path: str) -> str | None:
    """Return the text of a file for an excerpt, or None where it has none.

    A pipe or a device is not opened: one waits for its writer, the other may never end.
    """
    try:
        if not Path(path).is_file():
            return None
        with Path(path).open("rb") as file:
            return file.read(_MOST_EXCERPT).decode("utf-8", errors="replace")
    except OSError:
        return None


def _plea(error: BaseException) -> str:
    where = "".join(traceback.format_tb(error.__traceback__)[-3:])
    return (
        f"This is a bug in planc {planc.__version__} ({platform.platform()}, "
        f"Python {platform.python_version()}; arguments: {' '.join(sys.argv[1:])}). "
        f"Please report it with the lines below.\n{where}"
    )
