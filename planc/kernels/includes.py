"""Finding the files that a CUDA source includes, before the compiler sees any of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from planc.kernels.cudaheaders import CudaHeaders, line_marker
from planc.kernels.cxxtext import CxxText, pieces
from planc.kernels.headers import C_HEADERS
from planc.kernels.paths import Namer, display_path, is_inside, lexical
from planc.kernels.sources import MAX_FILE_BYTES, MAX_PROJECT_FILES, ProjectFile, SourceSet, Unresolved

_INCLUDE = re.compile(r'(\s*#(?:\s|\\\n)*include(?:\s|\\\n)*)(["<])([^">\n]+)[">]')
_HAS_INCLUDE = re.compile(r'(__has_include\s*\(\s*)(["<])([^">\n]+)[">]')


class Unreadable(Exception):
    """A file cannot be used; ``reason`` says why in the words of a message."""

    def __init__(self, path: Path, reason: str) -> None:
        """Keep both."""
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


@dataclass(frozen=True, slots=True)
class SearchScope:
    """Where a source may look: its include folders, and the project that it must not leave."""

    include_dirs: tuple[Path, ...]
    root: Path
    allow_outside: bool


def refuse_special(path: Path) -> None:
    """Raise Unreadable for a pipe or a device: one waits for its writer, the other may never end."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise Unreadable(path, "not a file")


def read_text(path: Path) -> str:
    """Read a source file. Bytes that are not UTF-8 survive as surrogates.

    Raises Unreadable for a file that is missing, too large or has zero bytes in it.
    """
    refuse_special(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise Unreadable(path, (error.strerror or type(error).__name__).lower()) from error
    if len(data) > MAX_FILE_BYTES:
        raise Unreadable(path, f"more than {MAX_FILE_BYTES >> 20} MiB")
    if b"\0" in data:
        raise Unreadable(path, "not a text file: it has a zero byte")
    return data.decode("utf-8-sig", "surrogateescape")


def read_sources(path: Path, namer: Namer, scope: SearchScope, cuda: CudaHeaders) -> SourceSet:
    """Read ``path`` and all that it may include, under any condition.

    Raises Unreadable for a file that is there but cannot be used.
    """
    return _Reader(namer, scope, cuda).read(path)


class _Reader:
    def __init__(self, namer: Namer, scope: SearchScope, cuda: CudaHeaders) -> None:
        self._namer = namer
        self._scope = scope
        self._cuda = cuda
        self._keys: dict[Path, str] = {}
        self._order: list[Path] = []
        self._system: dict[str, None] = {}
        self._unresolved: list[Unresolved] = []

    def read(self, path: Path) -> SourceSet:
        self._key(path)
        files: list[ProjectFile] = []
        texts: list[str] = []
        while len(files) < len(self._order):
            if len(files) == MAX_PROJECT_FILES:
                raise Unreadable(path, f"it includes more than {MAX_PROJECT_FILES} files")
            here = self._order[len(files)]
            file = ProjectFile(self._namer.name(here), display_path(here), here, read_text(here))
            files.append(file)
            texts.append(line_marker(file.name) + self._rewritten(file))
        system = self._cuda.closure(list(self._system))
        headers = {f"planc:{i}": text for i, text in enumerate(texts) if i > 0}
        headers |= {name: system[name] for name in sorted(system)}
        cuda = frozenset(name for name in system if name not in C_HEADERS)
        return SourceSet(texts[0], headers, tuple(files), cuda, tuple(self._unresolved))

    def _key(self, path: Path) -> str:
        absolute = lexical(path)
        if absolute not in self._keys:
            self._keys[absolute] = f"planc:{len(self._order)}"
            self._order.append(absolute)
        return self._keys[absolute]

    def _rewritten(self, file: ProjectFile) -> str:
        found = []
        position = 0
        text = CxxText(file.text)
        for piece in pieces(file.text):
            if piece.kind == "directive":
                found.append(file.text[position : piece.start])
                directive = file.text[piece.start : piece.stop]
                found.append(self._directive(directive, file, text.place(piece.start)[0]))
                position = piece.stop
        return "".join([*found, file.text[position:]])

    def _directive(self, directive: str, file: ProjectFile, line: int) -> str:
        include = _INCLUDE.match(directive)
        if include is None:
            return _HAS_INCLUDE.sub(lambda m: self._asked(m, file), directive)
        name = self._resolve(include[2] == '"', include[3], file, line)
        if name is None:
            return directive
        # A continued line must stay as many lines as it was.
        return f"{include[1]}<{name}>{directive[include.end() :]}"

    def _asked(self, match: re.Match[str], file: ProjectFile) -> str:
        before = len(self._unresolved)
        name = self._resolve(match[2] == '"', match[3], file, 0)
        del self._unresolved[before:]
        return match[0] if name is None else f"{match[1]}<{name}>"

    def _resolve(self, quoted: bool, spelled: str, file: ProjectFile, line: int) -> str | None:
        outside = None
        for folder in [*([file.path.parent] if quoted else []), *self._scope.include_dirs]:
            path = lexical(folder / spelled)
            if not path.is_file():
                continue
            if self._scope.allow_outside or is_inside(path, self._scope.root):
                return self._key(path)
            outside = outside or str(path)
        name = spelled if spelled in C_HEADERS else self._cuda.find(spelled)
        if name is None:
            self._unresolved.append(Unresolved(file.name, line, spelled, outside))
        else:
            self._system[name] = None
        return name


def missing_folders(include_dirs: Sequence[tuple[str, Path]]) -> list[str]:
    """Return the include folders, as written, that are not there."""
    return [text for text, path in include_dirs if not path.is_dir()]
