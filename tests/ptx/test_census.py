"""The coverage that tools/census.py counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.ptx.helpers import DATA
from tools.census import Census, Form, main, missing_in, program_bounds, read_census, share

CENSUS = DATA / "ptx_census.tsv"
HEAD = "# Forms of 10 small programs: form, occurrences, programs\n"


def test_the_promise_of_breadth() -> None:
    """Every form in three programs or more, and at least 97 % of all occurrences."""
    census = read_census(CENSUS)
    assert census.programs == 152
    often = share([form for form in census.forms if form.programs >= 3])
    assert often["forms_covered"] == often["forms"]
    every = share(census.forms)
    assert every["occurrences"] == 304140
    assert every["occurrences_covered"] >= 0.97 * every["occurrences"]


def test_shares_and_bounds() -> None:
    forms = (
        Form("add.s32", 100, 9, True),
        Form("odd.b32", 7, 3, False),
        Form("odder.b32", 1, 2, False),
    )
    census = Census(forms, 10)
    assert share(census.forms) == {
        "forms": 3, "forms_covered": 1, "occurrences": 108, "occurrences_covered": 100,
    }  # fmt: skip
    assert program_bounds(census) == (5, 7)
    assert program_bounds(Census(forms[:1], 10)) == (10, 10)
    assert program_bounds(Census((Form("a", 1, 8, False), Form("b", 1, 8, False)), 10)) == (0, 2)


def test_unknown_forms_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "census.tsv"
    table.write_text(HEAD + "add.s32\t5\t4\nfrobnicate.b32\t2\t1\n")
    own = tmp_path / "k.ptx"
    own.write_text(".version 9.0\n.target sm_90\n.entry k { frobnicate.b32 1, 2; ret; }")
    assert main([str(table), "--own", str(own), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["missing"] == [{"name": "frobnicate.b32", "occurrences": 2, "programs": 1, "covered": False}]
    assert (found["programs_covered_at_least"], found["programs_covered_at_most"]) == (9, 9)
    assert (found["own_programs"], found["own_programs_covered"]) == (1, 0)
    assert found["own_missing"] == {str(own): ["frobnicate.b32"]}


def test_own_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert missing_in(DATA / "plain.ptx") == []
    assert main([str(CENSUS), "--own", str(DATA / "plain.ptx"), str(DATA / "switch.ptx")]) == 0
    assert "own programs wholly covered: 2 of 2" in capsys.readouterr().out


def test_another_file_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "census.tsv"
    table.write_text("form,occurrences\nadd.s32,5\n")
    with pytest.raises(SystemExit, match="of how many programs"):
        read_census(table)


def test_as_a_command() -> None:
    command = [sys.executable, DATA.parents[2] / "tools" / "census.py", CENSUS]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    assert done.stdout.startswith("forms ")
