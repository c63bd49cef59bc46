"""Compiled code kept between runs, by what it was made from.

An entry is one file, named by the SHA-256 of everything that went into it, and begins with the
SHA-256 of the rest. A reader believes nothing before that digest fits, so a file that was cut
short, changed, or moved to another name is as good as absent. Writers write beside and rename, so
any number of processes may share a folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

_MAGIC = b"planc cache 1\n"
_DIGEST_BYTES = 32
_HEAD = len(_MAGIC) + _DIGEST_BYTES
_SUFFIX = ".kernel"
_STALE_SECONDS = 3_600
_LARGEST = 512 << 20
_LOW_WATER = 0.8

DEFAULT_LIMIT = 1 << 30
"""Bytes that a cache may hold before its oldest entries go."""


def default_cache_folder(environment: Mapping[str, str] | None = None, platform: str = "") -> Path:
    r"""Return ``PLANC_CACHE``, or else planc's folder among the user's caches.

    That is ``XDG_CACHE_HOME/planc`` where set, ``%LOCALAPPDATA%\planc\cache`` on Windows,
    ``~/Library/Caches/planc`` on macOS, ``~/.cache/planc`` elsewhere.
    """
    given = os.environ if environment is None else environment
    system = platform or sys.platform
    if given.get("PLANC_CACHE"):
        return Path(given["PLANC_CACHE"])
    if given.get("XDG_CACHE_HOME"):
        return Path(given["XDG_CACHE_HOME"]) / "planc"
    if system == "win32" and given.get("LOCALAPPDATA"):
        return Path(given["LOCALAPPDATA"]) / "planc" / "cache"
    home = Path(given.get("HOME") or Path.home())
    return home / ("Library/Caches/planc" if system == "darwin" else ".cache/planc")


class Cache:
    """A folder of entries; safe for many processes. It never raises for what the folder is like."""

    def __init__(self, folder: Path | None = None, limit: int = DEFAULT_LIMIT) -> None:
        """Use ``folder`` (default: :func:`default_cache_folder`), holding at most ``limit`` bytes.

        A limit of 0 keeps nothing and looks nothing up.
        """
        self.folder = (default_cache_folder() if folder is None else folder) / "kernels"
        self.limit = limit
        self.problem = ""
        """Why the last write failed; empty when it did not."""

    def path(self, key: str) -> Path:
        """Return where the entry of ``key`` (64 hexadecimal digits) is kept."""
        return self.folder / key[:2] / f"{key[2:]}{_SUFFIX}"

    def load(self, key: str) -> bytes | None:
        """Return the bytes stored under ``key``; None when there are none that prove themselves."""
        path = self.path(key)
        if self.limit <= 0:
            return None
        try:
            if path.stat().st_size > _LARGEST:
                return None
            data = path.read_bytes()
        except OSError:
            return None
        body = data[_HEAD:]
        if data[: len(_MAGIC)] != _MAGIC or data[len(_MAGIC) : _HEAD] != _seal(key, body):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)
        return body

    def store(self, key: str, body: bytes) -> bool:
        """Keep ``body`` under ``key``; False, with :attr:`problem` set, when the folder refuses."""
        path = self.path(key)
        if self.limit <= 0:
            return True
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(path, _MAGIC + _seal(key, body) + body)
        except OSError as error:
            self.problem = error.strerror or type(error).__name__
            return False
        self._prune()
        return True

    def _write(self, path: Path, data: bytes) -> None:
        handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(name).replace(path)
        except BaseException:
            with suppress(OSError):
                Path(name).unlink()
            raise

    def _prune(self) -> None:
        """Drop the longest unused entries when there are too many bytes, and abandoned new files."""
        found = list(self._files())
        total = sum(size for _, size, _ in found)
        if total <= self.limit:
            return
        for _, size, path in sorted(found):
            with suppress(OSError):
                path.unlink()
            total -= size
            if total <= self.limit * _LOW_WATER:
                return

    def _files(self) -> list[tuple[float, int, Path]]:
        """Return (last use, bytes, path) of each entry, clearing files of writers that died."""
        found = []
        now = time.time()
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = Path(folder) / name
                try:
                    status = path.stat()
                except OSError:
                    continue
                if name.endswith(_SUFFIX):
                    found.append((status.st_mtime, status.st_size, path))
                elif name.startswith(".new-") and now - status.st_mtime > _STALE_SECONDS:
                    with suppress(OSError):
                        path.unlink()
        return found


def _seal(key: str, body: bytes) -> bytes:
    """Return the digest that binds ``body`` to its key."""
    digest = hashlib.sha256(key.encode())
    digest.update(body)
    return digest.digest()
