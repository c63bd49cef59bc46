"""A short run of the plan fuzzer, and that it notices what it is there to notice."""

from __future__ import annotations

from random import Random

import pytest

import tools.fuzz.plans as fuzz
from planc.plan import decode, encode
from planc.plan.example import example_plan
from tools.fuzz.plan_mutations import PARTS, RAW, raw_mutant, sealed_mutant

DATA = encode(example_plan())


def test_no_mutant_is_accepted_wrongly_or_breaks_the_reader() -> None:
    summary = fuzz.run(fuzz.default_plans(), 600, seed=7)
    assert summary.failures == []
    assert (summary.unsealed, summary.sealed) == (300, 300)
    assert summary.refused + summary.valid == 600 and summary.valid == sum(summary.replays.values())
    assert summary.valid > 5 and len(summary.refused_by_code) > 25
    assert summary.replays["ok"] > 0


def test_sealed_mutants_reach_the_rules() -> None:
    summary = fuzz.run([("example", DATA)], 400, seed=8, replay=False)
    late = {code for code in summary.refused_by_code if code >= "PLC628"}
    assert len(late) > 15


def test_same_seed_same_mutants() -> None:
    first, second = (list(fuzz.mutants([("example", DATA)], 40, seed=3)) for _ in range(2))
    assert first == second
    assert list(fuzz.mutants([("example", DATA)], 40, seed=4)) != first
    assert all(mutant.data != DATA for mutant in first)


def test_a_reader_that_accepts_changed_bytes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "decode", lambda data: decode(DATA))
    summary = fuzz.run([("example", DATA)], 10, seed=1, replay=False)
    assert summary.accepted_wrongly == 10 and len(summary.failures) >= 10


def test_a_foreign_exception_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(data: bytes) -> object:
        raise IndexError("row 7")

    monkeypatch.setattr(fuzz, "decode", broken)
    summary = fuzz.run([("example", DATA)], 10, seed=1)
    assert summary.foreign_exceptions == 10
    assert "seed 1, mutant 3: IndexError: row 7" in summary.failures[3]


def test_a_replay_that_hangs_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(plan: object) -> str:
        while True:
            pass

    monkeypatch.setattr(fuzz, "replay_outcome", forever)
    monkeypatch.setattr(fuzz, "MOST_SECONDS", 1)
    plans = [("example", DATA)]
    valid = next(m for m in fuzz.mutants(plans, 2000, seed=1) if m.sealed and _is_valid(m.data))
    summary = fuzz.Summary(["example"], 1)
    with pytest.raises(fuzz.TooSlow), fuzz._time_limit(1):
        fuzz._try(valid, summary, True)


def _is_valid(data: bytes) -> bool:
    from planc.diagnostics import PlanError

    try:
        decode(data)
    except PlanError:
        return False
    return True


@pytest.mark.parametrize("mutate", [*dict.fromkeys(RAW)])
def test_raw_mutations_change_something(mutate: object) -> None:
    changed = [mutate(Random(seed), DATA) for seed in range(20)]  # type: ignore[operator]
    assert any(data != DATA for data in changed)


def test_all_mutations_of_parts_are_used() -> None:
    assert len(set(PARTS)) >= 9
    assert raw_mutant(Random(1), DATA) != DATA != sealed_mutant(Random(1), DATA)


def test_replay_outcomes() -> None:
    assert fuzz.replay_outcome(example_plan()) == "ok"


def test_summary_in_words() -> None:
    summary = fuzz.run([("example", DATA)], 20, seed=1)
    words = fuzz.text(summary)
    assert "20 mutants of example (seed 1), 10 sealed again" in words
    assert summary.to_json()["refused_by_code"] == dict(sorted(summary.refused_by_code.items()))
