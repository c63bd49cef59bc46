"""Random control flow, structured and not, against one thread at a time in Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from planc.simt.example import run_body
from tests.simt.cuda import cuda
from tests.simt.programs import MASK, Generator, run, text


def outcome(program: list[object], x: np.ndarray) -> tuple[list[int], list[int]]:
    counters = [0] * 4
    return [run(program, i, int(v), counters) for i, v in enumerate(x)], counters


def launched(program: list[object], x: np.ndarray) -> tuple[list[int], list[int]]:
    device = cuda(text(program))
    y, counters = np.zeros(len(x), np.uint32), np.zeros(4, np.uint32)
    arrays = [device.array(name, data) for name, data in (("x", x), ("y", y), ("counters", counters))]
    device.run("k", len(x) // 48, 48, *arrays)
    return y.tolist(), counters.tolist()


def inputs(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2**32, 96, dtype=np.uint64).astype(np.uint32)


@pytest.mark.parametrize("seed", range(40))
def test_structured_programs(seed: int) -> None:
    program, x = Generator(random.Random(seed)).program(), inputs(seed)
    assert launched(program, x) == outcome(program, x)


@pytest.mark.parametrize("seed", range(40, 46))
def test_chunks_do_not_change_the_result(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    program, x = Generator(random.Random(seed)).program(), inputs(seed)
    monkeypatch.setattr("planc.simt.grid.CHUNK_THREADS", 1)
    assert launched(program, x) == outcome(program, x)


def graph_program(rng: random.Random, blocks: int) -> list[tuple[int, int, int, int, int]]:
    """Return blocks (multiplier, bit, taken, other, kind) of a control-flow graph without any structure."""
    return [
        (
            rng.choice((3, 5, 7)),
            rng.randrange(12),
            rng.randrange(blocks),
            rng.randrange(blocks),
            rng.randrange(4),
        )
        for _ in range(blocks)
    ]


def graph_text(program: list[tuple[int, int, int, int, int]], fuel: int) -> str:
    """Return PTX: every block changes %v1, burns fuel and branches on a bit of %v1."""
    lines = ["mad.lo.u32 %v1, %t, 2654435761, 12345;", f"mov.u32 %v2, {fuel};", "mov.u32 %v5, 0;"]
    for number, (factor, bit, taken, other, kind) in enumerate(program):
        lines += [f"L{number}:", "sub.u32 %v2, %v2, 1;", "setp.eq.u32 %q1, %v2, 0;", "@%q1 bra done;"]
        lines += [f"mad.lo.u32 %v1, %v1, {factor}, {number};"]
        if kind == 0:
            lines += ["and.b32 %v3, %v1, 8;", "setp.ne.u32 %q2, %v3, 0;", "@%q2 add.u32 %v5, %v5, %v1;"]
        if kind == 1:
            lines += ["atom.global.add.u32 %v4, [%p], 1;", "add.u32 %v5, %v5, %v4;"]
        if kind == 2:
            lines += ["vote.ballot.b32 %v4, %q1;", "add.u32 %v5, %v5, %v4;"]
        lines += [f"shr.u32 %v3, %v1, {bit + 3};", "and.b32 %v3, %v3, 1;", "setp.eq.u32 %q1, %v3, 1;"]
        lines += [f"@%q1 bra L{taken};", f"bra L{other};"]
    return "\n".join([*lines, "done:", "xor.b32 %v1, %v1, %v5;", "st.global.u32 [%p], %v1;"])


def graph_result(program: list[tuple[int, int, int, int, int]], fuel: int, t: int) -> int:
    v, total, count, at = (t * 2654435761 + 12345) & MASK, 0, 0, 0
    for _ in range(fuel - 1):
        factor, bit, taken, other, kind = program[at]
        v = (v * factor + at) & MASK
        if kind == 0 and v & 8:
            total += v
        if kind == 1:
            total, count = total + count, count + 1
        at = taken if v >> (bit + 3) & 1 else other
    return (v ^ total) & MASK


@pytest.mark.parametrize("seed", range(40))
def test_unstructured_graphs(seed: int) -> None:
    rng = random.Random(seed)
    program = graph_program(rng, rng.randint(2, 14))
    fuel = rng.randint(2, 60)
    got = run_body(graph_text(program, fuel), threads=40)
    assert got.tolist() == [graph_result(program, fuel, t) for t in range(40)]
