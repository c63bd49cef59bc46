"""Programs of any size, made as tables: one copy a node, from the scratch of a node before it to its own."""

from __future__ import annotations

from random import Random

import numpy as np

from planc.plan import program as tables
from planc.plan.program import NONE, Buffer, EffectKind, NodeKind, Program, Provenance, Role


def program_of(pairs, count, scratch=None, name="shape", kind=NodeKind.COPY):
    """A program with ``count`` nodes and edges ``pairs``; node i writes buffer i and reads those before it.

    ``scratch`` bounds the number of scratch buffers; nodes past it work on an input and output alone.
    """
    scratch = count if scratch is None else scratch
    sizes = [1024 * (1 + i * 7919 % 13) for i in range(scratch)]
    buffers = [Buffer(f"s{i}", "u8", (n,), Role.SCRATCH, n) for i, n in enumerate(sizes)]
    buffers += [Buffer(f"o{i}", "u8", (1024,), Role.INOUT, 1024) for i in range(scratch, count)]
    edges = np.unique(np.array(sorted(pairs), np.uint32).reshape(-1, 2), axis=0)
    rows = np.zeros(len(edges), tables.EDGE)
    rows["before"], rows["after"], rows["origin"] = edges[:, 0], edges[:, 1], 1
    nodes = np.zeros(count, tables.NODE)
    nodes["kind"], nodes["op"], nodes["body"] = kind, np.arange(count), NONE
    return Program(
        name=name,
        targets=("sm_90",),
        buffers=tuple(buffers),
        slots=(),
        modules=(),
        functions=(),
        node_names=tuple(f"n{i}" for i in range(count)),
        nodes=nodes,
        kernel_ops=np.zeros(0, tables.KERNEL_OP),
        fill_ops=np.zeros(0, tables.FILL_OP),
        copy_ops=np.zeros(count, tables.COPY_OP),
        edges=rows,
        boxes=np.array([(0, 1, 0, 1, 0)], tables.BOX),
        axes=np.array([(1024, 1)], tables.AXIS),
        effects=_effects(edges, count),
        relocations=np.zeros(0, tables.RELOCATION),
        patches=np.zeros(0, tables.PATCH),
        arguments=b"",
        constants={},
    )


def _effects(edges, count):
    effects = np.zeros(count + len(edges), tables.EFFECT)
    effects["node"] = np.concatenate([np.arange(count), edges[:, 1]])
    effects["buffer"] = np.concatenate([np.arange(count), edges[:, 0]])
    effects["kind"][:count], effects["kind"][count:] = EffectKind.WRITE, EffectKind.READ
    effects["kind_provenance"] = effects["range_provenance"] = Provenance.OPERATION
    effects["parameter"], effects["may_count"] = NONE, 1
    return effects[np.argsort(effects["node"], kind="stable")]


def chain(count, redundant=0):
    """Pairs of a chain in which each node also comes after the ``redundant`` ones further back."""
    return [(i - k, i) for i in range(1, count) for k in range(1, redundant + 2) if i >= k]


def layered(count, width, seed=0, parents=3):
    """Pairs of a DAG in layers of ``width``: one to ``parents`` nodes of the layer before for each node."""
    rng = Random(seed)
    found = set()
    for node in range(width, count):
        start = node // width * width - width
        found.update((start + rng.randrange(width), node) for _ in range(rng.randint(1, parents)))
    return sorted(found)


def scattered(count, seed=0, parents=2, reach=1000):
    """Pairs of a DAG whose nodes come after some of the ``reach`` nodes in front of them."""
    rng = Random(seed)
    found = set()
    for node in range(1, count):
        found.update(
            (rng.randrange(max(0, node - reach), node), node) for _ in range(rng.randint(0, parents))
        )
    return sorted(found)
