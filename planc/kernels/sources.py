"""The values that reading a kernel's files gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MAX_FILE_BYTES = 16 << 20
MAX_PROJECT_FILES = 2_000


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file of the author's: ``name`` is relative to the graph, ``display`` as a person types it."""

    name: str
    display: str
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Unresolved:
    """An ``#include`` that names nothing planc may read; ``outside`` is the file it would be."""

    file: str
    line: int
    spelled: str
    outside: str | None = None


@dataclass(frozen=True, slots=True)
class SourceSet:
    """Exactly what the compiler is given for one source.

    ``text`` is the main file and ``headers`` the others by the name under which an ``#include`` of
    ``text`` asks for them. Both start with a ``#line`` that carries the graph-relative name, so
    that no name of the build machine is known to the compiler. ``project`` are the author's files,
    the main one first. ``cuda`` names the wheel headers among ``headers``: their wheel's version
    stands for their bytes.
    """

    text: str
    headers: Mapping[str, str]
    project: tuple[ProjectFile, ...]
    cuda: frozenset[str]
    unresolved: tuple[Unresolved, ...]

    @property
    def main(self) -> ProjectFile:
        """The file that the kernel names."""
        return self.project[0]

    def display(self, name: str) -> str | None:
        """Return how to show a file of the author's; None for CUDA's and planc's headers."""
        return next((file.display for file in self.project if file.name == name), None)
