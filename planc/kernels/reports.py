"""What the compilers said, as diagnostics at the author's files."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planc.diagnostics import Diagnostic, Related, Span
from planc.diagnostics.diagnostic import Fact
from planc.kernels.declarations import read_declarations
from planc.kernels.demangle import demangle
from planc.kernels.headers import C_HEADERS
from planc.kernels.log import LinkMessage, Message, Place, author_place, cuda_place
from planc.kernels.sources import ProjectFile, SourceSet, Unresolved
from planc.source.flat import FlatKernel

_NOT_FOUND = re.compile(r'(?:cannot|could not) open source file "([^"]+)"')
_UNDEFINED = re.compile(r'identifier "([^"]+)" is undefined')
_HOST = re.compile(r"not allowed in JIT mode|is considered a host variable|is undefined in device code")
_UNRESOLVED = re.compile(r"Undefined reference to '([^']+)'")
_ENTRY = re.compile(r"[Ee]ntry function '([^']+)'")
_WORD = re.compile(r"[A-Za-z_]\w*")
_FIXED_WIDTH = re.compile(r"(?:std::)?u?int(?:8|16|32|64)_t\Z|u?intptr_t\Z")

_HOST_HELP = (
    "planc compiles device code alone: keep host code in another file, or between `#ifndef __CUDACC_RTC__` "
    "and `#endif`"
)


@dataclass(frozen=True, slots=True)
class Scene:
    """One source, the kernels of the graph that come from it, the targets and the compiler's options."""

    sources: SourceSet
    kernels: tuple[FlatKernel, ...]
    targets: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def span(self) -> Span:
        """Where the graph names the file."""
        return self.kernels[0].path_span

    def facts(self) -> dict[str, str]:
        """Return the facts that every report of this source has."""
        return {"kernel": self.kernels[0].name, "file": self.sources.main.display}


def mend_the_kernel(scene: Scene) -> str:
    """Return the cure that says how the file was compiled."""
    how = f" for {' and '.join(scene.targets)}" if scene.targets else ""
    how += f" with `{' '.join(scene.flags)[:200]}`" if scene.flags else ""
    return f"mend the kernel; it is compiled{how}" if how else "mend the kernel"


def compiler_diagnostic(message: Message, scene: Scene) -> list[Diagnostic]:
    """Return what one message of NVRTC says; nothing for a warning inside CUDA's own headers."""
    if message.expression is not None:
        return _instance_diagnostics(message, scene)
    place = author_place(message, scene.sources)
    if not message.error and (place is None or place != message.place):
        return []
    code, help_text = _cure(message, scene) if message.error else _doubt(message)
    if place is not None and code in ("PLC404", "PLC405"):
        place = Place(place.file, place.line)  # NVRTC points past the end of the line
    span = scene.span if place is None else place_span(place, scene.sources)
    related = _trail(message, place, scene.sources)
    return [Diagnostic(code, message.text, span, help_text, related, message.notes, scene.facts())]


def _instance_diagnostics(message: Message, scene: Scene) -> list[Diagnostic]:
    if message.text.startswith("Error in parsing name expression"):
        return []
    return [
        Diagnostic(
            "PLC410",
            f"`{kernel.entry}` names no template instance: {message.text}",
            kernel.entry_span,
            help="give the template's arguments as its declaration asks for them",
            facts={"kernel": kernel.name, "entry": kernel.entry},
        )
        for kernel in scene.kernels
        if kernel.entry == message.expression
    ]


def _doubt(message: Message) -> tuple[str, str]:
    if message.number is None:
        return "PLC407", "mend it"
    return "PLC407", f"mend it, or add `-diag-suppress={message.number}` to the kernel's `options`"


def _cure(message: Message, scene: Scene) -> tuple[str, str]:
    missing = _NOT_FOUND.search(message.text)
    if missing is not None:
        return _missing_header(missing[1], message.place, scene.sources.unresolved)
    undefined = _UNDEFINED.search(message.text)
    if undefined is not None:
        return "PLC406", _define(undefined[1], scene)
    return "PLC406", _HOST_HELP if _HOST.search(message.text) else mend_the_kernel(scene)


def _define(name: str, scene: Scene) -> str:
    """Return the cure for an identifier that nobody defines."""
    if _FIXED_WIDTH.match(name):
        return "`#include <stdint.h>`"
    words = {w for file in scene.sources.project for w in _WORD.findall(file.text)} - {name}
    near = closest(name, words) if len(name) > 2 else None
    declared = f"declare `{name}`" if not name.isupper() else f"define `{name}`, here or under `defines`"
    return f"write `{near}`, or {declared}" if near is not None else declared


def _missing_header(name: str, place: Place | None, unresolved: Iterable[Unresolved]) -> tuple[str, str]:
    here = [item for item in unresolved if item.spelled == name and _same_line(item, place)]
    if any(item.outside is not None for item in here):
        return "PLC405", "move the header into the project, or allow it with `--allow-outside`"
    if not here and place is not None and not place.file.startswith(("cuda/", "planc/")):
        return "PLC404", "name the header itself in `#include`, and not by a macro"
    if name in _STANDARD:
        return "PLC404", f"`#include <cuda/std/{name}>` and use `cuda::std`"
    supplied = ", ".join(f"`{header}`" for header in C_HEADERS if header.endswith(".h"))
    return "PLC404", f"add its folder to `include_dirs`; planc itself has CUDA's headers and {supplied}"


def _same_line(item: Unresolved, place: Place | None) -> bool:
    return place is None or (item.file == place.file and item.line == place.line)


