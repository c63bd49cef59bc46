"""What all functions of one analysis share: symbols, the launch, the record of accesses."""

from __future__ import annotations

from dataclasses import dataclass, field

from planc.effects.accesses import RawAccess
from planc.effects.arithmetic import Arithmetic
from planc.effects.forms import Form, constant, symbol_form
from planc.effects.launch import BytesFact, Dimensions, IntegerFact, LaunchFacts, PointerFact
from planc.effects.symbols import Definition, Origin, Symbols
from planc.ptx.syntax import Instruction, Module

MOST_STEPS = 400_000
"""Instructions walked over, all passes together, before an analysis gives up."""


HIGHEST_ADDRESS = 1 << 57
"""Addresses of devices and hosts have 57 bits at most, so that a pointer plus an offset does not wrap."""


MOST_THREADS = 1024
"""Threads of a block along one axis, at most."""
MOST_BLOCKS = (1 << 31) - 1
"""Blocks of a grid along one axis, at most."""


class TooLargeError(Exception):
    """The analysis of a kernel takes too many steps."""


@dataclass(slots=True)
class Engine:
    """The mutable part of one analysis; ``recording`` is off while loops are being solved.

    ``thread`` makes its (thread, block) the only one; ``is_symbolic`` leaves the sizes of grid and block
    open.
    """

    module: Module
    launch: LaunchFacts
    symbols: Symbols = field(default_factory=Symbols)
    accesses: list[RawAccess] = field(default_factory=list)
    escapes: dict[int, str] = field(default_factory=dict)
    external: list[tuple[Instruction, str]] = field(default_factory=list)
    unknown: list[tuple[Instruction, str]] = field(default_factory=list)
    thread: tuple[Dimensions, Dimensions] | None = None
    is_symbolic: bool = False
    recording: bool = True
    serial: int = 0
    steps: int = 0

    @property
    def arithmetic(self) -> Arithmetic:
        """The operations on forms."""
        return Arithmetic(self.symbols)

    def fresh(self, what: str, low: int, high: int, *sources: Form) -> Form:
        """Return a number that nothing else equals."""
        self.serial += 1
        return self.arithmetic.opaque((what, self.serial), low, high, *sources, label=f"{what}")

    def step(self) -> None:
        """Count one instruction; raises TooLargeError past the limit."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooLargeError

    def index(self, name: str, count: int) -> Form:
        """Return a thread or block index below ``count``."""
        if self.is_symbolic:
            count = MOST_THREADS if name.startswith("tid") else MOST_BLOCKS
        if count == 1:
            return constant(0)
        if self.thread is not None:
            base, _, axis = name.partition(".")
            return constant(self.thread[0 if base == "tid" else 1]["xyz".index(axis)])
        definition = Definition(Origin.INDEX, name, 0, count - 1)
        return symbol_form(self.symbols.make(("index", name), definition))

    def count(self, name: str, value: int) -> Form:
        """Return the number of threads or blocks along an axis."""
        if not self.is_symbolic:
            return constant(value)
        most = MOST_THREADS if name.startswith("ntid") else MOST_BLOCKS
        definition = Definition(Origin.SLOT, name, 1, most)
        return symbol_form(self.symbols.make(("count", name), definition))

    def pointer(self, space: str, name: str | int, label: str) -> Form:
        """Return the address of a variable or in a pointer argument; ``space`` tells which."""
        definition = Definition(Origin.POINTER, label, 0, HIGHEST_ADDRESS)
        return symbol_form(self.symbols.make(("pointer", space, name), definition))

    def argument(self, offset: int, size: int, label: str) -> Form:
        """Return the bytes at ``offset`` of the parameter block."""
        for start, fact in self.launch.parameters.items():
            found = self._from_fact(start, fact, offset, size, label)
            if found is not None:
                return found
        low, high = -(1 << (size * 8 - 1)), (1 << (size * 8 - 1)) - 1
        return self._slot(offset, size, low, high, label)

    def _slot(self, offset: int, size: int, low: int, high: int, label: str) -> Form:
        definition = Definition(Origin.SLOT, label, low, high)
        return symbol_form(self.symbols.make(("argument", offset, size), definition))

    def _from_fact(self, start: int, fact: object, offset: int, size: int, label: str) -> Form | None:
        inside = offset - start
        if isinstance(fact, PointerFact):
            return self.pointer("argument", start, label) if (inside, size) == (0, 8) else None
        if isinstance(fact, BytesFact):
            if inside < 0 or inside + size > len(fact.data):
                return None
            return constant(int.from_bytes(fact.data[inside : inside + size], "little", signed=True))
        if not isinstance(fact, IntegerFact) or inside < 0 or inside + size > fact.size:
            return None
        if fact.low == fact.high:
            bits = (fact.low & ((1 << (8 * fact.size)) - 1)) >> (8 * inside)
            return constant(
                int.from_bytes(
                    (bits & ((1 << (8 * size)) - 1)).to_bytes(size, "little"), "little", signed=True
                )
            )
        return (
            self._slot(offset, size, fact.low, fact.high, label) if (inside, size) == (0, fact.size) else None
        )
