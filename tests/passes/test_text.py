"""Pipelines as text, the levels, the order table, the observers."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import ClassVar

import pytest

from planc.checker import check_schedule
from planc.diagnostics import GraphError, InternalFault
from planc.passes import (
    LEVELS,
    ORDER,
    PASSES,
    Dump,
    Timing,
    Verify,
    read_pipeline,
    render,
    run_pipeline,
    together,
    written,
)
from planc.passes.base import options
from planc.passes.table import check_order
from tests.passes.shapes import chain, program_of


def codes(text):
    with pytest.raises(GraphError) as caught:
        read_pipeline(text)
    return [d.code for d in caught.value.diagnostics]


def random_pass(rng):
    kind = rng.choice(list(PASSES.values()))
    values = {}
    for name, option in options(kind).items():
        if rng.random() < 0.6:
            values[name] = (
                rng.choice(option.choices) if option.choices else rng.randint(option.low, option.high)
            )
    return kind(**values)


def test_text_and_passes_are_the_same_both_ways():
    rng = random.Random(1)
    for _ in range(300):
        passes = tuple(random_pass(rng) for _ in range(rng.randint(0, 5)))
        text = render(passes)
        assert read_pipeline(text) == passes
        assert read_pipeline(text.replace(",", " , ").replace("=", " = ")) == passes
    text = "reduce,lanes{width=16},arena{memory=tight,effort=0}"
    assert render(read_pipeline(text)) == text


def test_defaults_are_not_printed():
    assert render(read_pipeline("lanes{width=0},arena{memory=strict}")) == "lanes,arena"
    assert render(LEVELS["O2"]) == "lanes,arena,reduce,order"


def test_levels():
    assert read_pipeline("O0") == read_pipeline("-O0") == read_pipeline("") == ()
    assert read_pipeline(" -O2 ") == LEVELS["O2"]
    assert codes("O3") == codes("-O1") == ["PLC594"]


@pytest.mark.parametrize(
    "text", ["lanes{width=1", "lanes,", ",lanes", "lanes}}", "lanes{a=1}{b=2}", "lanes reduce{", "=", "{}"]
)
def test_unreadable_text(text):
    assert codes(text) == ["PLC590"]


def test_everything_wrong_is_said_at_once():
    assert codes("lane{width=1},lanes{wide=2,width=x},arena{memory=loose}") == [
        "PLC591",
        "PLC592",
        "PLC593",
        "PLC593",
    ]
    assert codes("lanes{width}") == codes("lanes{width=1,width=1}") == ["PLC590"]


@pytest.mark.parametrize("value", ["-1", "65537", "1e3", "0x10", "٣", "", "1" * 5000])
def test_numbers_out_of_range(value):
    assert codes(f"lanes{{width={value}}}") == ["PLC593"]
    assert read_pipeline("lanes{width=65536}")


def test_the_default_pipeline_keeps_the_order_table_and_others_may_not():
    for before, after, why in ORDER:
        assert why and {before, after} <= set(PASSES)
        with pytest.raises(ValueError, match=why):
            check_order([PASSES[after](), PASSES[before]()])
    check_order([PASSES["order"]()])


def test_observers_see_every_step():
    program = program_of(chain(5, 1), 5)
    texts, timing = [], Timing()
    dump = Dump(texts.append, {"written", "reduce"})
    schedule = run_pipeline(program, "lanes,reduce", together(Verify(check_schedule), timing, dump))
    assert [name for name, _ in timing.rows] == ["lanes", "reduce"]
    assert [text.split("\n")[0] for text in texts] == ["after 0 written", "after 2 reduce"]
    assert "n3 after n1, n2" in texts[0] and "n3 after n2" in texts[1]
    assert schedule.name == "lanes,reduce"
    assert run_pipeline(program, "O2", name="O2").name == "O2"
    zero = run_pipeline(program, "O0")
    assert zero.name == "written" and (zero.edges == written(program).edges).all()


def test_verify_stops_a_pipeline_and_a_failing_pass_is_named():
    @dataclass(frozen=True)
    class Broken:
        name: ClassVar[str] = "broken"

        def run(self, program, schedule):
            raise KeyError("gone")

    program = program_of(chain(3), 3)
    with pytest.raises(InternalFault, match="`broken` failed") as caught:
        run_pipeline(program, [Broken()])
    assert caught.value.code == "PLC910"

    def refuse(program, schedule):
        raise InternalFault(())

    with pytest.raises(InternalFault):
        run_pipeline(program, "", Verify(refuse))
