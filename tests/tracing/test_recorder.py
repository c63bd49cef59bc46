"""The recorder against marking single bytes, on random kernels; and the threads that witnesses name."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from planc.plan import read
from planc.plan.digests import sha256
from planc.plan.example import example_plan, with_program
from planc.plan.program import Image, Module, Plan
from planc.runtime.tracing import Recorder, Session, Wanted, Witness, feed, open_session
from tests.tracing.test_bytesets import members

SIZE = 128
_HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 a, .param .u64 b, .param .u64 c, .param .f32 s)
{
.reg .b64 %base<3>, %p, %o, %d, %w; .reg .b32 %t, %i, %v, %acc, %r<20>; .reg .f32 %f<4>; .reg .b16 %h;
.reg .pred %q;
ld.param.u64 %base0, [a]; ld.param.u64 %base1, [c]; mov.u32 %t, %tid.x; mov.u32 %acc, 0; mov.u64 %w, 5;
mov.f32 %f0, 0f3F800000; mov.u32 %v, 3; mov.u16 %h, 2; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
"""


@dataclass(frozen=True)
class Op:
    """One instruction of each thread below ``threads``, at byte ``t * stride + shift`` modulo SIZE."""

    form: str
    kind: str
    width: int
    buffer: int
    stride: int
    shift: int
    threads: int

    def places(self) -> list[int]:
        return [
            ((t * self.stride + self.shift) & (SIZE - 1)) // self.width * self.width
            for t in range(self.threads)
        ]


FORMS = [
    ("ld.global.u8 %h, [%p]", "read", 1),
    ("ld.global.u16 %h, [%p]", "read", 2),
    ("ld.global.f32 %f1, [%p]", "read", 4),
    ("ld.global.u64 %d, [%p]", "read", 8),
    ("ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%p]", "read", 16),
    ("st.global.u8 [%p], %h", "write", 1),
    ("st.global.f32 [%p], %f0", "write", 4),
    ("st.global.u64 [%p], %w", "write", 8),
    ("st.global.v4.f32 [%p], {%f0, %f1, %f2, %f3}", "write", 16),
    ("red.global.add.f32 [%p], %f0", "add.f32", 4),
    ("red.global.add.u32 [%p], %v", "add.u32", 4),
    ("atom.global.add.u64 %d, [%p], %w", "add.u64", 8),
    ("atom.global.add.u32 %r0, [%p], %v; add.u32 %acc, %acc, %r0", "both", 4),
    ("atom.global.exch.b32 %r1, [%p], %v", "both", 4),
    ("red.cta.global.add.u32 [%p], %v", "both", 4),
    ("atom.global.cas.b32 %r2, [%p], %v, %v", "both", 4),
]


def random_ops(rng: random.Random) -> list[Op]:
    found = []
    for _ in range(rng.randint(1, 10)):
        form, kind, width = rng.choice(FORMS)
        stride = rng.choice([0, 1, 2, 4, 4, 8, 12, 16])
        found.append(Op(form, kind, width, rng.randrange(2), stride, rng.randrange(SIZE), rng.randint(1, 8)))
    return found


def ptx(ops: list[Op]) -> str:
    lines = [_HEAD]
    for op in ops:
        first, _, more = op.form.partition(";")
        mask = (SIZE - 1) & ~(op.width - 1)
        lines.append(
            f"mad.lo.u32 %i, %t, {op.stride}, {op.shift}; and.b32 %i, %i, {mask}; cvt.u64.u32 %o, %i; "
            f"add.u64 %p, %base{op.buffer}, %o; setp.lt.u32 %q, %t, {op.threads}; "
            f"@%q {first};{more and more + ';'}"
        )
    return "\n".join([*lines, "ret;", "}", ""])


