"""What NVRTC and nvJitLink print, as values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from planc.kernels.escapes import unescaped
from planc.kernels.sources import SourceSet

_HEAD = re.compile(
    r"(?P<file>\S.*?)\((?P<line>\d+)\): (?P<kind>catastrophic error|internal error|error|warning|remark)"
    r"(?: #(?P<number>\d+)(?:-D)?)?: (?P<text>.*)"
)
_BARE = re.compile(r"(?:nvrtc: )?(?P<kind>error|warning)\s*: (?P<text>.*)")
_CARET = re.compile(r"\s*\^\s*\Z")
_NOTE_NUMBER = re.compile(r"note #\d+(?:-D)?: ")
_IN_FILE = re.compile(r"at line (?P<line>\d+)(?: of (?P<file>\S.*?))?\s*\Z")
_NOISE = re.compile(r"\d+ (?:catastrophic )?errors? detected in|Compilation terminated|Remark: |Error limit")
_NAME_MAP = "__nv_name_map"
_EXPRESSION = re.compile(r"\s*#pragma nv_mangled_name (?P<text>.*?)\s*\Z")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file by its graph-relative name; column 0 where the compiler gave none."""

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One message: ``error`` or ``warning``. ``notes`` are the lines of explanation below it.

    ``trail`` are the places of template instantiations that led there, innermost first.
    ``expression`` is set when the message is about a template instance that a graph asks for.
    ``number`` is the compiler's own for this kind of message, None where it gives none.
    """

    error: bool
    text: str
    place: Place | None
    notes: tuple[str, ...] = ()
    trail: tuple[Place, ...] = ()
    expression: str | None = None
    number: int | None = None


def read_compiler_log(log: str) -> list[Message]:
    """Return the messages of an NVRTC log, in order."""
    return [message for block in _blocks(log) if (message := _message(block)) is not None]


def _blocks(log: str) -> Iterator[list[str]]:
    block: list[str] = []
    for line in log.splitlines():
        if _HEAD.match(line) or _BARE.match(line) or not line.strip() or _NOISE.match(line):
            if block:
                yield block
            block = []
        if line.strip() and not _NOISE.match(line):
            block.append(line)
    if block:
        yield block


def _message(block: list[str]) -> Message | None:
    head = _HEAD.match(block[0])
    if head is None:
        bare = _BARE.match(block[0])
        return None if bare is None else Message(bare["kind"] == "error", bare["text"].strip(), None)
    if head["kind"] == "remark":
        return None
    caret = next((i for i, line in enumerate(block) if i > 1 and _CARET.match(line)), None)
    column = 0 if caret is None else max(1, block[caret].index("^") - 1)
    notes = _explanations(block[1:])
    quoted = None if caret is None else _EXPRESSION.match(block[caret - 1])
    named = head["file"] == _NAME_MAP
    place = None if named else Place(head["file"], int(head["line"]), column)
    return Message(
        head["kind"] != "warning",
        head["text"].strip(),
        place,
        tuple(notes),
        tuple(_trail(notes, head["file"])),
        quoted["text"] if named and quoted else None,
        int(head["number"]) if head["number"] else None,
    )


def _explanations(lines: list[str]) -> list[str]:
    """Return the lines that are neither a quoted line of source nor the caret below it."""
    found = []
    for index, line in enumerate(lines):
        quoted = index + 1 < len(lines) and _CARET.match(lines[index + 1])
        if not quoted and not _CARET.match(line) and line.strip() != "detected during:":
            found.append(_NOTE_NUMBER.sub("note: ", line.strip()))
    return found


def _trail(notes: list[str], file: str) -> Iterator[Place]:
    for note in notes:
        match = _IN_FILE.search(note)
        if match is not None:
            yield Place(match["file"] or file, int(match["line"]))


_PTX_LINE = re.compile(r"ptxas .*?, line (?P<line>\d+); (?P<kind>error|fatal|warning|info)\s*: (?P<text>.*)")
_PTXAS = re.compile(r"(?:ptxas )?(?P<kind>error|fatal|warning)\s*: (?P<text>.*)")
_LINK_NOISE = re.compile(r"ERROR (?:NVJITLINK_\w+|\d+):|ptxas fatal\s*: Ptx assembly aborted")


@dataclass(frozen=True, slots=True)
class LinkMessage:
    """One message about PTX; ``line`` counts from 1 in the PTX, 0 where none is named."""

    error: bool
    text: str
    line: int


def read_linker_log(log: str) -> list[LinkMessage]:
    """Return the errors and warnings of an nvJitLink log, in order."""
    found = []
    for line in log.splitlines():
        match = _PTX_LINE.match(line) or _PTXAS.match(line)
        if match is None or _LINK_NOISE.match(line) or match["kind"] == "info":
            continue
        number = int(match["line"]) if "line" in match.re.groupindex else 0
        found.append(LinkMessage(match["kind"] != "warning", match["text"].strip(), number))
    return found


_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"((?:\\.|[^"\\])*)"')


def cuda_place(ptx: str, line: int) -> Place | None:
    """Return the CUDA line that line ``line`` of ``ptx`` came from, by its ``.loc``."""
    lines = ptx.splitlines()
    for text in reversed(lines[: max(line, 0)]):
        match = _LOC.match(text)
        if match is not None:
            names = {m[1]: unescaped(m[2]) for m in map(_FILE.match, lines) if m}
            name = names.get(match[1])
            return None if name is None else Place(name, int(match[2]), int(match[3]))
        if text.startswith((".visible", ".entry", ".func", ".weak", "}")):
            return None
    return None


def author_place(message: Message, sources: SourceSet) -> Place | None:
    """Return the place to blame in the author's files: its own, or the nearest that led there."""
    for place in (message.place, *message.trail):
        if place is not None and sources.display(place.file) is not None:
            return place
    return None
