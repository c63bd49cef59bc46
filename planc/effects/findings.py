"""Accesses outside their view, misaligned accesses, cached loads of written bytes.

An access is called out of bounds only where a thread is shown that does it; else it is merely not shown.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

from planc.effects.accesses import RawAccess
from planc.effects.bounds import Facts, interval
from planc.effects.engine import Engine
from planc.effects.follow import Hit, Thread, follow
from planc.effects.forms import Form
from planc.effects.launch import PointerFact
from planc.effects.result import AccessRange, Finding, Witness
from planc.effects.symbols import Origin
from planc.plan.boxes import boxes_meet

if TYPE_CHECKING:
    from planc.effects.analyse import FirstStage

Target = int | str
_MOST_THREADS = 40
_MOST_STEPS = 15_000
_VERBS = {"read": "reads", "write": "writes", "read-write": "changes", "reduce": "changes"}


@dataclass(frozen=True, slots=True)
class Met:
    """An access with the form of its offset, for a search of threads that break a rule."""

    target: Target
    rest: Form
    raw: RawAccess
    record: AccessRange


class Search:
    """Looks for findings of one analysis; the threads that were followed are kept."""

    def __init__(self, stage: FirstStage, engine: Engine, entry: str) -> None:
        """Look at what ``engine`` recorded of kernel ``entry``."""
        self.stage = stage
        self.engine = engine
        self.entry = entry
        self.followed: dict[Thread, list[Hit]] = {}
        self.steps = 0

    def run(self, mets: list[Met]) -> tuple[Finding, ...]:
        """Return the findings, each line and target once."""
        found: dict[tuple[str, Target, int], Finding] = {}
        for met in mets:
            for finding in (*self._bounds(met), *self._alignment(met)):
                found.setdefault((finding.kind, finding.target, finding.access.line), finding)
        for finding in _cached(mets):
            found.setdefault((finding.kind, finding.target, finding.access.line), finding)
        definite = {(t, line, "bounds") for (k, t, line) in found if k == "out-of-bounds"}
        kept = [f for (k, t, n), f in found.items() if k != "not-shown" or (t, n, "bounds") not in definite]
        return tuple(kept)

    # Bounds

    def _bounds(self, met: Met) -> Iterable[Finding]:
        view = self.view(met.target)
        if met.record.is_inside or view is None:
            return
        hit = self._violator(met, view) if met.record.width else None
        if hit is None:
            reason = met.record.reason or _why(met)
            yield Finding("not-shown", met.target, met.record, f"cannot be shown to stay inside: {reason}")
            return
        thread, offset = hit
        verb, width = _VERBS[met.record.kind], met.record.width
        where = f"thread {thread.place} of block {thread.block}"
        message = f"{where} {verb} {width} bytes at byte {offset} of a view of {view} bytes"
        witness = Witness(thread.place, thread.block, offset)
        yield Finding(
            "out-of-bounds", met.target, met.record, message, self._guard(met, view, offset), witness
        )

    def view(self, target: Target) -> int | None:
        """Return the bytes that may be used from a pointer on."""
        if isinstance(target, str):
            return self.engine.module.variables[target].size or None
        fact = self.engine.launch.parameters[target]
        return fact.nbytes if isinstance(fact, PointerFact) else None

    def _violator(self, met: Met, view: int) -> tuple[Thread, int] | None:
        width = met.record.width
        for thread in self._threads(met, view - width + 1):
            for hit in self._hits(thread):
                is_same = hit.line == met.record.line and hit.target == met.target
                if is_same and (hit.offset < 0 or hit.offset + width > view):
                    return thread, hit.offset
        return None

    def _hits(self, thread: Thread) -> list[Hit]:
        found = self.followed.get(thread)
        if found is None and self.steps > _MOST_STEPS:
            return []
        if found is None:
            found, steps = follow(self.stage, self.entry, self.engine.launch, thread)
            self.followed[thread] = found
            self.steps += steps
        return found

    def _threads(self, met: Met, beyond: int) -> Iterable[Thread]:
        """Yield threads that may break a rule: at the first byte beyond, at both bounds, at the corners."""
        symbols = self._indices(met)
        low, high = interval(self.engine.symbols, met.rest, Facts(met.raw.facts))
        seen: dict[Thread, None] = {}
        for target, rounds_up in ((beyond, True), (high, False), (low, True), (-1, False)):
            seen.setdefault(self._thread(self._digits(met.rest, symbols, target, rounds_up)))
        ends = [(self.engine.symbols[s].high, 0) for s in symbols[:4]]
        for corner in itertools.product(*ends):
            seen.setdefault(self._thread(dict(zip(symbols, corner, strict=False))))
        return list(seen)[:_MOST_THREADS]

    def _indices(self, met: Met) -> list[int]:
        """Return the indices and turns that the address or the guards depend on, greatest factor first."""
        found: dict[int, int] = {}
        for form in (met.rest, *met.raw.facts):
            for symbol, coefficient in form.terms:
                base = self.engine.symbols[symbol].base
                for each in base.symbols if base is not None else (symbol,):
                    if self.engine.symbols[each].origin in (Origin.INDEX, Origin.LOOP):
                        found.setdefault(each, abs(coefficient))
        return sorted(found, key=lambda s: -found[s])

    def _digits(self, rest: Form, symbols: list[int], target: int, rounds_up: bool) -> Mapping[int, int]:
        """Choose indices, greatest factor first, so that ``rest`` comes close to ``target``."""
        chosen: dict[int, int] = {}
        left = target - rest.const
        factors = [(s, rest.coefficient(s)) for s in symbols if rest.coefficient(s)]
        factors.sort(key=lambda pair: -abs(pair[1]))
        for number, (symbol, factor) in enumerate(factors):
            is_last = number == len(factors) - 1
            value = -(-left // factor) if rounds_up and is_last else left // factor
            definition = self.engine.symbols[symbol]
            chosen[symbol] = min(max(value, definition.low), definition.high)
            left -= factor * chosen[symbol]
        return chosen

    def _thread(self, chosen: Mapping[int, int]) -> Thread:
        places = {"tid": [0, 0, 0], "ctaid": [0, 0, 0]}
        for symbol, value in chosen.items():
            if self.engine.symbols[symbol].origin is not Origin.INDEX:
                continue
            base, _, axis = self.engine.symbols[symbol].label.partition(".")
            places[base]["xyz".index(axis)] = value
        one, other = places["tid"], places["ctaid"]
        return Thread((one[0], one[1], one[2]), (other[0], other[1], other[2]))

    def _guard(self, met: Met, view: int, offset: int) -> str:
        """Return the condition on the index that keeps the access inside, as C."""
        origins = {self.engine.symbols[s].origin for s in met.rest.symbols}
        if not met.rest.terms or not origins <= {Origin.INDEX}:
            return ""
        step = gcd(*(c for _, c in met.rest.terms))
        index = Form(0, tuple((s, c // step) for s, c in met.rest.terms))
        text = self.engine.symbols.text(index).replace("ctaid", "blockIdx").replace("tid", "threadIdx")
        if offset < 0:
            return f"{text} >= {-(met.rest.const // step)}"
        return f"{text} < {(view - met.record.width - met.rest.const) // step + 1}"

    # Alignment

    def _alignment(self, met: Met) -> Iterable[Finding]:
        align = met.raw.touch.align
        if met.record.is_aligned or align <= 1:
            return
        kind, message, witness = "alignment-not-shown", f"cannot be shown to be a multiple of {align}", None
        known, start = self._base(met.target)
        for thread in self._threads(met, 0) if known % align == 0 else ():
            bad = [
                hit
                for hit in self._hits(thread)
                if (hit.line, hit.target) == (met.record.line, met.target) and (start + hit.offset) % align
            ]
            if bad:
                kind = "misaligned"
                where = f"thread {thread.place} of block {thread.block}"
                verb = _VERBS[met.record.kind]
                message = (
                    f"{where} {verb} {met.record.width} bytes at byte {bad[0].offset}, no multiple of {align}"
                )
                witness = Witness(thread.place, thread.block, bad[0].offset)
                break
        yield Finding(kind, met.target, met.record, message, "", witness)

    def _base(self, target: Target) -> tuple[int, int]:
        """Return the alignment of the buffer and where the view starts in it."""
        if isinstance(target, str):
            return self.engine.module.variables[target].align, 0
        fact = self.engine.launch.parameters[target]
        assert isinstance(fact, PointerFact)
        return fact.align, fact.offset


def _why(met: Met) -> str:
    if met.record.may is None:
        return f"nothing bounds the offset {met.record.address}"
    low, high = met.record.may.interval
    return f"the offset {met.record.address} may lie anywhere from {low} to {high - 1}"


def _cached(mets: list[Met]) -> Iterable[Finding]:
    """Yield ``.nc`` loads of bytes that the launch writes: they may see old or new bytes."""
    for met in mets:
        if not met.record.is_cached:
            continue
        for other in mets:
            if other.target != met.target or other.record.kind == "read":
                continue
            one, two = met.record.may, other.record.may
            if one is None or two is None or boxes_meet(one, two):
                text = (
                    f"goes through the read-only cache, and PTX line {other.record.line} writes these bytes"
                )
                yield Finding("cached-load-of-written", met.target, met.record, text)
                break
