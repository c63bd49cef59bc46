"""Random valid plans survive the file, byte for byte and value for value."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from random import Random

import numpy as np
import pytest

from planc.plan import (
    decode,
    decode_header,
    encode,
    put_together,
    read,
    read_header,
    take_apart,
    validate,
    write,
)
from planc.plan.example import example_plan
from planc.plan.program import Plan
from planc.plan.writer import canonical_program, canonical_schedule
from tests.plan.generate import random_plan


def _same(first: object, second: object) -> None:
    """Demand equal fields; tables are equal in type and in every value."""
    for entry in fields(first):  # type: ignore[arg-type]
        one, two = getattr(first, entry.name), getattr(second, entry.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == two.dtype and np.array_equal(one, two), entry.name
        else:
            assert one == two, entry.name


def _equal_plans(first: Plan, second: Plan) -> None:
    assert (first.verdict, first.facts, first.producer) == (second.verdict, second.facts, second.producer)
    for one, two in zip(first.programs, second.programs, strict=True):
        _same(canonical_program(one), two)
    for many, others in zip(first.schedules, second.schedules, strict=True):
        for schedule, other in zip(many, others, strict=True):
            _same(canonical_schedule(schedule), other)


@pytest.mark.parametrize("seed", range(120))
def test_random_plans_round_trip(seed: int) -> None:
    plan = random_plan(Random(seed))
    data = encode(plan)
    again = decode(data)
    _equal_plans(plan, again)
    assert encode(again) == data
    assert put_together(take_apart(data)) == data


def test_generator_covers_every_kind() -> None:
    """All node kinds, roles, slots, patches, several programs and schedules occur."""
    plans = [random_plan(Random(seed)) for seed in range(120)]
    programs = [program for plan in plans for program in plan.programs]
    assert {kind for p in programs for kind in p.nodes["kind"].tolist()} == {1, 2, 3, 4}
    assert {buffer.role.value for p in programs for buffer in p.buffers} == set(range(1, 8))
    assert {slot.dtype for p in programs for slot in p.slots} >= {"bool", "i8", "u64", "bf16", "f64"}
    assert any(len(p.patches) for p in programs) and any(p.may_alias for p in programs)
    assert any((p.edges["before"] > p.edges["after"]).any() for p in programs)
    assert any((p.axes["stride"] < 0).any() for p in programs)
    assert {len(plan.programs) for plan in plans} == {1, 2, 3}
    assert any(len(many) == 2 for plan in plans for many in plan.schedules)
    assert any(not p.places for p in programs) and any(p.places for p in programs)


def test_same_plan_same_bytes_whatever_the_order_of_rows() -> None:
    plan = random_plan(Random(7), nodes=12)
    program = plan.programs[0]
    rng = np.random.default_rng(0)
    shuffled = {name: rng.permutation(getattr(program, name)) for name in ("edges", "relocations", "patches")}
    other = Plan(
        (_replace(program, **shuffled), *plan.programs[1:]),
        plan.schedules,
        plan.verdict,
        plan.facts,
        plan.producer,
    )
    assert len(program.edges) > 3
    assert encode(other) == encode(plan)


def _replace(program: object, **values: object) -> object:
    from dataclasses import replace

    return replace(program, **values)  # type: ignore[type-var]


def test_shared_code_and_constants_are_stored_once() -> None:
    plan = example_plan()
    (program,), (schedules,) = plan.programs, plan.schedules
    both = Plan((program, _replace(program, name="other")), (schedules, schedules))  # type: ignore[arg-type]
    sections = decode_header(encode(both)).sections
    assert sum(s.name.startswith("image/") for s in sections) == 1
    assert sum(s.name.startswith("constant/") for s in sections) == 1
    again = decode(encode(both))
    assert [p.name for p in again.programs] == ["example", "other"]
    assert again.programs[0].modules == again.programs[1].modules


def test_tables_and_blobs_are_read_only_views_of_the_file(tmp_path: Path) -> None:
    write(tmp_path / "a.plan", example_plan())
    for mapped in (True, False):
        program = read(tmp_path / "a.plan", mapped=mapped).programs[0]
        for table in (program.nodes, program.effects, program.relocations):
            assert not table.flags.owndata and not table.flags.writeable
        for blob in (program.arguments, program.modules[0].images[0].data, *program.constants.values()):
            assert isinstance(blob, memoryview) and blob.readonly


def test_a_mapped_plan_survives_replacement_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    write(path, example_plan())
    plan = read(path)
    write(path, random_plan(Random(3)))
    validate(plan)
    assert plan.programs[0].name == "example"


def test_a_mutable_source_cannot_be_written_through_the_plan() -> None:
    data = bytearray(encode(example_plan()))
    program = decode(data).programs[0]
    with pytest.raises(ValueError, match="read-only"):
        program.nodes["kind"][0] = 9


def test_header_alone_touches_no_section(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    data = encode(example_plan())
    header = decode_header(data)
    first = min(s.offset for s in header.sections) + header.file_bytes - _body_length(header)
    path.write_bytes(data[:first] + bytes(len(data) - first))
    shown = read_header(path)
    assert shown == header
    assert shown.verdict == "no races: 4 nodes, 3 edges"
    assert shown.programs[0].memory["scratch"] == 32
    assert shown.programs[0].schedules[0].arena_bytes == 32
    assert {s.name: s.rows for s in shown.sections}["program/0/nodes"] == 4


def _body_length(header: object) -> int:
    last = header.sections[-1]  # type: ignore[attr-defined]
    return int(last.offset + last.length)


def test_places_are_made_when_asked_for() -> None:
    places = decode(encode(example_plan())).programs[0].places
    assert places == example_plan().programs[0].places
    assert places[1].line == 13 and places[-1].line == 17 and len(places[1:]) == 3
    assert hash(places) == hash(tuple(places))
