"""Every code at its exact place, and silence next to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from planc.diagnostics import CATALOGUE
from tests.source.cases import CASES, Case
from tests.source.helpers import good, load, load_files, marked, places

# Codes that no single text can show; each has its test below or in another module of this folder.
ELSEWHERE = {
    "PLC102": "test_files",
    "PLC103": "test_files",
    "PLC160": "test_files",
    "PLC161": "test_files",
    "PLC201": "test_files",
    "PLC170": "test_python",
    "PLC171": "test_python",
    "PLC172": "test_python",
    "PLC203": "test_symbols",
    "PLC204": "test_symbols",
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_mistake(case: Case, tmp_path: Path) -> None:
    text, (line, column) = marked(case.text)
    _, found = load(text, case.name, folder=tmp_path, **case.options)
    assert places(found) == [(case.code, line, column)], found


@pytest.mark.parametrize("case", CASES, ids=str)
def test_legal_neighbour(case: Case, tmp_path: Path) -> None:
    text, _ = marked(case.text)
    old, new = case.mend
    assert old in text
    graph = good(text.replace(old, new) if old else new, case.name, folder=tmp_path, **case.options)
    assert graph.file == case.name


def test_every_code_has_a_case() -> None:
    mine = {c for c in CATALOGUE if "PLC101" <= c <= "PLC199" or "PLC201" <= c <= "PLC229"}
    assert mine == {case.code for case in CASES} | set(ELSEWHERE)


def test_messages_follow_the_style() -> None:
    for case in CASES:
        _, found = load(marked(case.text)[0], case.name, **case.options)
        for diagnostic in found:
            words = diagnostic.message
            assert words[0].islower() or words[0] in "`0123456789-" or words.startswith("YAML"), words
            assert not words.endswith((".", "?", "!")) and "\n" not in words, words
            assert not diagnostic.help.endswith((".", "?")), diagnostic.help


def test_files_of_the_same_name_are_read_from_disk(tmp_path: Path) -> None:
    for case in CASES[:3]:
        text, (line, column) = marked(case.text)
        _, found = load_files(tmp_path, {case.name: text}, case.name, **case.options)
        assert places(found) == [(case.code, line, column)]
