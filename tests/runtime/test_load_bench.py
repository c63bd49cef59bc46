"""The benchmark of loading, once through, on a driver made of host memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runtime.hosted import ROOT


@pytest.mark.parametrize("way", ["planc", "floor", "floor, edges last", "cuda.bindings"])
def test_a_way_loads_and_tells_its_stages(environment: dict[str, str], tmp_path: Path, way: str) -> None:
    command = [sys.executable, "tools/bench/load.py", "--one", way, "--case", "lanes 2048"]
    done = subprocess.run(
        [*command, "--plans", str(tmp_path), "--image", "ptx"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seconds = json.loads(done.stdout)
    assert {"modules", "memory", "add", "instantiate", "upload", "launch", "warm"} <= set(seconds)
    assert seconds["add"] > 0 and seconds["warm"] > 0
