"""What nodes do to bytes, from the kind of the node or from the author's declaration.

One row per node kind; kernels have one access per pointer parameter, from the word before it. Later sources
of effects give the same :class:`Access` with a stronger provenance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from planc.plan.program import EffectKind, Provenance
from planc.source.flat import FlatKind


@dataclass(frozen=True, slots=True)
class Access:
    """One effect without its bytes; ``must``: its may boxes are its must boxes too."""

    kind: EffectKind
    kind_provenance: Provenance
    range_provenance: Provenance
    must: bool


_EXACT = (Provenance.OPERATION, Provenance.OPERATION)
EXACT_READ = Access(EffectKind.READ, *_EXACT, must=False)
EXACT_WRITE = Access(EffectKind.WRITE, *_EXACT, must=True)

OPERATION_ACCESSES: Mapping[FlatKind, tuple[Access, ...]] = MappingProxyType(
    {
        FlatKind.FILL: (EXACT_WRITE,),
        FlatKind.COPY: (EXACT_WRITE, EXACT_READ),
        FlatKind.JOIN: (),
        FlatKind.RUN: (),
    }
)
"""The accesses of each node kind in the order of its views, target first; a run has its parameters'."""


def _declared(kind: EffectKind) -> Access:
    return Access(kind, Provenance.DECLARED, Provenance.ASSUMED, must=False)


DECLARED_ACCESSES: Mapping[str, Access] = MappingProxyType(
    {
        "in": _declared(EffectKind.READ),
        "out": _declared(EffectKind.WRITE),
        "inout": _declared(EffectKind.READ_WRITE),
        "reduce": _declared(EffectKind.REDUCE),
    }
)
"""The access of a pointer parameter by its declared word; its bytes are taken to stay inside the view."""


def _assumed(kind: EffectKind) -> Access:
    return Access(kind, Provenance.ASSUMED, Provenance.ASSUMED, must=False)


GLOBAL_ACCESSES: Mapping[str, Access] = MappingProxyType(
    {"const": _assumed(EffectKind.READ), "global": _assumed(EffectKind.READ_WRITE)}
)
"""What every kernel of a module is taken to do to each declared global of it, by the global's space."""

WRITES = frozenset({EffectKind.WRITE, EffectKind.READ_WRITE, EffectKind.REDUCE})
"""Kinds that change bytes."""

READS = frozenset({EffectKind.READ, EffectKind.READ_WRITE, EffectKind.REDUCE})
"""Kinds that depend on the bytes before."""
