"""Every diagnostic says what to do, in one style, at a place that is there."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from planc.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
# Where the help stands among the plain arguments of what makes a diagnostic.
_POSITIONS = {"Diagnostic": 3, "Fault": 4, "Mistake": 2, "mistake": 2, "_refuse": 4, "add": 9}


@pytest.fixture(scope="module")
def reported() -> list[dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        result = CliRunner().invoke(app, ["check", "plans/broken", "--format", "json"])
    found = json.loads(result.stdout)["diagnostics"]
    assert len({item["code"] for item in found}) > 200
    return list(found)


def test_each_has_a_cure(reported: list[dict[str, Any]]) -> None:
    assert {item["code"]: item["message"] for item in reported if not item["help"].strip()} == {}


def test_messages_are_of_one_style(reported: list[dict[str, Any]]) -> None:
    ours = [
        item for item in reported if item["code"] not in {"PLC404", "PLC406", "PLC407", "PLC416", "PLC417"}
    ]
    wrong = {}
    for item in ours:
        message = item["message"]
        start = re.match(r"[`a-z0-9\"']|U\+|[A-Z]{2,}|[A-Z]\b", message)
        if start is None or message.endswith(".") or message != message.strip() or "\n" in message:
            wrong[item["code"]] = message
        if item["help"].endswith(".") and not item["help"].endswith("..."):
            wrong[item["code"]] = item["help"]
    assert wrong == {}


def test_each_stands_at_a_line_that_exists(reported: list[dict[str, Any]]) -> None:
    lost = {}
    for item in reported:
        for span in [item["span"], *(other["span"] for other in item["related"] if other["span"])]:
            if span is None:  # a plan has no lines; its message names the file
                lost |= {} if _names_a_plan(item) else {item["code"]: span}
            elif not _exists(span):
                lost[item["code"]] = span
    assert lost == {}


def _names_a_plan(item: dict[str, Any]) -> bool:
    return item["code"].startswith("PLC6") and (ROOT / item["message"].split("`")[1]).is_file()


def _exists(span: dict[str, Any]) -> bool:
    path = ROOT / span["file"]
    if not path.is_file():
        return False
    lines = path.read_bytes().decode("utf-8", "replace").split("\n")
    return bool(span["line"] <= len(lines) and 1 <= span["column"] <= len(lines[span["line"] - 1]) + 1)


@pytest.mark.parametrize("folder", ["source", "kernels", "ptx", "graph", "hazards"])
def test_no_call_leaves_the_cure_out(folder: str) -> None:
    bare = [f"{file}:{call.lineno}" for file, call in _calls(ROOT / "planc" / folder) if _lacks_help(call)]
    assert bare == []


def _calls(folder: Path) -> Iterator[tuple[str, ast.Call]]:
    for path in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _code(node) is not None and _name(node) in _POSITIONS:
                yield path.relative_to(ROOT).as_posix(), node


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _code(call: ast.Call) -> str | None:
    """Return the code among the first two arguments: a diagnostic, not a word that mentions one."""
    texts = [a.value for a in call.args[:2] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
    return next((text for text in texts if re.fullmatch(r"PLC\d{3}", text)), None)


def _lacks_help(call: ast.Call) -> bool:
    given = [k.value for k in call.keywords if k.arg == "help"]
    places = len(call.args) + sum(isinstance(a, ast.Starred) for a in call.args)  # a place is two numbers
    if not given and places > _POSITIONS[_name(call)]:
        given = [call.args[-1]]
    internal = (_code(call) or "") >= "PLC900"
    return not internal and (not given or (isinstance(given[0], ast.Constant) and not given[0].value))
