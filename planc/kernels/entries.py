"""Which symbol of a module a graph means by ``step``, ``ns::step`` or ``gemm<float, 32>``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from planc.diagnostics import Diagnostic
from planc.kernels.demangle import CType, Demangled, demangle
from planc.kernels.parameters import split_arguments
from planc.kernels.reports import closest
from planc.source.flat import FlatKernel

_ANONYMOUS = "(anonymous namespace)::"


@dataclass(frozen=True, slots=True)
class Entry:
    """A kernel's symbol, and what its mangled name says (None for a plain name)."""

    symbol: str
    demangled: Demangled | None

    @property
    def shown(self) -> str:
        """The name as a person writes it."""
        if self.demangled is None:
            return self.symbol
        arguments = self.demangled.arguments
        tail = "" if arguments is None else f"<{', '.join(arguments)}>"
        return self.demangled.name.replace(_ANONYMOUS, "") + tail

    @property
    def signature(self) -> str:
        """The name with its parameters' types, where the symbol has them."""
        if self.demangled is None:
            return self.symbol
        return f"{self.shown}({', '.join(p.text for p in self.demangled.parameters)})"


def entries_of(symbols: Iterable[str]) -> list[Entry]:
    """Read the symbols of a module's kernels."""
    return [Entry(symbol, demangle(symbol)) for symbol in symbols]


def find_entry(
    kernel: FlatKernel, entries: Sequence[Entry], names: Mapping[str, str], templates: Iterable[str] = ()
) -> Entry | Diagnostic:
    """Return the kernel that a graph names, or PLC408 (none), PLC409 (several).

    ``names`` map template instances to symbols, as the compiler gave them. ``templates`` are the
    names of kernel templates in the source.
    """
    symbol = names.get(kernel.entry, kernel.entry)
    for entry in entries:
        if entry.symbol == symbol:
            return entry
    name, arguments = split_arguments(kernel.entry)
    found = [e for e in entries if _matches(e, name, arguments)]
    if len(found) > 1:
        found = [e for e in found if _fits(e, kernel)] or found
    if len(found) == 1:
        return found[0]
    return _ambiguous(kernel, found) if found else _absent(kernel, entries, set(templates))


def _matches(entry: Entry, name: str, arguments: tuple[str, ...] | None) -> bool:
    demangled = entry.demangled
    if demangled is None:
        return False
    if demangled.name.replace(_ANONYMOUS, "") != name.replace(_ANONYMOUS, ""):
        return False
    return demangled.arguments == arguments


def _fits(entry: Entry, kernel: FlatKernel) -> bool:
    declared = kernel.parameters
    if declared is None or entry.demangled is None:
        return False
    types = entry.demangled.parameters
    if len(types) != len(declared):
        return False
    return all(
        mine.pointer == theirs.pointer and (mine.dtype is None or mine.dtype == theirs.dtype)
        for mine, theirs in zip(declared, types, strict=True)
    )


def _ambiguous(kernel: FlatKernel, found: Sequence[Entry]) -> Diagnostic:
    return Diagnostic(
        "PLC409",
        f"`{kernel.entry}` may be any of {len(found)} kernels",
        kernel.entry_span,
        help="write the parameters of the one you mean, or its template arguments",
        notes=tuple(f"`{entry.signature}`" for entry in found),
        facts={"kernel": kernel.name, "entry": kernel.entry, "found": [e.symbol for e in found]},
    )


def _same_ending(name: str, there: Sequence[str]) -> str | None:
    """Return the one kernel that has this name in some namespace."""
    found = [other for other in there if other.rpartition("::")[2] == name.rpartition("::")[2]]
    return found[0] if len(found) == 1 else None


def _absent(kernel: FlatKernel, entries: Sequence[Entry], templates: set[str]) -> Diagnostic:
    name, arguments = split_arguments(kernel.entry)
    there = list(dict.fromkeys([e.shown for e in entries] + sorted(templates)))
    near = closest(kernel.entry, there) or _same_ending(name, there)
    if arguments is None and name in templates:
        help_text = f"`{name}` is a template; say which instance, as in `{name}<float>`"
    elif near is not None:
        help_text = f"write `{near}`"
    else:
        help_text = "name a `__global__` function of the file"
    notes = ("the file has " + ", ".join(f"`{n}`" for n in there[:20]),) if there else ("it has no kernel",)
    return Diagnostic(
        "PLC408",
        f"`{kernel.path_label}` has no kernel `{kernel.entry}`",
        kernel.entry_span,
        help=help_text,
        notes=notes,
        facts={"kernel": kernel.name, "entry": kernel.entry, "entries": list(there)},
    )


def typed_parameters(entry: Entry, count: int) -> tuple[CType, ...] | None:
    """Return the types that the mangled name gives, where they are as many as the PTX has."""
    if entry.demangled is None or len(entry.demangled.parameters) != count:
        return None
    return entry.demangled.parameters
