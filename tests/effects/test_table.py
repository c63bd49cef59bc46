"""Our own kernels against answers written by hand, and against runs on the interpreter."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field

import numpy as np
import pytest

from planc.effects import Analyser, KernelEffects
from planc.ptx import parse
from tests.effects.oracle import run_case
from tests.effects.table import FOLDER, Case, Claim, Pointer, all_cases, launch_of, mask_of, pieces
from tests.simt.cuda import compile_cuda

CASES = all_cases()


@functools.cache
def analyser(file: str) -> Analyser:
    return Analyser(parse(compile_cuda((FOLDER / file).read_text()), file))


@functools.cache
def effects(case: Case) -> KernelEffects:
    found = analyser(case.file)
    function = found.module.functions[case.name]
    return found.analyse(case.name, launch_of(case, function.parameters))


@dataclass
class Figures:
    """How exact the answers are."""

    parameters: int = 0
    exact: int = 0
    boxes: int = 0
    exact_boxes: int = 0
    wrong: list[str] = field(default_factory=list)


def pairs(case: Case):
    """Yield each pointer with its offset in the parameter block and the effect through it."""
    found = effects(case)
    function = analyser(case.file).module.functions[case.name]
    for offset, argument in pieces(case, function.parameters):
        if isinstance(argument, Pointer):
            yield argument, offset, found.parameters[offset]


SOUND = {
    "none": {"none", "read", "write", "read-write", "unknown"},
    "read": {"read", "read-write", "unknown"},
    "write": {"write", "read-write", "unknown"},
    "read-write": {"read-write", "unknown"},
    "reduce": {"reduce", "read-write", "unknown"},
    "unknown": {"unknown"},
}


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_kinds_are_sound(case: Case) -> None:
    found = effects(case)
    for argument, offset, effect in pairs(case):
        assert effect.kind in SOUND[argument.kind], (offset, effect.kind, effect.reason)
    kinds = {n: e.kind for n, e in found.globals.items() if n[0] not in "_$"}
    assert kinds == dict(case.globals)
    assert bool(found.unknown) >= case.unknown
    assert bool(found.external) == case.external


@pytest.mark.parametrize("case", [c for c in CASES if c.runs], ids=lambda c: c.name)
def test_boxes_hold_what_a_run_touches(case: Case) -> None:
    seen = run_case(analyser(case.file).module, case)
    if effects(case).unknown:
        return
    for argument, offset, effect in pairs(case):
        touched = seen[offset]
        if effect.kind == "unknown" or effect.may is None:
            continue
        read = mask_of(tuple(a.may for a in effect.reads), argument.size)
        written = mask_of(tuple(a.may for a in effect.writes), argument.size)
        must = mask_of(effect.must, argument.size)
        assert not (touched.read & ~read).any(), f"{offset}: may boxes of reads too narrow"
        assert not (touched.written & ~written).any(), f"{offset}: may boxes of writes too narrow"
        assert not (must & ~touched.written).any(), f"{offset}: must boxes too wide"
        if touched.read.any():
            assert effect.kind in ("read", "read-write", "reduce")
        if touched.written.any():
            assert effect.kind in ("write", "read-write", "reduce")


def _check_claim(case: Case, argument: Pointer, effect, figures: Figures, name: str) -> None:
    if argument.claim is None or effect.may is None:
        return
    may = mask_of(effect.may, argument.size)
    claim = argument.claim
    wants_must = argument.kind in ("write", "read-write") and (claim == "all" or claim.must)
    wanted = (
        np.ones(argument.size, bool)
        if not isinstance(claim, Claim)
        else claim.mask(argument.size, max((a.width for a in effect.accesses), default=1))
    )
    figures.boxes += 1
    good = (may == wanted).all() and effect.is_inside
    if wants_must:
        good = good and (mask_of(effect.must, argument.size) == wanted).all()
    if good:
        figures.exact_boxes += 1
    else:
        figures.wrong.append(f"boxes of {case.name} {name}: may {effect.may} must {effect.must}")


def test_figures() -> None:
    figures = Figures()
    for case in CASES:
        for argument, offset, effect in pairs(case):
            figures.parameters += 1
            if effect.kind == argument.kind:
                figures.exact += 1
            else:
                figures.wrong.append(f"{case.name} {offset}: {effect.kind} ({effect.reason})")
            _check_claim(case, argument, effect, figures, f"argument {offset}")
    print(f"\n{len(CASES)} kernels; kinds exact: {figures.exact} of {figures.parameters};", end=" ")
    print(f"boxes exact: {figures.exact_boxes} of {figures.boxes}")
    print("\n".join(figures.wrong))
    assert len(CASES) >= 150
    assert figures.exact >= 0.95 * figures.parameters
    assert figures.exact_boxes >= 0.85 * figures.boxes
