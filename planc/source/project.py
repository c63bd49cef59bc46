"""Which files a graph file may name: those of its project."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from planc.source.report import Report
from planc.source.syntax import Text, label_of

ROOT_MARKS: tuple[str, ...] = (".git", "planc.toml")


@dataclass(frozen=True, slots=True)
class Project:
    """The folder below which a graph file may name files (``root``), and the graph file's own folder.

    Both are absolute with symbolic links resolved. With ``allow_outside`` there is no border.
    """

    root: Path
    folder: Path
    allow_outside: bool = False

    @classmethod
    def around(cls, folder: Path, allow_outside: bool = False) -> Project:
        """Return the project of a graph file in ``folder``.

        Its root is the nearest folder upward that holds ``.git`` or ``planc.toml``, or ``folder`` itself.
        """
        here = folder.resolve()
        root = next((f for f in (here, *here.parents) if any((f / m).exists() for m in ROOT_MARKS)), here)
        return cls(root, here, allow_outside)

    def file(self, where: Text, folder: Path, report: Report) -> Path | None:
        """Return the absolute path that the text ``where`` names from ``folder``, symbolic links resolved.

        Reports PLC101 for what is no path, PLC163 for a path outside the root. The file need not exist.
        """
        try:
            path = (folder / where.text).resolve()
        except (OSError, RuntimeError, ValueError):
            cure = "name a file, relative to this one"
            report.add("PLC101", f"`{where.text[:80]}` is not a path", where.span, help=cure)
            return None
        if not self.allow_outside and not path.is_relative_to(self.root):
            report.add(
                "PLC163",
                f"`{where.text}` lies outside the project",
                where.span,
                help="move it below the project's folder, or pass `--allow-outside`",
                notes=[f"the project's folder is `{label_of(self.root)}`"],
                facts={"path": where.text},
            )
            return None
        return path

    def label(self, text: str, folder: Path) -> str:
        """Return the path ``text``, named from ``folder``, as seen from the graph file."""
        return Path(os.path.relpath(folder / text, self.folder)).as_posix()
