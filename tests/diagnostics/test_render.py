"""The renderers, on a diagnostic that uses every field."""

from __future__ import annotations

import json

import pytest

from planc.diagnostics import Collector, Diagnostic, Edit, Fix, GraphError, Related, Span
from planc.diagnostics.render import RENDERERS

TEXT = "planc: 1\nnodes:\n  - id: a\n    copy: v <- u\n  - id: b\n    copy: u <- v\n"
FOUND = Diagnostic(
    "PLC900",
    "copy `b` and copy `a` race on `u`, 50%",
    Span("graph.yaml", 6, 11, 6, 17),
    help="add `after: a` to `b`",
    related=(Related("`a` reads it here", Span("graph.yaml", 4, 11, 4, 17)), Related("no path orders them")),
    notes=("bytes 0 to 63",),
    facts={"buffer": "u", "bytes": [0, 64]},
    fix=Fix("add the edge", (Edit(Span("graph.yaml", 6, 17, 6, 17), "\n    after: a"),)),
)


def render(form: str) -> str:
    return RENDERERS[form]([FOUND], {"graph.yaml": TEXT}.get)


def test_full() -> None:
    assert render("text") == (
        "error[PLC900]: copy `b` and copy `a` race on `u`, 50%\n"
        " --> graph.yaml:6:11\n"
        "  |\n"
        "6 |     copy: u <- v\n"
        "  |           ^^^^^^\n"
        " --> graph.yaml:4:11\n"
        "  |\n"
        "4 |     copy: v <- u\n"
        "  |           ------ `a` reads it here\n"
        "  = no path orders them\n"
        "  = note: bytes 0 to 63\n"
        "  = help: add `after: a` to `b`\n"
    )


def test_full_without_the_file() -> None:
    shown = RENDERERS["text"]([FOUND], lambda file: None)
    assert "graph.yaml:6:11" in shown and "^" not in shown and "`a` reads it here" in shown


def test_full_aligns_under_tabs_and_past_the_end() -> None:
    found = Diagnostic("PLC900", "odd", Span("t", 1, 2, 1, 99))
    assert "1 |  ab\n  |  ^^\n" in RENDERERS["text"]([found], lambda file: "\tab\n")
    beyond = Diagnostic("PLC900", "odd", Span("t", 7, 1))
    assert "t:7:1" in RENDERERS["text"]([beyond], lambda file: "x\n")


def test_concise() -> None:
    assert render("concise") == "graph.yaml:6:11: error[PLC900]: copy `b` and copy `a` race on `u`, 50%\n"


def test_json_keeps_every_field() -> None:
    (one,) = json.loads(render("json"))["diagnostics"]
    assert one["facts"] == {"buffer": "u", "bytes": [0, 64]}
    assert one["span"] == {"file": "graph.yaml", "line": 6, "column": 11, "end_line": 6, "end_column": 17}
    assert one["fix"]["edits"][0]["text"] == "\n    after: a"
    assert one["related"][1] == {"message": "no path orders them", "span": None}
    assert set(one) == {
        "code", "severity", "title", "message", "span", "help", "related", "notes", "facts", "fix"
    }  # fmt: skip


def test_sarif_points_at_the_place() -> None:
    log = json.loads(render("sarif"))
    (result,) = log["runs"][0]["results"]
    assert log["version"] == "2.1.0" and result["ruleId"] == "PLC900"
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 6
    assert len(result["relatedLocations"]) == 1


def test_github_escapes_what_the_runner_would_read() -> None:
    shown = render("github")
    assert shown.startswith("::error title=PLC900,file=graph.yaml,line=6,col=11,endLine=6::")
    assert "50%25%0Ahelp" in shown and shown.count("\n") == 1


def test_collector_sorts_drops_repeats_and_raises_all() -> None:
    collector = Collector()
    early = Diagnostic("PLC900", "early", Span("graph.yaml", 1, 1))
    collector.extend([FOUND, early, FOUND])
    assert collector.diagnostics == (early, FOUND)
    with pytest.raises(GraphError) as caught:
        collector.raise_errors()
    assert caught.value.diagnostics == (early, FOUND) and caught.value.code == "PLC900"


def test_collector_refuses_a_code_that_is_not_in_the_catalogue() -> None:
    with pytest.raises(KeyError):
        Collector().add(Diagnostic("PLC000", "x"))
