"""Areas: the buffers of a program and the module variables beside them, as regions of simulated memory."""

from __future__ import annotations

from dataclasses import dataclass

from planc.plan.program import Role
from planc.runtime.cpu_nodes import Machine
from planc.simt import Region

EMPTY_AT_START = frozenset({Role.SCRATCH, Role.OUTPUT})
"""Roles whose bytes nobody has written when a replay begins."""


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """A region and what it is: ``buffer`` is a row of the program, None for a variable of a module.

    ``blank``: nobody has written its bytes when a replay begins.
    """

    index: int
    name: str
    region: Region
    buffer: int | None
    blank: bool


def find_areas(machine: Machine) -> tuple[Area, ...]:
    """Return the areas: first the buffers in the program's order, then the variables by address."""
    # Constants with equal bytes share storage, so the array itself tells them apart, not its address.
    regions = {id(r.data): r for r in machine.memory.regions}
    found: list[Area] = []
    taken: set[int] = set()
    for row, (buffer, array) in enumerate(zip(machine.program.buffers, machine.arrays, strict=True)):
        region = regions[id(array)]
        taken.add(region.start)
        found.append(Area(row, buffer.name, region, row, buffer.role in EMPTY_AT_START))
    for region in machine.memory.regions:
        if region.size and region.start not in taken:
            found.append(Area(len(found), region.name, region, None, False))
    return tuple(found)
