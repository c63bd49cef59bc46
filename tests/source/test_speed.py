"""Large graphs: bounded time, and growth close to linear."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from tests.source.helpers import HEAD, good


def written_out(count: int) -> str:
    lines = [
        f"  - id: n{i}\n    copy: v[{i % 8}] <- u[0]\n    after: n{max(i - 1, 1) if i else 1}\n"
        for i in range(1, count)
    ]
    return (
        HEAD
        + "nodes:\n  - {id: n1, fill: u = 0}\n".replace("n1", "first")
        + "".join(lines).replace("after: n1\n", "after: first\n", 1)
    )


def loop(count: int) -> str:
    body = "      - id: a[t]\n        copy: v[t % 8] <- u[0]\n        after: a[t-1], b[t-1]\n"
    body += "      - id: b[t]\n        copy: u[t % 8] <- v[0]\n        after: a[t]\n"
    return HEAD + f"nodes:\n  - for: t in range({count // 2})\n    nodes:\n{body}"


def instances(count: int) -> str:
    graph = "graphs:\n  g:\n    parameters: {x: buffer, k: int}\n    nodes:\n"
    graph += "      - {id: a, fill: 'x[k] = k'}\n      - {id: b, fill: 'x[k] = 2 * k', after: a}\n"
    use = "      - {id: 'r[t]', use: 'g(u, t % 8)', after: 'r[t-1]'}\n"
    return HEAD + graph + f"nodes:\n  - for: t in range({count // 2})\n    nodes:\n{use}"


def as_json(count: int) -> str:
    nodes = [{"id": f"n{i}", "copy": "v <- u", "after": [f"n{i - 1}"] if i else []} for i in range(count)]
    return json.dumps({"planc": 1, "buffers": {"u": "f32[8] inout", "v": "f32[8]"}, "nodes": nodes})


def seconds(text: str, name: str, repeats: int) -> float:
    """Return the least processor time of some loads; other work on the machine only adds to it."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        good(text, name)
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("make", [written_out, loop, instances, as_json])
def test_ten_thousand_nodes(make: Callable[[int], str]) -> None:
    name = "graph.json" if make is as_json else "graph.yaml"
    large = seconds(make(10_000), name, 2)
    assert large < 2.5
    if large > 10 * seconds(make(1_000), name, 3) * 1.5:
        # Once more, slowly: a busy machine can spoil one comparison.
        assert seconds(make(10_000), name, 4) < 10 * seconds(make(1_000), name, 8) * 1.5


def test_references_to_all_of_a_large_loop() -> None:
    text = loop(4_000) + "".join(
        f"  - {{join: true, after: 'a[{i}:{i + 100}], b[-1]'}}\n" for i in range(0, 1900, 10)
    )
    assert seconds(text, "graph.yaml", 1) < 2.5
