"""The native loop and the one in Python: the same calls, the same arguments, the same failures, no leak."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Callable

import numpy as np
import pytest

from planc.plan.program import EdgeType
from planc.runtime import FakeDevice, load
from planc.runtime.driver import ADD_CALLS, EDGES_CALL, SET_CALLS, DriverNodeKind
from planc.runtime.loops import ENTRIES, NativeLoop, PythonLoop
from planc.runtime.native import native
from planc.runtime.nodes import DriverEdges, NodeTables
from tests.runtime.hosted import run
from tests.runtime.mixed import mixed_maker

# Over functions made here: no CUDA ----------------------------------------------------------------

CONTEXT, GRAPH = 0x77, 0x99


class Recorder:
    """Functions in place of the driver's. They write down their arguments; call ``fail_at`` returns 999."""

    def __init__(self, fail_at: int = -1) -> None:
        self.calls: list[tuple] = []
        self._fail_at = fail_at
        word, size = ctypes.c_uint64, ctypes.c_size_t
        add, patch = (word, word, word, size), (word, word, word)
        makers: dict[str, tuple] = {
            **{call: (self._add, (*add, word, word)) for call in ADD_CALLS.values()},
            **{call: (self._patch, (*patch, word)) for call in SET_CALLS.values()},
            EDGES_CALL: (self._edges, (word, word, word, word, size)),
            "cuGraphAddKernelNode": (self._add, (*add, word)),
            "cuGraphAddEmptyNode": (self._add, add),
            "cuGraphExecKernelNodeSetParams": (self._patch, patch),
        }
        self._functions = [self._function(name, *makers[name]) for name in ENTRIES]
        self.entries = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in self._functions]

    def _function(self, name: str, action: Callable[..., tuple], arguments: tuple) -> Callable[..., int]:
        def call(*given: int) -> int:
            failing = len(self.calls) == self._fail_at
            self.calls.append((name, *action(failing, *given)))
            return 999 if failing else 0

        return ctypes.CFUNCTYPE(ctypes.c_int, *arguments)(call)

    def _add(self, failing: bool, made: int, graph: int, before: int, count: int, *rest: int) -> tuple:
        if not failing:
            ctypes.c_uint64.from_address(made).value = 0xA000 + len(self.calls)
        ends = [ctypes.c_uint64.from_address(before + 8 * i).value for i in range(count)]
        assert bool(before) == bool(count)
        return (graph, ends, *rest)

    def _patch(self, failing: bool, *given: int) -> tuple:
        return given

    def _edges(self, failing: bool, graph: int, before: int, after: int, data: int, count: int) -> tuple:
        ends = [
            [ctypes.c_uint64.from_address(side + 8 * i).value for i in range(count)]
            for side in (before, after)
        ]
        return (graph, *ends, ctypes.string_at(data, 8 * count))


def random_tables(seed: int, count: int = 40) -> NodeTables:
    rng = np.random.default_rng(seed)
    edges = np.array([(b, a) for a in range(count) for b in range(a) if rng.random() < 0.1] or [(0, 1)])
    types = rng.choice([EdgeType.FULL] * 9 + [EdgeType.PROGRAMMATIC], len(edges)).astype(np.uint32)
    if seed % 2:  # an order that the edges do not follow, in part
        edges[::5] = edges[::5, ::-1]
    kinds = rng.choice([int(k) for k in DriverNodeKind], count).astype(np.uint32)
    params = rng.integers(1, 2**40, count).astype(np.uint64)
    rows, empty = np.arange(count, dtype=np.uint32), np.zeros(0, np.void)
    made = DriverEdges.of(count, edges[:, 0], edges[:, 1], types)
    places = np.arange(count)
    return NodeTables(kinds, params, rows, places, places + 1, made, empty, places, empty, empty)


def both(entries: list[int]) -> list[NativeLoop | PythonLoop]:
    module = native().module
    if module is None:
        pytest.skip(f"no native loop: {native().reason}")
    return [NativeLoop(module, entries), PythonLoop(entries)]


def added(which: int, tables: NodeTables, fail_at: int = -1) -> tuple:
    recorder = Recorder(fail_at)
    handles = np.zeros(len(tables.kinds), np.uint64)
    answer = both(recorder.entries)[which].add(GRAPH, CONTEXT, tables, handles)
    return answer, handles.tolist(), recorder.calls


