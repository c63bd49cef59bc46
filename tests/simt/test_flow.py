"""Blocks, their order, registers' slots: the decisions made before anything runs."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from planc.ptx import parse
from planc.simt.flow import build_flow
from planc.simt.functions import register_kinds
from planc.simt.intrinsics import is_intrinsic
from planc.simt.order import post_dominator_depths, rank, strong_components
from planc.simt.roles import reads_and_writes
from planc.simt.slots import assign_slots
from tests.simt.cuda import compile_cuda, cuda


def reach(successors: Sequence[Sequence[int]], start: int, without: int = -1) -> set[int]:
    """Return the blocks that a walk from the successors of `start` meets, never entering `without`."""
    seen: set[int] = set()
    todo = [s for s in successors[start] if s != without]
    while todo:
        block = todo.pop()
        if block not in seen:
            seen.add(block)
            todo.extend(s for s in successors[block] if s != without)
    return seen


def post_dominators(successors: Sequence[Sequence[int]], block: int) -> list[int]:
    """Return the blocks on every way from `block` to an exit, by brute force."""
    exits = {b for b, nexts in enumerate(successors) if not nexts}
    others = [b for b in range(len(successors)) if b != block]
    return [b for b in others if not (exits & (reach(successors, block, b) | {block}) - {b})]


def random_graph(rng: random.Random, count: int) -> list[list[int]]:
    """Return a graph in which block 0 reaches all, and all reach the last."""
    while True:
        graph = [
            sorted({rng.randrange(count) for _ in range(rng.choice((1, 2, 2)))}) for _ in range(count - 1)
        ] + [[]]
        everyone = set(range(count))
        if reach(graph, 0) | {0} == everyone and all(count - 1 in reach(graph, b) for b in range(count - 1)):
            return graph


@pytest.mark.parametrize("seed", range(30))
def test_post_dominators_and_loops_agree_with_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    graph = random_graph(rng, rng.randint(2, 9))
    assert post_dominator_depths(graph) == [1 + len(post_dominators(graph, b)) for b in range(len(graph))]
    components = strong_components(dict(enumerate(map(list, graph))))
    for component in components:
        for a in component:
            for b in component:
                assert a == b or (b in reach(graph, a) and a in reach(graph, b))
    assert sorted(b for c in components for b in c) == list(range(len(graph)))


@pytest.mark.parametrize("seed", range(30))
def test_ranks_are_a_permutation_and_loops_are_contiguous(seed: int) -> None:
    rng = random.Random(100 + seed)
    graph = random_graph(rng, rng.randint(2, 12))
    order = rank(graph)
    assert sorted(order.ranks) == list(range(len(graph)))
    assert order.ranks[0] == 0
    for component in strong_components(dict(enumerate(map(list, graph)))):
        ranks = sorted(order.ranks[b] for b in component)
        assert ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    for block, nexts in enumerate(graph):
        for target in nexts:
            if block not in reach(graph, target):
                assert order.ranks[block] < order.ranks[target]


@pytest.mark.parametrize(
    ("name", "graph", "branch", "join"),
    [
        ("if", [[1, 2], [2], [3], []], 0, 2),
        ("if-else", [[1, 2], [3], [3], []], 0, 3),
        ("loop with its exit first in the text", [[1], [3, 2], [], [1]], 1, 2),
        ("branch inside a loop", [[1], [2, 3], [4], [4], [1, 5], []], 1, 4),
        # 1 is the header; 3 goes on with the next round early; 2 stands for the rest of the body.
        ("continue", [[1], [2, 3], [4], [1], [1, 5], []], 1, 2),
        ("nested loops", [[1], [2], [2, 3], [1, 4], []], 2, 3),
        ("break out of two loops", [[1], [2], [3, 5], [2, 4], [1, 5], []], 3, 5),
    ],
)
def test_join_points_rank_above_all_between(
    name: str, graph: list[list[int]], branch: int, join: int
) -> None:
    ranks = rank(graph).ranks
    between = reach(graph, branch, join)
    assert all(ranks[b] < ranks[join] for b in between), (name, ranks)


def test_diverged_threads_run_the_code_after_the_join_once() -> None:
    device = cuda(r"""
    extern "C" __global__ void k(const int* n, int* out, int limit) {
      int t = threadIdx.x, v = 0;
      for (int i = 0; i < n[t]; ++i) { if (i % 3 == t % 3) v += i * limit; else v ^= t + i; }
      #pragma unroll 1
      for (int i = 0; i < limit; ++i) v = v * 3 + i;
      out[t] = v;
    }""")
    n = np.random.default_rng(1).integers(0, 20, 64).astype(np.int32)
    out = np.zeros(64, np.int32)
    pointers = device.array("n", n), device.array("out", out)
    few = device.run("k", 1, 64, *pointers, np.int32(10)).dispatches
    many = device.run("k", 1, 64, *pointers, np.int32(110)).dispatches
    # Joined threads need one or two dispatches per round of the last loop, not one for each of 20 groups.
    assert many - few <= 200


SOURCE = r"""
__device__ __noinline__ float f(float a, int n) { for (int i = 0; i < n; ++i) a = a * a + i; return a; }
extern "C" __global__ void k(float* x, int n) {
  float a[24];
  #pragma unroll
  for (int i = 0; i < 24; ++i) a[i] = x[i * 32 + threadIdx.x];
  for (int j = 0; j < n; ++j) {
    #pragma unroll
    for (int i = 0; i < 24; ++i) a[i] = a[i] * a[(i + 5) % 24] + f(a[(i + 1) % 24], j);
    __syncthreads();
  }
  #pragma unroll
  for (int i = 0; i < 24; ++i) x[i * 32 + threadIdx.x] = a[i];
}"""


@pytest.mark.parametrize("name", ["k", "_Z1ffi"])
def test_registers_that_share_a_slot_are_never_alive_together(name: str) -> None:
    function = parse(compile_cuda(SOURCE), "k.ptx").functions[name]
    flow = build_flow(function, is_intrinsic)
    kinds = register_kinds(function)
    results = [] if function.is_entry else [r.name for r in function.results]
    slots = assign_slots(flow, kinds, results)
    assert len(slots.kinds) < len(slots.slots)
    for block, after in zip(flow.blocks, _alive_after(flow, results), strict=True):
        alive = set(after)
        for instruction in reversed(block.instructions()):
            reads, writes = reads_and_writes(instruction)
            written = {w for w in writes if w in kinds}
            _check_apart(alive | written, slots.slots)
            alive = (alive - written) | {r for r in reads if r in kinds}
            _check_apart(alive, slots.slots)


def _check_apart(alive: set[str], slots: dict[str, int]) -> None:
    used = [slots[name] for name in alive]
    assert len(used) == len(set(used))


def _alive_after(flow: object, results: list[str]) -> list[set[str]]:
    """Return the registers alive at the end of each block: a plain fixed point over sets of names."""
    blocks = flow.blocks  # type: ignore[attr-defined]
    before: list[set[str]] = [set() for _ in blocks]
    after: list[set[str]] = [set() for _ in blocks]
    changed = True
    while changed:
        changed = False
        for number, block in enumerate(blocks):
            after[number] = set().union(*(before[t] for t in block.end.targets))
            if block.end.kind == "return":
                after[number] |= set(results)
            alive = set(after[number])
            for instruction in reversed(block.instructions()):
                reads, writes = reads_and_writes(instruction)
                alive = (alive - set(writes)) | set(reads)
            if alive != before[number]:
                before[number] = alive
                changed = True
    return [
        {name for name in each if name.startswith("%") or "param" in name or "retval" in name}
        for each in after
    ]
