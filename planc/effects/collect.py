"""From the accesses met on the walk to effects per pointer."""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd

from planc.effects.accesses import RawAccess
from planc.effects.bounds import Facts, interval, is_contradicted
from planc.effects.engine import Engine
from planc.effects.findings import Met
from planc.effects.forms import Form, subtract, symbol_form
from planc.effects.launch import PointerFact
from planc.effects.ranges import is_injective, may_box, must_box
from planc.effects.result import AccessRange, Effect, KernelEffects
from planc.effects.symbols import Origin
from planc.plan.boxes import Box, canonical

Target = int | str
_MOST_BOXES = 24
_WIDE = 1 << 62


def collect_effects(engine: Engine, entry: str) -> tuple[KernelEffects, list[Met]]:
    """Return the effects of everything that the engine recorded."""
    mets: list[Met] = []
    reasons: dict[Target, str] = {}
    unknown = [f"PTX line {each.line} {reason}" for each, reason in engine.unknown]
    for access in engine.accesses:
        if is_contradicted(engine.symbols, Facts(access.facts)):
            continue
        _place(engine, access, mets, reasons, unknown)
    found: dict[Target, list[AccessRange]] = {}
    for met in mets:
        found.setdefault(met.target, []).append(met.record)
    for symbol, reason in engine.escapes.items():
        target = _target(engine, symbol)
        if target is not None:
            reasons.setdefault(target, f"the pointer {reason}")
    parameters = {
        offset: _effect(found.get(offset, []), reasons.get(offset, ""), _view(engine, offset))
        for offset, fact in engine.launch.parameters.items()
        if isinstance(fact, PointerFact)
    }
    names = sorted({t for t in (*found, *reasons) if isinstance(t, str)})
    globals_ = {
        name: _effect(found.get(name, []), reasons.get(name, ""), _view(engine, name)) for name in names
    }
    external = tuple(dict.fromkeys(f"PTX line {i.line} {what}" for i, what in engine.external))
    effects = (*parameters.values(), *globals_.values())
    notes = tuple(note for effect in effects for note in _notes(effect))
    unknowns = tuple(dict.fromkeys(unknown))
    return KernelEffects(entry, parameters, globals_, external, unknowns, (), notes), mets


def _notes(effect: Effect) -> Iterable[str]:
    lines = [a for a in effect.accesses if a.operator.startswith("add.") and "f" in a.operator[4:]]
    if lines and effect.kind == "reduce":
        yield f"PTX line {lines[0].line} adds floats in an order that varies from run to run"


def _target(engine: Engine, symbol: int) -> Target | None:
    key = engine.symbols.key(symbol)
    assert isinstance(key, tuple)
    space, name = key[1], key[2]
    if space == "argument":
        return int(name)
    return str(name) if space in ("global", "const") else None


def _place(
    engine: Engine,
    access: RawAccess,
    mets: list[Met],
    reasons: dict[Target, str],
    unknown: list[str],
) -> None:
    """Give an access to the pointer that it goes through."""
    line = access.instruction.line
    pointers = [(s, c) for s, c in access.form.terms if engine.symbols[s].origin is Origin.POINTER]
    taint = engine.symbols.taint(access.form)
    target = _target(engine, pointers[0][0]) if len(pointers) == 1 and pointers[0][1] == 1 else None
    if target is None:
        if not taint:
            unknown.append(f"PTX line {line} uses an address that comes from no argument")
        else:
            unknown.append(f"PTX line {line} uses an address that is not a pointer plus an offset")
        _blame(
            engine,
            taint,
            f"PTX line {line} computes an address from it in a way that is not followed",
            reasons,
        )
        return
    rest = subtract(access.form, symbol_form(pointers[0][0]))
    record = _range(engine, target, rest, access)
    strangers = taint - {pointers[0][0]}
    if strangers and record.may is None:
        unknown.append(f"PTX line {line} adds a number made from pointers to an address")
        _blame(engine, strangers, f"PTX line {line} computes an address from it", reasons)
    mets.append(Met(target, rest, access, record))


def _blame(engine: Engine, taint: frozenset[int], reason: str, reasons: dict[Target, str]) -> None:
    for symbol in taint:
        target = _target(engine, symbol)
        if target is not None:
            reasons.setdefault(target, reason)


def _range(engine: Engine, target: Target, rest: Form, access: RawAccess) -> AccessRange:
    touch, instruction = access.touch, access.instruction
    facts = Facts(access.facts)
    low, high = interval(engine.symbols, rest, facts)
    may = must = None
    if touch.width and high - low < _WIDE:
        may = may_box(engine.symbols, rest, facts, touch.width)
        if access.domain is not None and touch.is_certain:
            must = must_box(engine.symbols, rest, access.domain, access.turns, touch.width)
    view = _view(engine, target)
    inside = may is not None and view is not None and may.interval[0] >= 0 and may.interval[1] <= view
    source = instruction.source
    return AccessRange(
        touch.kind,
        instruction.line,
        source.file if source else "",
        source.line if source else 0,
        touch.width,
        engine.symbols.text(rest),
        " and ".join(f"{engine.symbols.text(f)} >= 0" for f in access.facts),
        may,
        must,
        inside,
        _is_aligned(engine, target, rest, touch.align),
        touch.reason,
        touch.operator,
        touch.is_cached,
        tuple(call.line for call in access.calls),
        may is not None and _is_own(engine, rest, facts, touch.width),
    )


