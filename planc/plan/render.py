"""The text that `planc inspect` prints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from planc.plan.inspect import Inspection, ProgramView, ScheduleView

_INDENT = "  "


def render_inspection(inspection: Inspection, most: int = 200) -> str:
    """Return the description of a plan as text; of long tables only the first ``most`` rows."""
    lines = [
        f"plan {inspection.format}, {inspection.bytes:,} bytes",
        f"program  {inspection.program}",
        f"file     {inspection.file}",
        f"producer {inspection.producer}",
        f"verdict  {inspection.verdict}",
    ]
    lines += [f"fact     {fact}" for fact in inspection.facts]
    for program in inspection.programs:
        lines += ["", *_program(program, most)]
    lines += ["", "sections", *_table(_sections(inspection), most)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _sections(inspection: Inspection) -> list[Sequence[str]]:
    return [(s.name, str(s.offset), f"{s.bytes:,} bytes", s.sha256[:12]) for s in inspection.sections]


def _program(program: ProgramView, most: int) -> Iterator[str]:
    targets = ", ".join(program.targets) or "no target"
    yield f"program {program.name} for {targets}: {len(program.nodes)} nodes, {len(program.edges)} edges"
    memory = ", ".join(f"{role} {size:,}" for role, size in program.memory.items() if size)
    yield f"memory in bytes: {memory or 'none'}"
    tables: list[tuple[str, list[Sequence[str]]]] = [
        ("buffers", [_buffer(program, row) for row in range(len(program.buffers))]),
        ("may alias", [pair for pair in program.may_alias]),
        ("slots", [_slot(program, row) for row in range(len(program.slots))]),
        ("kernels", [(k.name, f"({', '.join(k.parameters)})", k.module, k.symbol) for k in program.kernels]),
        ("images", [_image(program, row) for row in range(len(program.images))]),
        ("nodes", [(n.name, n.kind, n.operation, n.place or "") for n in program.nodes]),
        ("edges", [(e.before, "->", e.after, e.kind) for e in program.edges]),
        ("effects", [_effect(program, row) for row in range(len(program.effects))]),
    ]
    for title, rows in tables:
        if rows:
            yield title
            yield from _table(rows, most)
    for schedule in program.schedules:
        yield from _schedule(schedule, most)


def _buffer(program: ProgramView, row: int) -> Sequence[str]:
    buffer = program.buffers[row]
    shape = ", ".join(map(str, buffer.shape))
    data = "" if buffer.data is None else buffer.data[:12] + buffer.data[64:]
    return (buffer.name, f"{buffer.dtype}[{shape}]", buffer.role, f"{buffer.bytes:,} bytes", data)


def _slot(program: ProgramView, row: int) -> Sequence[str]:
    slot = program.slots[row]
    low, high = ("type's" if end is None else str(end) for end in (slot.low, slot.high))
    return (slot.name, slot.dtype, f"= {slot.value}", f"range {low} to {high}")


def _image(program: ProgramView, row: int) -> Sequence[str]:
    image = program.images[row]
    exact = "exact" if image.exact else ""
    return (image.module, image.target, image.form, f"{image.bytes:,} bytes", image.sha256[:12], exact)


def _effect(program: ProgramView, row: int) -> Sequence[str]:
    effect = program.effects[row]
    known = f"({effect.kind_known}, range {effect.range_known})"
    through = "" if effect.parameter is None else f"as {effect.parameter}"
    must = "" if not effect.must else "all" if effect.must == effect.may else " ".join(effect.must)
    return (
        effect.node,
        effect.kind.replace("_", "-"),
        " ".join(effect.may) or (effect.buffer or ""),
        through,
        f"must {must}" if must else "",
        known,
    )


def _schedule(schedule: ScheduleView, most: int) -> Iterator[str]:
    targets = ", ".join(schedule.targets) or "any target"
    yield (
        f"schedule {schedule.name} for {targets}: {len(schedule.edges)} edges, {schedule.lanes} lanes, "
        f"arena {schedule.arena_bytes:,} bytes"
    )
    if schedule.placements:
        rows = [(p.buffer, f"at {p.offset:,}", f"{p.bytes:,} bytes") for p in schedule.placements]
        yield from _table(rows, most)


def _table(rows: Iterable[Sequence[str]], most: int) -> Iterator[str]:
    """Yield rows in columns."""
    rows = list(rows)
    shown = rows[:most]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        yield _INDENT + _INDENT.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    if len(rows) > most:
        yield f"{_INDENT}… and {len(rows) - most:,} more"
