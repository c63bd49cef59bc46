"""Each sample graph, compiled from its file and replayed on the CPU device, against NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import planc
from tests.samples.references import SAMPLES, Sample


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    for sample in SAMPLES:
        planc.write(folder / f"{sample.name}.plan", planc.compile(sample.graph))
    return folder


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_replay_equals_numpy(sample: Sample, plans: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = sample.inputs()
    with planc.load(plans / f"{sample.name}.plan").instantiate("cpu") as executable:
        for name, array in given.items():
            executable.write(name, array)
        executable.replay(**sample.scalars).wait()
        for name, wanted in sample.expected(given).items():
            np.testing.assert_allclose(executable.read(name), wanted, rtol=sample.tolerance, atol=1e-7)
    if sample.name == "hello":
        assert capfd.readouterr().out == "hello, the number is 42\n"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.name)
def test_committed_plan_is_the_compilers(sample: Sample, plans: Path) -> None:
    """The bytes in the repository are what this compiler writes (``tools/golden`` renews them)."""
    assert sample.golden.read_bytes() == (plans / f"{sample.name}.plan").read_bytes()


def test_hello_is_replayed_with_several_values(plans: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with planc.load(plans / "hello.plan").instantiate("cpu") as executable:
        for number in (0, 7, 1000):
            executable.replay(number=number).wait()
    assert capfd.readouterr().out == "".join(f"hello, the number is {n}\n" for n in (0, 7, 1000))


def test_every_sample_is_here() -> None:
    folders = {p.parent.name for p in SAMPLES[0].graph.parent.parent.glob("*/graph.yaml")}
    assert folders == {s.name for s in SAMPLES}
