"""PTX arithmetic on a real GPU against planc's, bit by bit (short runs of tools/fuzz/straight_line.py)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from planc.simt.arith import OPCODES
from tools.fuzz import straight_line
from tools.fuzz.compare import Report
from tools.fuzz.driver import Gpu
from tools.fuzz.engines import GpuEngine
from tools.fuzz.programs import exact_forms

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpu() -> Iterator[GpuEngine]:
    try:
        device = Gpu()
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"no NVIDIA GPU: {error}")
    with device:
        yield GpuEngine(device)


def _differing(report: Report) -> str:
    """The forms that differ in value by themselves: not in a NaN's payload or by the optimiser alone."""
    rows = [r for r in report.as_json()["forms"] if r["real"]]
    return "\n".join(
        f"{r['form']}: {r['mismatches']} of {r['cases']}, {json.dumps(r['examples'][:1])}" for r in rows
    )


@pytest.mark.parametrize("opcode", [o for o in OPCODES if o != "set" and exact_forms(o)])
def test_single_forms(gpu: GpuEngine, opcode: str) -> None:
    report = straight_line.run_forms(gpu, exact_forms(opcode), 1000, 50)
    assert _differing(report) == ""
    assert len(report.tallies) == len(exact_forms(opcode))


def test_set_forms(gpu: GpuEngine) -> None:
    report = straight_line.run_forms(gpu, exact_forms("set"), 100, 100)
    assert _differing(report) == ""


def test_random_programs(gpu: GpuEngine) -> None:
    report = straight_line.run_programs(gpu, 200, seed=1, threads=128, per_module=50)
    assert _differing(report) == ""


def test_approximate_forms_keep_the_bounds_of_the_manual(gpu: GpuEngine) -> None:
    report = straight_line.run_approximate(gpu, 2000, 50)
    assert _differing(report) == ""
