"""Writing files so that a failure leaves what was there, and nothing beside it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import typer


def check_target(path: Path, *, begins: bytes, what: str) -> None:
    """Refuse to write to ``path`` unless it is free, or a file that begins as ``what`` does.

    Raises typer.BadParameter for an empty name, a missing folder, a folder, a device, or another file.
    """
    shown = repr(str(path))
    if not path.name:
        raise typer.BadParameter(f"{shown} is not the name of a file")
    if not path.parent.is_dir():
        raise typer.BadParameter(f"cannot write {shown}: {str(path.parent)!r} is no folder")
    if not path.exists():
        return
    if not path.is_file():
        raise typer.BadParameter(f"{shown} is {'a folder' if path.is_dir() else 'no regular file'}")
    with path.open("rb") as file:
        head = file.read(len(begins))
    if head and head != begins:
        raise typer.BadParameter(f"{shown} exists and is not {what}; planc does not overwrite it")


def write_new(path: Path, text: str, *, replace: bool = False) -> None:
    """Write ``text`` beside ``path`` and rename.

    Raises typer.BadParameter if ``path`` exists and ``replace`` is false, or if it cannot be written.
    """
    if path.exists() and not replace:
        raise typer.BadParameter(f"{str(path)!r} exists; planc does not overwrite it")
    replace_file(path, lambda file: file.write(text.encode("utf-8")))


def replace_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let ``write`` fill a new file beside ``path``, then rename it; a failure leaves nothing behind.

    Raises typer.BadParameter where the system refuses, and for what is no regular file.
    """
    shown = repr(str(path))
    if not path.name or (path.exists() and not path.is_file()):
        raise typer.BadParameter(f"{shown} is {'a folder' if path.is_dir() else 'no regular file'}")
    try:
        _replace(path, write)
    except OSError as error:
        raise typer.BadParameter(f"cannot write {shown}: {error.strerror or error}") from None


def _replace(path: Path, write: Callable[[BinaryIO], object]) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o644)
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
