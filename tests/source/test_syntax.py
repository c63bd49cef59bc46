"""Reading YAML and JSON: core schema, places, both parsers alike."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from planc.diagnostics import Collector
from planc.source.limits import LIMITS, Limits
from planc.source.report import Report
from planc.source.syntax import (
    Mapping,
    PureParser,
    Scalar,
    Sequence,
    SourceText,
    Tree,
    fastest_parser,
    read_json,
    read_yaml,
)
from tests.source.cases import CASES
from tests.source.helpers import marked, places


def read(
    text: str, parser: Any = None, limits: Limits = LIMITS
) -> tuple[Tree | None, list[tuple[str, int, int]]]:
    collector = Collector()
    found = read_yaml(SourceText.of("g.yaml", Path(), text), limits, Report(collector), parser)
    return found, places(collector.diagnostics)


def plain(text: str) -> Any:
    found, mistakes = read(text)
    assert found is not None and not mistakes
    return found.plain


def as_json(text: str) -> tuple[Tree | None, list[tuple[str, int, int]]]:
    collector = Collector()
    found = read_json(SourceText.of("g.json", Path(), text), LIMITS, Report(collector))
    return found, places(collector.diagnostics)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("012", 12),
        ("-012", -12),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b1", "0b1"),
        ("0O17", "0O17"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("1e-3", 0.001),
        ("1E3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+1", 1),
        ("-1.5e+2", -150.0),
        ("1e", "1e"),
        (".", "."),
        ("-", "-x"),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("true", True),
        ("True", True),
        ("tRue", "tRue"),
        ("FALSE", False),
        ("2024-01-01", "2024-01-01"),
        ("0x", "0x"),
        ("18446744073709551615", 2**64 - 1),
        ("=", "="),
        ("nan", "nan"),
        ("null", None),
        ("~", None),
        ("Null", None),
    ],
)
def test_core_schema(text: str, value: object) -> None:
    written = "-x" if text == "-" else text
    found = plain(f"a: {written}")["a"]
    assert found == value and type(found) is type(value)


def test_nan_and_quoted_numbers() -> None:
    assert math.isnan(plain("a: .nan")["a"])
    assert plain("a: '12'\nb: \"true\"\nc: |\n  12\n") == {"a": "12", "b": "true", "c": "12\n"}


@pytest.mark.parametrize("text", ["18446744073709551616", "-9223372036854775809", "1e999", "9" * 5000])
def test_numbers_out_of_range(text: str) -> None:
    assert read(f"a: {text}")[1] == [("PLC136", 1, 4)]
    if text[0] != "-" or len(text) < 30:
        assert as_json(f"[{text}]")[1] == [("PLC136", 1, 2)]


TEXTS = [
    *(marked(case.text)[0] for case in CASES if case.name.endswith(".yaml")),
    *(path.read_text() for path in sorted(Path("plans").glob("*/graph.yaml"))),
    "a: 'it''s'\nb: \"x\\ty\\u00e9\"\nc: >\n  folded\n  text\n\n  more\n"
    "d: |+\n  kept\n\n\ne: plain\n  over lines\n",
    "a: &x [1, {b: 2}]\nc: *x\nd: &y\n  e: f\ng: *y\n",
    "{a: [1, 2, ], b: {c: d}, }",
    "- - a\n  - b\n-\n  - c\n",
    "# only\n\n---\na: 1\n...\n",
    "é😀: 'ü😀x'\nb: [😀]\n",
]


@pytest.mark.skipif(fastest_parser() is PureParser, reason="PyYAML was built without libyaml")
@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_both_parsers_give_one_tree(text: str) -> None:
    fast, mistakes = read(text)
    slow, others = read(text, PureParser)
    assert mistakes == others
    assert shape(fast) == shape(slow)


def shape(tree: Tree | None) -> Any:
    if tree is None:
        return None
    place = (tree.line, tree.column, tree.end_line, tree.end_column, tree.shared)
    if isinstance(tree, Scalar):
        return (*place, tree.text, tree.value, tree.style)
    if isinstance(tree, Sequence):
        return (*place, tree.flow, [shape(item) for item in tree.items])
    assert isinstance(tree, Mapping)
    return (*place, tree.flow, {key: shape(value) for key, value in tree.values.items()})


def scalar(text: str) -> Scalar:
    found, mistakes = read(text)
    assert isinstance(found, Mapping) and not mistakes
    value = found.values["a"]
    assert isinstance(value, Scalar)
    return value


@pytest.mark.parametrize(
    ("text", "part", "line", "column"),
    [
        ("a: u + vv", "vv", 1, 8),
        ("a: 'u + vv'", "vv", 1, 9),
        ('a: "u + vv"', "vv", 1, 9),
        ("a: 'it''s vv'", "vv", 1, 11),
        ('a: "\\u00e9 vv"', "vv", 1, 12),
        ('a: "\\U0001F600 vv"', "vv", 1, 16),
        ('a: "x\\\n    vv"', "vv", 2, 5),
        ("a: u +\n  vv", "vv", 2, 3),
        ("a: 'u +\n  vv'", "vv", 2, 3),
        ("a: >\n  u +\n  vv\n", "vv", 3, 3),
        ("a: >-\n  u +\n\n\n  vv\n", "vv", 5, 3),
        ("a: |\n  u +\n  vv", "vv", 3, 3),
        ("a: &x u + vv", "vv", 1, 11),
        ("b: 😀\na: 😀 vv", "vv", 2, 6),
    ],
)
def test_places_inside_texts(text: str, part: str, line: int, column: int) -> None:
    value = scalar(text)
    start = value.text.index(part)
    span = value.part(start, start + len(part))
    assert (span.line, span.column) == (line, column)
    assert (span.end_line, span.end_column) == (line, column + len(part))


def test_every_place_of_a_text_lies_inside_it() -> None:
    for text in ("a: >\n  u\n   v\n\n  w\n\n", 'a: "\\x41\\\n  b\\n c"', "a: x\n\n  y", "a: |+\n  u\n\n"):
        value = scalar(text)
        for at in range(len(value.text) + 1):
            span = value.part(at, at + 1)
            assert (value.line, value.column) <= (span.line, span.column)
            assert (span.line, span.column) <= (value.end_line, value.end_column)


def test_block_containers_end_with_their_last_value() -> None:
    found, _ = read("a:\n  - id: x\n    b: y   # remark\n\n\n  # remark\nc: |\n  text\n\n\nd: 1\n")
    assert isinstance(found, Mapping)
    inner = found.values["a"]
    assert (inner.end_line, inner.end_column) == (3, 9)
    assert (found.values["c"].end_line, found.values["c"].end_column) == (8, 7)


@pytest.mark.parametrize(
    "value", [{"a": [1, 2.5, True, None, 'x\u00e9\n"\\'], "b": {}}, [[], [[]]], "text", 0, -1.5e-7, {"": ""}]
)
def test_json_reads_what_python_writes(value: Any) -> None:
    for indent in (None, 1):
        for ascii_ in (True, False):
            text = json.dumps(value, indent=indent, ensure_ascii=ascii_)
            found, mistakes = as_json(text)
            assert not mistakes and found is not None
            assert found.plain == value


def test_json_places() -> None:
    found, _ = as_json('{\n  "a": "u + vv",\n  "b": [1,\n 2]\n}')
    assert isinstance(found, Mapping)
    value = found.values["a"]
    assert isinstance(value, Scalar)
    assert str(value.part(4, 6)) == "g.json:2:13"
    assert (found.tail, found.end_line, found.end_column) == ((4, 4), 5, 2)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("{'a': 1}", 1, 2),
        ("{a: 1}", 1, 2),
        ('{"a" 1}', 1, 6),
        ('{"a": 1 "b": 2}', 1, 9),
        ('{"a": 1,}', 1, 9),
        ("[1,]", 1, 4),
        ("[1 2]", 1, 4),
        ("[Infinity]", 1, 2),
        ("[-Infinity]", 1, 2),
        ("[01]", 1, 2),
        ("[+1]", 1, 2),
        ("[.5]", 1, 2),
        ("[1.]", 1, 2),
        ("[1e]", 1, 2),
        ("[nul]", 1, 2),
        ("[1] 2", 1, 5),
        ("[1", 1, 3),
        ('["a\n"]', 1, 2),
        ('["\\x41"]', 1, 2),
        ('["\\u12"]', 1, 2),
        ("[1] // remark", 1, 5),
        ("/* x */ []", 1, 1),
        ("", 1, 1),
    ],
)
def test_what_is_not_json(text: str, line: int, column: int) -> None:
    found, mistakes = as_json(text)
    assert found is None
    assert mistakes == [("PLC105" if not text else "PLC116", line, column)]


def test_a_lone_surrogate_is_refused() -> None:
    assert as_json('["a\\ud800"]')[1] == [("PLC104", 1, 4)]
    assert as_json('["a\\ud83d\\ude00"]')[1] == []


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? "])
def test_deep_nesting_ends_early(opening: str) -> None:
    began = time.perf_counter()
    found, mistakes = read(opening * 50_000)
    assert found is None and mistakes[0][0] in ("PLC114", "PLC118")
    assert time.perf_counter() - began < 5
    assert as_json("[" * 50_000)[1][0][0] == "PLC114"


def test_billion_laughs_end_early() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    began = time.perf_counter()
    found, mistakes = read("\n".join(lines))
    assert found is None and mistakes[-1][0] == "PLC113"
    assert time.perf_counter() - began < 5


def test_aliases_below_the_cap_repeat_values() -> None:
    assert plain("a: &x {b: [1, 2]}\nc: *x\n") == {"a": {"b": [1, 2]}, "c": {"b": [1, 2]}}


def test_a_redefined_anchor_holds_from_there_on() -> None:
    assert plain("a: &x 1\nb: *x\nc: &x 2\nd: *x\n") == {"a": 1, "b": 1, "c": 2, "d": 2}


def test_all_duplicate_keys_are_reported() -> None:
    assert read("a: 1\na: 2\nb: {c: 1, c: 2}\n")[1] == [("PLC117", 2, 1), ("PLC117", 3, 11)]
