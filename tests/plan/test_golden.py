"""The bytes of format 0.1 do not change unnoticed.

After a deliberate change of the format, write the files anew and look at the difference:

    python -m tests.plan.test_golden --bless
"""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random

import pytest

from planc.plan import decode, encode, program_digest, read
from planc.plan.example import example_plan
from planc.plan.program import Plan
from tests.plan.generate import random_plan

FOLDER = Path(__file__).parent / "data"


def _goldens() -> dict[str, Plan]:
    return {"example-0.1.plan": example_plan(), "variants-0.1.plan": random_plan(Random(2024))}


def test_example_has_its_golden_bytes() -> None:
    assert encode(example_plan()) == (FOLDER / "example-0.1.plan").read_bytes()


@pytest.mark.parametrize("name", sorted(_goldens()))
def test_golden_files_are_read_and_written_alike(name: str) -> None:
    golden = (FOLDER / name).read_bytes()
    assert encode(decode(golden)) == golden
    assert encode(read(FOLDER / name)) == golden


def test_variants_golden_is_worth_keeping() -> None:
    plan = read(FOLDER / "variants-0.1.plan")
    assert len(plan.programs) > 1 and max(map(len, plan.schedules)) > 1
    assert sum(len(program.nodes) for program in plan.programs) > 5


def test_program_digest_of_the_example() -> None:
    """Pinned: digests are written down by users, so a change of their definition must not slip in."""
    wanted = (FOLDER / "example-program-digest.txt").read_text().strip()
    assert program_digest(example_plan().programs[0]) == wanted


if __name__ == "__main__" and sys.argv[1:] == ["--bless"]:
    FOLDER.mkdir(exist_ok=True)
    for name, plan in _goldens().items():
        (FOLDER / name).write_bytes(encode(plan))
    digest = program_digest(example_plan().programs[0])
    (FOLDER / "example-program-digest.txt").write_text(digest + "\n")
