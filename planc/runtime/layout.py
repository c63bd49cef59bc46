"""Which allocations a program needs, before any device is touched."""

from __future__ import annotations

from dataclasses import dataclass

from planc.plan.program import Program, Role, Schedule
from planc.runtime.device import MemoryMode


@dataclass(frozen=True, slots=True)
class Block:
    """One allocation of ``nbytes`` and the (buffer row, offset) of what lies in it."""

    nbytes: int
    holds: tuple[tuple[int, int], ...]


def blocks(program: Program, schedule: Schedule, memory: MemoryMode) -> list[Block]:
    """Return the allocations: an arena for placed scratch, and one for each other buffer.

    With ``separate`` every buffer has its own of its exact size. Globals live in their modules.
    """
    placed: dict[int, int] = {}
    if memory == "arena":
        placed = {int(p["buffer"]): int(p["offset"]) for p in schedule.placements}
    own = [
        Block(b.nbytes, ((row, 0),))
        for row, b in enumerate(program.buffers)
        if row not in placed and b.role is not Role.GLOBAL
    ]
    if not placed:
        return own
    return [Block(schedule.arena_bytes, tuple(sorted(placed.items()))), *own]


def bytes_by_role(program: Program, schedule: Schedule, memory: MemoryMode) -> dict[str, int]:
    """Return the bytes that each role takes; scratch is the arena where there is one."""
    totals = {role.name.lower(): 0 for role in Role}
    for block in blocks(program, schedule, memory):
        totals[program.buffers[block.holds[0][0]].role.name.lower()] += block.nbytes
    totals["global"] = sum(b.nbytes for b in program.buffers if b.role is Role.GLOBAL)
    return totals
