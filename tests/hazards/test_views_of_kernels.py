"""Random views given to real kernels: what a check proves against what a replay on the CPU touches."""

from __future__ import annotations

import random
from collections import Counter

from planc.api import check, plan_of
from planc.diagnostics import CATALOGUE, Severity
from planc.tracing_api import trace

CUDA = """extern "C" __global__ void move(const float* src, float* dst, int n, int take, int give) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i * give] = src[i * take];
}
extern "C" __global__ void turn(const float* src, float* dst, int rows, int columns) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = threadIdx.y;
  if (x < columns && y < rows) dst[x * rows + y] = src[y * columns + x];
}
extern "C" __global__ void half(float* dst, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) dst[i] = dst[n + i] * 0.5f;
}
"""
HEAD = """planc: 1
name: views
targets: [sm_80]
buffers: {a: "f32[6, 8] inout", b: "f32[6, 8] inout"}
kernels:
  move: {source: k.cu, entry: move, block: 4, cover: 12}
  turn: {source: k.cu, entry: turn, block: "4, 4", cover: "8, 4"}
  half: {source: k.cu, entry: half, block: 8, cover: 16}
nodes:
"""
ROUNDS = 90


def axis(rng, extent):
    start = rng.randrange(extent)
    if rng.random() < 0.3:
        return str(start)
    stop = rng.randint(start + 1, extent)
    step = rng.choice(("", "", ":2"))
    return rng.choice((f"{start}:{stop}{step}", ":", f"{stop - 1}::-1" if rng.random() < 0.3 else ":"))


def view(rng):
    name = rng.choice("ab")
    return rng.choice((name, f"{name}[{axis(rng, 6)}]", f"{name}[{axis(rng, 6)}, {axis(rng, 8)}]"))


def call(rng):
    kind = rng.choice(("move", "turn", "half"))
    if kind == "move":
        n, steps = rng.randint(0, 12), (rng.choice((1, 1, 2, 8)), rng.choice((1, 1, 2, 8)))
        return f"move(src={view(rng)}, dst={view(rng)}, n={n}, take={steps[0]}, give={steps[1]})"
    if kind == "turn":
        return (
            f"turn(src={view(rng)}, dst={view(rng)}, rows={rng.randint(1, 4)}, columns={rng.randint(1, 8)})"
        )
    return f"half(dst={view(rng)}, n={rng.randint(1, 14)})"


def test_checked_runs_touch_what_is_proved_and_leave_no_view(tmp_path):
    rng = random.Random(7)
    (tmp_path / "k.cu").write_text(CUDA)
    path, seen = tmp_path / "g.yaml", Counter()
    for _ in range(ROUNDS):
        path.write_text(HEAD + f"  - {{id: a, run: '{call(rng)}'}}\n")
        found = check(path)
        errors = {d.code for d in found.diagnostics if CATALOGUE[d.code].severity is Severity.ERROR}
        assert errors <= {"PLC483", "PLC321", "PLC322"}, errors
        seen.update(errors or {"fine"})
        if errors:
            continue
        report = trace(plan_of(found))
        if found.verdict.startswith("race-free: proved"):
            assert report.ok, [d.message for d in report.diagnostics]
            seen["proved"] += 1
        else:
            assert "PLC486" in {d.code for d in found.diagnostics}
            seen["not shown"] += 1
    assert min(seen["fine"], seen["PLC483"], seen["PLC321"], seen["proved"]) >= 5, seen