@pytest.mark.parametrize("seed", range(8))
def test_both_loops_make_the_same_calls(seed: int) -> None:
    tables = random_tables(seed)
    native_, python = added(0, tables), added(1, tables)
    assert native_ == python
    (status, index), handles, calls = native_
    assert (status, index) == (0, len(handles)) and len(set(handles)) == len(handles)
    names = [ADD_CALLS[DriverNodeKind(k)] for k in tables.kinds.tolist()]
    late = [EDGES_CALL] if len(tables.edges.late_before) else []
    assert [c[0] for c in calls] == names + late


@pytest.mark.parametrize("seed", range(3))
def test_both_loops_stop_at_the_call_that_fails(seed: int) -> None:
    tables = random_tables(seed, 12)
    total = len(added(0, tables)[2])
    for k in range(total):
        native_, python = added(0, tables, k), added(1, tables, k)
        assert native_ == python
        assert native_[0] == (999, k) and len(native_[2]) == k + 1
        assert native_[1][k:] == [0] * (12 - k)


@pytest.mark.parametrize("fail_at", [-1, 0, 3, 7])
def test_both_loops_patch_alike(fail_at: int) -> None:
    tables = random_tables(5)
    handles = np.arange(1000, 1040, dtype=np.uint64)
    indices = tables.indices(random.Random(1).sample(range(40), 20))
    found = []
    for which in (0, 1):
        recorder = Recorder(fail_at)
        answer = both(recorder.entries)[which].set(GRAPH, CONTEXT, tables, handles, indices)
        found.append((answer[0], answer[1] if answer[0] else None, recorder.calls))
    assert found[0] == found[1]
    assert found[0][0] == (999 if fail_at >= 0 else 0)
    assert len(found[0][2]) == (fail_at + 1 if fail_at >= 0 else len(indices))


@pytest.mark.parametrize("seed", range(30))
def test_edges_are_sorted_into_the_calls_that_can_say_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 20))
    number = int(rng.integers(0, 40))
    before, after = rng.integers(0, count, (2, number))
    types = rng.choice([EdgeType.FULL, EdgeType.PROGRAMMATIC], number).astype(np.uint32)
    made = DriverEdges.of(count, before, after, types)
    found = [
        (int(b), node, 0)
        for node in range(count)
        for b in made.befores[int(made.firsts[node]) : int(made.firsts[node + 1])]
    ]
    assert all(b < a for b, a, _ in found)
    late = zip(
        made.late_before.tolist(), made.late_after.tolist(), made.late_data["type"].tolist(), strict=True
    )
    late = list(late)
    assert all(t == EdgeType.PROGRAMMATIC or b >= a for b, a, t in late)
    assert (made.late_data["from_port"] == made.late_data["type"]).all()
    wanted = sorted(zip(before.tolist(), after.tolist(), types.tolist(), strict=True))
    assert sorted(found + late) == wanted


def test_pieces_of_a_node_are_a_chain_in_the_tables() -> None:
    device = FakeDevice()
    with load(mixed_maker().plan()).instantiate(device) as exe:
        tables = exe._instance._lowering.tables
        names = exe._program.node_names
        lengths = {n: int(tables.stops[i] - tables.starts[i]) for i, n in enumerate(names)}
        assert lengths["one"] == 1 and lengths["move"] > 1 and lengths["meet"] == 1
        start = int(tables.starts[names.index("move")])
        firsts, befores = tables.edges.firsts, tables.edges.befores
        for index in range(start + 1, start + lengths["move"]):
            assert befores[int(firsts[index]) : int(firsts[index + 1])].tolist() == [index - 1]
        assert tables.indices([names.index("meet")]).tolist() == []


# Over the driver made of host memory ----------------------------------------------------------------

SAME = """
    from tests.runtime.both_loops import *

    for name, life in LIVES.items():
        found = []
        for which in (0, 1):
            DRIVER.host_driver_begin(NEVER, 0)
            with loop(which):
                life()
            found.append((DRIVER.host_driver_calls(), journal()))
        assert found[0] == found[1], name
        lines = found[0][1].splitlines()
        print(name, sum(l.startswith("add") for l in lines), any(l.startswith("set") for l in lines),
              any(l.startswith("edges") for l in lines), live() - FIRST)
"""


def test_the_journal_of_both_loops_is_the_same(environment: dict[str, str]) -> None:
    # `mixed` adds 5 nodes, and 5 again for a strided copy that moved.
    assert run(SAME, environment) == "mixed 10 True False 0\nprogrammatic 2 False True 0\n"


