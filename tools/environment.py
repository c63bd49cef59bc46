"""Set up the virtual environment that tools/demo and tools/test run in, with the standard library alone.

The environment is ``.venv`` beside this folder, or what ``PLANC_VENV`` names. It is made once, and
again when ``pyproject.toml`` changes.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)


class SetupProblem(Exception):
    """The environment could not be made; the text says why, in a sentence."""


def folder() -> Path:
    """Return where the environment lies."""
    return Path(os.environ.get("PLANC_VENV", ROOT / ".venv"))


def python() -> Path:
    """Return the environment's interpreter."""
    return folder() / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def ensure(extra: str) -> Path:
    """Make the environment with ``planc[extra]`` unless it is there already; return its interpreter.

    Raises SetupProblem when the interpreter is too old, has no ``ensurepip``, or the install fails.
    """
    if sys.version_info < OLDEST:
        raise SetupProblem(
            f"planc needs Python {OLDEST[0]}.{OLDEST[1]} or newer; this is {sys.version.split()[0]}"
        )
    stamp = folder() / f"planc-{extra}.stamp"
    wanted = _fingerprint()
    if stamp.is_file() and stamp.read_text() == wanted and python().is_file():
        return python()
    start = time.monotonic()
    if not python().is_file():
        _create()
    print(f"installing planc[{extra}] into {folder().name} …", flush=True)
    _install(extra)
    stamp.write_text(wanted)
    print(f"set up in {time.monotonic() - start:.0f} s, {_size(folder()) / 2**20:.0f} MiB", flush=True)
    return python()


def _fingerprint() -> str:
    text = (ROOT / "pyproject.toml").read_bytes() + str(ROOT).encode()
    return hashlib.sha256(text).hexdigest()


def _create() -> None:
    if importlib.util.find_spec("ensurepip") is None:
        raise SetupProblem(
            "this Python has no ensurepip, so no virtual environment can be made"
            " (on Debian: install python3-venv)"
        )
    made = subprocess.run([sys.executable, "-m", "venv", str(folder())], capture_output=True, text=True)
    if made.returncode:
        raise SetupProblem(f"the virtual environment could not be made: {_last_line(made)}")


def _install(extra: str) -> None:
    pip = [str(python()), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    done = subprocess.run([*pip, "--editable", f"{ROOT}[{extra}]"], capture_output=True, text=True)
    if done.returncode:
        raise SetupProblem(
            f"the packages could not be installed (is a package registry reachable?): {_last_line(done)}"
        )


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"exit code {done.returncode}"


def _size(path: Path) -> int:
    return sum(p.lstat().st_size for p in path.rglob("*") if p.is_file() and not p.is_symlink())