def _is_own(engine: Engine, rest: Form, facts: Facts, width: int) -> bool:
    """Whether the form takes every thread to bytes of its own: its factors are those of a mixed radix."""
    sizes = zip(("tid", "ctaid"), (engine.launch.block, engine.launch.grid), strict=True)
    indices = {
        engine.symbols.find(("index", f"{base}.{axis}"))
        for base, size in sizes
        for axis, count in zip("xyz", size, strict=True)
        if count > 1
    }
    if not indices <= set(rest.symbols):
        return False
    return is_injective(engine.symbols, rest, facts, width)


def _view(engine: Engine, target: Target) -> int | None:
    if isinstance(target, str):
        return engine.module.variables[target].size
    fact = engine.launch.parameters[target]
    return fact.nbytes if isinstance(fact, PointerFact) else None


def _is_aligned(engine: Engine, target: Target, rest: Form, align: int) -> bool:
    if isinstance(target, str):
        base = engine.module.variables[target].align
    else:
        fact = engine.launch.parameters[target]
        base = fact.alignment if isinstance(fact, PointerFact) else 1
    return gcd(base, rest.const, *(c for _, c in rest.terms)) % align == 0


def _effect(accesses: list[AccessRange], reason: str, view: int | None) -> Effect:
    kept = tuple(dict.fromkeys(accesses))
    if reason:
        return Effect("unknown", kept, None, (), False, reason)
    if not kept:
        return Effect("none")
    boxes = [_inside_view(a.may, view) for a in kept]
    may = None if None in boxes else _union([box for box in boxes if box is not None])
    must = _union_must([a.must for a in kept if a.must is not None and a.kind != "read"])
    kind, operator = _kind(kept)
    return Effect(kind, kept, may, must, all(a.is_inside for a in kept), "", operator)


def _inside_view(box: Box | None, view: int | None) -> Box | None:
    """Return the part of a box that can lie in the view; all of the view where the range is not known."""
    if view is None:
        return box
    if box is None:
        return Box(0, (), max(view, 1))
    low, high = box.interval
    if low >= 0 and high <= view:
        return box
    low, high = max(low, 0), min(high, view)
    return Box(low, (), high - low) if low < high else Box(0, (), max(view, 1))


def _kind(accesses: tuple[AccessRange, ...]) -> tuple[str, str]:
    kinds = {a.kind for a in accesses}
    operators = {a.operator for a in accesses}
    if kinds == {"reduce"} and len(operators) == 1:
        return "reduce", operators.pop()
    return (kinds.pop(), "") if len(kinds) == 1 and kinds != {"reduce"} else ("read-write", "")


def _union(boxes: list[Box]) -> tuple[Box, ...]:
    """Return boxes that cover all of ``boxes``: translates as one box, one hull where there are too many."""
    found = _gathered(boxes)
    if len(found) <= _MOST_BOXES:
        return found
    low = min(box.interval[0] for box in found)
    high = max(box.interval[1] for box in found)
    return (Box(low, (), high - low),)


def _union_must(boxes: list[Box]) -> tuple[Box, ...]:
    return _gathered(boxes)[:_MOST_BOXES]


def _gathered(boxes: list[Box]) -> tuple[Box, ...]:
    """Return the same bytes with fewer boxes: equal shapes at equal distances become one box."""
    shapes: dict[tuple[tuple[tuple[int, int], ...], int], set[int]] = {}
    for box in map(folded, boxes):
        shapes.setdefault((box.axes, box.item), set()).add(box.offset)
    found: list[Box] = []
    for (axes, item), offsets in shapes.items():
        for start, count, step in _progressions(sorted(offsets)):
            found.append(folded(Box(start, (*axes, (count, step)), item)))
    return tuple(sorted(found, key=lambda box: (box.offset, box.axes, box.item)))


def _progressions(offsets: list[int]) -> Iterable[tuple[int, int, int]]:
    """Cut rising numbers into (first, count, step)."""
    place = 0
    while place < len(offsets):
        end = place + 1
        step = offsets[end] - offsets[place] if end < len(offsets) else 1
        while end < len(offsets) and offsets[end] - offsets[end - 1] == step:
            end += 1
        yield offsets[place], end - place, step
        place = end


def folded(box: Box) -> Box:
    """Return the same bytes with axes whose sums have no gap folded into one.

    ``{0, s, .., (m-1)*s} + {0, k*s, .., (n-1)*k*s}`` is one progression iff ``k <= m``.
    """
    flat = canonical(box)
    axes: list[tuple[int, int]] = []
    for count, stride in reversed(flat.axes):
        if axes:
            inner, step = axes[-1]
            if stride % step == 0 and stride // step <= inner:
                axes[-1] = (inner + (count - 1) * (stride // step), step)
                continue
        axes.append((count, stride))
    return Box(flat.offset, tuple(reversed(axes)), flat.item)
