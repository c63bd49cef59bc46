"""Arrays of the command line: NumPy files, read and written."""

from __future__ import annotations

import tokenize
from pathlib import Path

import typer

from planc.cli.writing import replace_file

# What np.load raises for files that are cut short, are no array, or ask for more memory than there is.
_UNREADABLE = (OSError, ValueError, EOFError, MemoryError, SyntaxError, TypeError, tokenize.TokenError)


def load_array(file: Path) -> object:
    """Return the array of a ``.npy`` file. Raises typer.BadParameter where there is none."""
    import zipfile

    import numpy as np

    shown = repr(str(file))
    if not file.is_file():
        why = "it is not a file" if file.exists() else "it does not exist"
        raise typer.BadParameter(f"cannot read {shown} as a NumPy array: {why}")
    try:
        with file.open("rb") as handle:
            array = np.load(handle, allow_pickle=False)
    except (*_UNREADABLE, zipfile.BadZipFile) as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        raise typer.BadParameter(f"cannot read {shown} as a NumPy array: {why}") from None
    if not isinstance(array, np.ndarray):
        raise typer.BadParameter(f"{shown} is an archive; give a file with one array (.npy)")
    return array


def save_array(file: Path, array: object) -> None:
    """Write an array as ``.npy``, beside and renamed. Raises typer.BadParameter where that fails."""
    import numpy as np

    replace_file(file, lambda handle: np.save(handle, np.asarray(array)))
