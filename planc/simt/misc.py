"""Addresses, copies, and instructions that do nothing here."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from planc.ptx.syntax import Immediate, Instruction, Operand, Register
from planc.simt.access import gather, pieces, scatter
from planc.simt.decode import Decoder
from planc.simt.faults import AccessFault, Unsupported
from planc.simt.frames import Fragment
from planc.simt.memory import GLOBAL_BASE
from planc.simt.program import Step
from planc.simt.ranges import Addresses
from planc.simt.registers import BY_WIDTH
from planc.simt.report import access_failure, thread_failure
from planc.simt.sites import Site
from planc.simt.spaces import RESOLVERS, WINDOW_SIZE, WINDOWS, Resolve, check_alignment


def nothing(d: Decoder, instruction: Instruction) -> None:
    """Decode fences, prefetches, hints and sleeps: memory is sequentially consistent anyway."""


def convert_address(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``cvta`` and ``cvta.to``: between the address in a space and the generic one."""
    words = list(instruction.modifiers)
    if not 2 <= len(words) <= 3:
        raise Unsupported(instruction.form)
    to = words[0] == "to"
    space = words[-2].removesuffix("::cta").removesuffix("::entry")
    if space not in WINDOWS or words[-1] not in ("u64", "u32"):
        raise Unsupported(instruction.form)
    base = 0 if space == "param" else WINDOWS[space]
    target = d.target(instruction.operands[0], instruction.form)
    if target < 0 or d.width(target) == 1:
        raise Unsupported(instruction.form, "with this destination")
    slot = d.source(instruction.operands[1], 64, instruction.form)
    shift = np.uint64((-base if to else base) & 0xFFFF_FFFF_FFFF_FFFF)
    dtype = BY_WIDTH[d.width(target)]

    def step(f: Fragment) -> None:
        bits = f.regs[slot]
        f.regs[target] = (bits.astype(np.uint64) + shift).astype(dtype) if shift else bits.astype(dtype)

    return step


def is_space(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``isspacep``: whether a generic address lies in the window of a space."""
    space = (
        "".join(instruction.modifiers).removesuffix("::cta").removesuffix("::cluster").removesuffix("::entry")
    )
    if len(instruction.modifiers) != 1 or space not in WINDOWS or space == "const":
        raise Unsupported(instruction.form)
    target = d.target(instruction.operands[0], instruction.form, 1)
    slot = d.source(instruction.operands[1], 64, instruction.form)
    start = GLOBAL_BASE if space == "global" else WINDOWS[space]
    end = start + WINDOW_SIZE if start != GLOBAL_BASE else 1 << 64

    def step(f: Fragment) -> None:
        bits: Addresses = f.regs[slot].astype(np.uint64)
        f.regs[target] = (bits >= np.uint64(start)) & (bits <= np.uint64(end - 1))

    return step


def create_policy(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``createpolicy``: a cache policy is opaque and has no effect."""
    target = d.target(instruction.operands[0], instruction.form, 64)

    def step(f: Fragment) -> None:
        if target >= 0:
            f.regs[target] = np.zeros(f.n, np.uint64)

    return step


def trap(d: Decoder, instruction: Instruction) -> Step:
    """Decode ``trap``: stop the run."""

    def step(f: Fragment) -> None:
        raise thread_failure(
            "PLC757", "runs `trap`", f, 0, instruction, "find out what the kernel checks there"
        )

    return step


def copy_async(d: Decoder, instruction: Instruction) -> Step | None:
    """Decode ``cp.async``: the copy happens at once, so waiting for it is nothing."""
    words = instruction.modifiers
    if words[:1] != ("async",) or "mbarrier" in words or "bulk" in words or "tensor" in words:
        raise Unsupported(instruction.form)
    if {"commit_group", "wait_group", "wait_all"} & set(words):
        return None
    target, source, size, *rest = instruction.operands
    if not isinstance(size, Immediate) or size.bits not in (4, 8, 16) or "global" not in words:
        raise Unsupported(instruction.form)
    return _copy_step(d, instruction, (target, source), size.bits, rest)


def _copy_step(
    d: Decoder, instruction: Instruction, places: tuple[Operand, Operand], size: int, rest: list[Operand]
) -> Step:
    into, origin = (d.address(each, instruction.form) for each in places)
    wanted = _source_bytes(d, rest, size, instruction)
    read, write = RESOLVERS["global"], RESOLVERS["shared"]
    words = np.dtype(np.uint8)
    loads, stores = Site("read", instruction), Site("write", instruction)

    def step(f: Fragment) -> None:
        values = [np.zeros(f.n, words) for _ in range(size)]
        kind = "read"
        try:
            addresses, counts = origin(f), wanted(f)
            check_alignment(addresses, size, "global")
            for count in np.unique(counts):
                if count:
                    chosen = np.flatnonzero(counts == count)
                    _read_bytes(f, addresses, chosen, int(count), values, (read, loads))
            kind = "write"
            scatter(pieces(f, into(f), size, write, "shared", stores), values, words)
        except AccessFault as fault:
            raise access_failure(fault, f, instruction, kind) from None
        f.chunk.launch.effects += 1

    return step


def _read_bytes(
    f: Fragment,
    addresses: Addresses,
    chosen: NDArray[np.intp],
    count: int,
    values: list[NDArray[np.uint8]],
    how: tuple[Resolve, Site],
) -> None:
    part = f if len(chosen) == f.n else f.part(chosen, f.block)
    step = next(each for each in (16, 8, 4, 2, 1) if count % each == 0)
    try:
        for start in range(0, count, step):
            where = addresses[chosen] + np.uint64(start)
            found = pieces(part, where, step, how[0], "global", how[1])
            for k, bits in enumerate(gather(found, part.n, np.dtype(np.uint8), step)):
                values[start + k][chosen] = bits
    except AccessFault as fault:
        fault.lane = int(chosen[fault.lane])
        raise


def _source_bytes(
    d: Decoder, rest: list[Operand], size: int, instruction: Instruction
) -> Callable[[Fragment], NDArray[np.int64]]:
    """Return the function that gives how many bytes each thread reads; the others become zero."""
    if not rest or ("L2::cache_hint" in instruction.modifiers and len(rest) == 1):
        return lambda f: np.full(f.n, size, np.int64)
    first = rest[0]
    if isinstance(first, Register) and d.is_predicate(first):
        ignored = d.source(first, 1, instruction.form)
        return lambda f: np.where(f.regs[ignored], 0, size)
    slot = d.source(first, 32, instruction.form)
    return lambda f: np.minimum(f.regs[slot].astype(np.int64), size)
