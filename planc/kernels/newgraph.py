"""A graph file to start from, for a CUDA file that is there already."""

from __future__ import annotations

import json
import keyword
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from planc.diagnostics import Diagnostic, GraphError, Span
from planc.kernels.declarations import SourceEntry, read_declarations
from planc.kernels.includes import Unreadable, read_text
from planc.kernels.parameters import WrittenParameter
from planc.kernels.paths import display_path
from planc.plan.dtypes import DTYPES

_THREADS = 256
_ELEMENTS = 1024
_RESERVED = frozenset({"n", "true", "false", "null", "nan", "inf"})


def describe_source(path: Path) -> tuple[SourceEntry, ...]:
    """Return every ``__global__`` function that a CUDA file declares, with its parameters.

    A declaration and its definition count once. Raises GraphError (PLC401) for an unreadable file.
    """
    shown = display_path(path)
    try:
        declared = read_declarations(read_text(path), shown)
    except Unreadable as error:
        message = f"`{shown}` cannot be read: {error.reason}"
        raise GraphError(
            Diagnostic("PLC401", message, Span(shown), "name a CUDA file that can be read")
        ) from error
    found: dict[tuple[object, ...], SourceEntry] = {}
    for entry in declared:
        key = (entry.name, entry.arguments, tuple((p.base, p.stars) for p in entry.parameters))
        if key not in found or entry.is_definition:
            found[key] = entry
    return tuple(found.values())


def new_graph_text(path: Path, folder: Path | None = None) -> str:
    """Return the YAML of a graph that runs each kernel of a CUDA file once, ready to check.

    Pointers become buffers (to const: ``in``, else ``inout``), other parameters scalars or counts. A
    template, or a kernel with a parameter that is neither, is left to the author in a comment.
    ``folder`` is where the graph file will lie, by default beside the source.
    Raises GraphError (PLC401 for an unreadable file, PLC408 where there is no kernel at all).
    """
    entries = describe_source(path)
    if not entries:
        shown = display_path(path)
        raise GraphError(
            Diagnostic(
                "PLC408",
                f"`{shown}` has no `__global__` function",
                Span(shown),
                help="name a file that has one",
                facts={"file": shown, "entries": []},
            )
        )
    usable = [e for e in entries if _obstacle(e) is None]
    drafts = _drafts(usable)
    sections = [
        _head(path),
        _scalars(drafts),
        _buffers(drafts),
        _kernels(
            _named(path, folder or path.parent), drafts, [e for e in entries if _obstacle(e) is not None]
        ),
        _nodes(drafts),
    ]
    return "\n".join(line for section in sections for line in section) + "\n"


@dataclass(frozen=True, slots=True)
class _Binding:
    """One parameter with the name of its buffer or scalar, or the count it gets."""

    parameter: WrittenParameter
    dtype: str
    value: str

    @property
    def declared(self) -> str:
        """The parameter as ``entry:`` writes it."""
        if self.parameter.pointer:
            return f"{'in' if self.parameter.const else 'inout'} {self.dtype}* {self.parameter.name}"
        return f"{self.dtype} {self.parameter.name}"

    @property
    def is_count(self) -> bool:
        """Whether the argument is a number of the file's, and not a scalar of its own."""
        return not self.parameter.pointer and DTYPES[self.dtype].kind in "iu"


@dataclass(frozen=True, slots=True)
class _Draft:
    """A kernel with the bindings of its parameters."""

    name: str
    entry: SourceEntry
    bindings: tuple[_Binding, ...]


def _obstacle(entry: SourceEntry) -> str | None:
    """Return why a kernel cannot be run without the author's help; None where it can."""
    if entry.template is not None or entry.arguments is not None:
        return f"a template: name an instance, as in `entry: {entry.name}<float>(…)`"
    for parameter in entry.parameters:
        if parameter.pack or parameter.reference or not parameter.name:
            return f"`{parameter.text} {parameter.name}`".strip() + " cannot be passed as it stands"
        if not parameter.pointer and parameter.dtype() is None:
            return f"`{parameter.text} {parameter.name}` is neither a pointer nor a number that planc knows"
    return None


