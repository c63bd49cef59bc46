"""Nodes as written, parsed once: what expansion evaluates in every iteration and instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from planc.diagnostics import Span
from planc.source.flat import FlatKind
from planc.source.forms import IdForm, ReferenceForm
from planc.source.sites import SiteText
from planc.source.syntax import Scalar
from planc.source.values import Quantity
from planc.source.views import ViewText


@dataclass(frozen=True, slots=True)
class ArgumentText:
    """An argument of a kernel or of a sub-graph; ``name`` None by position."""

    name: str | None
    span: Span
    value: ViewText | Quantity


@dataclass(frozen=True, slots=True)
class CallText:
    """A kernel or sub-graph with its arguments."""

    name: str
    span: Span
    arguments: tuple[ArgumentText, ...]


@dataclass(frozen=True, slots=True)
class DimsText:
    """Extents, and where they stand."""

    extents: tuple[Quantity, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class RunText:
    """A launch; ``dims`` holds what is given of grid, cover and block."""

    call: CallText
    dims: Mapping[str, DimsText]
    shared: Quantity | None


@dataclass(frozen=True, slots=True)
class FillText:
    """A fill; ``item`` is the size of a raw pattern in bytes."""

    target: ViewText
    value: Quantity
    item: int | None


@dataclass(frozen=True, slots=True)
class CopyText:
    """A copy."""

    target: ViewText
    source: ViewText


Operation = RunText | FillText | CopyText


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference of an ``after:``."""

    form: ReferenceForm
    place: Scalar
    span: Span


@dataclass(frozen=True, slots=True)
class LoopHead:
    """One loop of a file: two loops over ``t`` differ by ``key``."""

    key: int
    variable: str


@dataclass(frozen=True, slots=True)
class LoopTemplate:
    """A loop; ``names`` are the nodes anywhere inside it."""

    head: LoopHead
    span: Span
    first: Quantity | None
    stop: Quantity
    step: Quantity | None
    body: tuple[Template, ...]
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class NodeTemplate:
    """A node, or with ``use`` the instance of a sub-graph; both None for a join.

    ``key`` is equal for all that one text makes. ``loops`` are those around it, the outermost first, and
    ``axes`` the same in the order of its id. ``broken``: its operation cannot be read, which is reported.
    """

    key: int
    kind: FlatKind
    span: Span
    id: IdForm | None
    loops: tuple[LoopHead, ...]
    axes: tuple[LoopHead, ...]
    after: tuple[Reference, ...]
    site: SiteText
    operation: Operation | None = None
    use: CallText | None = None
    broken: bool = False


Template = NodeTemplate | LoopTemplate


@dataclass(frozen=True, slots=True)
class Body:
    """The nodes of a graph or sub-graph; ``names`` maps each id to its template, None if that is broken."""

    items: tuple[Template, ...]
    names: Mapping[str, NodeTemplate | None]


@dataclass(frozen=True, slots=True)
class ParameterTemplate:
    """A parameter of a sub-graph."""

    name: str
    kind: str
    default: Quantity | None
    span: Span


@dataclass(frozen=True, slots=True)
class GraphTemplate:
    """A sub-graph."""

    name: str
    parameters: Mapping[str, ParameterTemplate]
    body: Body
    span: Span
