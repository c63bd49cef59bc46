"""Writing a text file so that a failure leaves what was there."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import typer


def write_new(path: Path, text: str, *, replace: bool = False) -> None:
    """Write ``text`` beside ``path`` and rename.

    Raises typer.BadParameter if ``path`` exists and ``replace`` is false, or if it cannot be written.
    """
    if path.exists() and not replace:
        raise typer.BadParameter(f"{str(path)!r} exists; planc does not overwrite it")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise typer.BadParameter(f"cannot write beside {str(path)!r}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        if path.exists():
            Path(name).chmod(path.stat().st_mode & 0o777)
        else:
            Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