def _drafts(entries: Sequence[SourceEntry]) -> list[_Draft]:
    taken: set[str] = set()
    drafts = []
    for entry in entries:
        name = _fresh(entry.name.replace("::", "_"), taken)
        taken.add(name)
        drafts.append(_Draft(name, entry, tuple(_bindings(entry, name, len(entries) > 1, taken))))
    return drafts


def _bindings(entry: SourceEntry, kernel: str, prefixed: bool, taken: set[str]) -> Iterator[_Binding]:
    counts = iter(["n"])
    for parameter in entry.parameters:
        dtype = parameter.dtype() or "u8"
        if not parameter.pointer and DTYPES[dtype].kind in "iu":
            yield _Binding(parameter, dtype, next(counts, "1") if DTYPES[dtype].itemsize > 1 else "1")
            continue
        name = _fresh(f"{kernel}_{parameter.name}" if prefixed else parameter.name, taken)
        taken.add(name)
        yield _Binding(parameter, dtype, name)


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken or name in _RESERVED or keyword.iskeyword(name) or keyword.issoftkeyword(name):
        name += "_"
    return name


def _head(path: Path) -> list[str]:
    stem = re.sub(r"\W", "_", path.stem, flags=re.A)
    name = stem if stem[:1].isalpha() else f"g_{stem}"
    shown = path.name if path.name.isprintable() else name
    return [
        f"# A graph for {shown}, to be adapted: sizes, roles of buffers, nodes and their order.",
        "planc: 1",
        f"name: {name}",
        "targets: [sm_80, sm_90]            # the GPUs that it is compiled for",
        f"symbols: {{n: {_ELEMENTS}}}                  # elements of each buffer",
    ]


def _scalars(drafts: Sequence[_Draft]) -> list[str]:
    rows = [
        f"  {b.value}: {b.dtype} {'= true' if b.dtype == 'bool' else 'slot = 1.0'}"
        for draft in drafts
        for b in draft.bindings
        if not b.parameter.pointer and not b.is_count
    ]
    note = "scalars:                           # a slot may be changed between replays"
    return [note, *rows] if rows else []


def _buffers(drafts: Sequence[_Draft]) -> list[str]:
    rows = []
    for draft in drafts:
        for b in draft.bindings:
            if b.parameter.pointer:
                guess = "" if b.parameter.dtype() else f"   # the source has {b.parameter.text}"
                rows.append(f"  {b.value}: {b.dtype}[n] {'input' if b.parameter.const else 'inout'}{guess}")
    note = (
        "buffers:                           # roles: input, output, inout, constant, state; none is scratch"
    )
    return [note, *rows] if rows else []


def _named(path: Path, folder: Path) -> str:
    """Return the path of a source as a graph file in ``folder`` writes it, quoted where YAML needs it."""
    text = Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()
    return text if re.fullmatch(r"[\w./-]*[A-Za-z_][\w./-]*", text, re.A) else json.dumps(text)


def _kernels(source: str, drafts: Sequence[_Draft], others: Sequence[SourceEntry]) -> list[str]:
    lines = ["kernels:"] if drafts else ["# kernels:"]
    for draft in drafts:
        parameters = ", ".join(b.declared for b in draft.bindings)
        lines += [
            f"  {draft.name}:",
            f"    source: {source}",
            f"    entry: {draft.entry.name}({parameters})",
            f"    block: {min(draft.entry.threads or _THREADS, _THREADS)}",
            "    cover: n                       # threads: the grid is ceildiv(cover, block)",
        ]
    for entry in others:
        lines.append(f"  # {entry.name} (line {entry.line}): {_obstacle(entry)}")
    return lines


def _nodes(drafts: Sequence[_Draft]) -> list[str]:
    if not drafts:
        return ["nodes: []"]
    lines = ["nodes:                             # `after: other` orders one node after another"]
    for draft in drafts:
        arguments = ", ".join(b.value for b in draft.bindings)
        lines += [f"  - id: run_{draft.name}", f"    run: {draft.name}({arguments})"]
    return lines