EVERY = """
    from tests.runtime.both_loops import *

    for name, life in LIVES.items():
        DRIVER.host_driver_begin(NEVER, 0)
        life()
        total = DRIVER.host_driver_calls()
        for k in range(total):
            outcomes = []
            for which in (0, 1):
                before = live()
                with loop(which):
                    outcomes.append(told(life, k, UNKNOWN))
                call = outcomes[-1][0]
                assert live() - before == call.startswith(RELEASES), (k, outcomes, live() - before)
                assert pops() == (call == "cuCtxPopCurrent_v2"), (k, outcomes)
            assert outcomes[0] == outcomes[1], outcomes
            call, code, node = outcomes[0]
            assert code == "PLC731" or (code == "" and call.startswith(RELEASES)), outcomes
            if call.startswith(("cuGraphAddKernel", "cuGraphAddMem", "cuGraphExecKernel", "cuGraphExecMem")):
                assert node, outcomes
        life()
        print(name, total > 40)
"""


def test_every_call_that_fails_is_named_and_leaks_nothing(environment: dict[str, str]) -> None:
    assert run(EVERY, environment) == "mixed True\nprogrammatic True\n"


STICKY = """
    from tests.runtime.both_loops import *

    DRIVER.host_driver_begin(NEVER, 0)
    life()
    calls = journal().count("add")
    total = DRIVER.host_driver_calls()
    seen = set()
    for k in range(total):
        outcomes = []
        for which in (0, 1):
            with loop(which):
                outcomes.append(told(life, k, ILLEGAL_ADDRESS))
                assert CONTEXT.dead is not None, (k, outcomes)
                DRIVER.host_driver_begin(NEVER, 0)
                assert told(life, NEVER, 0)[1] == "PLC732" and DRIVER.host_driver_calls() == 0
            CONTEXT.dead = None
            pops()
        assert outcomes[0] == outcomes[1] and outcomes[0][1] in ("PLC734", "PLC732", ""), outcomes
        seen.add(outcomes[0][1:])
    print("PLC734" in {code for code, _ in seen})
"""


def test_every_sticky_failure_is_final_under_both_loops(environment: dict[str, str]) -> None:
    code = STICKY.replace("life()", "mixed_life()").replace("told(life", "told(mixed_life")
    assert run(code, environment) == "True\n"


LARGE = """
    import time
    import numpy as np
    from tests.runtime.both_loops import *
    from tests.runtime.chains import chain_plan

    for count, lanes in ((2048, 1), (2048, 16), (8192, 1), (8192, 16)):
        plan = load(chain_plan(count, lanes))
        found = []
        for which in (0, 1):
            DRIVER.host_driver_begin(NEVER, 0)
            with loop(which), plan.instantiate("cuda:0") as exe:
                exe.replay().wait()
                exe.replay().wait()
                y = exe.read("y")
                assert (y == 2 * count // lanes).all(), y
                found.append(journal())
        assert found[0] == found[1]
        print(count, lanes, found[0].count("add 0"), live() - FIRST)
"""


def test_large_graphs(environment: dict[str, str]) -> None:
    wanted = [f"{count} {lanes} {count} 0" for count in (2048, 8192) for lanes in (1, 16)]
    assert run(LARGE, environment).splitlines() == wanted


THREADS = """
    import threading, time
    from tests.runtime.both_loops import *
    from tests.runtime.chains import chain_plan

    plan = load(chain_plan(2048, 1))
    DRIVER.host_driver_delay(100)  # microseconds a node
    loading, beats = threading.Event(), []

    def beat():
        loading.wait()
        while loading.is_set():
            beats.append(time.perf_counter())
            time.sleep(0.001)

    other = threading.Thread(target=beat)
    other.start()
    real = CONTEXT.loop.add

    def timed(*arguments):
        loading.set()
        try:
            return real(*arguments)
        finally:
            loading.clear()

    CONTEXT.loop.add = timed
    plan.instantiate("cuda:0").close()
    other.join()
    print(len(beats) > 30, CONTEXT.loop.name)
"""


def test_other_threads_run_while_nodes_are_added(environment: dict[str, str]) -> None:
    assert run(THREADS, environment) == "True native\n"


MANY = """
    from concurrent.futures import ThreadPoolExecutor
    from tests.runtime.both_loops import *
    from tests.runtime.chains import chain_plan

    plans = [load(chain_plan(count, 4)) for count in (64, 128, 256, 512)] * 4

    def one(plan):
        with plan.instantiate("cuda:0") as exe:
            exe.replay().wait()
            return int(exe.read("y").max()) == len(plan.program.nodes) // 4

    with ThreadPoolExecutor(8) as pool:
        print(all(pool.map(one, plans)), live() - FIRST)
"""


def test_many_plans_load_side_by_side(environment: dict[str, str]) -> None:
    assert run(MANY, environment) == "True 0\n"
