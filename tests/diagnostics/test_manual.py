"""Every code has a page, and every page's examples do what they say."""

from __future__ import annotations

from pathlib import Path

import pytest

from planc.diagnostics import CATALOGUE, PlancError, Severity
from planc.diagnostics.manual import Example, manual_page
from tests.diagnostics.examples import unpack


def _codes(language: str) -> list[str]:
    return [
        c
        for c in CATALOGUE
        if (manual_page(c).failing.files[0].language == "python") == (language == "python")
    ]


def _check(example: Example) -> set[tuple[str, int, str]]:
    from planc.api import check

    found = check(Path(example.files[0].name)).diagnostics
    return {(d.span.file if d.span else "", d.span.line if d.span else 0, d.code) for d in found}


def run(text: str, name: str) -> None:
    """Run an example as a module of its own, without this file's future imports."""
    exec(compile(text, name, "exec", dont_inherit=True), {"__name__": "example"})


def _weighty(found: set[tuple[str, int, str]]) -> set[tuple[str, int, str]]:
    return {item for item in found if CATALOGUE[item[2]].severity is not Severity.HINT}


@pytest.mark.parametrize("code", list(CATALOGUE))
def test_page_is_complete(code: str) -> None:
    page = manual_page(code)
    assert page.text and page.failing.files and page.mended.files


@pytest.mark.parametrize("code", _codes("yaml"))
def test_graph_example(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = manual_page(code)
    assert any(c == code for _, _, c in page.failing.expected), "the failing example does not mark its code"
    unpack(page.failing, tmp_path / "fails")
    monkeypatch.chdir(tmp_path / "fails")
    found = _check(page.failing)
    assert _weighty(found) == _weighty(set(page.failing.expected))
    assert found >= page.failing.expected
    unpack(page.mended, tmp_path / "mended")
    monkeypatch.chdir(tmp_path / "mended")
    left = _check(page.mended)
    assert not _weighty(left)
    assert code not in {c for _, _, c in left}


@pytest.mark.parametrize("code", _codes("python"))
def test_python_example(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = manual_page(code)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PlancError) as caught:
        run(page.failing.files[0].text, f"{code}-fails")
    assert code in {d.code for d in caught.value.diagnostics}
    run(page.mended.files[0].text, f"{code}-mended")
