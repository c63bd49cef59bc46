"""Which files a command means when it is given a folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import typer

_SUFFIXES = (".yaml", ".yml", ".json", ".plan")
_LOOKS_LIKE_GRAPH = re.compile(rb'^\s*\{?\s*"?planc"?\s*:', re.M)


def find_files(paths: Iterable[Path]) -> list[Path]:
    """Return files as given, and below each folder the graph files and plans, sorted.

    Below a folder a graph is a YAML or JSON file that is called ``graph`` or has a ``planc:`` key.
    Raises typer.BadParameter for a path that does not exist.
    """
    found: list[Path] = []
    for path in paths:
        if not path.exists():
            raise typer.BadParameter(f"{str(path)!r} does not exist", param_hint="PATHS")
        found += sorted(p for p in path.rglob("*") if _is_graph(p)) if path.is_dir() else [path]
    return list(dict.fromkeys(found))


def _is_graph(path: Path) -> bool:
    if path.suffix not in _SUFFIXES or not path.is_file():
        return False
    if path.suffix == ".plan" or path.stem == "graph":
        return True
    with path.open("rb") as file:
        return _LOOKS_LIKE_GRAPH.search(file.read(4096)) is not None
