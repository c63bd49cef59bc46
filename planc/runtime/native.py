"""The native loops (native.c): compiled on first use into the user's cache folder, and loaded from there.

Why not by the package's build: the wheel stays one for every platform and Python, an install needs no
compiler, a checkout needs no install, and the binary always belongs to the source that runs. The environment:

- ``PLANC_NATIVE=0`` keeps to Python;
- ``PLANC_CACHE`` is planc's cache (default ``$XDG_CACHE_HOME/planc``, ``~/.cache/planc``), in whose folder
  ``native`` it lies; a service's container gets it filled by calling :func:`native` once where there is a
  compiler;
- ``CC`` is the compiler (default ``cc``).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import importlib.util
import logging
import os
import platform
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

_LOG = logging.getLogger("planc.runtime")
_SOURCE = Path(__file__).with_name("native.c")
_FLAGS = ("-O2", "-shared", "-fPIC", "-fvisibility=hidden")
_COMPILE_SECONDS = 60
_NAME = "planc.runtime._native"


@dataclass(frozen=True, slots=True)
class Native:
    """The loaded extension; without one, ``reason`` says why not."""

    module: ModuleType | None
    reason: str = ""
    path: Path | None = None

    def __str__(self) -> str:
        """Say in a phrase which loop is in use."""
        if self.module is None:
            return f"in Python ({self.reason})"
        return f"native ({self.path})"


class _Unavailable(Exception):
    """There is no native loop; the text says why."""


@functools.cache
def native() -> Native:
    """Return the native loops, compiled if they are not in the cache yet. Never raises."""
    try:
        found = _found()
    except _Unavailable as reason:
        found = Native(None, str(reason))
    except (OSError, RuntimeError) as error:  # RuntimeError: this user has no home folder
        found = Native(None, f"{type(error).__name__}: {error}")
    _LOG.info("the loop over a graph's nodes is %s", found)
    return found


def _found() -> Native:
    """Load the extension, compiled now if it is not there or not what its name says. Raises _Unavailable."""
    if os.environ.get("PLANC_NATIVE") == "0":
        raise _Unavailable("PLANC_NATIVE is 0")
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise _Unavailable("this Python has no limited API")
    if sys.platform != "linux" or sys.maxsize < 2**32:
        raise _Unavailable("it is compiled on 64-bit Linux only")
    digest = source_digest()
    path = _private(_folder()) / f"_native-{digest[:24]}.abi3.so"
    # Looked at before it is loaded: a path that was loaded once is not loaded anew.
    if path.is_file() and digest.encode() in path.read_bytes():
        return Native(_import(path), path=path)
    compile_native(path, digest)
    return Native(_import(path), path=path)


def source_digest() -> str:
    """Return the digest of the source, of how it is compiled, and of the kind of machine."""
    about = " ".join((*_FLAGS, sys.platform, platform.machine()))
    return hashlib.sha256(_SOURCE.read_bytes() + about.encode()).hexdigest()


def _folder() -> Path:
    chosen = os.environ.get("PLANC_CACHE")
    if chosen:
        return Path(chosen) / "native"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "planc" / "native"


def _private(folder: Path) -> Path:
    """Make the folder. Code is loaded from it, so refuse one that others can write to."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    about = folder.stat()
    if about.st_uid not in (os.getuid(), 0) or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _Unavailable(f"{folder} can be written to by others")
    return folder


def compile_native(path: Path, digest: str, *more: str) -> None:
    """Compile native.c to a new file, then give it its name, so that nobody sees half of it.

    ``more`` are further options. Raises _Unavailable.
    """
    compiler = shlex.split(os.environ.get("CC", "cc"))
    if not compiler or shutil.which(compiler[0]) is None:
        raise _Unavailable(f"no C compiler `{' '.join(compiler)}`")
    handle, made = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    os.close(handle)
    headers = sysconfig.get_paths()["include"]
    command = [
        *compiler,
        *_FLAGS,
        f'-DPLANC_DIGEST="{digest}"',
        f"-I{headers}",
        *more,
        str(_SOURCE),
        "-o",
        made,
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMPILE_SECONDS, check=False)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise _Unavailable(f"`{compiler[0]}` failed: {lines[0]}")
        Path(made).chmod(0o700)
        Path(made).replace(path)
    except subprocess.TimeoutExpired:
        raise _Unavailable(f"`{compiler[0]}` took more than {_COMPILE_SECONDS} s") from None
    finally:
        Path(made).unlink(missing_ok=True)


def _import(path: Path) -> ModuleType:
    """Load the extension. Raises _Unavailable."""
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(path))
    spec = importlib.util.spec_from_loader(_NAME, loader)
    if spec is None:
        raise _Unavailable(f"{path} cannot be loaded")
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        raise _Unavailable(f"{path} cannot be loaded: {error}") from None
    return module
