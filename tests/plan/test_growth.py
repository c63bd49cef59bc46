"""Reading grows with the nodes, not faster."""

from __future__ import annotations

import importlib.util
import time
from pathlib import Path
from types import ModuleType

from planc.plan import decode, encode


def _benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "tools/bench/plan_reading.py"
    spec = importlib.util.spec_from_file_location("plan_reading", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _best(data: bytes) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        decode(data)
        times.append(time.perf_counter() - start)
    return min(times)


def test_reading_ten_times_the_nodes_takes_at_most_fifteen_times_as_long() -> None:
    plan_of = _benchmark().plan_of
    small, large = encode(plan_of(1_000)), encode(plan_of(10_000))
    assert _best(large) < 15 * _best(small)


def test_a_hostile_overlap_of_runs_costs_no_product() -> None:
    """Every effect may name every box: 4,000 x 2,000 pairs must not be written out."""
    import numpy as np

    from planc.plan import put_together, take_apart
    from planc.plan.layout import row_type

    parts = take_apart(encode(_benchmark().plan_of(1_000)))
    boxes = np.frombuffer(parts.sections["program/0/boxes"], row_type("program/0/boxes"))
    effects = np.frombuffer(parts.sections["program/0/effects"], row_type("program/0/effects")).copy()
    parts.sections["program/0/boxes"] = np.repeat(boxes, 100_000).tobytes()
    effects["may_count"] = 100_000
    parts.sections["program/0/effects"] = effects.tobytes()
    start = time.perf_counter()
    decode(put_together(parts))
    assert time.perf_counter() - start < 5
