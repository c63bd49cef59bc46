"""Every legal order of every schedule gives the bytes of the graph as written, scratch sharing its bytes."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from planc.checker import check_schedule
from planc.passes import Verify, run_pipeline, written
from tests.passes.replays import in_arena, random_order, random_work, replay

PIPELINES = (
    "O2",
    "lanes{width=1},arena",
    "arena{memory=tight},reduce",
    "lanes{width=2},arena{memory=tight},reduce,order{by=critical}",
)


@pytest.mark.parametrize("seed", range(4))
def test_random_orders_of_all_pipelines_keep_the_bytes(seed):
    rng = random.Random(seed)
    shared = 0
    for _ in range(6):
        program = random_work(rng, rng.randint(6, 16))
        start = written(program)
        wanted = replay(in_arena(program, start), start)
        for text in PIPELINES:
            schedule = run_pipeline(program, text, Verify(check_schedule))
            shared += schedule.arena_bytes < start.arena_bytes
            moved = in_arena(program, schedule)
            for _ in range(3):
                order = random_order(rng, schedule)
                assert replay(moved, replace(schedule, order=order)) == wanted, (seed, text)
    assert shared > 3


def test_live_buffers_on_the_same_bytes_would_be_seen():
    rng = random.Random(5)
    different = 0
    for _ in range(12):
        program = random_work(rng, 14)
        start = written(program)
        placements = start.placements.copy()
        placements["offset"] = 0
        crushed = replace(start, placements=placements, arena_bytes=256)
        different += replay(in_arena(program, crushed), crushed) != replay(in_arena(program, start), start)
    assert different > 2
