"""The description of a plan: complete as values, readable as text."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path
from random import Random

import pytest

from planc.plan import (
    Inspection,
    decode,
    decode_header,
    encode,
    inspect_plan,
    inspection,
    render_inspection,
    write,
)
from planc.plan import inspect as inspect_module
from planc.plan.example import example_plan, with_row
from planc.plan.program import NONE, NodeKind, Plan
from tests.plan.generate import random_plan


def _inspected(plan: Plan) -> Inspection:
    data = encode(plan)
    return inspection(decode(data), decode_header(data))


def test_example(tmp_path: Path) -> None:
    path = tmp_path / "a.plan"
    write(path, example_plan())
    found = inspect_plan(path)
    assert found == _inspected(example_plan())
    (program,) = found.programs
    assert [node.operation for node in program.nodes] == [
        "t = 0x00000000",
        "t[0:6] <- x[0:6]",
        "scale(src=t, bias=bias, dst=y, scale=slot scale), grid 1 x 1 x 1, block 8 x 1 x 1",
        "",
    ]
    assert program.nodes[2].place == "graph.yaml:15:7"
    edge = program.edges[0]
    assert (edge.before, edge.after, edge.kind) == ("clear", "load", "author")
    assert program.effects[2].may == ("t[0:6]",) == program.effects[2].must
    assert program.effects[5].parameter == "dst" and program.effects[5].range_known == "assumed"
    assert program.memory["scratch"] == 32
    assert program.kernels[0].parameters == ("f32* src", "f32* bias", "f32* dst", "f32 scale")
    (schedule,) = program.schedules
    assert schedule.order == ("clear", "load", "run", "end") and schedule.lanes == 1
    assert [(p.buffer, p.offset, p.bytes) for p in schedule.placements] == [("t", 0, 32)]


def test_values_are_json_and_frozen() -> None:
    for seed in range(30):
        found = _inspected(random_plan(Random(seed)))
        again = json.loads(json.dumps(found.to_json()))
        assert again["file"] == found.file and len(again["programs"]) == len(found.programs)
    with pytest.raises(FrozenInstanceError):
        found.verdict = "fine"  # type: ignore[misc]


def test_everything_is_there() -> None:
    for seed in range(30):
        plan = random_plan(Random(seed))
        found = _inspected(plan)
        for program, shown in zip(plan.programs, found.programs, strict=True):
            assert [node.name for node in shown.nodes] == list(program.node_names)
            assert len(shown.edges) == len(program.edges)
            assert len(shown.effects) == len(program.effects)
            assert [buffer.name for buffer in shown.buffers] == [b.name for b in program.buffers]
            assert sum(shown.memory.values()) == sum(b.nbytes for b in program.buffers)
            assert len(shown.images) == sum(len(m.images) for m in program.modules)


def test_text() -> None:
    text = render_inspection(_inspected(example_plan()))
    for words in (
        "plan 0.1, 5,984 bytes",
        "program example for sm_80: 4 nodes, 3 edges",
        "f32[8]",
        "= 2.0  range 0.0 to 10.0",
        "t[0:6] <- x[0:6]",
        "schedule written for any target: 3 edges, 1 lanes, arena 32 bytes",
        "no races: 4 nodes, 3 edges",
    ):
        assert words in text
    assert text.endswith("\n") and not any(line != line.rstrip() for line in text.split("\n"))


def test_long_tables_are_cut() -> None:
    found = _inspected(example_plan())
    text = render_inspection(found, most=2)
    assert "… and 2 more" in text and "… and 18 more" in text


def test_external_effects_and_bytes_that_are_no_view() -> None:
    external = {"kind": 5, "buffer": NONE, "parameter": NONE, "may_count": 0, "must_count": 0}
    found = _inspected(with_row(example_plan(), "effects", 5, **external))
    assert found.programs[0].effects[5].buffer is None
    assert "external" in render_inspection(found)
    found = _inspected(with_row(with_row(example_plan(), "boxes", 1, axes=0, item=8), "boxes", 1, offset=4))
    assert found.programs[0].effects[2].may == ("t[1:3]",)


def test_every_node_kind_has_words() -> None:
    assert set(inspect_module._OPERATIONS) == set(NodeKind)
