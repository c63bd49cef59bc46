"""``order: inferred``: edges from program order and effects, added to those of the author."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planc.graph import edge_table
from planc.hazards.sweep import NO_OPERATORS, Operators, Sweep
from planc.plan.program import EdgeOrigin, Program


def infer_order(program: Program, operators: Operators = NO_OPERATORS) -> Program:
    """Return the program with the least edges that order all conflicts, as the text orders them.

    Program order is the order of the text, except where an ``after:`` names a later node: then that
    node comes first. An edge that a path implies is not added; the author's edges all stay.
    ``operators`` are those of proved reductions.
    """
    inferred = edge_table(Sweep(program, operators).infer().edges, EdgeOrigin.INFERRED)
    edges = np.concatenate([program.edges, inferred])
    order = np.lexsort((edges["after"], edges["before"]))
    return replace(program, edges=edges[order])
