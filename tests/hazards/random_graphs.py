"""Random legal graphs of fills, copies and kernels over random views."""

from __future__ import annotations

from planc.source.flat import After, FlatNode, Site, SliceIndex
from tests.graph.flat_builder import Flat

KINDS = ("u8", "i16", "f32", "f64")


def random_index(rng, extent):
    if rng.random() < 0.25:
        return rng.randrange(-extent, extent)
    step = rng.choice([1, 1, 1, 2, 3, -1, -2])
    low = rng.randrange(extent)
    high = rng.randint(low + 1, extent)
    if step > 0:
        return SliceIndex(low, high, step)
    return SliceIndex(high - 1, low - 1 if low else None, step)


def random_view(rng, buffer):
    """(text, shape) of a random view; the text is what a person would write."""
    if rng.random() < 0.2:
        return buffer.name, buffer.shape
    indices = [random_index(rng, n) for n in buffer.shape]
    shape = tuple(
        len(range(*slice(i.start, i.stop, i.step).indices(n)))
        for i, n in zip(indices, buffer.shape, strict=True)
        if not isinstance(i, int)
    )
    parts = [
        str(i)
        if isinstance(i, int)
        else ":".join("" if e is None else str(e) for e in (i.start, i.stop, i.step))
        for i in indices
    ]
    return f"{buffer.name}[{', '.join(parts)}]", shape


def random_buffers(rng, flat):
    for number in range(rng.randint(1, 3)):
        dtype = rng.choice(KINDS)
        shape = ", ".join(str(rng.randint(1, 5)) for _ in range(rng.randint(1, 3)))
        flat.buffer(f"b{number}: {dtype}[{shape}] {rng.choice(['scratch', 'inout', 'state'])}")


def random_graph(rng, nodes=None, density=None, order="explicit"):
    """A graph whose only faults can be races and reads of unwritten bytes."""
    flat = Flat(order=order)
    random_buffers(rng, flat)
    dtypes = sorted({b.dtype for b in flat.buffers})
    for dtype in dtypes:
        flat.kernel(f"one_{dtype}(inout {dtype}* x)")
        flat.kernel(f"two_{dtype}(in {dtype}* x, out {dtype}* y)", inplace=True)
    count = nodes or rng.randint(2, 9)
    density = rng.choice([0.1, 0.3, 0.6]) if density is None else density
    for row in range(count):
        after = [b for b in range(row) if rng.random() < density / (1 + 0.2 * (row - b))]
        add_node(rng, flat, after)
    return flat


def add_node(rng, flat, after):
    target = rng.choice(flat.buffers)
    choice = rng.random()
    text, shape = random_view(rng, target)
    if choice < 0.3:
        return flat.fill(f"{text} = 0", after=after)
    if choice < 0.6:
        for _ in range(8):
            source = rng.choice(flat.buffers)
            other, other_shape = random_view(rng, source)
            long = [tuple(n for n in s if n != 1) for s in (shape, other_shape)]
            if source.dtype == target.dtype and source is not target and long[0] == long[1]:
                return flat.copy(f"{text} <- {other}", after=after)
    if choice < 0.9:
        return flat.run(f"one_{target.dtype}({text})", after=after)
    source = rng.choice([b for b in flat.buffers if b.dtype == target.dtype])
    return flat.run(f"two_{target.dtype}({random_view(rng, source)[0]}, {text})", after=after)


def shuffled(rng, flat):
    """The same graph with its nodes written in another order, so that some edges point backwards."""
    graph = flat.graph()
    rows = list(range(len(graph.nodes)))
    rng.shuffle(rows)
    place = {row: new for new, row in enumerate(rows)}
    flat.nodes = [
        FlatNode(
            n.name,
            n.kind,
            n.span,
            n.op,
            tuple(After(place[a.node], a.span, a.text) for a in n.after),
            Site(new, n.name, ()),
        )
        for new, n in enumerate(graph.nodes[row] for row in rows)
    ]
    return flat
