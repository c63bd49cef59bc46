"""The names of a graph file: what each stands for, and that none stands for two things."""

from __future__ import annotations

import keyword
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from planc.diagnostics import Related, Span
from planc.graph.report import Reporter, name_cure
from planc.plan.dtypes import DTYPES, DType
from planc.plan.program import Buffer, Role
from planc.source.flat import FlatGraph, FlatKernel, FlatScalar, Number

RESERVED = frozenset({"range", "min", "max", "abs", "ceildiv", "true", "false", "null"}) | frozenset(DTYPES)
"""Words of the expression language and of types; Python's keywords are refused too."""


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
    """What the names in arguments and views stand for. ``slots`` gives rows of Program.slots."""

    buffers: Mapping[str, KnownBuffer]
    scalars: Mapping[str, FlatScalar]
    slots: Mapping[str, int]
    symbols: Mapping[str, Number]
    kernels: Mapping[str, FlatKernel]


def check_names(flat: FlatGraph, reporter: Reporter) -> None:
    """Report names that stand for two things (PLC234) and reserved ones (PLC235).

    Buffers, globals, scalars and symbols share one space, since a bare word in an argument can be any of
    them; kernels have their own.
    """
    first: dict[str, tuple[str, Span | None]] = {}
    for kind, name, span in _declared(flat):
        if name in RESERVED or keyword.iskeyword(name):
            reporter.add(
                "PLC235",
                f"{kind} `{name}` bears a reserved name",
                span or flat.span,
                help="choose another name; types, Python keywords and the words of expressions are taken",
                name=name,
            )
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
    if found is not None:
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
    if found is None:
        reporter.add(
            "PLC231",
            f"no kernel is named `{name}`",
            span,
            help=name_cure("kernel", name, names.kernels),
            name=name,
        )
    return found
