"""Targets: ``sm_90``, ``sm_90a``, ``sm_100f``."""

from __future__ import annotations

import re
from dataclasses import dataclass

DEFAULT_TARGETS: tuple[str, ...] = ("sm_80", "sm_90")
"""What a graph file that names no target is built for."""

_TARGET = re.compile(r"(?:sm|compute)_([1-9][0-9]{1,2})([af]?)\Z")
_FIRST_WITH_SUFFIX = {"": 0, "a": 90, "f": 100}


@dataclass(frozen=True, slots=True)
class Target:
    """A compute capability; ``number`` is 90 for 9.0.

    ``suffix`` ``a`` is code for this very capability alone, ``f`` for its family (PTX ISA,
    ``.target``); without one, PTX runs on every later capability.
    """

    number: int
    suffix: str = ""

    @property
    def real(self) -> str:
        """The name for the linker and the driver, ``sm_90a``."""
        return f"sm_{self.number}{self.suffix}"

    @property
    def virtual(self) -> str:
        """The name for the compiler, ``compute_90a``."""
        return f"compute_{self.number}{self.suffix}"

    def runs_ptx_of(self, other: Target) -> bool:
        """Whether PTX whose ``.target`` is ``other`` can be linked for this target."""
        if other.suffix == "a":
            return self == other
        if other.suffix == "f":
            return self.number // 10 == other.number // 10 and self.number >= other.number
        return self.number >= other.number


def parse_target(text: str) -> Target | None:
    """Read ``sm_90`` (or ``compute_90``); None when it is no target's name."""
    match = _TARGET.match(text)
    if match is None:
        return None
    number, suffix = int(match[1]), match[2]
    return Target(number, suffix) if number >= _FIRST_WITH_SUFFIX[suffix] else None
