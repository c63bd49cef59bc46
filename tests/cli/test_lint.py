"""``planc lint``: kinds and places of every kernel of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from planc.cli.app import app

ROOT = Path(__file__).resolve().parents[2]


def lint(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["lint", *arguments])


def kinds(result: Result) -> list[list[str]]:
    assert result.exit_code == 0, result.output
    kernels = json.loads(result.stdout)["files"][0]["kernels"]
    return [[p["kind"] for p in kernel["parameters"]] for kernel in kernels]


def test_cuda_source() -> None:
    result = lint(str(ROOT / "plans/heat2d/heat.cu"), "--format", "json")
    assert kinds(result) == [["read", "write"]]
    assert "heat.cu:12" in lint(str(ROOT / "plans/heat2d/heat.cu")).stdout


def test_ptx_of_another_compiler() -> None:
    result = lint(str(ROOT / "tests/ptx/data/triton_vadd_90.ptx"), "--format", "json")
    assert kinds(result)[0][:3] == ["read", "read", "write"]


def test_what_does_not_parse_or_compile_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.ptx").write_text(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k( {\n")
    result = lint("bad.ptx")
    assert result.exit_code == 1 and "bad.ptx:4" in result.output and "Traceback" not in result.output
    Path("bad.cu").write_text("__global__ void k(float* x) { x[0] = nothing; }\n")
    result = lint("bad.cu")
    assert result.exit_code == 1 and "bad.cu:1" in result.output and "nothing" in result.output
