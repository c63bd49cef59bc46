"""Atomic operations: ``atom`` and ``red`` (PTX ISA, "atom", "red").

Threads that hit the same place in one instruction are served in ascending order of their index (block by
block, thread by thread), so every run gives the same result, floating-point sums included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from planc.ptx.syntax import Instruction
from planc.simt.access import pieces
from planc.simt.arith import UnsupportedForm, binary
from planc.simt.collisions import Update, serve
from planc.simt.decode import Decoder
from planc.simt.faults import AccessFault, Unsupported
from planc.simt.frames import Fragment
from planc.simt.program import Step
from planc.simt.registers import BY_WIDTH, WIDTHS, Bits, resize
from planc.simt.report import access_failure
from planc.simt.sites import Site
from planc.simt.spaces import RESOLVERS, Piece

_OPERATIONS = frozenset(["add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"])
_SPACES = {"global": "global", "shared": "shared", "shared::cta": "shared"}
_ORDERS = frozenset({"relaxed", "acquire", "release", "acq_rel", "weak"})
_SCOPES = frozenset({"cta", "cluster", "gpu", "sys"})
_COMMUTING = frozenset({"add", "min", "max", "and", "or", "xor"})
_HINTS = _ORDERS | _SCOPES | {"noftz", "L2::cache_hint"}


@dataclass(frozen=True, slots=True)
class AtomicForm:
    """``atom`` or ``red`` taken apart; ``space`` is empty for generic addressing."""

    space: str
    operation: str
    type: str
    scope: str = "gpu"

    @property
    def width(self) -> int:
        """Bits of the value in memory."""
        return WIDTHS[self.type]


def parse_atomic(instruction: Instruction) -> AtomicForm:
    """Take the modifiers of ``atom`` or ``red`` apart; raises :class:`Unsupported`."""
    space, operation, kind = "", "", ""
    for word in instruction.modifiers:
        if word in _SPACES:
            space = _SPACES[word]
        elif word in _OPERATIONS and not operation:
            operation = word
        elif word in WIDTHS and word != "pred" and not kind:
            kind = word
        elif word not in _HINTS:
            raise Unsupported(instruction.form)
    if not operation or not kind or WIDTHS[kind] < 16:
        raise Unsupported(instruction.form)
    scope = next((word for word in instruction.modifiers if word in _SCOPES), "gpu")
    form = AtomicForm(space, operation, kind, scope)
    _function(form, instruction.form, ftz=False)
    return form


def _function(form: AtomicForm, text: str, *, ftz: bool) -> Callable[..., Bits]:
    # ``add.b32`` and its like do not exist, but exch, cas and the logical ones are written ``.b``.
    try:
        return binary(form.operation, form.type, ftz=ftz)
    except UnsupportedForm:
        raise Unsupported(text) from None


def atomic(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``atom`` and ``red``."""
    form = parse_atomic(instruction)
    operands = list(instruction.operands)
    target, used = -1, False
    if instruction.opcode == "atom":
        result = operands.pop(0)
        target = d.target(result, instruction.form) if d.is_read(result) else -1
        used = d.is_used(result)
    address = d.address(operands[0], instruction.form)
    count = 2 if form.operation == "cas" else 1
    values = tuple(d.source(each, form.width, instruction.form) for each in operands[1 : 1 + count])
    run = _updates(form, instruction.form, target >= 0)
    width = d.width(target) if target >= 0 else 0
    resolve, size, dtype, space = RESOLVERS[form.space], form.width // 8, BY_WIDTH[form.width], form.space
    site = Site("atomic", instruction, _reduction(form, used))

    def step(f: Fragment) -> None:
        try:
            found = pieces(f, address(f), size, resolve, space, site)
        except AccessFault as fault:
            raise access_failure(fault, f, instruction, "atomic") from None
        regs = f.regs
        bits = [resize(regs[slot], form.width) for slot in values]
        old = _apply(f, found, bits, dtype, run)
        if target >= 0:
            regs[target] = resize(old, width)

    return step


def _reduction(form: AtomicForm, wants_old: bool) -> str:
    """Return what the atomic commutes with: scopes within a block are not atomic towards other nodes."""
    commutes = not wants_old and form.operation in _COMMUTING and form.scope in ("gpu", "sys")
    return f"{form.operation}.{form.type}" if commutes else ""


def _updates(form: AtomicForm, text: str, wants_old: bool) -> Callable[[Piece], Update]:
    """Return the update of each piece: on global memory, f32 sums flush subnormals (PTX ISA, "atom")."""
    make = partial(Update, form.operation, form.type, wants_old=wants_old)
    plain = make(_function(form, text, ftz=False))
    if (form.operation, form.type) != ("add", "f32"):
        return lambda piece: plain
    flushing = make(_function(form, text, ftz=True), flushes=True)
    return lambda piece: plain if piece.addresses is None else flushing


def _apply(
    f: Fragment,
    found: list[Piece],
    values: list[Bits],
    dtype: np.dtype[np.generic],
    update: Callable[[Piece], Update],
) -> Bits:
    shift = dtype.itemsize.bit_length() - 1
    old = np.zeros(f.n, dtype)
    for piece in found:
        index: NDArray[np.int64] = piece.offsets >> shift
        view = piece.region.view(dtype)
        if piece.positions is None:
            old, changed = serve(view, index, values, update(piece))
        else:
            part = [value[piece.positions] for value in values]
            old[piece.positions], changed = serve(view, index, part, update(piece))
        f.chunk.launch.effects += changed
    return old
