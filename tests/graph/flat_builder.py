"""Expanded graphs by hand, from compact text: one line of an imaginary file per declaration or node."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from planc.diagnostics import Collector, Span
from planc.graph import build, build_program
from planc.kernels.artifact import (
    EntryParameter,
    GlobalSymbol,
    KernelArtifact,
    ModuleArtifact,
    Resources,
    SourceParameter,
)
from planc.plan.dtypes import DTYPES
from planc.plan.program import Image
from planc.source.flat import (
    After,
    Argument,
    CopyOp,
    DataSource,
    DeclaredParameter,
    Dims,
    EllipsisIndex,
    FillOp,
    FlatBuffer,
    FlatGlobal,
    FlatGraph,
    FlatKernel,
    FlatKind,
    FlatNode,
    FlatScalar,
    Literal,
    RunOp,
    Site,
    SliceIndex,
    ViewRef,
)

FILE = "graph.yaml"
_BUFFER = re.compile(r"(\w+): (\w+)\[(.*?)\](?: (\w+))?$")
_SCALAR = re.compile(r"(\w+): (\w+)( slot)? = (\S+?)(?: in \[(\S+), (\S+)\])?$")
_CALL = re.compile(r"([\w.]+)\((.*)\)$")
_PARAMETER = re.compile(r"(?:(in|out|inout|reduce) )?(\w+)(\*)? (\w+)$")
_ARGUMENT = re.compile(r"(?:(\w+)=)?(.*)$")


def numbers(text):
    return tuple(int(t) for t in text.split(",") if t.strip())


def literal(text):
    words = {"true": True, "false": False, "nan": float("nan"), "inf": float("inf")}
    if text in words:
        return words[text]
    try:
        return int(text, 0)
    except ValueError:
        return float(text)


def dims(values, span):
    if values is None:
        return None
    values = (values,) if isinstance(values, int) else tuple(values)
    return Dims((*values, 1, 1)[:3], span)


def pieces(text):
    """Split at commas outside brackets."""
    parts, depth, start = [], 0, 0
    for place, char in enumerate(text):
        depth += char in "[(<"
        depth -= char in "])>"
        if char == "," and depth == 0:
            parts.append(text[start:place].strip())
            start = place + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


def index(text):
    if text == "...":
        return EllipsisIndex()
    if ":" not in text:
        return int(text)
    ends = [int(t) if t.strip() else None for t in text.split(":")]
    return SliceIndex(*(*ends, None)[:3])


def view(text, span):
    name, bracket, rest = text.strip().partition("[")
    indices = tuple(index(t) for t in pieces(rest[:-1])) if bracket else None
    return ViewRef(name, indices, span, text.strip())


class Flat:
    """A graph under construction; ``line`` counts declarations and nodes, from 1."""

    def __init__(self, name="g", order="explicit", targets=("sm_90",)):
        self.name, self.order, self.targets = name, order, targets
        self.line = 0
        self.symbols, self.scalars, self.buffers, self.globals = {}, [], [], []
        self.kernels, self.nodes, self.may_alias = [], [], []
        self.artifacts = {}

    def span(self, column=1):
        return Span(FILE, self.line, column)

    def next(self):
        self.line += 1
        return self.span()

    def buffer(self, text, *, data=None, file=None, member=None, embed=None, align=None, inplace=False):
        name, dtype, shape, role = _BUFFER.match(text).groups()
        span = self.next()
        source = None
        if data is not None or file is not None:
            source = DataSource(self.span(20), Path(file) if file else None, member, data, embed)
        self.buffers.append(
            FlatBuffer(name, dtype, numbers(shape), role or "scratch", span, align, source, inplace)
        )
        return self

    def scalar(self, text):
        name, dtype, slot, value, low, high = _SCALAR.match(text).groups()
        ends = [None if e is None else literal(e) for e in (low, high)]
        self.scalars.append(FlatScalar(name, dtype, literal(value), bool(slot), self.next(), *ends))
        return self

    def kernel(self, text, *, module=None, source=None, block=32, grid=1, cover=None, shared=0, **rest):
        """Declare ``step(in f32* src, f32 a)``; ``source`` is the real declaration where it differs."""
        name, declared = _CALL.match(text).groups()
        span = self.next()
        parameters = tuple(
            DeclaredParameter(p[4], None if p[2] == "void" else p[2], bool(p[3]), p[1], self.span(10 + i))
            for i, p in enumerate(map(_PARAMETER.match, pieces(declared)))
        )
        self.kernels.append(
            FlatKernel(
                name,
                "source",
                Path("/abs/k.cu"),
                "k.cu",
                span,
                name,
                self.span(5),
                parameters,
                span,
                dims(block, span),
                dims(grid, span),
                dims(cover, span),
                shared,
                inplace=rest.pop("inplace", False),
            )
        )
        self.artifacts[name] = artifact(
            name, source or declared, module or f"m_{name}", targets=self.targets, **rest
        )
        return self

    def glob(self, text, kernel, **data):
        name, dtype, shape, _ = _BUFFER.match(text).groups()
        span = self.next()
        source = DataSource(span, **data) if data else None
        self.globals.append(FlatGlobal(name, kernel, dtype, numbers(shape), span, source))
        return self

    def alias(self, first, second):
        self.may_alias.append((first, second, self.next()))
        return self

    def node(self, kind, op, id, after):
        span = self.span()
        name = id or f"n{len(self.nodes)}"
        rows = {n.name: row for row, n in enumerate(self.nodes)}
        edges = []
        for place, ref in enumerate(after):
            row = ref if isinstance(ref, int) else rows[ref]
            edges.append(After(row, self.span(40 + place), str(ref)))
        self.nodes.append(FlatNode(name, kind, span, op, tuple(edges), Site(len(self.nodes), name, ())))
        return self

    def run(self, text, *, id=None, after=(), grid=None, cover=None, block=None, shared=None):
        span = self.next()
        kernel, arguments = _CALL.match(text).groups()
        given = []
        for place, part in enumerate(pieces(arguments)):
            name, value = _ARGUMENT.match(part).groups()
            where = self.span(20 + place)
            number = re.match(r"-?[\d.]|true$|false$|inf$|nan$", value)
            parsed = Literal(literal(value), where) if number else view(value, where)
            given.append(Argument(name, parsed, where))
        op = RunOp(kernel, span, tuple(given), dims(grid, span), dims(cover, span), dims(block, span), shared)
        return self.node(FlatKind.RUN, op, id, after)

    def fill(self, text, *, id=None, after=(), item=None):
        span = self.next()
        target, value = text.split(" = ")
        op = FillOp(view(target, span), Literal(literal(value), self.span(30)), item)
        return self.node(FlatKind.FILL, op, id, after)

    def copy(self, text, *, id=None, after=()):
        self.next()
        target, source = text.split(" <- ")
        return self.node(
            FlatKind.COPY, CopyOp(view(target, self.span(10)), view(source, self.span(20))), id, after
        )

    def join(self, *, id=None, after=()):
        self.next()
        return self.node(FlatKind.JOIN, None, id, after)

    def graph(self):
        return FlatGraph(
            self.name,
            FILE,
            Path("/abs"),
            self.order,
            tuple((t, Span(FILE)) for t in self.targets),
            Span(FILE),
            self.symbols,
            tuple(self.scalars),
            tuple(self.buffers),
            tuple(self.globals),
            tuple(self.kernels),
            tuple(self.nodes),
            tuple(self.may_alias),
        )

    def program(self):
        """The program; fails the test when there is an error."""
        collector = Collector()
        program = build_program(self.graph(), self.artifacts, collector)
        assert program is not None, [str(d) for d in collector.diagnostics]
        return program

    def found(self):
        """The diagnostics of building alone."""
        collector = Collector()
        build(self.graph(), self.artifacts, collector)
        return collector.diagnostics

    def codes(self):
        """The codes of building alone, sorted by place, once each."""
        return [d.code for d in self.found()]


def artifact(
    name,
    declaration,
    module,
    *,
    targets,
    globals=(),
    ptx_only=False,
    sizes=None,
    texts=None,
    const=(),
    resources=None,
):
    """A built kernel with the parameters of ``declaration`` laid out as the C ABI does."""
    offset, entry, source = 0, [], []
    for place, part in enumerate(pieces(declaration)):
        _, dtype, star, parameter = _PARAMETER.match(part).groups()
        size = 8 if star else DTYPES[dtype].itemsize if dtype in DTYPES else 24
        size = (sizes or {}).get(parameter, size)
        align = min(size, 8)
        offset = -(-offset // align) * align
        entry.append(EntryParameter(offset, size, align))
        offset += size
        text = (texts or {}).get(parameter, f"{dtype}{star or ''}")
        known = dtype if dtype in DTYPES and parameter not in (texts or {}) else None
        source.append(SourceParameter(parameter, text, known, bool(star), parameter in const, 3, 8 + place))
    held = {g.name: g for g in globals}
    image = Image("sm_90", "cubin", hashlib.sha256(b"code").hexdigest(), b"code")
    needs = Resources(0, 0, offset, 1024, **(resources or {}) if not isinstance(resources, Resources) else {})
    if isinstance(resources, Resources):
        needs = resources
    return KernelArtifact(
        name,
        name,
        ModuleArtifact(module, f"{module}.cu", (image,), held),
        tuple(entry),
        None if ptx_only else tuple(source),
        dict.fromkeys(targets, needs),
    )


def symbol(name, size, space="const", align=4):
    return GlobalSymbol(name, space, size, align, False)
