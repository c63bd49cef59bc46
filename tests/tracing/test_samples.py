"""Every sample traces clean, from its file, from its plan, and by the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from planc.cli.app import app
from planc.tracing_api import Feed, shuffle, trace
from tests.samples.references import SAMPLES, Sample

PLANS = Path(__file__).parents[2] / "plans"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_samples_trace_clean(sample: Sample) -> None:
    for source in (sample.graph, sample.golden):
        report = trace(source)
        assert report.ok and not report.diagnostics, report.diagnostics
        assert "touched nothing outside" in report.verdict
    assert not trace(sample.graph, feed=Feed(sample.inputs(), sample.scalars)).diagnostics


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_samples_do_not_differ_by_order(sample: Sample) -> None:
    report = shuffle(sample.graph, 3)
    assert report.ok and not report.diagnostics


def planc(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def test_the_command_line_traces_and_shuffles(tmp_path: Path) -> None:
    plan = str(PLANS / "euler_independent" / "euler_independent.plan")
    done = planc("check", plan, "--trace", "--shuffle", "2", "--seed", "3")
    assert done.exit_code == 0, done.output
    assert "traced once: 32 nodes touched nothing outside the effects" in done.output
    assert "2 other orders gave equal memory, which proves nothing about the rest" in done.output
    assert "traced" not in planc("check", plan).output


def test_the_command_line_takes_inputs_arguments_and_a_budget(tmp_path: Path) -> None:
    plan = str(PLANS / "heat2d" / "heat2d.plan")
    np.save(tmp_path / "u.npy", np.zeros((48, 64), np.float32))
    done = planc("check", plan, "--trace", "--input", f"u={tmp_path / 'u.npy'}", "--arg", "alpha=0.2")
    assert done.exit_code == 0, done.output
    done = planc("check", plan, "--trace", "--arg", "alpha=7", "--format", "json")
    assert done.exit_code == 1
    assert [d["code"] for d in json.loads(done.stdout)["diagnostics"]] == ["PLC713"]
    assert planc("check", plan, "--trace", "--budget", "100").exit_code == 1
    np.save(tmp_path / "u.npy", np.zeros(3, np.float32))
    done = planc("check", plan, "--trace", "--input", f"u={tmp_path / 'u.npy'}", "--format", "concise")
    assert done.exit_code == 1 and "PLC703" in done.output


def test_options_without_a_replay_are_refused() -> None:
    done = planc("check", str(PLANS / "hello"), "--arg", "number=1")
    assert done.exit_code == 2 and "it needs --trace or --shuffle" in done.output
    done = planc("check", str(PLANS / "hello"), "--trace", "--input", "x=nothing.npy")
    assert done.exit_code == 2
