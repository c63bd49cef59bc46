"""Graphs with real kernels, from compact text to the report of a check."""

from __future__ import annotations

from planc.api import check
from planc.plan.program import NONE, EffectKind, Provenance

HEAD = "planc: 1\nname: g\ntargets: [{targets}]\n"


def report(folder, *, buffers, kernel, nodes, cuda=None, ptx=None, more="", targets="sm_80, sm_90", top=""):
    """Check a graph of one kernel ``k``; ``kernel`` is its entry, ``more`` further lines of it."""
    name = "k.cu" if ptx is None else "k.ptx"
    (folder / name).write_text(cuda or ptx)
    text = HEAD.format(targets=targets) + top
    text += "buffers:\n" + "".join(f"  {line}\n" for line in buffers)
    text += f"kernels:\n  k:\n    {'source' if ptx is None else 'ptx'}: {name}\n    entry: {kernel}\n"
    text += "".join(f"    {line}\n" for line in more.splitlines())
    text += "nodes:\n" + "".join(f"  - {line}\n" for line in nodes)
    (folder / "graph.yaml").write_text(text)
    return check(folder / "graph.yaml")


def codes(found, *leave):
    return [d.code for d in found.diagnostics if d.code not in leave]


def effects(found, node=0):
    """The effects of a node: (buffer, kind, kind provenance, range provenance)."""
    program = found.program
    return [
        (
            None if row["buffer"] == NONE else program.buffers[row["buffer"]].name,
            EffectKind(row["kind"]).name.lower(),
            Provenance(row["kind_provenance"]).name.lower(),
            Provenance(row["range_provenance"]).name.lower(),
        )
        for row in program.effects
        if row["node"] == node
    ]


def touched(found, row, which="may"):
    """The bytes of the may (or must) boxes of an effect (a row)."""
    program = found.program
    effect = program.effects[row]
    held = set()
    for box in program.boxes[effect[which] : effect[which] + effect[f"{which}_count"]]:
        places = {int(box["offset"])}
        for axis in program.axes[box["axis"] : box["axis"] + box["axes"]]:
            places = {p + i * int(axis["stride"]) for p in places for i in range(int(axis["count"]))}
        held |= {p + b for p in places for b in range(int(box["item"]))}
    return held
