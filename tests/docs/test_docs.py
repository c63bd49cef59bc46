"""README and docs say only what is true: every command and snippet in them is run.

A fence with a file name is written to the document's folder of work; a graph is checked as soon as it
is there, and must give exactly the marked errors. ``sh`` fences hold commands; a ``text`` fence
right after one is its output. ``python`` fences run. Links and paths must exist.
"""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from planc.cli.app import app
from planc.diagnostics import CATALOGUE
from tests.docs.snippets import Snippet, snippets

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
_MARK = re.compile(r"# (?:error|warning): (PLC\d{3})")
FILES = {"yaml", "json", "cuda", "ptx", "toml"}


class Reader:
    """Works through one document in one folder."""

    def __init__(self) -> None:
        self.output = ""
        self.namespace: dict[str, object] = {"__name__": "snippet"}

    def read(self, snippet: Snippet) -> None:
        if snippet.language in FILES and snippet.name:
            self._file(snippet)
        elif snippet.language == "sh":
            for command in snippet.text.splitlines():
                self._command(command.partition("  #")[0].strip())
        elif snippet.language == "text" and self.output:
            assert snippet.text.strip() == self.output.strip()
            self.output = ""
        elif snippet.language == "python":
            exec(compile(snippet.text, f"line {snippet.line}", "exec"), self.namespace)

    def _file(self, snippet: Snippet) -> None:
        path = Path(snippet.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(snippet.text)
        if path.stem != "graph":
            return
        from planc.api import check

        lines = enumerate(snippet.text.splitlines(), start=1)
        wanted = {(n, code) for n, line in lines for code in _MARK.findall(line)}
        found = {
            (d.span.line if d.span else 0, d.code)
            for d in check(path).diagnostics
            if CATALOGUE[d.code].severity != "hint"
        }
        assert found == wanted

    def _command(self, command: str) -> None:
        if command:
            program, *arguments = shlex.split(command)
            handler = COMMANDS.get(program) or (_tool if program.startswith("tools/") else None)
            assert handler is not None, f"nothing knows how to check `{command}`"
            self.output = handler(program, arguments)


def _planc(_: str, arguments: list[str]) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code in (0, 1) and "PLC900" not in result.output, result.output
    return result.output


def _tool(program: str, _: list[str]) -> str:
    path = ROOT / program
    assert path.is_file() and path.stat().st_mode & 0o100, f"{program} cannot be run"
    return ""


def _python(_: str, arguments: list[str]) -> str:
    assert (ROOT / arguments[0]).is_file(), f"{arguments[0]} does not exist"
    return ""


def _pip(_: str, arguments: list[str]) -> str:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"planc\[(\w+)\]", " ".join(arguments))
    assert set(named) <= set(extras)
    return ""


COMMANDS: dict[str, Callable[[str, list[str]], str]] = {
    "planc": _planc,
    "pip": _pip,
    "python": _python,
    "python3": _python,
}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_snippets(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "plans", tmp_path / "plans", ignore=shutil.ignore_patterns("broken"))
    monkeypatch.chdir(tmp_path)
    reader = Reader()
    for snippet in snippets(document):
        try:
            reader.read(snippet)
        except Exception as error:
            raise AssertionError(f"{document.name}:{snippet.line}: {error}") from error


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_links_and_paths_exist(document: Path) -> None:
    text = document.read_text()
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (document.parent / target).exists(), f"{document.name} links to {target}"
    for path in re.findall(r"`((?:planc|tests|tools|docs|plans|schemas)/[\w./-]*\w)`", text):
        assert (ROOT / path).exists(), f"{document.name} names {path}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda p: p.name)
def test_codes_exist(document: Path) -> None:
    named = set(re.findall(r"\bPLC\d{3}\b", document.read_text()))
    assert named <= set(CATALOGUE)
