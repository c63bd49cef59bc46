"""Every attempt ends as its verdict says, soon, and without a foreign exception."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from planc.plan import decode, encode, read, write
from planc.plan.example import example_plan
from tests.plan.attacks import container, memory, order
from tests.plan.attacks.attempt import Attempt
from tests.plan.refusals import codes

ATTEMPTS = (*container.ATTEMPTS, *memory.ATTEMPTS, *order.ATTEMPTS)


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=[f"{a.number:02} {a.title}" for a in ATTEMPTS])
def test_verdict(attempt: Attempt) -> None:
    data = attempt.make()
    start = time.perf_counter()
    if attempt.verdict == "accepted":
        assert encode(decode(data)) == data
    else:
        assert codes(lambda: decode(data)) == set(attempt.verdict.split())
    assert time.perf_counter() - start < 5


def test_attempts_are_numbered_and_explained() -> None:
    numbers = [attempt.number for attempt in ATTEMPTS]
    assert numbers == sorted(set(numbers))
    assert all(attempt.why for attempt in ATTEMPTS)
    assert all(("ok" in a.why) == (a.verdict == "accepted") for a in ATTEMPTS)


def test_60_writing_into_a_file_that_is_mapped(tmp_path: Path) -> None:
    """Change the file after it was checked.

    Verdict: this is NOT ok when the file is mapped, and documented: whoever may write the file
    may do worse. A plan that was read into memory does not see it.
    """
    path = tmp_path / "a.plan"
    write(path, example_plan())
    mapped, copied = read(path), read(path, mapped=False)
    data = path.read_bytes()
    at = data.index(np.float32(2.0).tobytes(), len(data) // 2)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(np.float32(3.0).tobytes())
    assert encode(copied) == data
    assert bytes(mapped.programs[0].arguments) != bytes(copied.programs[0].arguments)
