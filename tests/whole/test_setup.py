"""tools/demo on a machine that lacks something: a sentence, and on it goes where it can."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A Python without ensurepip, as Debian ships it, and one without planc's packages too.
_LACKS = """
import importlib.util, runpy, sys
true = importlib.util.find_spec
lacking = set({lacking!r})
importlib.util.find_spec = lambda name, *more: None if name in lacking else true(name, *more)
sys.path.insert(0, "tools")
sys.argv = ["tools/demo"]
runpy.run_path("tools/demo", run_name="__main__")
"""


def demo(folder: Path, *lacking: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _LACKS.format(lacking=lacking)],
        cwd=ROOT,
        env={**os.environ, "PLANC_VENV": str(folder / "venv")},
        capture_output=True,
        text=True,
    )


def test_without_ensurepip_the_committed_plan_is_replayed(tmp_path: Path) -> None:
    done = demo(tmp_path, "ensurepip")
    assert done.returncode == 0, done.stderr
    assert "has no ensurepip" in done.stderr and "digits.plan" in done.stderr
    assert "predictions equal to NumPy's: 1797 of 1797" in done.stdout


def test_without_the_packages_too_it_says_so(tmp_path: Path) -> None:
    done = demo(tmp_path, "ensurepip", "numpy", "msgpack")
    assert done.returncode == 1
    assert "lacks numpy, msgpack" in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "venv").exists()


def test_without_a_registry_it_says_so(tmp_path: Path) -> None:
    code = "import sys; sys.path.insert(0, 'tools'); import environment; environment.ensure('author')"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PLANC_VENV": str(tmp_path / "venv"), "PIP_INDEX_URL": "http://127.0.0.1:9/simple"}
        | {"PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull, "PIP_NO_CACHE_DIR": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "packages could not be installed (is a package registry reachable?)" in done.stderr
