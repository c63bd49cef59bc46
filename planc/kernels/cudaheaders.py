"""CUDA's own headers as in-memory headers, so that their folder is unknown to the compiler."""

from __future__ import annotations

import os.path
import re
from collections.abc import Sequence
from pathlib import Path

from planc.kernels.headers import C_HEADERS
from planc.kernels.paths import lexical

_INCLUDE = re.compile(r'^([ \t]*#[ \t]*include[ \t]*)(["<])([^">\n]+)[">]', re.M)


class CudaHeaders:
    """Finds and rewrites the headers of the wheels; remembers what it has read.

    Every ``#include`` inside them is rewritten to the one name of the file it leads to, so a header
    that is reached in two ways is still one file to ``#pragma once``. An ``#include`` of a
    macro stays, and the compiler finds that one on the disk.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        """Search ``folders`` in order."""
        self._folders = [str(lexical(folder)) for folder in folders]
        self._paths: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._loaded: dict[str, tuple[str, tuple[str, ...]]] = {}

    def find(self, spelled: str, beside: str | None = None) -> str | None:
        """Return the name of the header that ``spelled`` leads to from the folder ``beside``."""
        for folder in ([beside] if beside else []) + self._folders:
            path = os.path.normpath(f"{folder}/{spelled}")
            if path in self._names:
                return self._names[path]
            if self._is_ours(path) and Path(path).is_file():
                return self._remember(path)
        return None

    def load(self, name: str) -> tuple[str, tuple[str, ...]]:
        """Return the text of a found header and the names of the headers it includes."""
        if name not in self._loaded:
            self._loaded[name] = self._read(name)
        return self._loaded[name]

    def closure(self, names: Sequence[str]) -> dict[str, str]:
        """Return the texts of ``names`` and of everything they may include; C headers too."""
        found: dict[str, str] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name], inner = self.load(name)
                waiting += inner
        return found

    def _is_ours(self, path: str) -> bool:
        return any(path.startswith(folder + os.sep) for folder in self._folders)

    def _remember(self, path: str) -> str:
        short = self._relative(path, self._folders[::-1])
        if short in self._paths or self._first(short) != path:
            short = self._relative(path, self._folders)
        self._paths[short] = path
        self._names[path] = short
        return short

    def _relative(self, path: str, folders: Sequence[str]) -> str:
        home = next(folder for folder in folders if path.startswith(folder + os.sep))
        return os.path.relpath(path, home).replace(os.sep, "/")

    def _first(self, spelled: str) -> str | None:
        places = (os.path.normpath(f"{folder}/{spelled}") for folder in self._folders)
        return next((path for path in places if Path(path).is_file()), None)

    def _read(self, name: str) -> tuple[str, tuple[str, ...]]:
        if name not in self._paths:
            return _c_header(name)
        path = self._paths[name]
        text = Path(path).read_bytes().decode("utf-8", "surrogateescape")
        inner: list[str] = []

        def rewritten(match: re.Match[str]) -> str:
            beside = str(Path(path).parent) if match[2] == '"' else None
            target = self.find(match[3], beside) or (match[3] if match[3] in C_HEADERS else None)
            if target is None:
                return match[0]
            inner.append(target)
            return f"{match[1]}<{target}>"

        return line_marker(f"cuda/{name}") + _INCLUDE.sub(rewritten, text), tuple(inner)


def _c_header(name: str) -> tuple[str, tuple[str, ...]]:
    text = C_HEADERS[name]
    return line_marker(f"planc/{name}") + text, tuple(m[3] for m in _INCLUDE.finditer(text))


def line_marker(name: str) -> str:
    """Return the directive that makes ``name`` the name of the lines after it."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'#line 1 "{escaped}"\n'
