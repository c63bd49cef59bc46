"""A kernel made ready to run: functions of blocks, blocks of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from planc.ptx.syntax import Instruction, SourceLine
from planc.simt.registers import BY_WIDTH, Bits
from planc.simt.slots import Kind

if TYPE_CHECKING:
    from planc.simt.chunk import Chunk
    from planc.simt.frames import Fragment

Step = Callable[["Fragment"], None]
"""One decoded instruction: reads and binds registers of the fragment."""


Release = Callable[["Chunk", "list[Fragment]"], bool]
"""Makes the waiting fragments of one family of gates ready where they may pass; False if none may."""


class Gate(Protocol):
    """An instruction at which threads may wait for others.

    ``release`` serves all waiting fragments whose gates have the same one.
    """

    @property
    def release(self) -> Release:
        """The release of the family."""

    def arrive(self, fragment: Fragment) -> Fragment | None:
        """Return the threads that may pass, or None where all wait.

        Threads that must wait stay behind as a fragment of their own, in state ``WAITING``.
        """


class End(Protocol):
    """How a block ends."""

    def go(self, fragment: Fragment) -> Block | None:
        """Return the next block of the whole fragment, or None where it was dealt with."""


@dataclass(slots=True, eq=False)
class Block:
    """Straight-line code. Slot sets are tuples for gathering and bit sets for the rest.

    ``uses`` are the slots read before they are written, ``constants`` those with the same value in every
    thread. ``cost`` is the number of instructions. ``loop`` is the innermost loop's header, ``polls`` says
    that the loop reads what other threads may write, so that it may wait for them.
    """

    index: int
    rank: int
    line: int
    source: SourceLine | None
    steps: tuple[Step, ...] = ()
    gate: Gate | None = None
    end: End = field(default=None)  # type: ignore[assignment]
    uses: tuple[int, ...] = ()
    constants: tuple[int, ...] = ()
    writes: int = 0
    live: int = 0
    cost: int = 0
    loop: Block | None = None
    polls: bool = False


Given = tuple[Any, ...]
"""A value that is not computed: ``("imm", width, bits)``, ``("special", name)``, ``("local", offset)``,
``("symbol", name, offset)``, ``("param", offset, width)``."""


@dataclass(slots=True, eq=False)
class FunctionCode:
    """One function. ``kinds`` say what each slot holds; ``given`` are slots with given values.

    ``zeroed`` are the slots that may be read before they are written: PTX leaves them undefined,
    here they hold zero. ``parameters`` and ``results`` are slots, in order. ``local_size`` is the
    room of its local variables in bytes.
    """

    name: str
    blocks: list[Block] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    given: list[tuple[int, Given]] = field(default_factory=list)
    zeroed: tuple[int, ...] = ()
    parameters: tuple[int, ...] = ()
    results: tuple[int, ...] = ()
    local_size: int = 0

    @property
    def slots(self) -> int:
        """How many slots a frame needs."""
        return len(self.kinds)

    def zeros(self, slot: int, n: int) -> Bits:
        """Return a slot's array of zeros for ``n`` threads."""
        kind, size = self.kinds[slot]
        if kind == "bytes":
            return np.zeros((n, size), np.uint8)
        return np.zeros(n, BY_WIDTH[size])

    def bytes_per_thread(self) -> int:
        """Bytes of all slots together, for one thread."""
        return sum(size if kind == "bytes" else max(size // 8, 1) for kind, size in self.kinds)


@dataclass(slots=True, eq=False)
class CallSite:
    """A call: slots of the caller for arguments and results, and where it goes on."""

    arguments: tuple[int, ...]
    results: tuple[int, ...]
    rank: int
    following: Block
    instruction: Instruction


@dataclass(slots=True, eq=False)
class SharedLayout:
    """Shared memory of a block: where each variable lies. ``dynamic`` is where ``extern`` arrays start.

    ``static`` is the size that the driver would report; variables are kept apart by gaps, so that a
    run over the end of one is caught.
    """

    offsets: Mapping[str, int]
    sizes: Mapping[str, int]
    dynamic: int
    static: int

    def placed(self) -> list[tuple[str, int]]:
        """Return name and offset of each variable that has bytes of its own."""
        return [(name, at) for name, at in self.offsets.items() if self.sizes[name]]
