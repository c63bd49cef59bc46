"""The names of a graph file: what each stands for, and that none stands for two things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planc.diagnostics import Related, Span
from planc.graph.report import Reporter, name_cure
from planc.plan.dtypes import DType
from planc.plan.program import Buffer, Role
from planc.source.flat import FlatGraph, FlatKernel, FlatScalar, Number


@dataclass(frozen=True, slots=True)
class KnownBuffer:
    """A buffer of the program with what only the file knows of it. ``space`` is a global's, else ``""``."""

    row: int
    buffer: Buffer
    dtype: DType
    span: Span
    inplace: bool = False
    space: str = ""

    @property
    def read_only(self) -> bool:
        """Whether no node may write it."""
        return self.buffer.role in (Role.INPUT, Role.CONSTANT) or self.space == "const"


@dataclass(frozen=True, slots=True)
class Names:
    """What the names in arguments and views stand for.

    ``slots`` gives rows of Program.slots; ``broken`` are names whose declaration could not be read, which
    is reported already.
    """

    buffers: Mapping[str, KnownBuffer]
    scalars: Mapping[str, FlatScalar]
    slots: Mapping[str, int]
    symbols: Mapping[str, Number]
    kernels: Mapping[str, FlatKernel]
    broken: frozenset[str] = frozenset()


def check_names(flat: FlatGraph, reporter: Reporter) -> None:
    """Report names that stand for two things (PLC234).

    Buffers, globals, scalars and symbols share one space, since a bare word in an argument can be any of
    them; kernels have their own.
    """
    first: dict[str, tuple[str, Span | None]] = {}
    for kind, name, span in _declared(flat):
        if name not in first:
            first[name] = (kind, span)
            continue
        other, place = first[name]
        reporter.add(
            "PLC234",
            f"`{name}` names a {other} and a {kind}",
            span or flat.span,
            help="give one of them another name",
            related=(Related(f"the {other} `{name}`", place),),
            name=name,
        )


def _declared(flat: FlatGraph) -> Iterator[tuple[str, str, Span | None]]:
    yield from (("symbol", name, None) for name in flat.symbols)
    yield from (("buffer", b.name, b.span) for b in flat.buffers)
    yield from (("global", g.name, g.span) for g in flat.globals)
    yield from (("scalar", s.name, s.span) for s in flat.scalars)


def find_buffer(names: Names, name: str, span: Span, reporter: Reporter) -> KnownBuffer | None:
    """Return the buffer of that name; report PLC230, or PLC243 when it names a scalar, and return None."""
    found = names.buffers.get(name)
    if found is not None or name in names.broken:
        return found
    if name in names.scalars or name in names.symbols:
        kind = "scalar" if name in names.scalars else "symbol"
        reporter.add(
            "PLC243",
            f"`{name}` is a {kind}, and a buffer is needed here",
            span,
            help="name a buffer; " + name_cure("buffer", name, names.buffers),
            name=name,
        )
        return None
    reporter.add(
        "PLC230",
        f"no buffer is named `{name}`",
        span,
        help=name_cure("buffer", name, names.buffers),
        name=name,
    )
    return None


def find_kernel(names: Names, name: str, span: Span, reporter: Reporter) -> FlatKernel | None:
    """Return the kernel of that name, or report PLC231 and return None."""
    found = names.kernels.get(name)
    if found is None and name not in names.broken:
        reporter.add(
            "PLC231",
            f"no kernel is named `{name}`",
            span,
            help=name_cure("kernel", name, names.kernels),
            name=name,
        )
    return found