def plan_of(text: str) -> Plan:
    """The example with other PTX and larger buffers; the kernel gets `t` (as a) and `y` (as c)."""
    plan = example_plan()
    data = text.encode()
    buffers = tuple(
        replace(b, shape=(SIZE // 4,), nbytes=SIZE) if b.name in "ty" else b for b in plan.programs[0].buffers
    )
    module = Module("m", (Image("sm_80", "ptx", sha256(data), data),))
    return with_program(plan, buffers=buffers, modules=(module,))


def session_of(plan: Plan) -> Session:
    session = open_session(plan.programs[0], plan.schedules[0])
    feed(session.executable, session.program, {}, 0)
    return session


@dataclass
class Marks:
    """What happens to one buffer, byte by byte."""

    ever: set[int]
    read: set[int] = field(default_factory=set)
    write: set[int] = field(default_factory=set)
    reduce: dict[str, set[int]] = field(default_factory=dict)
    old: set[int] = field(default_factory=set)
    unwritten: set[int] = field(default_factory=set)

    def step(self, op: Op) -> None:
        touched = {p + k for p in op.places() for k in range(op.width)}
        if op.kind != "write":
            self.old |= touched - self.write
            self.unwritten |= touched - self.ever
        if op.kind in ("read", "both"):
            self.read |= touched
        if op.kind in ("write", "both"):
            self.write |= touched
        if "." in op.kind:
            self.reduce.setdefault(op.kind, set()).update(touched)
        if op.kind != "read":
            self.ever |= touched


@pytest.mark.parametrize("seed", range(6))
def test_random_kernels_agree_with_single_bytes(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(25):
        ops = random_ops(rng)
        session = session_of(plan_of(ptx(ops)))
        recorder = Recorder()
        session.replay({}, watch=recorder, order=[1, 2])  # the copy of 24 bytes into t, the kernel
        want = {3: Marks(set(range(24))), 1: Marks(set())}
        for op in ops:
            want[(3, 1)[op.buffer]].step(op)
        copied, ran = recorder.nodes
        assert [(a.area, a.read.nbytes, a.write.nbytes) for a in copied.areas] == [(0, 24, 0), (3, 0, 24)]
        got = {a.area: a for a in ran.areas}
        assert set(got) == {(3, 1)[op.buffer] for op in ops}
        for area, trace in got.items():
            marks = want[area]
            assert members(trace.read) == marks.read
            assert members(trace.write) == marks.write
            assert {k: members(v) for k, v in trace.reduce.items()} == marks.reduce
            assert members(trace.old) == marks.old
            assert members(trace.unwritten) == marks.unwritten


def test_equal_sets_are_one_object_and_a_second_replay_starts_anew() -> None:
    session = session_of(example_plan())
    recorder = Recorder()
    session.replay({}, watch=recorder)
    first = list(recorder.nodes)
    session.replay({}, watch=recorder)
    assert [n.node for n in recorder.nodes] == [0, 1, 2, 3]
    for one, two in zip(first, recorder.nodes, strict=True):
        for a, b in zip(one.areas, two.areas, strict=True):
            assert (a.read, a.write, a.old, a.unwritten) == (b.read, b.write, b.old, b.unwritten)
    run = first[2].areas
    assert run[0].write is run[1].read is run[2].read


def test_a_witness_names_the_first_thread_and_its_instruction() -> None:
    ops = [
        Op("st.global.f32 [%p], %f0", "write", 4, 1, 4, 0, 8),
        Op("ld.global.f32 %f1, [%p]", "read", 4, 1, 4, 16, 8),
        Op("ld.global.u64 %d, [%p]", "read", 8, 1, 8, 0, 8),
    ]
    session = session_of(plan_of(ptx(ops)))
    recorder = Recorder()
    start = session.save()
    session.replay({}, watch=recorder)
    trace = next(a for a in recorder.nodes[2].areas if a.area == 1)
    wanted = Wanted(2, 1, "read", trace.unwritten)
    nowhere = Wanted(2, 1, "reduce", trace.write)
    witness = Witness([wanted, nowhere], session.starts)
    session.restore(start)
    session.replay({}, watch=witness)
    assert set(witness.hits) == {wanted}
    hit = witness.hits[wanted]
    assert (hit.thread, hit.block, hit.offset, hit.nbytes) == ((4, 0, 0), (0, 0, 0), 32, 4)
    assert hit.form == "ld.global.f32" and hit.ptx_line > 0 and hit.span is None


def test_memory_is_saved_and_restored_whole() -> None:
    session = session_of(example_plan())
    before = session.save()
    session.replay({"scale": 3.0})
    after = session.save()
    assert any((a != b).any() for a, b in zip(before, after, strict=True))
    session.restore(before)
    assert all((a == b).all() for a, b in zip(before, session.save(), strict=True))


def test_tracing_costs_at_most_a_few_times_the_replay() -> None:
    plan = read(Path(__file__).parents[2] / "plans" / "heat2d" / "heat2d.plan")
    session = session_of(plan)
    times = {}
    for name, watch in (("plain", None), ("traced", Recorder())) * 3:
        start = time.perf_counter()
        session.replay({}, watch=watch)
        times[name] = min(times.get(name, 1e9), time.perf_counter() - start)
    assert times["traced"] < 4 * times["plain"]