_STANDARD = frozenset(
    {"algorithm", "array", "atomic", "bit", "complex", "chrono", "concepts", "functional", "iterator"}
    | {"limits", "numeric", "optional", "ratio", "span", "tuple", "type_traits", "utility", "variant"}
)


def _trail(message: Message, place: Place | None, sources: SourceSet) -> tuple[Related, ...]:
    found = []
    if message.place is not None and (place is None or message.place.file != place.file):
        found.append(Related(f"found at line {message.place.line} of `{message.place.file}`"))
    for other in message.trail:
        if other != place and sources.display(other.file) is not None:
            found.append(Related("instantiated from here", place_span(other, sources)))
    return tuple(found)


def place_span(place: Place, sources: SourceSet) -> Span:
    """Return the word at a place of one of the author's files."""
    file = next(f for f in sources.project if f.name == place.file)
    if place.column == 0:
        return _line_span(file, place.line)
    line = _line(file, place.line)
    word = re.compile(r"\w+").match(line, place.column - 1)
    stop = word.end() + 1 if word else place.column + 1
    return Span(file.display, place.line, place.column, place.line, stop)


def _line_span(file: ProjectFile, number: int) -> Span:
    line = _line(file, number)
    start = len(line) - len(line.lstrip()) + 1
    return Span(file.display, number, start, number, max(len(line.rstrip()), start) + 1)


def _line(file: ProjectFile, number: int) -> str:
    lines = file.text.splitlines()
    return lines[number - 1] if 0 < number <= len(lines) else ""


def linker_diagnostic(message: LinkMessage, ptx: str, scene: Scene) -> Diagnostic:
    """Return what one message of nvJitLink says of a CUDA source, at the CUDA line where known."""
    return _link(message, _linker_span(message, ptx, scene), scene.facts())


def _linker_span(message: LinkMessage, ptx: str, scene: Scene) -> Span:
    missing = _UNRESOLVED.search(message.text)
    line = _call_of(missing[1], ptx) if missing is not None else message.line
    place = cuda_place(ptx, line) if line else None
    if place is not None and scene.sources.display(place.file) is not None:
        return place_span(place, scene.sources)
    entry = _ENTRY.search(message.text)
    declared = None if entry is None else _declaration(entry[1], scene.sources)
    return scene.span if declared is None else declared


def _call_of(symbol: str, ptx: str) -> int:
    """Return the line of the PTX that calls ``symbol``; 0 when none does."""
    call = re.compile(rf"(?:\s*{re.escape(symbol)}\s*,|\s*(?:@\S+\s+)?call\b.*\b{re.escape(symbol)}\b)")
    return next((i for i, line in enumerate(ptx.splitlines(), start=1) if call.match(line)), 0)


def _declaration(symbol: str, sources: SourceSet) -> Span | None:
    demangled = demangle(symbol)
    name = symbol if demangled is None else demangled.name.replace("(anonymous namespace)::", "")
    for file in sources.project:
        for entry in read_declarations(file.text, file.name):
            if entry.name == name:
                return place_span(Place(file.name, entry.line, entry.column), sources)
    return None


def ptx_link_diagnostic(message: LinkMessage, file: str, kernel: FlatKernel) -> Diagnostic:
    """Return what one message of nvJitLink says of a PTX file, at its line."""
    span = Span(file, message.line) if message.line else kernel.path_span
    return _link(message, span, {"kernel": kernel.name, "file": file})


def _link(message: LinkMessage, span: Span, facts: Mapping[str, str]) -> Diagnostic:
    missing = _UNRESOLVED.search(message.text)
    if missing is not None:
        help_text = f"define `{missing[1]}` in the file: each source is linked on its own"
        return Diagnostic(
            "PLC416", f"`{missing[1]}` is used and nowhere defined", span, help_text, facts={**facts}
        )
    if message.error:
        cure = "mend the kernel, or leave out the target that refuses it"
        return Diagnostic("PLC416", message.text, span, cure, facts={**facts})
    cure = "turn recursion into a loop" if "tack size" in message.text else "mend what it names"
    return Diagnostic("PLC417", message.text, span, cure, facts={**facts})


def merge_targets(found: Sequence[tuple[str, Diagnostic]], targets: Sequence[str]) -> list[Diagnostic]:
    """Report once what several targets say alike; say which targets where not all do."""
    merged: dict[tuple[object, ...], tuple[Diagnostic, list[str]]] = {}
    for target, diagnostic in found:
        key = (diagnostic.code, diagnostic.span, diagnostic.message)
        merged.setdefault(key, (diagnostic, []))[1].append(target)
    return [_with_targets(d, dict.fromkeys(on), targets) for d, on in merged.values()]


def _with_targets(found: Diagnostic, on: Iterable[str], targets: Sequence[str]) -> Diagnostic:
    names = list(on)
    listed: list[Fact] = list(names)
    facts: dict[str, Fact] = {**found.facts, "targets": listed}
    if len(names) == len(targets):
        return replace(found, facts=facts)
    note = "for " + " and ".join(f"`{name}`" for name in names)
    return replace(found, facts=facts, notes=(*found.notes, note))


def closest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of ``names`` that is spelled most like ``name``, if any is near."""
    near = difflib.get_close_matches(name, list(names), n=1, cutoff=0.6)
    return near[0] if near else None


def unreadable(kernel: FlatKernel, path: Path, shown: str, reason: str) -> Diagnostic:
    """Return the report of a file that cannot be used."""
    return Diagnostic(
        "PLC401",
        f"`{shown}` cannot be read: {reason}",
        kernel.path_span,
        help=f"name a file that {'can be read' if path.exists() else 'is there'}, relative to the graph file",
        facts={"kernel": kernel.name, "file": shown},
    )
