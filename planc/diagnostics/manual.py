"""The manual page of each code: text, a failing example and a mended one, from Markdown."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

from planc.diagnostics.catalogue import CATALOGUE

_FENCE = re.compile(r"^```([\w+-]+)[ \t]*([^\n]*)\n(.*?)^```[ \t]*$", re.M | re.S)
_MARK = re.compile(r"(?:#|//)\s*(error|warning|hint): (PLC\d{3}(?:\s*,\s*PLC\d{3})*)")
_REPORTED = re.compile(r"^Reported at: ([^\s:`]+):(\d+)(?: (PLC\d{3}))?", re.M)


@dataclass(frozen=True, slots=True)
class ExampleFile:
    """One file of an example; ``language`` is the fence's (``yaml``, ``cuda``, ``python``, …)."""

    name: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Example:
    """Files, of which the first is the one to check, and the places where a code must appear.

    ``expected`` holds (file, line, code); it is empty for a mended example.
    """

    files: tuple[ExampleFile, ...]
    expected: frozenset[tuple[str, int, str]]


@dataclass(frozen=True, slots=True)
class ManualPage:
    """What ``planc explain CODE`` shows."""

    code: str
    title: str
    text: str
    failing: Example
    mended: Example


def manual_page(code: str) -> ManualPage:
    """Return the page of ``code``.

    Raises KeyError for a code that is not in the catalogue, ValueError for a malformed page.
    """
    entry = CATALOGUE[code]
    markdown = files("planc.diagnostics").joinpath("explain", f"{code}.md").read_text(encoding="utf-8")
    head, fails, mended = _sections(code, markdown)
    title, _, text = head.partition("\n")
    if title.strip() != f"# {code}: {entry.title}":
        raise ValueError(f"page of {code} is headed {title.strip()!r}, not '# {code}: {entry.title}'")
    return ManualPage(code, entry.title, text.strip(), _example(fails, code), _example(mended, code))


def _sections(code: str, markdown: str) -> tuple[str, str, str]:
    head, found, rest = markdown.partition("\n## Fails\n")
    fails, also, mended = rest.partition("\n## Mended\n")
    if not found or not also:
        raise ValueError(f"page of {code} lacks '## Fails' or '## Mended'")
    return head, fails, mended


def _example(section: str, code: str) -> Example:
    found = []
    expected = set()
    for language, name, text in _FENCE.findall(section):
        file = ExampleFile(name.strip() or f"example.{language}", language, text)
        found.append(file)
        for number, line in enumerate(text.splitlines(), start=1):
            for mark in _MARK.finditer(line):
                expected |= {(file.name, number, c.strip()) for c in mark.group(2).split(",")}
    for name, number, other in _REPORTED.findall(section):
        expected.add((name, int(number), other or code))
    return Example(tuple(found), frozenset(expected))
