"""Names of targets and their launch limits."""

from __future__ import annotations

import pytest

from planc.kernels import DEFAULT_TARGETS, find_toolkit, launch_limits, parse_target, threads_for_registers
from planc.kernels.limits import LIMITS


@pytest.mark.parametrize(
    ("text", "number", "suffix"),
    [("sm_80", 80, ""), ("sm_90a", 90, "a"), ("sm_100f", 100, "f"), ("compute_75", 75, "")],
)
def test_parse(text: str, number: int, suffix: str) -> None:
    target = parse_target(text)
    assert target is not None and (target.number, target.suffix) == (number, suffix)
    assert target.virtual == f"compute_{number}{suffix}"


@pytest.mark.parametrize(
    "text", ["", "80", "sm80", "sm_8", "sm_80a", "sm_90f", "sm_080", "SM_80", "sm_80 ", "sm_90b"]
)
def test_no_target(text: str) -> None:
    assert parse_target(text) is None and launch_limits(text) is None


@pytest.mark.parametrize(
    ("ptx", "target", "runs"),
    [
        ("sm_80", "sm_80", True),
        ("sm_80", "sm_120", True),
        ("sm_86", "sm_80", False),
        ("sm_90a", "sm_90a", True),
        ("sm_90a", "sm_90", False),
        ("sm_90a", "sm_100a", False),
        ("sm_100f", "sm_103", True),
        ("sm_100f", "sm_110", False),
        ("sm_103f", "sm_100", False),
    ],
)
def test_runs_ptx_of(ptx: str, target: str, runs: bool) -> None:
    made_for, on = parse_target(ptx), parse_target(target)
    assert made_for is not None and on is not None
    assert on.runs_ptx_of(made_for) is runs


def test_every_architecture_of_the_compiler_has_limits() -> None:
    assert set(find_toolkit().architectures) == set(LIMITS)
    assert all(launch_limits(name) is not None for name in DEFAULT_TARGETS)


@pytest.mark.parametrize("number", sorted(LIMITS))
def test_limits_are_consistent(number: int) -> None:
    row = LIMITS[number]
    assert row.shared_static <= row.shared_block <= row.shared_multiprocessor
    assert row.threads_block == max(row.block) <= row.threads_multiprocessor
    assert row.threads_multiprocessor // row.blocks_multiprocessor >= row.warp


@pytest.mark.parametrize(
    ("registers", "threads"),
    [
        (0, 1024),
        (1, 1024),
        (32, 1024),
        (64, 1024),
        (65, 896),
        (80, 768),
        (96, 640),
        (128, 512),
        (129, 384),
        (255, 256),
    ],
)
def test_threads_for_registers(registers: int, threads: int) -> None:
    assert threads_for_registers(registers, LIMITS[90]) == threads
