"""plans/broken: one failing graph or plan for each code, each found at its marked line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from planc.cli.app import app
from planc.diagnostics import CATALOGUE
from planc.diagnostics.manual import manual_page

ROOT = Path(__file__).resolve().parents[2]


def test_the_folder_is_what_the_manual_pages_give() -> None:
    done = subprocess.run(
        [sys.executable, "tools/broken", "--check"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_code_is_found_at_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["check", "plans/broken", "--format", "json"])
    assert result.exit_code == 1, result.output[-500:]
    found = set()
    for item in json.loads(result.stdout)["diagnostics"]:
        span = item["span"] or {"file": "", "line": 0}
        found.add((span["file"], span["line"], item["code"]))
    codes = {code for _, _, code in found}
    wanted = set()
    for code in CATALOGUE:
        page = manual_page(code)
        if page.failing.files[0].language != "python":
            wanted |= {(f"plans/broken/{code}/{file}", line, c) for file, line, c in page.failing.expected}
    assert wanted <= found
    by_files = {p.name for p in (ROOT / "plans/broken").iterdir()}
    others = set(CATALOGUE) - by_files
    assert codes >= by_files
    # What no committed file can cause has an example in Python, which test_manual.py runs.
    assert {c for c in others if manual_page(c).failing.files[0].language != "python"} == set()
