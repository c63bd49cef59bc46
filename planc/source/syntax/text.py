"""The text of a file: read under a cap, decoded, and free of characters that nobody sees."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from planc.diagnostics import Span
from planc.source.limits import Limits
from planc.source.report import Report, advice

# Controls, what YAML takes for further line breaks, byte order marks, what reorders text on a screen, and a
# carriage return that ends no line.
FORBIDDEN = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
    "|[\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)"
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """A file's text, its line breaks plain; ``label`` names it in spans, ``folder`` is where it lies."""

    label: str
    folder: Path
    text: str
    lines: tuple[str, ...] = field(repr=False)

    @classmethod
    def of(cls, label: str, folder: Path, text: str) -> SourceText:
        """Make one of a checked text."""
        plain = text.replace("\r\n", "\n")
        return cls(label, folder, plain, tuple(plain.split("\n")))

    def span(self, line: int, column: int, end_line: int = 0, end_column: int = 0) -> Span:
        """Return a span of this file."""
        return Span(self.label, line, column, end_line, end_column)


def label_of(path: Path) -> str:
    """Return ``path`` as a person in the working folder would type it."""
    absolute = Path(os.path.normpath(Path.cwd() / path))
    try:
        return absolute.relative_to(Path.cwd()).as_posix()
    except ValueError:
        return absolute.as_posix()


def read_source(path: Path, limits: Limits, report: Report, where: Span | None = None) -> SourceText | None:
    """Read a file as text; ``where`` is the place that names it, if a file does.

    Reports PLC101 (not readable), PLC102 (too large), PLC103 (not UTF-8) and PLC104 (forbidden character).
    """
    label = label_of(path)
    place = where or Span(label)
    try:
        if not path.is_file():
            what, cure = _not_a_file(path)
            report.add("PLC101", f"`{label}` {what}", place, help=cure, facts={"file": label})
            return None
        with path.open("rb") as stream:
            data = stream.read(limits.file_bytes + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "not a path"
        cure = "name a file that you may read"
        message = f"`{label}` cannot be read: {why.lower()}"
        report.add("PLC101", message, place, help=cure, facts={"file": label})
        return None
    text = decode(data, label, limits, report)
    return None if text is None else SourceText.of(label, path.parent.absolute(), text)


def _not_a_file(path: Path) -> tuple[str, str]:
    """Return what is wrong with a path at which no file is, and the cure."""
    if path.is_dir():
        return "is a folder", "name a file in it"
    if path.exists():
        return "is not a file", "name a regular file"
    names = [p.name for p in path.parent.iterdir() if p.is_file()] if path.parent.is_dir() else []
    return "does not exist", advice(path.name, names[:1000], "name a file that is there")


def decode(data: bytes, label: str, limits: Limits, report: Report) -> str | None:
    """Turn bytes to text: UTF-8, a byte order mark at most at the start, no forbidden character."""
    if len(data) > limits.file_bytes:
        report.add(
            "PLC102",
            f"`{label}` is larger than {limits.file_bytes} bytes",
            Span(label),
            help="write repeated nodes as a loop, and large data as a file that `data` names",
            facts={"limit": limits.file_bytes},
        )
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _report_not_utf8(data, error, label, report)
        return None
    return check_text(text, label, report)


def check_text(text: str, label: str, report: Report) -> str | None:
    """Return ``text`` if it holds no forbidden character, else report each line's first."""
    found = list(FORBIDDEN.finditer(text))
    seen: set[int] = set()
    for match in found[:100]:
        line = text.count("\n", 0, match.start()) + 1
        if line not in seen:
            seen.add(line)
            column = match.start() - (text.rfind("\n", 0, match.start()) + 1) + 1
            report.add(
                "PLC104",
                f"the character U+{ord(match.group()[0]):04X} has no place in a graph file",
                Span(label, line, column),
                help="end lines with LF or CR LF" if match.group() == "\r" else "remove it",
                facts={"character": ord(match.group()[0])},
            )
    return None if found else text


def _report_not_utf8(data: bytes, error: UnicodeDecodeError, label: str, report: Report) -> None:
    before = data[: error.start]
    line = before.count(b"\n") + 1
    column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
    report.add(
        "PLC103",
        f"byte 0x{data[error.start]:02X} is not UTF-8",
        Span(label, line, column),
        help="save the file as UTF-8",
        facts={"offset": error.start},
    )
