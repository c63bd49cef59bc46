"""Reductions that commute, and whose floating result depends on the order that the device happens to take."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, pairwise

from planc.diagnostics import Diagnostic, Related
from planc.hazards.sweep import Access, Operators, Sweep
from planc.plan.dtypes import DTYPES
from planc.plan.program import EffectKind, Program
from planc.source.flat import FlatGraph

_TRIED = 256


def open_reductions(flat: FlatGraph, program: Program, operators: Operators) -> Iterator[Diagnostic]:
    """Yield PLC505 once for each floating buffer into which unordered nodes reduce.

    ``operators`` are those of proved reductions.
    """
    if not (program.effects["kind"] == EffectKind.REDUCE).any():
        return
    seen: set[int] = set()
    for first, second, buffer in _commuting(program, operators):
        row = program.buffers[buffer]
        if buffer in seen or DTYPES[row.dtype].kind != "f":
            continue
        seen.add(buffer)
        one, two = flat.nodes[first], flat.nodes[second]
        yield Diagnostic(
            "PLC505",
            f"`{one.name}` and `{two.name}` reduce into `{row.name}` in either order, and `{row.dtype}` sums "
            "depend on it in the last bits",
            two.span,
            help=f"let `{two.name}` come after `{one.name}` if replays must agree bit for bit",
            related=(Related(f"`{one.name}` reduces into it too", one.span),),
            facts={"nodes": [one.name, two.name], "buffer": row.name},
        )


def _commuting(program: Program, operators: Operators) -> Iterator[tuple[int, int, int]]:
    """Yield (row, row, buffer) for one unordered pair of each group of reductions that commute.

    Members stand in a legal order, so if each two neighbours are ordered, all are. Where neighbours are
    unordered but apart, other pairs are tried among the first ``_TRIED``.
    """
    sweep = Sweep(program, operators)
    path = sweep.paths().path_test()
    groups: dict[tuple[int, int], list[tuple[int, Access]]] = {}
    for row in sweep.order:
        for access in sweep.accesses.by_node[row]:
            if access.kind == EffectKind.REDUCE:
                groups.setdefault((access.buffer, access.reduction), []).append((row, access))
    for (buffer, _), members in groups.items():
        loose = [pair for pair in pairwise(members) if not path(pair[0][0], pair[1][0])]
        for (first, one), (second, two) in chain(loose, combinations(members[:_TRIED] if loose else (), 2)):
            if not path(first, second) and sweep.accesses.footprints.meet(one.footprint, two.footprint):
                yield first, second, buffer
                break
