"""Loads and stores: ``ld``, ``ldu``, ``st`` in every state space (PTX ISA, "ld", "st").

Cache operators, eviction hints, scopes and orderings do not change the result: the interpreter runs one
instruction at a time for all threads, so memory is sequentially consistent. Where several threads store to
one place in one instruction, the thread with the highest index wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planc.ptx.syntax import Address, Instruction, Operand, Symbol, Vector
from planc.simt.decode import Decoder, copy_step
from planc.simt.faults import AccessFault, Unsupported
from planc.simt.frames import Fragment
from planc.simt.program import Step
from planc.simt.ranges import Addresses
from planc.simt.registers import BY_WIDTH, WIDTHS, Bits, resize
from planc.simt.report import access_failure
from planc.simt.sites import Site
from planc.simt.spaces import RESOLVERS, Piece, Resolve, check_alignment

_SPACES = {
    "global": "global",
    "const": "const",
    "local": "local",
    "shared": "shared",
    "shared::cta": "shared",
    "param": "param",
    "param::entry": "param",
    "param::func": "param",
}
_HINT_WORDS = (
    "weak volatile relaxed acquire release mmio cta cluster gpu sys nc ca cg cs lu cv wb wt unified "
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate "
    "L2::evict_normal L2::evict_first L2::evict_last L2::cache_hint L2::64B L2::128B L2::256B"
)
_HINTS = frozenset(_HINT_WORDS.split())
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_LARGEST = 32
"""Bytes of the widest access of one thread."""


@dataclass(frozen=True, slots=True)
class AccessForm:
    """A load or store taken apart; ``space`` is empty for generic addressing, ``width`` in bits."""

    space: str
    count: int
    width: int
    signed: bool

    @property
    def size(self) -> int:
        """Bytes that one thread touches."""
        return self.count * self.width // 8


def parse_access(instruction: Instruction) -> AccessForm:
    """Take the modifiers of ``ld`` or ``st`` apart; raises :class:`Unsupported`."""
    space, count = "", 1
    kind: str | None = None
    for word in instruction.modifiers:
        if word in _SPACES:
            space = _SPACES[word]
        elif word in _VECTORS:
            count = _VECTORS[word]
        elif word in WIDTHS and word != "pred":
            kind = word
        elif word not in _HINTS:
            raise Unsupported(instruction.form)
    if kind is None or count * WIDTHS[kind] > _LARGEST * 8:
        raise Unsupported(instruction.form)
    return AccessForm(space, count, WIDTHS[kind], kind[0] == "s" and kind[1:].isdigit())


def pieces(
    f: Fragment, addresses: Addresses, size: int, resolve: Resolve, space: str, site: Site
) -> list[Piece]:
    """Check an access of ``size`` bytes per thread and find its bytes; tells who watches."""
    check_alignment(addresses, size, space or "global")
    found = resolve(f, addresses, size, site.kind != "read")
    launch = f.chunk.launch
    if launch.trace is not None or launch.observer is not None:
        threads = f.chunk.global_threads(f)
        for piece in found:
            if piece.addresses is not None:
                who = threads if piece.positions is None else threads[piece.positions]
                if launch.trace is not None:
                    launch.trace(site.kind, piece.addresses, size, piece.region, who)
                if launch.observer is not None:
                    launch.observer(site, piece.addresses, size, piece.region, who)
    return found


def gather(found: list[Piece], n: int, dtype: np.dtype[Any], count: int) -> list[Bits]:
    """Read ``count`` consecutive elements for each of ``n`` threads."""
    shift = dtype.itemsize.bit_length() - 1
    if len(found) == 1 and found[0].positions is None:
        view, index = found[0].region.view(dtype), found[0].offsets >> shift
        return [view.take(index + k if k else index) for k in range(count)]
    results = [np.empty(n, dtype) for _ in range(count)]
    for piece in found:
        view, index = piece.region.view(dtype), piece.offsets >> shift
        where = slice(None) if piece.positions is None else piece.positions
        for k, result in enumerate(results):
            result[where] = view[index + k]
    return results


def scatter(found: list[Piece], values: list[Bits], dtype: np.dtype[Any]) -> None:
    """Write consecutive elements for each thread."""
    shift = dtype.itemsize.bit_length() - 1
    for piece in found:
        view, index = piece.region.view(dtype), piece.offsets >> shift
        for k, value in enumerate(values):
            view[index + k if k else index] = value if piece.positions is None else value[piece.positions]


def load(d: Decoder, instruction: Instruction) -> Step | None:
    """Decode ``ld`` and ``ldu``."""
    form = parse_access(instruction)
    targets = _elements(d, form, instruction)
    source = instruction.operands[1]
    if form.space == "param" and isinstance(source, Address) and isinstance(source.base, Symbol):
        return _load_param(d, source.base.name, source.base.offset + source.offset, form, targets)
    return _load_memory(d, instruction, form, targets)


def _elements(d: Decoder, form: AccessForm, instruction: Instruction) -> tuple[int, ...]:
    slots = d.targets(instruction.operands[0], instruction.form)
    if len(slots) != form.count:
        raise Unsupported(instruction.form, f"with {len(slots)} elements")
    return slots


def _load_memory(d: Decoder, instruction: Instruction, form: AccessForm, targets: tuple[int, ...]) -> Step:
    address = d.address(instruction.operands[1], instruction.form)
    dtype, size, count, space = BY_WIDTH[form.width], form.size, form.count, form.space
    resolve = RESOLVERS[space]
    widths = [d.width(slot) if slot >= 0 else 0 for slot in targets]
    plain = all(width == form.width for width in widths)
    site = Site("read", instruction)

    def step(f: Fragment) -> None:
        try:
            found = pieces(f, address(f), size, resolve, space, site)
        except AccessFault as fault:
            raise access_failure(fault, f, instruction, "read") from None
        results = gather(found, f.n, dtype, count)
        regs = f.regs
        if plain:
            for slot, bits in zip(targets, results, strict=True):
                regs[slot] = bits
            return
        for slot, width, bits in zip(targets, widths, results, strict=True):
            if slot >= 0:
                regs[slot] = resize(bits, width, signed=form.signed)

    return step


def _load_param(d: Decoder, name: str, offset: int, form: AccessForm, targets: tuple[int, ...]) -> Step:
    """Decode a load from a kernel parameter, or from a ``.param`` variable of a call."""
    if name in d.slots:
        _check_bytes(d, name, offset, form)
        return _load_bytes(d, d.slots[name], offset, form, targets)
    if name not in d.names.entry_parameters:
        raise Unsupported(f"ld.param of `{name}`")
    start = d.names.entry_parameters[name] + offset
    steps: list[Step] = []
    for k, slot in enumerate(targets):
        if slot >= 0:
            at = start + k * form.width // 8
            steps.append(_resized(d, d.given(("param", at, form.width), form.width), slot, form.signed))
    return steps[0] if len(steps) == 1 else _sequence(steps)


def _check_bytes(d: Decoder, name: str, offset: int, form: AccessForm) -> None:
    kind, size = d.code.kinds[d.slots[name]]
    if kind != "bytes" or not 0 <= offset <= size - form.size:
        raise Unsupported(f"access to bytes {offset} to {offset + form.size} of `{name}`")


def _resized(d: Decoder, slot: int, into: int, signed: bool) -> Step:
    have, want = d.width(slot), d.width(into)
    if have == want:
        return copy_step(slot, into)

    def step(f: Fragment) -> None:
        f.regs[into] = resize(f.regs[slot], want, signed=signed)

    return step


def _sequence(steps: list[Step]) -> Step:
    def step(f: Fragment) -> None:
        for each in steps:
            each(f)

    return step


def _load_bytes(d: Decoder, slot: int, offset: int, form: AccessForm, targets: tuple[int, ...]) -> Step:
    dtype, part = BY_WIDTH[form.width], form.width // 8
    widths = [d.width(each) if each >= 0 else 0 for each in targets]

    def step(f: Fragment) -> None:
        regs = f.regs
        held = regs[slot]
        for k, (into, width) in enumerate(zip(targets, widths, strict=True)):
            if into >= 0:
                at = offset + k * part
                bits = np.ascontiguousarray(held[:, at : at + part]).view(dtype)[:, 0]
                regs[into] = resize(bits, width, signed=form.signed)

    return step


def store(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``st``."""
    form = parse_access(instruction)
    target = instruction.operands[0]
    values = _values(d, instruction.operands[1], form, instruction)
    if form.space == "param" and isinstance(target, Address) and isinstance(target.base, Symbol):
        name, offset = target.base.name, target.base.offset + target.offset
        if name in d.slots:
            _check_bytes(d, name, offset, form)
            return _store_bytes(d.slots[name], offset, form, values)
    if form.space in ("param", "const"):
        raise Unsupported(instruction.form, "to this address")
    address = d.address(target, instruction.form)
    dtype, size, space = BY_WIDTH[form.width], form.size, form.space
    resolve = RESOLVERS[space]
    site = Site("write", instruction)

    def step(f: Fragment) -> None:
        try:
            found = pieces(f, address(f), size, resolve, space, site)
        except AccessFault as fault:
            raise access_failure(fault, f, instruction, "write") from None
        regs = f.regs
        scatter(found, [resize(regs[slot], form.width) for slot in values], dtype)
        f.chunk.launch.effects += 1

    return step


def _values(d: Decoder, operand: Operand, form: AccessForm, instruction: Instruction) -> tuple[int, ...]:
    items = operand.items if isinstance(operand, Vector) else (operand,)
    if len(items) != form.count:
        raise Unsupported(instruction.form, f"with {len(items)} elements")
    return tuple(d.source(item, form.width, instruction.form) for item in items)


def _store_bytes(slot: int, offset: int, form: AccessForm, values: tuple[int, ...]) -> Step:
    part = form.width // 8

    def step(f: Fragment) -> None:
        regs = f.regs
        changed = regs[slot].copy()
        for k, each in enumerate(values):
            at = offset + k * part
            changed[:, at : at + part] = resize(regs[each], form.width).reshape(-1, 1).view(np.uint8)
        regs[slot] = changed

    return step


def prefetch(d: Decoder, instruction: Instruction) -> None:
    """Decode ``prefetch``, ``prefetchu``, ``discard``, ``applypriority``: no effect on values."""
