"""The command line as a person meets it: outputs, exit codes, and what is never overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from planc.cli.app import app

FILLS = """\
planc: 1
name: fills
scalars: {k: i32 = 3}
buffers: {x: "i32[8] output", y: "i32[8] inout"}
nodes:
  - {id: a, fill: "x = 7"}
  - {id: b, fill: "y[0:4] = 1"}
"""
RACE = """\
planc: 1
name: race
buffers:
  x: i32[8] output
nodes:
  - id: first
    fill: x = 1
  - id: second
    fill: x[4:8] = 2
"""


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def planc(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def write(name: str, text: str) -> str:
    Path(name).write_text(text)
    return name


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from planc.cli.app import app; "
        "heavy = {'numpy', 'networkx', 'cuda', 'pydantic', 'yaml', 'msgpack', 'ml_dtypes'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_check_a_good_file() -> None:
    result = planc("check", write("graph.yaml", FILLS.replace("scalars: {k: i32 = 3}\n", "")))
    assert result.exit_code == 0, result.output


def test_check_reports_a_race_and_exits_with_1() -> None:
    result = planc("check", write("graph.yaml", RACE), "--format", "json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    (race,) = [d for d in report["diagnostics"] if d["severity"] == "error"]
    assert "first" in race["message"] and "second" in race["message"]
    assert report["files"][0]["file"] == "graph.yaml"


def test_fix_mends_the_race_in_the_file() -> None:
    path = write("graph.yaml", RACE)
    assert planc("check", path, "--fix").exit_code == 0
    assert "after: first" in Path(path).read_text()
    assert planc("check", path).exit_code == 0


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif", "github"])
def test_every_format_names_the_place(form: str) -> None:
    result = planc("check", write("graph.yaml", RACE), "--format", form)
    assert result.exit_code == 1 and "graph.yaml" in result.stdout


def test_compile_inspect_run() -> None:
    write("graph.yaml", RACE.replace("fill: x[4:8] = 2", "fill: x[4:8] = 2\n    after: first"))
    assert planc("compile", "graph.yaml", "-o", "race.plan").exit_code == 0
    facts = json.loads(planc("inspect", "race.plan", "--format", "json").stdout)
    assert "race" in json.dumps(facts)
    assert planc("inspect", "race.plan").exit_code == 0
    result = planc("run", "race.plan", "--save", "x=x.npy", "--format", "json")
    assert result.exit_code == 0, result.output
    assert np.load("x.npy").tolist() == [1, 1, 1, 1, 2, 2, 2, 2]


def test_run_takes_inputs() -> None:
    write("graph.yaml", FILLS.replace("scalars: {k: i32 = 3}\n", ""))
    assert planc("compile", "graph.yaml", "-o", "fills.plan").exit_code == 0
    np.save("y.npy", np.arange(8, dtype=np.int32))
    result = planc("run", "fills.plan", "--input", "y=y.npy", "--save", "y=out.npy")
    assert result.exit_code == 0, result.output
    assert np.load("out.npy").tolist() == [1, 1, 1, 1, 4, 5, 6, 7]


def test_a_failed_compile_leaves_the_old_plan() -> None:
    assert planc("compile", write("graph.yaml", FILLS), "-o", "race.plan").exit_code == 0
    precious = Path("race.plan").read_bytes()
    assert planc("compile", write("graph.yaml", RACE), "-o", "race.plan").exit_code == 1
    assert Path("race.plan").read_bytes() == precious
    assert sorted(p.name for p in Path().iterdir()) == ["graph.yaml", "race.plan"]


def test_usage_errors_exit_with_2() -> None:
    write("graph.yaml", RACE)
    for arguments in (
        ["check", "missing.yaml"],
        ["check", "graph.yaml", "--set", "n"],
        ["check", "graph.yaml", "--set", "n=pear"],
        ["explain", "PLC000"],
        ["compile"],
        ["frobnicate"],
    ):
        assert planc(*arguments).exit_code == 2, arguments


def test_a_plan_that_is_none_is_refused_without_a_traceback() -> None:
    Path("bad.plan").write_bytes(b"no plan")
    for command in ("inspect", "run", "check"):
        result = planc(command, "bad.plan")
        assert result.exit_code == 1 and "PLC6" in result.output and "Traceback" not in result.output


def test_a_missing_gpu_exits_with_4_and_names_the_cpu_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    write("graph.yaml", RACE.replace("fill: x[4:8] = 2", "fill: x[4:8] = 2\n    after: first"))
    assert planc("compile", "graph.yaml", "-o", "race.plan").exit_code == 0
    result = planc("run", "race.plan", "--device", "cuda:0")
    assert result.exit_code == 4 and "cpu" in result.output


def test_a_fault_of_planc_exits_with_3_and_asks_for_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    import planc.api

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(planc.api, "check", broken)
    result = planc_check_with_fault()
    assert result.exit_code == 3 and "PLC900" in result.output and "report" in result.output


def planc_check_with_fault() -> Result:
    return planc("check", write("graph.yaml", RACE))


def test_new_makes_a_graph_that_checks() -> None:
    assert planc("new", "first").exit_code == 0
    assert planc("check", "first").exit_code == 0
    again = planc("new", "first")
    assert again.exit_code == 2 and "exists" in again.output


def test_new_from_a_kernel_makes_a_graph_that_checks() -> None:
    write(
        "k.cu", "__global__ void k(const float* x, float* y, int n) { if (threadIdx.x < n) y[0] = x[0]; }\n"
    )
    assert planc("new", "--from", "k.cu").exit_code == 0
    result = planc("check", "graph.yaml")
    assert result.exit_code == 0, result.output


def test_schema_and_doctor_and_explain() -> None:
    assert json.loads(planc("schema").stdout)["type"] == "object"
    assert "cpu device" in json.loads(planc("doctor", "--format", "json").stdout)
    assert "PLC900" in planc("explain").stdout
    assert json.loads(planc("explain", "900", "--format", "json").stdout)["code"] == "PLC900"
