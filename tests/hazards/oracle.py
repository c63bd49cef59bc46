"""What a graph of fills, copies and kernels does, by marking single bytes of NumPy arrays. Uses no planc
code."""

from __future__ import annotations

import networkx as nx
import numpy as np

SIZES = {"u8": 1, "i16": 2, "f32": 4, "f64": 8}
WORDS = {"in": (True, False), "out": (False, True), "inout": (True, True)}


def marks(buffer, ref):
    """A bool per byte of the buffer: those of the view."""
    array = np.zeros((*buffer.shape, SIZES[buffer.dtype]), dtype=bool)
    if ref.indices is None:
        array[...] = True
        return array.reshape(-1)
    index = tuple(
        i if isinstance(i, int) else ... if not hasattr(i, "start") else slice(i.start, i.stop, i.step)
        for i in ref.indices
    )
    # The last axis holds the bytes of an element, so an index without an ellipsis leaves it whole.
    array[index if Ellipsis not in index else (*index, slice(None))] = True
    return array.reshape(-1)


def accesses(graph, node):
    """(buffer name, reads, writes, marks) of one node."""
    buffers = {b.name: b for b in graph.buffers}
    op = node.op
    if op is None:
        return []
    if hasattr(op, "source"):
        return [
            (op.target.buffer, False, True, marks(buffers[op.target.buffer], op.target)),
            (op.source.buffer, True, False, marks(buffers[op.source.buffer], op.source)),
        ]
    if hasattr(op, "target"):
        return [(op.target.buffer, False, True, marks(buffers[op.target.buffer], op.target))]
    kernel = next(k for k in graph.kernels if k.name == op.kernel)
    found = []
    for parameter, argument in zip(kernel.parameters, op.arguments, strict=True):
        reads, writes = WORDS[parameter.effect]
        ref = argument.value
        found.append((ref.buffer, reads, writes, marks(buffers[ref.buffer], ref)))
    return found


def paths(edges, count):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(edges)
    return {row: nx.descendants(graph, row) for row in range(count)}


def author_edges(graph):
    return [(after.node, row) for row, node in enumerate(graph.nodes) for after in node.after]


def races(graph, edges=None):
    """{(row, row): (write-write, {buffer: (first byte, past the last)})} with the lesser row first."""
    reach = paths(author_edges(graph) if edges is None else edges, len(graph.nodes))
    touched = [accesses(graph, node) for node in graph.nodes]
    found = {}
    for a in range(len(touched)):
        for b in range(a + 1, len(touched)):
            if b in reach[a] or a in reach[b]:
                continue
            both, shared = False, {}
            for buffer, _, writes, bytes_ in touched[a]:
                for other, _, also, more in touched[b]:
                    if buffer != other or not (writes or also) or not (common := bytes_ & more).any():
                        continue
                    places = np.flatnonzero(common)
                    low, high = shared.get(buffer, (1 << 60, 0))
                    shared[buffer] = (min(low, int(places[0])), max(high, int(places[-1]) + 1))
                    both = both or (writes and also)
            if shared:
                found[a, b] = (both, shared)
    return found


def needed_order(graph):
    """Pairs (earlier, later) of the text that conflict: every legal run must keep their order."""
    free = races(graph, edges=[])
    return set(free)


def unwritten_reads(graph, order, roles=("scratch",)):
    """{(row, buffer)}: reads, in this order, of bytes that nothing before wrote; values say whether all of
    them."""
    written = {b.name: np.zeros(int(np.prod(b.shape)) * SIZES[b.dtype], bool) for b in graph.buffers}
    watched = {b.name for b in graph.buffers if b.role in roles}
    found = {}
    for row in order:
        mine = accesses(graph, graph.nodes[row])
        for buffer, reads, _, bytes_ in mine:
            if reads and buffer in watched and not written[buffer][bytes_].all():
                found[row, buffer] = not written[buffer][bytes_].any()
        for buffer, _, writes, bytes_ in mine:
            if writes:
                written[buffer] |= bytes_
    return found, written
