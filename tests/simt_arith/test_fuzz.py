"""The differential fuzzer: programs repeat, agreement is silence, a difference is found and named."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planc.simt.arith import forms
from tools.fuzz import straight_line
from tools.fuzz.compare import EXAMPLES, LARGEST, difference
from tools.fuzz.emit import case_on
from tools.fuzz.engines import InterpreterEngine, Job, Words
from tools.fuzz.evaluate import from_words, run_program
from tools.fuzz.programs import divides, may_contract, programs


class Wrong(InterpreterEngine):
    """The interpreter, with one bit of the first result of thread 3 turned over."""

    name = "wrong"

    def __init__(self, flip: int) -> None:
        self._flip = np.uint64(flip)

    def run(self, modules: Sequence[tuple[str, Sequence[Job]]]) -> Iterator[Words]:
        for words in super().run(modules):
            words[min(3, len(words) - 1), 0] ^= self._flip
            yield words


def _form(text: str) -> list:
    return [f for f in forms(text.split(".")[0]) if f.text == text]


def test_the_same_seed_gives_the_same_programs() -> None:
    first, again, other = programs(5, 1), programs(5, 1), programs(5, 2)
    assert [p.cases for p in first] == [p.cases for p in again]
    assert [p.cases for p in first] != [p.cases for p in other]
    assert all(20 <= len(p.cases) <= 60 for p in (*first, *other))


def test_programs_write_every_register_once_and_read_only_what_is_written() -> None:
    for program in programs(30, 3):
        known = set(program.input_names)
        for case in program.cases:
            assert {s for s in case.sources if s.startswith("%")} <= known
            assert not known & set(case.targets)
            known |= set(case.targets)


def test_programs_hold_only_what_the_manual_fixes_to_the_bit() -> None:
    met = {case.form for program in programs(400, 4) for case in program.cases if case.form is not None}
    assert len({f.opcode for f in met}) > 45
    assert not any(may_contract(f) or divides(f) or "approx" in f.text for f in met)
    assert any(f.carry_in for f in met) and any(f.carry_out for f in met) and any(f.pair for f in met)


def test_the_evaluator_and_the_interpreter_agree() -> None:
    report = straight_line.run_programs(InterpreterEngine(), 40, seed=6, threads=40, per_module=10)
    assert report.mismatches == 0
    assert sum(t.cases for t in report.tallies.values()) > 40 * 40 * 20
    (program,) = programs(1, 6)
    inputs = from_words(straight_line.program_inputs(program, 8, seed=0), program.input_names)
    assert set(run_program(program.cases, inputs)) == {*program.input_names, *program.outputs}


def test_single_forms_agree_and_division_by_zero_does_not_count() -> None:
    chosen = [*_form("add.cc.u32"), *_form("subc.cc.s64"), *_form("div.s32"), *_form("lop3.b32")]
    report = straight_line.run_forms(InterpreterEngine(), chosen, 500, 10)
    assert report.mismatches == 0
    assert 0 < report.tallies["div.s32"].cases < report.tallies["add.cc.u32"].cases


def test_a_wrong_bit_is_reported_with_form_and_operands() -> None:
    report = straight_line.run_forms(Wrong(1 << 7), _form("add.s32"), 100, 10)
    (row,) = report.as_json()["forms"]
    assert (row["form"], row["mismatches"], row["payload_only"]) == ("add.s32", 1, 0)
    (example,) = row["examples"]
    a, b = (int(x, 16) for x in example["operands"])
    assert int(example["planc"][0], 16) == (a + b) % 2**32
    assert int(example["other"][0], 16) == int(example["planc"][0], 16) ^ 1 << 7
    assert example["thread"] == 3


def test_a_difference_does_not_show_again_in_what_follows_from_it() -> None:
    report = straight_line.run_programs(Wrong(1), 1, seed=9, threads=16, per_module=1)
    assert 1 <= report.mismatches <= 3  # the first instruction, and those that read its result


def test_payloads_of_nans_are_told_apart_from_values() -> None:
    case = straight_line.form_run(_form("min.f64")[0], 300)
    nan = np.isnan(case.registers[case.case.sources[0]].view(np.float64))
    nan &= np.isnan(case.registers[case.case.sources[1]].view(np.float64))
    assert nan.any()

    class OtherPayload(InterpreterEngine):
        name = "payload"

        def run(self, modules: Sequence[tuple[str, Sequence[Job]]]) -> Iterator[Words]:
            for words in super().run(modules):
                words[np.isnan(words.view(np.float64))] ^= np.uint64(0x77)
                yield words

    report = straight_line.run_forms(OtherPayload(), _form("min.f64"), 300, 1)
    assert report.mismatches == report.payload_only == int(nan.sum())


def test_approximate_forms_are_judged_by_their_bounds() -> None:
    fine = straight_line.run_approximate(InterpreterEngine(), 100, 30)
    assert fine.mismatches == 0
    broken = straight_line.run_approximate(Wrong(1 << 30), 100, 30)
    assert broken.mismatches > 10
    assert broken.tallies["ex2.approx.f32"].examples[0]["operands"] == ["0xbf800000"]


def test_the_command_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--cpu-only", "--programs", "3", "--threads", "9", "--output", str(tmp_path)]
    assert straight_line.main(words) == 0
    report = json.loads((tmp_path / "report-programs-O4.json").read_text())
    assert report["totals"]["mismatches"] == 0
    assert report["totals"]["cases"] > 3 * 9 * 20
    assert report["seed"] == 1
    assert "planc interpreter" in capsys.readouterr().out


def test_the_status_says_that_something_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        straight_line, "run_programs", lambda *_: straight_line.run_forms(Wrong(1), _form("not.b32"), 9, 1)
    )
    assert straight_line.main(["--cpu-only"]) == 1


class Contextual(InterpreterEngine):
    """The interpreter, with the first result of programs wrong, but right in single forms."""

    name = "contextual"

    def run(self, modules: Sequence[tuple[str, Sequence[Job]]]) -> Iterator[Words]:
        names = [job.entry for _, jobs in modules for job in jobs]
        for name, words in zip(names, super().run(modules), strict=True):
            if name.startswith("program"):
                words[:, 0] ^= np.uint64(1)
            yield words


def test_what_the_optimiser_did_is_told_apart_and_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    report = straight_line.run_programs(Contextual(), 12, seed=21, threads=8, per_module=5)
    assert report.mismatches == report.total("in_context") + report.payload_only > 12 * 4
    assert report.real == 0
    examples = [e for row in report.as_json()["forms"] for e in row["examples"]]
    assert examples and all(e["in_context"] or e["payload_only"] for e in examples)
    wrong = straight_line.run_programs(Wrong(1), 12, seed=21, threads=8, per_module=5)
    assert wrong.real > 0 and wrong.total("in_context") == 0
    for result, status in ((report, 0), (wrong, 1)):
        monkeypatch.setattr(straight_line, "run_programs", lambda *_, result=result: result)
        assert straight_line.main(["--cpu-only"]) == status


def test_an_instruction_by_itself_has_its_constants_in_registers() -> None:
    (form,) = _form("lop3.b32")
    case = case_on(form, ["%r0", "7", "%r0", "232"], ["%r1"], table=232)
    given = {"%r0": np.array([1, 2, 3], np.uint32), "%r1": np.array([1, 2, 9], np.uint32)}
    found = difference(case, given, np.ones(3, np.bool_))
    assert found.in_value.tolist() == [False, False, True]
    single = straight_line._alone(found)
    assert single.case.sources == ("%r0", "%r1", "%r2", "232")
    assert [single.registers[f"%r{i}"].tolist() for i in range(3)] == [[3], [7], [3]]


class Scrambled(InterpreterEngine):
    """The interpreter, with bit ``i % 8`` of the result of thread i turned over."""

    name = "scrambled"

    def run(self, modules: Sequence[tuple[str, Sequence[Job]]]) -> Iterator[Words]:
        for words in super().run(modules):
            words[:, 0] ^= np.uint64(1) << (np.arange(len(words)) // 40 % 8).astype(np.uint64)
            yield words


def test_a_report_shows_unlike_differences_and_stays_small() -> None:
    report = straight_line.run_forms(Scrambled(), _form("add.s32"), 400, 1)
    (row,) = report.as_json()["forms"]
    assert row["mismatches"] == row["real"] == row["cases"]
    assert len(row["examples"]) == EXAMPLES
    shown = {int(e["planc"][0], 16) ^ int(e["other"][0], 16) for e in row["examples"]}
    assert shown == {1 << i for i in range(8)}
    tally = report.tallies["add.s32"]
    for i in range(1000):
        report.tallies[f"form{i}"] = replace(tally, form=f"form{i}")
    text = report.text()
    assert len(text) <= LARGEST < 2_000_000
    assert len(json.loads(text)["forms"]) == 1001
    assert 0 < len(json.loads(text)["forms"][0]["examples"]) < EXAMPLES
