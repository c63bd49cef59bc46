"""Damaged files: only ever diagnostics, never a foreign exception, and always at a place in the file."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from planc.diagnostics import CATALOGUE, Collector, Diagnostic
from planc.source import Limits, load_graph, load_text
from tests.source.test_equal import YAML, as_json

SMALL = Limits(nodes=400, edges=4000, steps=2000, values=20_000, file_bytes=2**16)
GRAPHS = """\
graphs:
  g:
    parameters: {x: buffer, n: int = 2, a: scalar}
    nodes:
      - for: i in range(n)
        nodes:
          - {id: 'p[i]', fill: 'x[i] = i', after: 'p[i-1]'}
nodes:
  - {id: r, use: 'g(u[1:3], a=alpha)'}
  - {id: s, use: {graph: g, arguments: {x: u, a: 1}}, after: 'r.p[-1]'}
"""
GOOD: list[tuple[str, str]] = [
    ("graph.yaml", YAML),
    ("graph.json", as_json(YAML)),
    ("graph.yaml", YAML.partition("may_alias")[0].partition("nodes:")[0] + GRAPHS),
    *(("graph.yaml", path.read_text()) for path in sorted(Path("plans").glob("*/graph.yaml"))),
]
WORDS = """
... <- := ** // << nx t u f32 slot in range( for after after: nodes: id: run: fill: use: null
true 0 -1 1e99 2**63 99999999999999999999 0x .inf .nan ~ &a *a !!str <<: --- lambda: u[0]
u[:] back[-1] (((((( [[[[[[
"""
TOKENS = [*"[]{}():,-?&*!|>'\"%@`#=.", *WORDS.split(), "\t", " \n", "\n\n", "\r"]


def damaged(text: str, pick: random.Random) -> str:
    """Return ``text`` with one to three random changes."""
    for _ in range(pick.choice([1, 1, 1, 2, 3])):
        text = pick.choice(DAMAGES)(text, pick)
    return text


def cut(text: str, pick: random.Random) -> str:
    start, end = sorted(pick.randrange(len(text) + 1) for _ in range(2))
    return text[:start] + text[min(end, start + 40) :]


def truncated(text: str, pick: random.Random) -> str:
    return text[: pick.randrange(len(text) + 1)]


def inserted(text: str, pick: random.Random) -> str:
    at = pick.randrange(len(text) + 1)
    return text[:at] + pick.choice(TOKENS) + text[at:]


def flipped(text: str, pick: random.Random) -> str:
    if not text:
        return "x"
    at = pick.randrange(len(text))
    return text[:at] + chr(ord(text[at]) ^ (1 << pick.randrange(8))) + text[at + 1 :]


def swapped(text: str, pick: random.Random) -> str:
    words = text.split(" ")
    one, other = pick.randrange(len(words)), pick.randrange(len(words))
    words[one], words[other] = words[other], words[one]
    return " ".join(words)


def line_moved(text: str, pick: random.Random) -> str:
    lines = text.split("\n")
    lines.insert(pick.randrange(len(lines)), lines.pop(pick.randrange(len(lines))))
    return "\n".join(lines)


def line_doubled(text: str, pick: random.Random) -> str:
    lines = text.split("\n")
    at = pick.randrange(len(lines))
    return "\n".join([*lines[: at + 1], *lines[at:]])


DAMAGES = (cut, truncated, inserted, inserted, flipped, flipped, swapped, line_moved, line_doubled)


def assert_sound(found: tuple[Diagnostic, ...], text: str) -> None:
    lines = text.replace("\r\n", "\n").split("\n")
    for diagnostic in found:
        assert diagnostic.code in CATALOGUE and diagnostic.message
        span = diagnostic.span
        assert span is not None and 1 <= span.line <= len(lines) + 1
        assert 1 <= span.column <= (len(lines[span.line - 1]) if span.line <= len(lines) else 0) + 2
        assert (span.line, span.column) < (span.end_line, span.end_column)


@pytest.mark.parametrize("seed", range(12))
def test_damaged_texts(seed: int, tmp_path: Path) -> None:
    pick = random.Random(seed)
    outcomes = {"read": 0, "refused": 0}
    for _ in range(280):
        name, text = pick.choice(GOOD)
        text = damaged(text, pick)
        collector = Collector()
        graph = load_text(text, name, folder=tmp_path, collector=collector, limits=SMALL)
        assert_sound(collector.diagnostics, text)
        assert graph is not None or collector.has_errors
        assert graph is None or bool(graph.broken) == collector.has_errors
        outcomes["refused" if collector.has_errors else "read"] += 1
    assert min(outcomes.values()) > 10, outcomes


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes(seed: int, tmp_path: Path) -> None:
    pick = random.Random(1000 + seed)
    for _ in range(60):
        name, text = pick.choice(GOOD)
        data = bytearray(text.encode())
        for _ in range(pick.choice([1, 2, 8])):
            data[pick.randrange(len(data))] = pick.randrange(256)
        (tmp_path / name).write_bytes(bytes(data[: pick.choice([len(data), len(data) // 2])]))
        collector = Collector()
        load_graph(tmp_path / name, collector=collector, limits=SMALL)
        assert all(d.span is not None and d.span.line >= 1 for d in collector.diagnostics)


def test_values_replaced_by_others_of_every_type(tmp_path: Path) -> None:
    """Every value of a JSON file in turn becomes some of these."""
    import json

    whole = json.loads(as_json(YAML))
    others = [None, True, -1, 1.5, "", "x", "[", [], {}, {"a": 1}, "u[0:4]"]
    count = 0
    pick = random.Random(7)
    for path in paths_of(whole):
        for other in pick.sample(others, 4):
            changed = replaced(whole, path, other)
            text = json.dumps(changed)
            collector = Collector()
            load_text(text, "graph.json", folder=tmp_path, collector=collector, limits=SMALL)
            assert_sound(collector.diagnostics, text)
            count += 1
    assert count > 300


def paths_of(value: object) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = [()]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += [(key, *path) for path in paths_of(inner)]
    return found


def replaced(value: object, path: tuple[object, ...], other: object) -> object:
    if not path:
        return other
    key, *rest = path
    if isinstance(value, dict):
        return {k: replaced(v, tuple(rest), other) if k == key else v for k, v in value.items()}
    assert isinstance(value, list)
    return [replaced(v, tuple(rest), other) if i == key else v for i, v in enumerate(value)]
