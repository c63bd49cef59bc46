"""Random race-free programs whose scratch is written before it is read, and their replay in one arena."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planc.hazards import infer_order
from planc.plan.program import BOX, Buffer, Plan, Role
from planc.runtime.loaded import LoadedPlan
from tests.runtime.programs import AXPY, Maker, View

N = 8
OUTS = ("o0", "o1")


def random_work(rng, steps):
    """Fills, copies and axpy kernels over an input, two outputs and up to eight scratch buffers."""
    maker = Maker("work")
    maker.buffer("x", "f32", [N], Role.INPUT)
    for name in OUTS:
        maker.buffer(name, "f32", [N])
    scratch = [maker.buffer(f"s{i}", "f32", [N], Role.SCRATCH) for i in range(8)]
    maker.module(AXPY)
    maker.function("axpy", [("x", "f32", True), ("y", "f32", True), ("a", "f32", False), ("n", "u32", False)])
    full = ["x", *OUTS]
    for step in range(steps):
        choice = rng.random()
        fresh = [name for name in scratch if name not in full]
        target = rng.choice([*OUTS, *scratch]) if rng.random() < 0.6 or not fresh else rng.choice(fresh)
        source = rng.choice([name for name in full if name != target])
        if choice < 0.2:
            maker.fill(f"n{step}", View(target), rng.randrange(1 << 16) << 16 | 0x3F, 4)
        elif choice < 0.6 or target not in full:
            maker.copy(f"n{step}", View(target), View(source))
        else:
            arguments = {"x": source, "y": target, "a": 0.5, "n": N}
            more = {"block": (N, 1, 1), "reads": ("x", "y"), "writes": ("y",)}
            maker.run(f"n{step}", "axpy", arguments, **more)
        full.append(target)
        if rng.random() < 0.3:
            full = [name for name in full if name not in scratch or rng.random() < 0.7]
    return infer_order(maker.program())


def in_arena(program, schedule):
    """The program with its scratch buffers as spans of one, laid out as ``schedule`` has it."""
    arena = len(program.buffers)
    offset = {row: at for row, _, at in schedule.placements.tolist()}
    boxes = list(program.boxes)

    def moved(rows, buffer, box):
        rows = rows.copy()
        for row in rows:
            if int(row[buffer]) in offset:
                new = program.boxes[row[box]].copy()
                new["offset"] += offset[int(row[buffer])]
                boxes.append(new)
                row[buffer], row[box] = arena, len(boxes) - 1
        return rows

    fills = moved(program.fill_ops, "buffer", "box")
    copies = moved(moved(program.copy_ops, "target", "target_box"), "source", "source_box")
    relocations = program.relocations.copy()
    for row in relocations:
        if int(row["buffer"]) in offset:
            row["addend"] += offset[int(row["buffer"])]
            row["buffer"] = arena
    size = max(schedule.arena_bytes, 1)
    return replace(
        program,
        buffers=(*program.buffers, Buffer("arena", "u8", (size,), Role.SCRATCH, size)),
        boxes=np.array(boxes, BOX),
        fill_ops=fills,
        copy_ops=copies,
        relocations=relocations,
    )


def replay(program, schedule):
    """The bytes of the outputs after a replay on the CPU device, from the same inputs each time."""
    with LoadedPlan(Plan((program,), ((schedule,),))).instantiate("cpu") as exe:
        exe.write("x", np.arange(1, N + 1, dtype=np.float32))
        for name in OUTS:
            exe.write(name, np.full(N, 3, np.float32))
        exe.replay().wait()
        return b"".join(exe.read(name).tobytes() for name in OUTS)


def random_order(rng, schedule):
    """An order of the nodes that the edges of ``schedule`` alone allow."""
    waiting = {node: 0 for node in schedule.order.tolist()}
    after = {node: [] for node in waiting}
    for before, target, _ in schedule.edges.tolist():
        waiting[target] += 1
        after[before].append(target)
    ready = [node for node, count in waiting.items() if not count]
    order = []
    while ready:
        node = ready.pop(rng.randrange(len(ready)))
        order.append(node)
        for following in after[node]:
            waiting[following] -= 1
            if not waiting[following]:
                ready.append(following)
    return np.array(order, np.uint32)
