"""What is known of a launch before it happens: grid, block, dynamic shared memory, arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import gcd

Dimensions = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class PointerFact:
    """A pointer argument: ``nbytes`` may be used from its address on, None where nobody knows.

    ``offset`` is where the view starts in its buffer, in bytes, ``align`` the alignment of the buffer.
    """

    nbytes: int | None = None
    offset: int = 0
    align: int = 256

    @property
    def alignment(self) -> int:
        """The power of two, at most ``align``, that divides the address."""
        return gcd(self.align, self.offset) if self.offset else self.align


@dataclass(frozen=True, slots=True)
class IntegerFact:
    """A whole number of ``size`` bytes between ``low`` and ``high``, in two's complement where negative."""

    size: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class BytesFact:
    """Known bytes: a float, a struct of scalars."""

    data: bytes


ParameterFact = PointerFact | IntegerFact | BytesFact


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """One launch: (x, y, z) of ``grid`` and ``block``, bytes of dynamic ``shared`` memory, arguments.

    ``parameters`` maps the byte offset in the parameter block to what is known of the argument there; a
    pointer inside a by-value struct has its own offset. Bytes in no fact may hold anything.
    ``globals`` maps a module variable to the bytes of its view, where it differs from its size.
    """

    grid: Dimensions
    block: Dimensions
    shared: int = 0
    parameters: Mapping[int, ParameterFact] = field(default_factory=dict)


def integer(value: int, size: int = 4) -> IntegerFact:
    """Return the fact that an argument of ``size`` bytes is ``value``."""
    return IntegerFact(size, value, value)
