"""Python in a process of its own, with a libcuda.so.1 made of host memory (host_driver.c)."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _headers() -> Path | None:
    found = importlib.util.find_spec("nvidia")
    for folder in (found.submodule_search_locations or []) if found else []:
        for header in Path(folder).rglob("cuda.h"):
            return header.parent
    return None


def build(folder: Path) -> dict[str, str]:
    """Compile the driver into a folder and return an environment in which it is found."""
    compiler, headers = shutil.which("cc") or shutil.which("gcc"), _headers()
    if compiler is None or headers is None or importlib.util.find_spec("cuda") is None:
        pytest.skip("needs a C compiler, cuda.h and cuda-bindings")
    source = ROOT / "tests/runtime/host_driver.c"
    command = [compiler, "-O1", "-shared", "-fPIC", f"-I{headers}", str(source)]
    subprocess.run([*command, "-o", str(folder / "libcuda.so.1"), "-ldl", "-lpthread"], check=True)
    return {**os.environ, "LD_LIBRARY_PATH": str(folder)}


def run(code: str, environment: dict[str, str]) -> str:
    """Run Python and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
