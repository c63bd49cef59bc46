"""Large graphs: bounded time, and growth close to linear."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from tests.source.helpers import HEAD, good, load


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


def seconds(text: str, name: str, times: int = 1) -> float:
    """Return the processor time of loading a text so many times."""
    began = time.process_time()
    for _ in range(times):
        good(text, name)
    return time.process_time() - began


@pytest.mark.parametrize("make", [written_out, loop, instances, as_json])
def test_ten_thousand_nodes(make: Callable[[int], str]) -> None:
    """Ten thousand nodes against ten times a thousand, side by side: other work on the machine slows both."""
    name = "graph.json" if make is as_json else "graph.yaml"
    small, large = make(1_000), make(10_000)
    rounds = []
    while not rounds or (min(r for _, r in rounds) > 1.5 and len(rounds) < 5):
        took = seconds(large, name)
        rounds.append((took, took / seconds(small, name, 10)))
    assert min(ratio for _, ratio in rounds) <= 1.5, rounds
    assert min(took for took, _ in rounds) < 2.5, rounds


def test_ten_thousand_mistakes() -> None:
    text = written_out(10_000).replace("after: n", "after: m").replace("u[0]", "u[k]")
    began = time.process_time()
    _, found = load(text)
    assert len(found) > 19_000
    assert time.process_time() - began < 15


def test_references_to_all_of_a_large_loop() -> None:
    text = loop(4_000) + "".join(
        f"  - {{join: true, after: 'a[{i}:{i + 100}], b[-1]'}}\n" for i in range(0, 1900, 10)
    )
    assert seconds(text, "graph.yaml") < 2.5
