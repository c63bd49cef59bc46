"""From an expanded graph to a program: names, buffers, kernels, nodes, edges."""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from planc.diagnostics import Collector, Span
from planc.graph.buffers import build_buffers
from planc.graph.calls import Calls, KernelTable
from planc.graph.data import DataLoader
from planc.graph.names import KnownBuffer, Names, check_names
from planc.graph.nodes import build_nodes
from planc.graph.order import author_edges, check_cycles
from planc.graph.report import Reporter
from planc.graph.scalars import build_slots
from planc.graph.signature import Signature, build_signature
from planc.graph.slots import resolve_aliases
from planc.graph.tables import BoxTable
from planc.graph.unused import check_unused
from planc.kernels.artifact import KernelArtifact
from planc.kernels.target import DEFAULT_TARGETS, parse_target
from planc.plan.program import Function, Module, Place, Program, Role
from planc.source.flat import FlatGraph


@dataclass(frozen=True, slots=True)
class Built:
    """A program as far as it could be built.

    ``complete``: no error was reported and the program may be compiled. ``failed`` are the rows of nodes
    without their operation and effects. ``acyclic``: the edges have a legal order. ``operators`` gives the
    operator of each proved reduction (a row of the effects).
    """

    program: Program
    complete: bool
    failed: frozenset[int]
    acyclic: bool
    operators: Mapping[int, str] = field(default_factory=dict)


def build_program(
    flat: FlatGraph, artifacts: Mapping[str, KernelArtifact], collector: Collector
) -> Program | None:
    """Return the program of a graph with the edges that its author wrote, or None after errors.

    ``artifacts`` are the built kernels by name; one that failed to build may be absent. Mistakes are reported
    with codes 2xx to 5xx. Races, inferred edges and reads of unwritten bytes are the business of
    ``planc.hazards``, whose ``check_graph`` calls this and does all of it.
    """
    built = build(flat, artifacts, collector)
    return built.program if built.complete else None


def build(flat: FlatGraph, artifacts: Mapping[str, KernelArtifact], collector: Collector) -> Built:
    """Return what can be built, also after errors, so that later checks can say more."""
    reporter = Reporter(collector)
    check_names(flat, reporter)
    used = _used_kernels(flat)
    modules, rows = _modules(flat, artifacts, used)
    loader = DataLoader(reporter)
    buffers = build_buffers(flat, artifacts, rows, loader, reporter)
    slots, slot_rows = build_slots(flat.scalars, reporter)
    names = Names(
        buffers,
        {s.name: s for s in flat.scalars},
        slot_rows,
        flat.symbols,
        {k.name: k for k in flat.kernels},
        _broken(flat, buffers),
    )
    aliases = resolve_aliases(flat, buffers, reporter)
    signatures = _signatures(flat, artifacts, used, reporter)
    functions = _functions(signatures, rows)
    boxes = BoxTable()
    kernels = KernelTable(
        signatures,
        {f.name: row for row, f in enumerate(functions)},
        rows,
        _globals(buffers),
        _targets(flat),
        Path(flat.file).parent.as_posix(),
    )
    calls = Calls(kernels, names, aliases, boxes, reporter)
    nodes = build_nodes(flat.nodes, calls, names, aliases, boxes, reporter)
    calls.finish()
    edges = author_edges(flat.nodes)
    acyclic = check_cycles(flat, edges, reporter)
    if not (reporter.errors or nodes.failed or flat.broken):
        check_unused(flat, nodes, buffers, calls.scalars, reporter)
    box_rows, axis_rows = boxes.tables()
    program = Program(
        name=flat.name,
        targets=kernels.targets,
        buffers=tuple(k.buffer for k in buffers.values()),
        slots=slots,
        modules=modules,
        functions=functions,
        node_names=tuple(n.name for n in flat.nodes),
        nodes=nodes.nodes,
        kernel_ops=nodes.kernel_ops,
        fill_ops=nodes.fill_ops,
        copy_ops=nodes.copy_ops,
        edges=edges,
        boxes=box_rows,
        axes=axis_rows,
        effects=nodes.effects,
        relocations=nodes.relocations,
        patches=nodes.patches,
        arguments=nodes.arguments,
        constants=dict(sorted(loader.constants.items())),
        places=_places(flat),
        may_alias=tuple(sorted(aliases)),
    )
    complete = reporter.errors == 0 and not (nodes.failed or flat.broken) and _all_built(used, artifacts)
    return Built(program, complete, nodes.failed, acyclic, nodes.operators)


