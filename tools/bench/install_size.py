"""Measure both installs in fresh environments: MiB on disk, and how many packages.

    python tools/bench/install_size.py OUTPUT.json

Needs a package registry. Python's own files are not counted.
"""

from __future__ import annotations

import datetime
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTALLS = {"base": str(ROOT), "author": f"{ROOT}[author]"}


def measure(requirement: str, folder: Path) -> dict[str, int]:
    """Install ``requirement`` into a fresh environment at ``folder``; return its size."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    before = size(folder)
    python = folder / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", requirement], check=True)
    packages = len(list(folder.glob("lib/python*/site-packages/*.dist-info"))) - 1
    return {"mebibytes": round((size(folder) - before) / 2**20), "packages": packages}


def size(folder: Path) -> int:
    """Return the bytes of the regular files below ``folder``."""
    return sum(p.lstat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


def main() -> None:
    """Measure, write, print."""
    with tempfile.TemporaryDirectory() as folder:
        found = {name: measure(what, Path(folder) / name) for name, what in INSTALLS.items()}
    about = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }
    text = json.dumps({**about, "installs": found}, indent=2) + "\n"
    Path(sys.argv[1]).write_text(text)
    print(text, end="")


if __name__ == "__main__":
    main()
