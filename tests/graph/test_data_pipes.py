"""Data of a constant from what is no file: refused, and never waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import planc


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("name", ["w.npy", "w.npz:w", "w.safetensors:w"])
def test_a_named_pipe_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo(name.partition(":")[0])
    Path("graph.yaml").write_text(
        f"planc: 1\nbuffers:\n  w: f32[4] constant = {name}\n  y: f32[4] output\nnodes:\n  - copy: y <- w\n"
    )
    (found,) = planc.check("graph.yaml").diagnostics
    assert found.code == "PLC328" and "no regular file" in found.message
    assert found.span is not None and found.span.line == 3
