"""Names of files: relative to the graph in what is stored, as typed in what is shown."""

from __future__ import annotations

import os.path
from pathlib import Path, PurePosixPath


def lexical(path: Path) -> Path:
    """Return ``path`` made absolute, without ``..``, symbolic links left alone."""
    return Path(os.path.normpath(path.absolute()))


def display_path(path: Path) -> str:
    """Return ``path`` relative to the working folder where it lies below it, else as it is."""
    absolute = lexical(path)
    try:
        return absolute.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return absolute.as_posix()


def graph_folder(path: Path, label: str) -> Path | None:
    """Return the folder from which ``label`` leads to ``path``; None when ``label`` climbs."""
    parts = PurePosixPath(label.replace("\\", "/")).parts
    plain = [part for part in parts if part != "."]
    if not plain or ".." in plain or PurePosixPath(label).is_absolute():
        return None
    folder = lexical(path)
    return folder.parents[len(plain) - 1] if len(plain) <= len(folder.parents) else None


def is_inside(path: Path, root: Path) -> bool:
    """Whether ``path``, symbolic links followed, lies below ``root``."""
    return path.resolve().is_relative_to(root.resolve())


class Namer:
    """Gives the graph-relative name of each file that a kernel is made of."""

    def __init__(self, path: Path, label: str, root: Path, base: Path | None) -> None:
        """Name files from ``base``, the graph's folder, or from where ``label`` says it is."""
        self._root = lexical(root)
        self._path = lexical(path)
        self._label = label.replace("\\", "/")
        self._base = base if base is not None else graph_folder(path, label)

    def name(self, path: Path) -> str:
        """Return the name of ``path``; a file outside the project keeps only its last part."""
        absolute = lexical(path)
        if not absolute.is_relative_to(self._root):
            return f"outside/{absolute.name}"
        if self._base is not None:
            return Path(os.path.relpath(absolute, self._base)).as_posix()
        beside = os.path.relpath(absolute, self._path.parent)
        return Path(os.path.normpath(PurePosixPath(self._label).parent / beside)).as_posix()