def _targets(flat: FlatGraph) -> tuple[str, ...]:
    """Return the targets of the file, or those that its kernels are built for where it names none."""
    if not flat.targets:
        return DEFAULT_TARGETS if flat.kernels else ()
    parsed = [parse_target(text) for text, _ in flat.targets]
    return tuple(dict.fromkeys(t.real for t in parsed if t is not None))


def _broken(flat: FlatGraph, buffers: Mapping[str, KnownBuffer]) -> frozenset[str]:
    """Return the names whose declarations are wrong and reported, so that their uses are not."""
    declared = {b.name for b in flat.buffers} | {g.name for g in flat.globals}
    return flat.broken | declared.difference(buffers)


def _used_kernels(flat: FlatGraph) -> set[str]:
    used = {getattr(node.op, "kernel", None) for node in flat.nodes} | {g.kernel for g in flat.globals}
    return {k.name for k in flat.kernels if k.name in used}


def _all_built(used: set[str], artifacts: Mapping[str, KernelArtifact]) -> bool:
    return all(name in artifacts for name in used)


def _modules(
    flat: FlatGraph, artifacts: Mapping[str, KernelArtifact], used: set[str]
) -> tuple[tuple[Module, ...], dict[str, int]]:
    """Return the modules of the kernels in use, each once, and the row of each kernel's."""
    modules: list[Module] = []
    keys: dict[str, int] = {}
    rows: dict[str, int] = {}
    for kernel in flat.kernels:
        if kernel.name not in used or kernel.name not in artifacts:
            continue
        module = artifacts[kernel.name].module
        if module.key not in keys:
            keys[module.key] = len(modules)
            modules.append(Module(module.label, module.images, module.exact))
        rows[kernel.name] = keys[module.key]
    return tuple(modules), rows


def _signatures(
    flat: FlatGraph, artifacts: Mapping[str, KernelArtifact], used: set[str], reporter: Reporter
) -> dict[str, Signature]:
    """Return the settled kernels; also those that no node runs are checked, and then left out."""
    folder = Path(flat.file).parent.as_posix()
    signatures: dict[str, Signature] = {}
    for kernel in flat.kernels:
        if kernel.name not in artifacts:
            continue
        signature = build_signature(kernel, artifacts[kernel.name], folder, reporter)
        if signature is not None and kernel.name in used:
            signatures[kernel.name] = signature
    return signatures


def _functions(signatures: Mapping[str, Signature], rows: Mapping[str, int]) -> tuple[Function, ...]:
    return tuple(
        Function(name, s.artifact.symbol, rows[name], tuple(p.row() for p in s.parameters))
        for name, s in signatures.items()
    )


def _globals(buffers: Mapping[str, KnownBuffer]) -> dict[int, tuple[KnownBuffer, ...]]:
    """Return the globals of each module by its row."""
    found: dict[int, tuple[KnownBuffer, ...]] = {}
    for known in buffers.values():
        if known.buffer.role is Role.GLOBAL and known.buffer.symbol is not None:
            row = known.buffer.symbol[0]
            found[row] = (*found.get(row, ()), known)
    return found


def _places(flat: FlatGraph) -> tuple[Place, ...]:
    folder = Path(flat.file).absolute().parent

    @cache
    def label(file: str) -> str:
        return Path(os.path.relpath(Path(file).absolute(), folder)).as_posix()

    def place(span: Span) -> Place:
        return Place(label(span.file), span.line, span.column)

    return tuple(place(node.span) for node in flat.nodes)
